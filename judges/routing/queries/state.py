"""Progress of a routed policy: the ratings of people, and the audit of the units that stay."""

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext

from agreement import Interval
from agreement.comparison import correlation_called
from agreement.reliability import AuditFinding, KnownErrors, bounds, more_than_one_point, validity
from annotate.core.guideline import FrozenGuideline
from annotate.core.models import Project, Round
from annotate.core.rounds import round_one
from annotate.rating.queries.assignments import Unit, UnitProgress, unit_progress
from judges.core.models import Calibration, Certificate, Judge, RoutedUnit, RoutingPolicy
from judges.results.queries.confidences import loss_of
from judges.results.queries.scores import material_of, samples_of, scores_of
from judges.routing.queries.audit import (
    Audited,
    check_in_order,
    exact_share,
    rating_times,
    together,
    weighted_share,
)
from judges.routing.queries.units import KeptAgreement, measure_kept_agreement, part_of
from judges.routing.queries.verdicts import (
    KeptDimension,
    PolicyVerdict,
    certified_part,
    check_r_by_dimension,
    policy_verdict,
)

Why = RoutedUnit.Why


@dataclass(frozen=True)
class RoutedCount:
    why: str
    units: int
    complete: int
    rated: int
    cannot_rate: int
    missing: int


@dataclass(frozen=True)
class AuditResult:
    """The audited units of one dimension (or of all) that people rated after the threshold was settled.

    errors: those on which the judge is more than a point away from people's mean, or what a certificate calls
    wrong. share: of them in all that stays, None where nothing was rated; weighed, with an asymptotic
    interval, where units were drawn with probabilities of their own (unequal). exact: its exact interval,
    over units thinned to one probability. finding: of the bets on a larger risk, valid at every look; with a
    certificate, the risk is the one that it leaves for units that nobody had rated. None if nothing can
    contradict. contradicts: whether it does. stops: whether it does over documents whose ratings are
    complete, which no later rating withdraws.
    """

    name: str
    audited: int
    rated: int
    errors: int
    share: float | None
    asymptotic: Interval | None
    exact: Interval | None
    unequal: bool
    agreement: KeptAgreement | None
    finding: AuditFinding | None = None
    stops: bool = False

    @property
    def contradicts(self) -> bool:
        return self.finding is not None and self.finding.contradicts


@dataclass(frozen=True)
class StageAudit:
    """The audited units that one of several judges decides, over all dimensions.

    errors: wrong ones of the rated. finding: of the bets on a larger share of wrong units than the policy
    accepts, at a level divided among the judges. kept: how many units the judge decides. stops: see
    `AuditResult`.
    """

    judge: Judge
    kept: int
    audited: int
    rated: int
    errors: int
    finding: AuditFinding
    stops: bool

    @property
    def says(self) -> str:
        if not self.finding.contradicts:
            return ""
        message = gettext(
            "The audit contradicts {judge}: it is wrong on {wrong:,} of {rated:,} audited units. Send its "
            "units to people."
        )
        return message.format(judge=self.judge, wrong=self.errors, rated=self.rated)


@dataclass(frozen=True)
class RoutingState:
    """How far a routed policy is. stages: where it has several judges, the audit of each.

    calibrating: audited units that are left out, since their ratings were there when r was settled. kept:
    what stays, by dimension. verdict: from the audit, and from the ratings before the policy was routed.
    stopped: what the audit stopped, with the reasons.
    """

    sent: Sequence[RoutedCount]
    total: RoutedCount
    audit: AuditResult
    audit_by_dimension: Sequence[AuditResult]
    calibrating: int
    kept: Sequence[KeptDimension]
    verdict: PolicyVerdict
    stages: Sequence[StageAudit] = ()
    stopped: Sequence[str] = ()


def routing_state(policy: RoutingPolicy, project: Project) -> RoutingState | None:
    """Return the progress of a routed policy, None for any other. Up to 31 queries."""
    round = round_one(project)
    if policy.status != RoutingPolicy.Status.ROUTED or round is None:
        return None
    units = _units_of(policy, project, round)
    # The audit by dimension, by judge, and over everything.
    audited, results, kept = _audit_by_dimension(policy, project, round, units)
    stages = _stage_audits(policy, units, audited)
    whole = _result(gettext("all dimensions"), audited, policy, None)
    contradictions = [each.says for each in stages if each.says]
    if whole.contradicts:
        message = gettext(
            "The audit contradicts the policy, the judge is wrong on {wrong:,} of {rated:,} audited units "
            "({share:.0f} %); {accepted:.4g} % is accepted."
        )
        message = message.format(
            wrong=whole.errors,
            rated=whole.rated,
            # A contradiction needs ratings, so `rated` is above 0.
            share=100 * whole.errors / whole.rated,
            accepted=100 * policy.risk,
        )
        contradictions.insert(0, message)
    return RoutingState(
        sent=[
            units.count(str(why.label), [unit for unit, each in units.why.items() if each == why])
            for why in Why
        ],
        total=units.count("all", list(units.why)),
        audit=whole,
        audit_by_dimension=results,
        calibrating=len(units.chances.keys() & units.seen),
        kept=kept,
        verdict=policy_verdict(policy, kept, " ".join(contradictions)),
        stages=stages,
        stopped=describe_stops(policy),
    )


def contradictions_of(policy: RoutingPolicy, project: Project) -> tuple[dict[int, str], dict[int, str]]:
    """Return what the audit of a policy contradicts so that no later rating withdraws it. 15 queries.

    These are the reasons by the ids of dimensions and of judges. policy: routed in Round I.
    """
    round = round_one(project)
    assert round is not None  # a routed policy has one
    units = _units_of(policy, project, round)
    audited, results, parts = _audit_by_dimension(policy, project, round, units)
    dimensions = {
        part.dimension.id: result.finding.reason
        for part, result in zip(parts, results, strict=True)
        if result.finding and result.stops
    }
    stages = _stage_audits(policy, units, audited)
    return dimensions, {each.judge.pk: each.says for each in stages if each.stops}


def deciders_of(policy: RoutingPolicy) -> dict[Unit, int]:
    """Return by unit the judge that decides it, if a policy has several. One query."""
    rows = policy.stage_decisions.values_list("item", "dimension", "judge")
    return {(item, dimension): judge for item, dimension, judge in rows}


def _stage_audits(policy: RoutingPolicy, units: "_PolicyUnits", audited: Audited) -> list[StageAudit]:
    deciders = units.deciders
    if not deciders:
        return []
    judges = Judge.objects.filter(pk__in=set(deciders.values())).in_bulk()
    # Each judge has a test of its own, so the tests share the level (Bonferroni).
    level = (1 - policy.confidence_level) / len(judges)
    found = []
    for pk, judge in sorted(judges.items()):
        own = audited.of(pk)
        # Units that calibrated are not evidence of the audit, so they are not in its population either.
        kept = {unit for unit, decider in deciders.items() if decider == pk and unit not in units.seen}
        given = own.losses[~np.isnan(own.losses)]
        # The page shows every rating; a judge is stopped only by documents that no later rating changes.
        finding, final = (
            check_in_order(each, policy.risk, units=len(kept), significance_level=level)
            for each in (own, own.of_complete_documents)
        )
        found.append(
            StageAudit(
                judge=judge,
                kept=sum(decider == pk for decider in deciders.values()),
                audited=len(own.losses),
                rated=len(given),
                errors=int(given.sum()),
                finding=finding,
                stops=final.contradicts,
            )
        )
    return found


@dataclass(frozen=True)
class _PolicyUnits:
    """The units that a policy sent to people.

    why: the reason for each. chances: the inclusion probability of each audited one. seen: units that people
    had rated for a calibration before. progress: of their ratings. deciders: as in `deciders_of`.
    """

    why: Mapping[Unit, str]
    chances: Mapping[Unit, float | None]
    seen: Set[Unit]
    progress: Mapping[Unit, UnitProgress]
    deciders: Mapping[Unit, int]

    def stay(self, items: Sequence[int], dimension: int) -> npt.NDArray[np.bool_]:
        # Units without a record stay with the judge, like audited ones.
        return np.array(
            [self.why.get((item, dimension), Why.AUDIT) == Why.AUDIT for item in items], dtype=bool
        )

    def count(self, why: str, units: Sequence[Unit]) -> RoutedCount:
        found = [self.progress[unit] for unit in units if unit in self.progress]
        return RoutedCount(
            why=why,
            units=len(units),
            complete=sum(not each.missing for each in found),
            rated=sum(each.rated for each in found),
            cannot_rate=sum(each.cannot_rate for each in found),
            missing=sum(each.missing for each in found),
        )


def _units_of(policy: RoutingPolicy, project: Project, round: Round) -> _PolicyUnits:
    # Assignments of calibrations serve the policy too.
    calibrations = Calibration.objects.filter(project=project)
    fields = policy.units.values_list("item", "dimension", "why", "inclusion_probability")
    sent = {(item, dimension): (why, chance) for item, dimension, why, chance in fields}
    return _PolicyUnits(
        why={unit: why for unit, (why, _) in sent.items()},
        chances={unit: chance for unit, (why, chance) in sent.items() if why == Why.AUDIT},
        seen=set(policy.calibration_units.values_list("item", "dimension")),
        progress=unit_progress(round, policy.origin, *(each.origin for each in calibrations)),
        deciders=deciders_of(policy),
    )


def _audit_by_dimension(
    policy: RoutingPolicy, project: Project, round: Round, units: _PolicyUnits
) -> tuple[Audited, list[AuditResult], list[KeptDimension]]:
    """Return the audited units of all dimensions, the result of each, and what stays there."""
    deciders, progress = units.deciders, units.progress
    material = material_of(project, round, FrozenGuideline.from_json(round.guideline.content))
    further = Judge.objects.filter(pk__in=set(deciders.values())).in_bulk()
    judges = {judge.pk: judge for judge in (policy.rts, policy.mcq) if judge} | further
    samples = samples_of(list(judges.values()), material)
    certificates = certificates_of(policy)
    times = rating_times(policy, round)
    # Units of the calibration have set the threshold, so they give no new evidence about it.
    fresh = units.chances.keys() - units.seen
    loss = loss_of(policy.calibration) if policy.calibration else more_than_one_point
    audited, results, parts, validities = [], [], [], {}
    for one in material.dimensions:
        # With one judge there are no stored decisions.
        by = np.array(
            [deciders.get((item, one.id), policy.rts_id) for item in material.items.tolist()], dtype=np.int64
        )
        # People and the judge that decides each item.
        keys, positions = np.unique(by, return_inverse=True)
        of_judges = [scores_of(material, one.key, samples[pk, one.key]) for pk in keys.tolist()]
        scores = replace(
            of_judges[0],
            judge=np.choose(positions, [each.judge for each in of_judges]),
            as_read=np.choose(positions, [each.as_read for each in of_judges]),
        )
        # Whether R predicts agreement is measured again, with the ratings since the routing.
        if policy.rule == RoutingPolicy.Rule.INDICATOR:
            other = scores_of(material, one.key, samples[policy.mcq_id or 0, one.key]).as_read
            measure = correlation_called(policy.coefficient, named=one.is_named)
            validities[one.key] = validity(scores, other, measure)
        own = np.array([(item, one.id) in fresh for item in material.items.tolist()], dtype=bool)
        # Judges may have learned from these documents.
        own &= ~material.in_development
        drawn = [(item, one.id) for item in material.items[own].tolist()]
        # The audited units without the ones that calibrated, and their errors.
        found = Audited(
            names=material.unit_names(drawn),
            losses=loss(scores.judge[own], scores.human_means[own]),
            chances=np.array([units.chances[unit] for unit in drawn], dtype=float),
            documents=material.documents[own],
            times=np.array([times.get(unit, np.nan) for unit in drawn], dtype=float),
            seed=policy.seed,
            complete=np.array(
                [unit in progress and not progress[unit].missing for unit in drawn], dtype=bool
            ),
            judges=by[own],
        )
        # The test against the accepted share, or against what the certificate still allows.
        result = _result(one.name, found, policy, measure_kept_agreement(one, scores, own))
        certificate = certificates.get(one.id)
        stay = units.stay(material.items.tolist(), one.id)
        if certificate:
            # What the certificate still allows concerns staying units without a rating at the routing.
            unseen = {(item, one.id) for item in material.items.tolist()} - units.seen
            unseen -= {unit for unit, why in units.why.items() if why != Why.AUDIT}
            # With several judges, the number of staying units is known only after all answers.
            kept = int(stay.sum()) if deciders else certificate.kept
            result = _against(certificate, kept, result, found, policy, len(unseen))
        audited.append(found)
        results.append(result)
        # The units that stay, for the verdict: errors there come from ratings before the routing.
        seen = np.array([(item, one.id) in units.seen for item in material.items.tolist()], dtype=bool)
        deciding = [further[pk] for pk in np.unique(by[stay]).tolist() if pk in further]
        parts.append(
            KeptDimension(
                dimension=one,
                kept=int(stay.sum()),
                # Units without a value can never stay, so they do not make a part of all.
                all_stay=bool((stay | np.isnan(scores.judge)).all()) and len(deciding) < 2,
                errors=part_of(scores, stay & seen, loss).errors(policy.risk),
                certificate=certified_part(certificate) if certificate else None,
                audit=KnownErrors(result.rated, result.errors, policy.risk, "audited units")
                if result.contradicts
                else None,
                judges=deciding,
            )
        )
    told = check_r_by_dimension(validities)
    return (
        together(audited),
        results,
        [replace(each, r_tells=told.get(each.dimension.key, False)) for each in parts],
    )


def _result(name: str, found: Audited, policy: RoutingPolicy, agreement: KeptAgreement | None) -> AuditResult:
    given = found.losses[~np.isnan(found.losses)]
    # With equal probabilities the plain mean estimates the share.
    share, asymptotic = (float(given.mean()) if len(given) else None), None
    if found.unequal:
        share, asymptotic = weighted_share(found, policy.confidence_level)
    finding = None
    # With a certificate `_against` tests another risk: the errors that the certificate still allows.
    if policy.calibration is None:
        level = 1 - policy.confidence_level
        finding = check_in_order(found, policy.risk, units=None, significance_level=level)
    return AuditResult(
        name=name,
        audited=len(found.losses),
        rated=len(given),
        errors=int(given.sum()),
        share=share,
        asymptotic=asymptotic,
        exact=exact_share(found, policy.confidence_level),
        unequal=found.unequal,
        agreement=agreement,
        finding=finding,
    )


def certificates_of(policy: RoutingPolicy) -> dict[int, Certificate]:
    """Return by dimension the certificates that a policy follows. One query, none by R."""
    if policy.calibration is None:
        return {}
    # Without a threshold a dimension leaves no unit to audit.
    found = policy.calibration.certificates.filter(threshold__isnull=False)
    return {each.dimension_id: each for each in found}


def _against(
    certificate: Certificate,
    kept: int,
    result: AuditResult,
    found: Audited,
    policy: RoutingPolicy,
    unseen: int,
) -> AuditResult:
    """Test an audit against the errors that a certificate leaves for the `unseen` units, which had no rating.

    The certificate allows a number of errors among all kept units. Errors found in calibration are not among
    the unseen.
    """
    # The calibration found some of the allowed errors already.
    allowed = int(bounds.largest_allowed(kept, policy.risk)) - (certificate.errors or 0)
    risk = allowed / unseen if unseen else 1.0
    # The certificate allows every unseen unit to be wrong, so no audit can contradict it.
    if risk >= 1:
        return result
    level = 1 - policy.confidence_level
    finding, final = (
        # The calibration may have found all errors that the certificate allows.
        check_in_order(each, max(risk, 0.0), units=unseen, significance_level=level)
        for each in (found, found.of_complete_documents)
    )
    return replace(result, finding=finding, stops=final.contradicts)


def describe_stops(policy: RoutingPolicy) -> list[str]:
    """Return a sentence for each dimension and judge that the audit stopped, with the reason. Two queries."""
    on_dimension = gettext("On {name} the judges stopped, and people rate all units. {reason}")
    of_judge = gettext("{name} stopped, and people rate its units. {reason}")
    dimensions = policy.stopped_dimensions.select_related("dimension").order_by("pk")
    stages = policy.stopped_stages.select_related("judge").order_by("pk")
    return [
        *(on_dimension.format(name=each.dimension.name, reason=each.reason) for each in dimensions),
        *(of_judge.format(name=each.judge.name, reason=each.reason) for each in stages),
    ]


def policies_of(project: Project) -> QuerySet[RoutingPolicy]:
    """Return a project's policies, the newest first, with `units_count` and `audited_count`. One query."""
    audited = Count("units", filter=Q(units__why=RoutedUnit.Why.AUDIT))
    policies = RoutingPolicy.objects.filter(project=project).select_related(
        "rts", "mcq", "routed_by", "calibration"
    )
    return policies.annotate(units_count=Count("units"), audited_count=audited).order_by("-pk")


def routed_policy(project: Project) -> RoutingPolicy | None:
    """Return the project's routed policy; there is a maximum of one. One query."""
    related = ("project", "rts", "mcq", "calibration", "round__guideline")
    found = RoutingPolicy.objects.filter(project=project, status=RoutingPolicy.Status.ROUTED)
    return found.select_related(*related).first()


def has_judge_pair(project: Project) -> bool:
    """Return True if there is an RTS and an MCQ judge. One query."""
    methods = project.judges.filter(method__in=["rts", "mcq"]).values_list("method", flat=True)
    return set(methods) == {"rts", "mcq"}
