"""The verdicts on the judge of a policy, from all evidence on both, and the advice on r."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import ceil

import numpy as np
from django.utils.translation import gettext

from agreement import holm_by_key
from agreement.comparison import alpha_with_people
from agreement.reliability import (
    CertifiedPart,
    Ground,
    JudgeEvidence,
    JudgeVerdict,
    KnownErrors,
    Use,
    Validity,
    judge_verdict,
)
from annotate.core.guideline import FrozenDimension
from annotate.core.models import Project
from annotate.results.queries.kept import version_of_ratings
from annotate.results.registry import Chosen, Data
from judges.core.models import CalibrationStage, Certificate, Judge, Judgment, RoutingPolicy
from judges.results.queries.reliability import DimensionTest, r_tells, replacement_report
from judges.results.tables.compared import Scored, compared_values
from judges.results.tables.parameters import version_of_values
from judges.routing.queries.audit import audited_share
from judges.routing.queries.route_by_reliability import FEW_VALUES, remember
from judges.routing.queries.units import Decided, PartOfUnits, PolicyCell, Why, sum_parts
from judges.runs.queries.drift import alarms_of

EvidenceOf = Mapping[str, JudgeEvidence]
"""By dimension key."""


def version_of_evidence(project: Project, judges: Sequence[Judge]) -> Sequence[object]:
    """Return a version that changes with the evidence on these judges. Four queries.

    With more than 5,000 judgments a new rating does not count, so results remembered by it may be ten minutes
    old: computing takes seconds, and in an open round people rate all the time.
    """
    drifted = alarms_of(each.pk for each in judges).values_list("judge", flat=True)
    values = [version_of_values(judges), list(drifted)]
    # The slice lets the database stop counting just above the limit.
    judgments = Judgment.objects.filter(judge__in=judges)[: FEW_VALUES + 1].count()
    return values if judgments > FEW_VALUES else [*values, version_of_ratings(project)]


def judges_of_policy(policy: RoutingPolicy) -> set[int]:
    """Return the ids of the judges whose answers a policy uses, also for comparison. Up to two queries."""
    found = {policy.rts_id, policy.mcq_id}
    if calibration := policy.calibration:
        found |= {calibration.judge_id, calibration.other_id}
        stages = CalibrationStage.objects.filter(calibration=calibration).order_by("position")
        found |= {pk for row in stages.values_list("judge", "other") for pk in row}
    return {pk for pk in found if pk is not None}


def evidence_of(project: Project, judge: Judge, *, is_fresh: bool = False) -> EvidenceOf:
    """Return the evidence on a judge that every policy shares: alpha, bias, the replacement test.

    is_fresh: computed now; else it may be remembered, see `version_of_evidence`. Up to eighteen queries.
    """

    def compute() -> EvidenceOf:
        chosen: Chosen = {}
        tests = {each.dimension.key: each for each in replacement_report(project, judge).dimensions}
        has_drifted = alarms_of([judge.pk]).exists()
        return {
            each.dimension.key: replace(
                evidence_from(each, tests.get(each.dimension.key)), has_drifted=has_drifted
            )
            for each in compared_values(project, chosen, [judge]).scored
        }

    if is_fresh:
        return compute()
    return remember(["evidence", project.pk, judge.pk, version_of_evidence(project, [judge])], compute)


def evidence_from(scored: Scored, tested: DimensionTest | None) -> JudgeEvidence:
    rated = ~np.isnan(scored.scores.human_means) & ~np.isnan(scored.scores.judge)
    known = JudgeEvidence(
        is_rated=not bool(np.isnan(scored.scores.human).all()),
        replacement=tested.test.verdict if tested else None,
        uses=tuple(tested.uses) if tested else (),
    )
    # Categories have no mean difference, and without a unit that both rated there is none to compute.
    if scored.dimension.is_named or not rated.any():
        return known
    level = scored.dimension.measurement_level
    differences = (scored.scores.judge - scored.scores.human_means)[rated]
    return replace(
        known,
        # Without an interval, which takes long and decides nothing.
        alpha=alpha_with_people(scored.scores, measurement_level=level).with_mean.value,
        bias=float(differences.mean()),
    )


@dataclass(frozen=True)
class KeptDimension:
    """The units of a dimension that a policy leaves to its judge. judges: the deciders, if it has several.

    all_stay: True if every unit with a value stays with one judge. errors: among the rated units that stay.
    audit: among the audited ones, if they contradict the policy.
    """

    dimension: FrozenDimension
    kept: int
    all_stay: bool
    errors: KnownErrors | None = None
    r_tells: bool = False
    certificate: CertifiedPart | None = None
    audit: KnownErrors | None = None
    judges: Sequence[Judge] = ()


@dataclass(frozen=True)
class DimensionVerdict:
    dimension: FrozenDimension
    kept: int
    verdict: JudgeVerdict
    refusal: str | None


@dataclass(frozen=True)
class PolicyVerdict:
    """The verdicts by dimension; audit: a contradiction over all dimensions together."""

    policy: RoutingPolicy
    dimensions: Sequence[DimensionVerdict]
    audit: str = ""

    @property
    def refused(self) -> list[DimensionVerdict]:
        return [each for each in self.dimensions if each.refusal]

    @property
    def reasons(self) -> list[str]:
        audit = [gettext("All dimensions: {reason}").format(reason=self.audit)] if self.audit else []
        return audit + [f"{each.dimension.name}: {each.refusal}" for each in self.refused]

    @property
    def refusal(self) -> str:
        if not self.reasons:
            return ""
        names = ", ".join(each.dimension.name for each in self.refused) or gettext("all dimensions")
        message = gettext("{judge} must not decide {dimensions}. {remedy}")
        return message.format(judge=self.policy.rts.name, dimensions=names, remedy=self._remedy)

    @property
    def message(self) -> str:
        return " ".join([self.refusal, *self.reasons]).strip()

    @property
    def _remedy(self) -> str:
        if self.policy.status == RoutingPolicy.Status.ROUTED:
            return gettext("Do not report its values there; send these units to people.")
        if self.policy.rule == RoutingPolicy.Rule.CERTIFICATE:
            return gettext("Sample a calibration of other dimensions, and let people rate these.")
        return gettext("Send each whole dimension to people (set its r to 1), or sample a calibration.")


def policy_verdict(
    policy: RoutingPolicy,
    parts: Sequence[KeptDimension],
    audit: str = "",
    *,
    is_fresh: bool = False,
    known: EvidenceOf | None = None,
) -> PolicyVerdict:
    """Return the verdict on each dimension of a policy, saved or not; is_fresh: see `evidence_of`.

    known: the evidence on the policy's first judge, if it was read before.
    """
    deciding = [each.judges or (policy.rts,) for each in parts]
    judges = {judge.pk: judge for each in deciding for judge in each}
    found_of = {
        pk: known
        if known is not None and pk == policy.rts_id
        else evidence_of(policy.project, judge, is_fresh=is_fresh)
        for pk, judge in judges.items()
    }
    # A partner decides no unit, but R and closeness depend on its answers, so its alarms count too.
    has_drifted = alarms_of(judges_of_policy(policy)).exists()
    found = []
    for part, own in zip(parts, deciding, strict=True):
        verdicts = [verdict_on_dimension(part, found_of[judge.pk], has_drifted=has_drifted) for judge in own]
        # One judge that must not decide is enough to reject the units of all of them.
        found.append(next((verdict for verdict in verdicts if verdict.refusal), verdicts[0]))
    return PolicyVerdict(policy, found, audit)


def verdict_on_dimension(
    part: KeptDimension, known: EvidenceOf, *, has_drifted: bool = False
) -> DimensionVerdict:
    """Return the verdict on units that may stay with a judge. has_drifted: any judge of the policy."""
    found = known.get(part.dimension.key, JudgeEvidence())
    evidence = replace(
        found,
        has_drifted=has_drifted or found.has_drifted,
        r_tells=part.r_tells,
        certificate=part.certificate,
        errors=part.errors,
        audit=part.audit,
    )
    verdict = judge_verdict(evidence)
    refusal: str | None = None
    if part.kept and verdict.refuses:
        refusal = verdict.says
    # A judge that may decide some units needs more evidence before it decides all of them.
    elif part.kept and part.all_stay and verdict.use is not Use.ALL and not evidence.may_decide_all:
        refusal = evidence.why_not_all
    return DimensionVerdict(part.dimension, part.kept, verdict, refusal)


def verdict_of_plan(
    policy: RoutingPolicy,
    dimensions: Sequence[FrozenDimension],
    decided: Decided,
    items: int,
    told: Mapping[str, bool],
    *,
    is_fresh: bool,
    known: EvidenceOf | None = None,
) -> PolicyVerdict:
    """Return the verdict on a plan of a policy. items: their number. told: of `check_r_by_dimension`."""
    certificates = {each.dimension.id: each.certificate for each in decided.certified}
    parts = []
    for one in dimensions:
        # Audited units stay with the judge: people rate them only to check it.
        sent = [unit for unit in decided.units if unit.dimension == one.id and unit.why != Why.AUDIT]
        errors, certificate = decided.kept.get(one.key), certificates.get(one.id)
        judges = decided.judges_of(one.id)
        parts.append(
            KeptDimension(
                dimension=one,
                kept=items - len(sent),
                # Units without a value can never stay, so they do not make a part of all.
                all_stay=all(unit.why == Why.NO_VALUE for unit in sent) and len(judges) < 2,
                errors=errors.errors(policy.risk) if errors else None,
                r_tells=told.get(one.key, False),
                # A lapsed certificate bounds no errors of the present judgments.
                certificate=certified_part(certificate) if certificate and not decided.lapses else None,
                judges=judges,
            )
        )
    return policy_verdict(policy, parts, is_fresh=is_fresh, known=known)


def check_r_by_dimension(validities: Mapping[str, Validity]) -> dict[str, bool]:
    """Return by dimension key True if R predicts the judge's agreement with people, by Holm's correction."""
    adjusted = holm_by_key({key: found.p_value for key, found in validities.items()})
    return {key: r_tells(found, adjusted.get(key)) for key, found in validities.items()}


def certified_part(certificate: Certificate, known: KnownErrors | None = None) -> CertifiedPart:
    constant = certificate.controls["constant"]
    certified = constant["threshold"] is not None
    return CertifiedPart(
        kept=certificate.kept,
        units=certificate.units,
        constant=float(constant["value"]) if certified else None,
        constant_share=float(constant["kept_share"]) if certified else None,
        known=known,
    )


@dataclass(frozen=True)
class ThresholdStep:
    """The units that stay at an r.

    ratings_saved: the approximate number of ratings that they save, after audits.

    verdict: on these units, the same as for a policy with this r.
    """

    threshold: float
    kept: PartOfUnits
    ratings_saved: int
    verdict: DimensionVerdict


@dataclass(frozen=True)
class ThresholdAdvice:
    """The curve over r on a dimension, by increasing r, the r to choose (None for none), and the reason."""

    dimension: FrozenDimension
    units: int
    steps: Sequence[ThresholdStep]
    chosen: ThresholdStep | None
    says: str


def advise_thresholds(
    policy: RoutingPolicy,
    dimensions: Sequence[FrozenDimension],
    cells: Sequence[PolicyCell],
    told: Mapping[str, bool],
    known: EvidenceOf,
) -> list[ThresholdAdvice]:
    """Return the advice on each dimension.

    The chosen r saves the most ratings under two conditions: the verdict allows it, and the expected share of
    wrong units does not exceed the accepted one. An r that divides the systems is chosen only if R predicts
    agreement with people: else a small share is chance. cells: of any r. told: True if R predicts agreement,
    by dimension key.
    """
    found = []
    for one in dimensions:
        own = [each for each in cells if each.dimension == one]
        r_tells, units = told.get(one.key, False), sum(each.units for each in own)
        steps = _steps(policy, one, own, r_tells, known)
        # The steps with few enough expected errors, and the first of them that the verdict allows.
        shares = [each.kept.expected_share for each in steps if each.kept.expected_share is not None]
        few_wrong = [
            each
            for each in steps
            if each.kept.expected_share is not None and each.kept.expected_share <= policy.risk
        ]
        # Fewer units stay at each further step, so the first acceptable one saves the most ratings.
        best = next((each for each in few_wrong if not each.verdict.refusal), None)
        if best is None:
            # No r is allowed: the reason is that of the best step, or that too many errors are expected.
            refused = [*few_wrong, *steps][0].verdict
            reason = refused.refusal or refused.verdict.says
            if shares and min(shares) > policy.risk and refused.verdict.ground is not Ground.ALPHA:
                reason = gettext(
                    "At every r, {least:.0f} % or more of the units that stay are expected to be wrong; "
                    "{accepted:.4g} % is accepted."
                ).format(least=100 * min(shares), accepted=100 * policy.risk)
            chosen, says = None, gettext("No r. {reason}").format(reason=reason)
        elif not best.ratings_saved:
            chosen, says = None, gettext("No r. People audit every unit that stays, so r saves no ratings.")
        # The first step divides no systems, so it does not need an R that predicts agreement.
        elif best is not steps[0] and not r_tells:
            message = gettext(
                "No r. At r = {r:g} few enough units are expected to be wrong, but R does not predict "
                "agreement with people, so that may be chance."
            )
            chosen, says = None, message.format(r=best.threshold)
        else:
            message = gettext(
                "r = {r:g} saves most, about {saved:,} ratings. {kept:,} of {units:,} units stay, about "
                "{wrong:,} of them wrong ({share:.0f} %; {accepted:.4g} % is accepted)."
            )
            chosen, says = (
                best,
                message.format(
                    r=best.threshold,
                    saved=best.ratings_saved,
                    kept=best.kept.units,
                    units=units,
                    wrong=round(best.kept.expected_wrong),
                    share=100 * (best.kept.expected_share or 0),
                    accepted=100 * policy.risk,
                ),
            )
        found.append(ThresholdAdvice(one, units, steps, chosen, says))
    return found


def fewest_decimals(low: float, below: float) -> float:
    """Return the shortest decimal number from `low` on and below `below`, with a maximum of 1."""
    for decimals in range(2, 10):
        # Rounded up: people rate units whose R equals r, so r must not fall below `low`.
        found = ceil(low * float(10**decimals)) / float(10**decimals)
        if low <= found < below:
            return min(found, 1.0)
    return low


def _steps(
    policy: RoutingPolicy,
    dimension: FrozenDimension,
    cells: Sequence[PolicyCell],
    r_tells: bool,
    known: EvidenceOf,
) -> list[ThresholdStep]:
    """Return a step for each r that leaves other systems to the judge; at the last none stays."""
    held = sorted({each.decision.held_against for each in cells if each.decision.held_against is not None})
    # Decisions change only where r passes an R, so these and -1, the least r, are all steps.
    lows = held if held[:1] == [-1.0] else [-1.0, *held]
    steps = []
    # 2 is above every R, so the last step has no upper limit of its own.
    for low, below in zip(lows, [*lows[1:], 2.0], strict=True):
        stay = [
            each
            for each in cells
            if each.decision.held_against is not None and each.decision.held_against > low
        ]
        kept = sum_parts(each.errors for each in stay)
        # A unit that stays saves its ratings, except for the share that is audited.
        saved = sum(
            each.errors.units * (1 - audited_share(policy, each.errors.units))
            for each in stay
            if each.errors.units
        )
        part = KeptDimension(
            dimension=dimension,
            kept=kept.units,
            all_stay=len(stay) == len(cells),
            errors=kept.errors(policy.risk),
            r_tells=r_tells,
        )
        steps.append(
            ThresholdStep(
                threshold=fewest_decimals(low, below),
                kept=kept,
                ratings_saved=round(policy.raters * saved),
                verdict=verdict_on_dimension(part, known),
            )
        )
    return steps


def curve_of_advice(policy: RoutingPolicy, advice: Sequence[ThresholdAdvice]) -> Data | None:
    """Return the expected share of wrong units and the share of saved ratings by r, for each dimension.

    None without advice, or if no dimension has a forecast.
    """
    wrong, saved = gettext("wrong among units that stay"), gettext("ratings saved")
    accepted, advised = gettext("accepted share"), gettext("advised r")
    points: list[Data] = []
    for each in advice:
        steps = [step for step in each.steps if step.kept.expected_share is not None]
        if not steps:
            continue
        # Every unit with an R stays at the first step. Its point is just below the least R.
        least = max(-1.0, min((step.threshold for step in steps[1:]), default=0.0) - 0.05)
        thresholds = [max(step.threshold, least) for step in steps]
        panel = each.dimension.name

        # The default keeps the panel of this turn of the loop.
        def point(series: str, x: float, value: float, note: str, panel: str = panel) -> Data:
            return {
                "panel": panel,
                "row": "",  # panels without row labels are side by side
                "series": series,
                "name": series,
                "x": x,
                "value": value,
                "note": note,
            }

        for x, step in zip(thresholds, steps, strict=True):
            share = step.kept.expected_share or 0.0
            note = gettext(
                "r = {r:g}: {kept:,} units stay, about {wrong:,} wrong ({share:.0f} %); about {saved:,} "
                "ratings saved"
            ).format(
                r=step.threshold,
                kept=step.kept.units,
                wrong=round(step.kept.expected_wrong),
                share=100 * share,
                saved=step.ratings_saved,
            )
            note = f"{panel}, {note}"
            share_saved = step.ratings_saved / (policy.raters * each.units)
            points.append(point(wrong, x, share, note))
            points.append(point(saved, x, share_saved, note))
            if step is each.chosen:
                points.append(point(advised, x, share, f"{panel}: {each.says}"))
        note = gettext("accepted: {share:.4g} %").format(share=100 * policy.risk)
        points += [point(accepted, x, policy.risk, note) for x in (thresholds[0], thresholds[-1])]
    if not points:
        return None
    return {
        "kind": "lines",
        "key": "advice",
        "title": gettext("Expected errors and saved ratings by r"),
        "points": points,
        "across": "r",
        "up": gettext("share"),
        "series": [wrong, saved, accepted, advised],
        "lines": [],
    }
