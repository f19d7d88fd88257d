"""What a routing policy would do: R of systems on dimensions, what it decides, what it asks of people."""

import hashlib
import json
import zlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from annotate.agreement import Coefficient, Resampling
from annotate.guideline import FrozenDimension, FrozenGuideline
from annotate.models import Membership, Project, Role, Round
from annotate.queries.assigned import PlacesByUnit, Unit, median_seconds, places_by_unit
from annotate.queries.guidelines import current_guideline
from annotate.queries.rounds import round_one
from judges.comparison import CORRELATIONS, Scores
from judges.models import RoutedUnit, RoutingPolicy
from judges.queries.kept_units import KeptAgreement, kept_agreement
from judges.queries.routing_audit import audit_drawn
from judges.queries.scores import Material, material_of, samples_of, scores_of
from judges.reliability import (
    CellDecision,
    DecidedBy,
    IndicatorRule,
    Validity,
    decide,
    indicator,
    validity,
)

Why = RoutedUnit.Why


@dataclass(frozen=True)
class PlannedUnit:
    """A unit that the policy sends to people, and why."""

    item: int
    dimension: int
    why: RoutedUnit.Why
    reason: str
    decision: CellDecision
    inclusion_probability: float

    @property
    def unit(self) -> Unit:
        """Return the ids of item and dimension."""
        return self.item, self.dimension


@dataclass(frozen=True)
class Cell:
    """One system on one dimension: R, what it decides, and how many of its units go to people."""

    system: str
    dimension: FrozenDimension
    decision: CellDecision
    units: int
    sent: int
    audited: int

    @property
    def indicator(self) -> Coefficient:
        """Return R with its interval, or why there is none."""
        return self.decision.indicator


@dataclass(frozen=True)
class RoutingPlan:
    """Everything that a policy would do with the judgments as they are now.

    agreement: people beside the judge on what stays with it, by dimension; empty where nobody has rated that.
    validities: by dimension, whether R goes with the judge's agreement with people over systems.
    seconds_per_rating: None where no time was measured. refusal: why it cannot be routed, or nothing.
    """

    policy: RoutingPolicy
    round: Round | None
    dimensions: Sequence[FrozenDimension]
    cells: Sequence[Cell]
    units: Sequence[PlannedUnit]
    all_units: int
    agreement: Sequence[KeptAgreement]
    validities: Sequence[Validity]
    rated_units: frozenset[Unit]
    places: PlacesByUnit
    seconds_per_rating: float | None
    annotators: int
    refusal: str

    @property
    def rows(self) -> list[tuple[str, list[Cell]]]:
        """Return each system with its cells in the order of the dimensions."""
        found: dict[str, list[Cell]] = {}
        for cell in self.cells:
            found.setdefault(cell.system, []).append(cell)
        return list(found.items())

    @cached_property
    def counts(self) -> Counter[str]:
        """Return how many units go to people for each reason."""
        return Counter(str(unit.why) for unit in self.units)

    @property
    def audited(self) -> int:
        """Return how many units are drawn for the audit."""
        return self.counts[Why.AUDIT]

    @property
    def sent(self) -> int:
        """Return how many units go to people because the judge is not to be trusted, or says nothing."""
        return len(self.units) - self.audited

    @property
    def kept(self) -> int:
        """Return how many units stay with the judge, the audited among them."""
        return self.all_units - self.sent

    @property
    def items(self) -> int:
        """Return how many items people see."""
        return len({unit.item for unit in self.units})

    @cached_property
    def ratings(self) -> int:
        """Return how many ratings people are still to be asked for."""
        return sum(max(self.policy.raters - self.places.count(unit.unit), 0) for unit in self.units)

    @property
    def seconds(self) -> float | None:
        """Return how long that takes at the project's own median time per rating."""
        return None if self.seconds_per_rating is None else self.seconds_per_rating * self.ratings

    @property
    def warnings(self) -> list[str]:
        """Return what an admin should know before routing."""
        found = []
        if self.annotators < self.policy.raters:
            found.append(
                f"A unit is to be rated by {self.policy.raters} people, but the project has "
                f"{self.annotators}: invite more, or units stay incomplete."
            )
        if self.policy.rts.model != self.policy.mcq.model:
            found.append(
                f"These judges use different models, {self.policy.rts.model} and {self.policy.mcq.model}: R "
                "then says whether two models agree, not whether one agrees with itself."
            )
        if self.units and not self.audited:
            found.append(
                "The audit drew no unit of what stays with the judge, so no figure will tell how right that "
                "is; raise the audit share."
                if self.kept
                else "Nothing stays with the judge."
            )
        return found

    @cached_property
    def digest(self) -> str:
        """Return what is the same exactly for plans that send the same units for the same reasons."""
        units = sorted((*unit.unit, unit.why, unit.inclusion_probability) for unit in self.units)
        return hashlib.sha256(json.dumps([self.policy.raters, units]).encode()).hexdigest()[:20]


def rule_of(policy: RoutingPolicy, dimensions: Sequence[FrozenDimension]) -> IndicatorRule:
    """Return the paper's rule as the policy states it."""
    each = {one.key: float(policy.thresholds.get(one.key, policy.threshold)) for one in dimensions}
    return IndicatorRule(each, DecidedBy(policy.decided_by))


def routing_plan(policy: RoutingPolicy, project: Project) -> RoutingPlan:
    """Return what a policy, saved or not, would do now, in the same way every time. Ten queries at most."""
    round = round_one(project)
    guideline = FrozenGuideline.from_json(round.guideline.content) if round else current_guideline(project)
    material = material_of(project, round, guideline)
    judged = _judged(policy, material)
    systems = list(dict.fromkeys(material.systems))
    rule = rule_of(policy, material.dimensions)
    decisions = {
        (system, one.key): decide(rule, system, one.key, found)
        for one in material.dimensions
        for system, found in _indicators(policy, judged[one.key], one.key).items()
    }
    units = _units(policy, material, judged, decisions)
    places = places_by_unit(round)
    plan = RoutingPlan(
        policy=policy,
        round=round,
        dimensions=material.dimensions,
        cells=_cells(material, systems, decisions, units),
        units=units,
        all_units=len(material.items) * len(material.dimensions),
        agreement=_agreement(material, judged, units),
        validities=[_validity(policy, judged[one.key]) for one in material.dimensions],
        rated_units=_rated(material),
        places=places,
        seconds_per_rating=median_seconds(project),
        annotators=Membership.objects.filter(project=project, role=Role.ANNOTATOR, active=True).count(),
        refusal=_without_values(policy, judged) or _refusal_of(round),
    )
    if plan.refusal or plan.ratings or policy.status != RoutingPolicy.Status.DRAFT:
        return plan
    nothing = (
        "There is nothing to route: no unit would go to people that has not its raters in Round I already."
    )
    return replace(plan, refusal=nothing)


@dataclass(frozen=True)
class _Judged:
    """Both judges on one dimension: their values (items,) beside people."""

    scores: Scores
    other: npt.NDArray[np.float64]


def _judged(policy: RoutingPolicy, material: Material) -> dict[str, _Judged]:
    samples = samples_of([policy.rts, policy.mcq], material)
    found = {}
    for one in material.dimensions:
        rts, mcq = (
            scores_of(material, one.key, samples[judge.pk, one.key]) for judge in (policy.rts, policy.mcq)
        )
        found[one.key] = _Judged(rts, mcq.judge)
    return found


def _indicators(policy: RoutingPolicy, judged: _Judged, key: str) -> dict[str, Coefficient]:
    """R by system. Each has a generator of its own: other systems' judgments do not move its interval."""
    plan = Resampling(confidence_level=policy.confidence_level)
    measure = CORRELATIONS[policy.coefficient]
    found = {}
    for index, system in enumerate(judged.scores.system_names):
        own = judged.scores.systems == index
        generator = np.random.default_rng([policy.seed, zlib.crc32(f"{key}/{system}".encode())])
        (one,) = indicator(
            judged.scores.of_items(own), judged.other[own], measure, generator=generator, resampling=plan
        )
        found[system] = one.coefficient
    return found


def _validity(policy: RoutingPolicy, judged: _Judged) -> Validity:
    """The correlation of R with P over systems; without an interval, which would take as long as all else."""
    return validity(judged.scores, judged.other, CORRELATIONS[policy.coefficient])


def _units(
    policy: RoutingPolicy,
    material: Material,
    judged: Mapping[str, _Judged],
    decisions: Mapping[tuple[str, str], CellDecision],
) -> list[PlannedUnit]:
    """Return what goes to people: whole cells, units without a value, and the audit of all that stays."""
    sent, kept = [], []
    for one in material.dimensions:
        values, others = judged[one.key].scores.judge, judged[one.key].other
        rows = zip(material.items.tolist(), material.systems, values, others, strict=True)
        for item, system, value, other in rows:
            decision = decisions[system, one.key]
            if decision.to_humans:
                why = Why.THRESHOLD if decision.held_against is not None else Why.UNDEFINED
                sent.append(PlannedUnit(item, one.id, why, decision.reason, decision, 1.0))
            elif np.isnan(value):
                reason = f"{policy.rts.name} has no value for this unit, so humans rate it."
                sent.append(PlannedUnit(item, one.id, Why.NO_VALUE, reason, decision, 1.0))
            else:
                kept.append(((item, one.id), decision, abs(value - other)))
    return [*sent, *_audit(policy, kept)]


def _audit(policy: RoutingPolicy, kept: Sequence[tuple[Unit, CellDecision, float]]) -> list[PlannedUnit]:
    distances = np.array([distance for _, _, distance in kept], dtype=float)
    found = []
    for index, probability in audit_drawn(policy, [unit for unit, _, _ in kept], distances):
        unit, decision, _ = kept[index]
        reason = f"Drawn with probability {probability:.3g} to audit what stays with the judge."
        found.append(PlannedUnit(*unit, Why.AUDIT, f"{decision.reason} {reason}", decision, probability))
    return found


def _cells(
    material: Material,
    systems: Sequence[str],
    decisions: Mapping[tuple[str, str], CellDecision],
    units: Sequence[PlannedUnit],
) -> list[Cell]:
    system_of = dict(zip(material.items.tolist(), material.systems, strict=True))
    sizes = Counter(material.systems)
    audited = Counter((system_of[u.item], u.dimension) for u in units if u.why == Why.AUDIT)
    sent = Counter((system_of[u.item], u.dimension) for u in units if u.why != Why.AUDIT)
    return [
        Cell(
            system=system,
            dimension=one,
            decision=decisions[system, one.key],
            units=sizes[system],
            sent=sent[system, one.id],
            audited=audited[system, one.id],
        )
        for system in systems
        for one in material.dimensions
    ]


def _agreement(
    material: Material, judged: Mapping[str, _Judged], units: Sequence[PlannedUnit]
) -> list[KeptAgreement]:
    sent = {unit.unit for unit in units if unit.why != Why.AUDIT}
    found = []
    for one in material.dimensions:
        stays = np.array([(item, one.id) not in sent for item in material.items.tolist()], dtype=bool)
        agreement = kept_agreement(one, judged[one.key].scores, stays)
        if agreement is not None:
            found.append(agreement)
    return found


def _rated(material: Material) -> frozenset[Unit]:
    ids = {one.key: one.id for one in material.dimensions}
    return frozenset(
        (item, ids[key]) for key, rated in material.rated.items() for item in rated.items.tolist()
    )


def _without_values(policy: RoutingPolicy, judged: Mapping[str, _Judged]) -> str:
    for judge, values in (
        (policy.rts, [each.scores.judge for each in judged.values()]),
        (policy.mcq, [each.other for each in judged.values()]),
    ):
        if all(np.isnan(each).all() for each in values):
            return f"{judge.name} has no judgments yet, so R cannot be computed and nothing can be routed."
    return ""


def _refusal_of(round: Round | None) -> str:
    if round is not None and not round.is_open:
        return "Round I is closed, so nothing can be routed to people any more; routing needs a new project."
    return ""
