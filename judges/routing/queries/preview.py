"""Preview of a routing policy: the units for people, the required ratings, and alerts about its judge."""

import hashlib
import json
from bisect import bisect_right
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from django.urls import reverse
from django.utils.translation import gettext

from agreement.reliability import LEAST_RATINGS
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_at
from annotate.core.models import AssignedUnit, Membership, Project, Role, Round
from annotate.core.rounds import round_one
from annotate.rating.queries.assignments import AssignmentsByUnit, Unit, assignments_by_unit, median_seconds
from annotate.watching.registry import Need
from judges.core.errors import invalid_field
from judges.core.models import Judge, RoutedUnit, RoutingPolicy
from judges.results.queries.pairings import Pairing
from judges.results.queries.scores import material_of
from judges.routing.queries.audit import mean_share
from judges.routing.queries.calibration_plans import ratings_asked, warn_of_few
from judges.routing.queries.route_by_certificates import decide_by_certificate
from judges.routing.queries.route_by_reliability import (
    IndicatorsNotKeptError,
    decide_by_indicator,
    measure,
    remember,
)
from judges.routing.queries.state import describe_stops, policies_of, routed_policy, routing_state
from judges.routing.queries.units import Decided, PlannedUnit, PolicyCell, Why
from judges.routing.queries.verdicts import (
    DimensionVerdict,
    PolicyVerdict,
    ThresholdAdvice,
    advise_thresholds,
    check_r_by_dimension,
    evidence_of,
    fewest_decimals,
    judges_of_policy,
    verdict_of_plan,
    version_of_evidence,
)
from judges.runs.queries.drift import answering_models, describe_change


@dataclass(frozen=True)
class RoutingPlan:
    """The effect of a policy on the present judgments.

    seconds_per_rating: None if no time was measured. refusal: the reason why it cannot be routed, or empty.
    verdict: on the judge by dimension, of a draft; the state of a routed policy has its own. advice: on r by
    dimension, of a draft by R.
    """

    policy: RoutingPolicy
    round: Round | None
    dimensions: Sequence[FrozenDimension]
    decided: Decided
    all_units: int
    rated_units: frozenset[Unit]
    assignments: AssignmentsByUnit
    seconds_per_rating: float | None
    annotators: int
    refusal: str
    verdict: PolicyVerdict | None = None
    advice: Sequence[ThresholdAdvice] = ()

    @property
    def units(self) -> Sequence[PlannedUnit]:
        return self.decided.units

    @property
    def verdicts(self) -> Sequence[DimensionVerdict]:
        return self.verdict.dimensions if self.verdict else ()

    @property
    def advice_caveat(self) -> str:
        if not self.advice:
            return ""
        return gettext(
            "This is a forecast, not a guarantee: R has one value for each system, and {systems} systems "
            "certify nothing. For a bound on errors, calibrate a certificate."
        ).format(systems=len(self.rows))

    @property
    def rows(self) -> list[tuple[str, list[PolicyCell]]]:
        found: dict[str, list[PolicyCell]] = {}
        for cell in self.decided.cells:
            found.setdefault(cell.system, []).append(cell)
        return list(found.items())

    @cached_property
    def counts(self) -> Counter[str]:
        return Counter(str(unit.why) for unit in self.units)

    @property
    def audited(self) -> int:
        return self.counts[Why.AUDIT]

    @property
    def audited_share(self) -> float | None:
        """Return the share of staying units that is audited on average, which the minimum may raise."""
        return mean_share(self.decided.audit)

    @property
    def sent(self) -> int:
        """Return the number of units for people because the judge is unreliable there, or has no value."""
        return len(self.units) - self.audited

    @property
    def kept(self) -> int:
        """Return the number of units that stay with the judge, including audited ones."""
        return self.all_units - self.sent

    @property
    def items(self) -> int:
        return len({unit.item for unit in self.units})

    @cached_property
    def ratings(self) -> int:
        return ratings_asked((each.unit for each in self.units), self.policy.raters, self.assignments)

    @property
    def seconds(self) -> float | None:
        return None if self.seconds_per_rating is None else self.seconds_per_rating * self.ratings

    @property
    def warnings(self) -> list[str]:
        found = []
        if self.annotators < self.policy.raters:
            found.append(warn_of_few(self.annotators, self.policy.raters))
        rts, mcq = self.policy.rts, self.policy.mcq
        if self.policy.rule == RoutingPolicy.Rule.INDICATOR and mcq and (says := Pairing(rts, mcq).warning):
            found.append(says)
        if self.units and not self.audited:
            found.append(
                gettext(
                    "The audit samples no unit of the judge, so it cannot show the judge's errors. "
                    "Raise the audit share."
                )
                if self.kept
                else gettext("Nothing stays with the judge.")
            )
        cells = self.decided.audit
        if few := sum(each.too_few for each in cells):
            found.append(
                gettext(
                    "In {few} of {count} cells (a system on a dimension) that stay, fewer than "
                    "{least} units are audited: their intervals will come with a warning. Raise the "
                    "minimum number of audited units, or report all systems together."
                ).format(few=few, count=len(cells), least=LEAST_RATINGS)
            )
        if full := sum(each.share == 1 for each in cells):
            found.append(
                gettext(
                    "In {full} of {count} cells (a system on a dimension) that stay, every unit is "
                    "audited: people rate all of them. Lower the minimum number of audited units to "
                    "save ratings."
                ).format(full=full, count=len(cells))
            )
        return found

    @cached_property
    def digest(self) -> str:
        """Return a digest that is equal exactly for plans that send the same units for the same reasons."""
        # Without messages and R, because they change no assignment.
        units = sorted((*unit.unit, unit.why, unit.inclusion_probability) for unit in self.units)
        return hashlib.sha256(json.dumps([self.policy.raters, units]).encode()).hexdigest()[:20]


def routing_plan(policy: RoutingPolicy, project: Project, *, preview: bool = False) -> RoutingPlan:
    """Return the present effect of a policy, saved or not, deterministically. Up to 30 queries.

    preview: R is remembered from one r to the next; commands that route by the plan do not set it.
    """
    round = round_one(project)
    guideline = guideline_at(project, round)
    material = material_of(project, round, guideline)
    if policy.rule == RoutingPolicy.Rule.INDICATOR:
        decided = decide_by_indicator(policy, material, preview=preview)
    else:
        decided = decide_by_certificate(policy, material)
    assignments = assignments_by_unit(round)
    is_draft = policy.status == RoutingPolicy.Status.DRAFT
    verdict, advice = None, []
    if is_draft:
        keys = (one.key for one in material.dimensions)
        # There are no validities by certificates.
        told = check_r_by_dimension(dict(zip(keys, decided.validities, strict=False)))
        is_by_r = policy.rule == RoutingPolicy.Rule.INDICATOR
        # Read once, for the verdict and for the advice.
        known = evidence_of(project, policy.rts, is_fresh=not preview) if is_by_r else None
        verdict = verdict_of_plan(
            policy,
            material.dimensions,
            decided,
            len(material.items),
            told,
            is_fresh=not preview,
            known=known,
        )
        if known is not None:
            advice = advise_thresholds(policy, material.dimensions, decided.cells, told, known)
    closed = ""
    if round is not None and not round.is_open:
        closed = gettext(
            "Round I is closed, so nothing can be routed to people any more; routing needs a new project."
        )
    plan = RoutingPlan(
        policy=policy,
        round=round,
        dimensions=material.dimensions,
        decided=decided,
        all_units=len(material.items) * len(material.dimensions),
        rated_units=frozenset(
            (item, one.id)
            for one in material.dimensions
            if one.key in material.rated
            for item in material.rated[one.key].items.tolist()
        ),
        assignments=assignments,
        seconds_per_rating=median_seconds(project),
        annotators=Membership.objects.filter(project=project, role=Role.ANNOTATOR, active=True).count(),
        refusal=decided.refusal or closed or (verdict.message if verdict else ""),
        verdict=verdict,
        advice=advice,
    )
    # A routed policy may have all its ratings; a draft that needs none would route nothing.
    if plan.refusal or plan.ratings or not is_draft:
        return plan
    nothing = gettext(
        "There is nothing to route: no unit would go to people that has not its raters in Round I already."
    )
    return replace(plan, refusal=nothing)


def threshold_within(policy: RoutingPolicy, budget: int, *, preview: bool = False) -> float:
    """Return the largest r that requires up to `budget` ratings, audits included.

    The policy, saved or not, needs no threshold; dimensions with their own r keep it. r has the fewest
    decimals that distinguish it from the next one. Raises InvalidValueError if even the least r requires
    more, and in a preview IndicatorsNotKeptError like `decide_by_indicator`.
    """
    round = round_one(policy.project)
    material = material_of(policy.project, round, guideline_at(policy.project, round))
    # `decisions` needs an r; R itself does not depend on it.
    policy.threshold = -1.0
    # Outside `ratings_at`: every r uses the same values, R and assignments.
    measured, assignments = measure(policy, material, preview=preview), assignments_by_unit(round)
    decided = measured.decisions(policy)
    # The plan changes only where r passes an R; dimensions with their own r do not change.
    steps = sorted(
        {
            one.held_against
            for one in decided.values()
            if one.held_against is not None and one.dimension not in policy.thresholds
        }
    )
    steps = [*([] if -1.0 in steps else [-1.0]), *steps]

    def ratings_at(step: float) -> int:
        policy.threshold = step
        units, _ = measured.divide(policy, measured.decisions(policy))
        return ratings_asked((each.unit for each in units), policy.raters, assignments)

    # A larger r never needs fewer ratings, so a binary search makes few plans.
    affordable = bisect_right(steps, budget, key=ratings_at)  # each step that it goes beyond was affordable
    if not affordable:
        message = gettext(
            "People must give {least} ratings in any case, for the audit and for cells without R:"
            " {budget} are not enough. Audit fewer units, or use fewer raters for each."
        )
        message = message.format(least=ratings_at(steps[0]), budget=budget)
        raise invalid_field("budget", message)
    # 2 is above every R, so it limits the last step.
    return fewest_decimals(steps[affordable - 1], [*steps[affordable:], 2.0][0])


@dataclass(frozen=True)
class RoutingProposal:
    """The present decisions of a routed policy.

    add: units to send to people. change: units that are with people already, for another reason now. drop:
    unstarted units that would no longer be sent. begun: the number of started units that would no longer be
    sent, or not with certainty, and stay.
    """

    add: Sequence[PlannedUnit]
    change: Sequence[PlannedUnit]
    drop: Sequence[RoutedUnit]
    begun: int

    @property
    def is_empty(self) -> bool:
        return not (self.add or self.change or self.drop)

    @cached_property
    def digest(self) -> str:
        """Return a digest that is equal exactly for proposals with the same changes."""
        parts = [
            sorted((*unit.unit, unit.why, unit.inclusion_probability) for unit in (*self.add, *self.change)),
            sorted(unit.pk for unit in self.drop),
        ]
        return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:20]


def proposal_of(policy: RoutingPolicy, plan: RoutingPlan, verdict: PolicyVerdict) -> RoutingProposal:
    """Return the changes of a routed policy to become `plan`. Two queries.

    verdict: on the policy as routed. No unit returns to a judge that must not decide it.
    """
    refused = {each.dimension.id for each in verdict.dimensions if each.verdict.refuses or verdict.audit}
    there = {(unit.item_id, unit.dimension_id): unit for unit in policy.units.all()}
    wanted = {unit.unit: unit for unit in plan.units}
    assigned = AssignedUnit.objects.filter(
        assignment__round=policy.round_id,
        assignment__origin=policy.origin,
        assignment__started_at__isnull=False,
    )
    begun = set(assigned.values_list("assignment__item", "dimension"))
    # Units that are with people already, with another reason or probability by the present judgments.
    moved = {
        unit
        for unit, each in wanted.items()
        if unit in there
        and (each.why, each.inclusion_probability) != (there[unit].why, there[unit].inclusion_probability)
    }
    # People rate started units in any case, so these keep the higher probability.
    lowered = {
        unit
        for unit in moved & begun
        if wanted[unit].inclusion_probability < there[unit].inclusion_probability
    }
    # Units that would stay with the judge by the present judgments.
    gone = there.keys() - wanted.keys()
    return RoutingProposal(
        add=[each for unit, each in wanted.items() if unit not in there],
        change=[wanted[unit] for unit in sorted(moved - lowered)],
        drop=[there[unit] for unit in sorted(gone - begun) if there[unit].dimension_id not in refused],
        begun=len(lowered) + len(gone & begun),
    )


Status = RoutingPolicy.Status


def verdicts_of_policies(project: Project) -> list[tuple[RoutingPolicy, PolicyVerdict | None]]:
    """Return a project's policies, the newest first, with their verdicts."""
    return [(policy, _verdict(policy, project)) for policy in policies_of(project)]


def _verdict(policy: RoutingPolicy, project: Project) -> PolicyVerdict | None:
    """Return None for a withdrawn policy, and while a worker computes R of many units."""
    if policy.status == Status.ROUTED:
        state = routing_state(policy, project)
        return state.verdict if state else None
    if policy.status == Status.DRAFT:
        try:
            return routing_plan(policy, project, preview=True).verdict
        except IndicatorsNotKeptError:
            return None
    return None


def needs_of_routing(project: Project) -> list[Need]:
    """Return what the routed policy must not leave to its judge, by dimension, and judges with a new model.

    The sentences are remembered until a rating or a judgment changes: one query without a routed policy, else
    eight, or those of `routing_state` and one for each judge.
    """
    policy = routed_policy(project)
    if policy is None:
        return []
    judges = list(Judge.objects.filter(pk__in=judges_of_policy(policy)).order_by("pk"))
    sent = policy.units.count()
    stopped = describe_stops(policy)
    # Following a proposal and stopping a judge change no judgment, so both have their part in the key.
    made_from = ["needs", policy.pk, sent, stopped, version_of_evidence(project, judges)]

    def compute() -> tuple[Sequence[str], Sequence[tuple[int, str]]]:
        state = routing_state(policy, project)
        changes = [(judge.pk, describe_change(answering_models(judge))) for judge in judges]
        return state.verdict.reasons if state else [], [each for each in changes if each[1]]

    page = reverse("routing_policy", args=[project.slug, policy.pk])
    message = gettext("{policy}: {judge} must not decide these units. {reason}")
    reasons, changes = remember(made_from, compute)
    return [
        *(
            Need(message.format(policy=policy, judge=policy.rts, reason=reason), page, is_urgent=True)
            for reason in reasons
        ),
        # While the round is open an admin can still find raters for these units.
        *(Need(f"{policy}: {says}", page) for says in stopped if policy.round and policy.round.is_open),
        *(
            Need(f"{judge.name}: {says}", reverse("judge_watch", args=[project.slug, pk]))
            for pk, says in changes
            for judge in judges
            if judge.pk == pk
        ),
    ]
