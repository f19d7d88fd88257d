"""The paper's rule: R of systems on dimensions against r, and which units it sends to people."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan

import numpy as np
import numpy.typing as npt

from annotate.agreement import Coefficient, Resampling
from annotate.generators import generator_for
from annotate.guideline import FrozenDimension
from judges.comparison import CORRELATIONS, Scores
from judges.models import Judge, RoutingPolicy
from judges.queries.kept_units import KeptAgreement, kept_agreement
from judges.queries.routing_memory import remembered, version_of
from judges.queries.routing_units import Cell, Decided, Grounds, KeptUnit, PlannedUnit, Why, audit_of
from judges.queries.scores import Material, mean_of_samples, samples_of, scores_of
from judges.reliability import CellDecision, DecidedBy, IndicatorRule, Validity, decide, indicator, validity


def decided_by_indicator(policy: RoutingPolicy, material: Material, *, preview: bool = False) -> Decided:
    """Return what the rule decides with the judgments as they are now. One query.

    In a preview judgments and R are those that are remembered, as long as nothing has changed.
    """
    judged = _judged(policy, material, preview=preview)
    measured = _measured(policy, material, judged, preview=preview)
    systems = list(dict.fromkeys(material.systems))
    rule = rule_of(policy, material.dimensions)
    decisions = {
        (system, one.key): decide(rule, system, one.key, found)
        for one in material.dimensions
        for system, found in measured.indicators[one.key].items()
    }
    units = _units(policy, material, judged, decisions)
    return Decided(
        units=units,
        agreement=_agreement(material, judged, units),
        refusal=_without_values(policy, judged),
        cells=_cells(material, systems, decisions, units),
        validities=[measured.validities[one.key] for one in material.dimensions],
    )


def rule_of(policy: RoutingPolicy, dimensions: Sequence[FrozenDimension]) -> IndicatorRule:
    """Return the paper's rule as the policy states it."""
    assert policy.threshold is not None  # a constraint of the table
    each = {one.key: float(policy.thresholds.get(one.key, policy.threshold)) for one in dimensions}
    return IndicatorRule(each, DecidedBy(policy.decided_by))


def mcq_of(policy: RoutingPolicy) -> Judge:
    """Return the MCQ judge, which a policy by R has."""
    assert policy.mcq is not None  # a constraint of the table
    return policy.mcq


@dataclass(frozen=True)
class _Judged:
    """Both judges on one dimension: their values (items,) beside people."""

    scores: Scores
    other: npt.NDArray[np.float64]


@dataclass(frozen=True)
class _Measured:
    """R by dimension key and system, and whether R goes with the judge's agreement with people."""

    indicators: Mapping[str, Mapping[str, Coefficient]]
    validities: Mapping[str, Validity]


def _judged(policy: RoutingPolicy, material: Material, *, preview: bool) -> dict[str, _Judged]:
    judges = [policy.rts, mcq_of(policy)]

    def read() -> dict[str, list[npt.NDArray[np.float64]]]:
        samples = samples_of(judges, material)
        return {
            one.key: [mean_of_samples(samples[judge.pk, one.key]) for judge in judges]
            for one in material.dimensions
        }

    values = remembered(["values", *version_of(judges, material)], read) if preview else read()
    return {key: _Judged(scores_of(material, key, rts[:, None]), mcq) for key, (rts, mcq) in values.items()}


def _measured(
    policy: RoutingPolicy, material: Material, judged: Mapping[str, _Judged], *, preview: bool
) -> _Measured:
    def compute() -> _Measured:
        return _Measured(
            {key: _indicators(policy, each, key) for key, each in judged.items()},
            {key: _validity(policy, each) for key, each in judged.items()},
        )

    if not preview:
        return compute()
    made_from: list[object] = [policy.coefficient, policy.confidence_level, policy.seed, material.systems]
    for key, each in judged.items():
        made_from += [key, each.scores.judge, each.other, each.scores.human]
    return remembered(["R", *made_from], compute)


def _indicators(policy: RoutingPolicy, judged: _Judged, key: str) -> dict[str, Coefficient]:
    """R by system. Each has a generator of its own: other systems' judgments do not move its interval."""
    plan = Resampling(confidence_level=policy.confidence_level)
    measure = CORRELATIONS[policy.coefficient]
    found = {}
    for index, system in enumerate(judged.scores.system_names):
        own = judged.scores.systems == index
        generator = generator_for(policy.seed, f"{key}/{system}")
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
    sent: list[PlannedUnit] = []
    kept: list[KeptUnit] = []
    for one in material.dimensions:
        values, others = judged[one.key].scores.judge, judged[one.key].other
        grounds_of = {
            system: Grounds.of_cell(decision)
            for (system, key), decision in decisions.items()
            if key == one.key
        }
        rows = zip(material.items.tolist(), material.systems, values.tolist(), others.tolist(), strict=True)
        for item, system, value, other in rows:
            decision, grounds = decisions[system, one.key], grounds_of[system]
            if decision.to_humans:
                why = Why.THRESHOLD if decision.held_against is not None else Why.UNDEFINED
                sent.append(PlannedUnit(item, one.id, why, decision.reason, grounds, 1.0))
            elif isnan(value):
                reason = f"{policy.rts.name} has no value for this unit, so humans rate it."
                sent.append(PlannedUnit(item, one.id, Why.NO_VALUE, reason, grounds, 1.0))
            else:
                kept.append(KeptUnit((item, one.id), decision.reason, grounds, abs(value - other)))
    return [*sent, *audit_of(policy, kept)]


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


def _without_values(policy: RoutingPolicy, judged: Mapping[str, _Judged]) -> str:
    for judge, values in (
        (policy.rts, [each.scores.judge for each in judged.values()]),
        (mcq_of(policy), [each.other for each in judged.values()]),
    ):
        if all(np.isnan(each).all() for each in values):
            return f"{judge.name} has no judgments yet, so R cannot be computed and nothing can be routed."
    return ""
