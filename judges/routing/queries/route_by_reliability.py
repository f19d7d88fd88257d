"""The paper's rule: R of systems on dimensions against r, and the units that it sends to people."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from math import isnan
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
from django.core.cache import caches
from django.utils.translation import gettext

from agreement import Coefficient, Interval, Resampling
from agreement.comparison import Scores, correlation_called
from agreement.reliability import (
    CellDecision,
    DecidedBy,
    IndicatorRule,
    Validity,
    decide,
    indicator,
    validity,
)
from annotate.core.errors import DomainError
from annotate.core.guideline import FrozenDimension
from annotate.core.models import ComputedResult
from annotate.results.queries.kept import sections_from
from annotate.results.registry import Result, result_of
from annotate.results.table import Cell
from judges.core.models import Judge, RoutingPolicy
from judges.results.queries.scores import Material, Samples, samples_of, scores_of, stream_of_pair
from judges.results.tables.reliability import INDICATOR, JUDGED, indicators_in
from judges.results.tables.version import digest_of_values
from judges.routing.queries.audit import AuditCell
from judges.routing.queries.units import (
    Decided,
    ExpectedGain,
    Grounds,
    KeptAgreement,
    KeptUnit,
    PlannedUnit,
    PolicyCell,
    Why,
    audit_of,
    measure_kept_agreement,
    parts_by_system,
    sum_parts,
)

ByCell = Mapping[tuple[str, str], Cell]


class IndicatorsNotKeptError(Exception):
    """R of many units has not been computed yet; a worker computes it with the page that shows it.

    result: the result of this page.
    """

    def __init__(self, result: Result) -> None:
        super().__init__(result.name)
        self.result = result


def page_of(policy: RoutingPolicy) -> Result | None:
    """Return the page of reliability about a policy's judges, None without their values. Three queries."""
    try:
        return result_of(policy.project, "reliability", _parameters_of(policy))
    except DomainError:
        return None


def kept_indicators(policy: RoutingPolicy, judged: str) -> ByCell | None:
    """Return R by system and dimension key from the stored page, None unless it is of these judgments.

    judged: their `digest_of_values`. The page is stored for each round and choice of P, which do not change
    R. So the latest one is used, and newer ratings do not matter. One query.
    """
    asked = _parameters_of(policy)
    pages = ComputedResult.objects.filter(
        project=policy.project,
        name__startswith=f"reliability?rts={asked['rts']}&mcq={asked['mcq']}&",
        name__contains=f"&coefficient={asked['coefficient']}&confidence={asked['confidence']}&",
        content__contains=judged,
    )
    row = pages.exclude(name__contains="&plot=").order_by("-computed_at").first()
    tables = [table for section in sections_from(row.content) for table in section.tables] if row else []
    found = [table for table in tables if table.key == INDICATOR and table.parameters.get(JUDGED) == judged]
    return indicators_in(found[0]) if found else None


def _parameters_of(policy: RoutingPolicy) -> dict[str, str]:
    return {
        "rts": str(policy.rts_id),
        "mcq": str(policy.mcq_id),
        "coefficient": policy.coefficient,
        "confidence": f"{policy.confidence_level:g}",
    }


def to_kept(point: Coefficient, cell: Cell, confidence_level: float) -> Coefficient:
    """Return R, computed without an interval, with the interval that the page shows."""
    if cell.low is None or cell.high is None:
        return replace(point, interval_reason=cell.interval_reason or point.interval_reason)
    return replace(
        point, interval=Interval(cell.low, cell.high, cell.how, confidence_level), interval_reason=None
    )


FEW_VALUES = 5_000
"""With more, R and the evidence on a judge take longer than a page may compute."""


def decided_by_indicator(policy: RoutingPolicy, material: Material, *, preview: bool = False) -> Decided:
    """Return the rule's decisions on the present judgments. Up to three queries.

    R equals the value on the reliability page: it is read if stored, else computed by the same function from
    the same streams. A preview remembers judgments and R while nothing has changed. It raises
    IndicatorsNotKeptError if a worker should compute R.
    """
    measured = measure(policy, material, preview=preview)
    judged = measured.judged()
    validities = _validities(policy, judged, preview=preview)
    systems = list(dict.fromkeys(material.systems))
    decisions = measured.decisions(policy)
    units, audit = _units(policy, material, judged, decisions)
    sent = _sent_items(material, units)
    cells = _cells(material, systems, judged, decisions, units, audit)
    kept = {
        one.key: sum_parts(
            each.errors for each in cells if each.dimension == one and not each.decision.to_humans
        )
        for one in material.dimensions
    }
    goes = sum_parts(each.errors for each in cells if each.decision.to_humans)
    gain = ExpectedGain(goes, sum_parts(kept.values()))
    return Decided(
        units=units,
        agreement=_agreement(material.dimensions, judged, sent),
        kept=kept,
        gain=gain if gain.sent.rated or gain.kept.rated else None,
        refusal=_explain_no_values(policy, judged),
        audit=audit,
        cells=cells,
        validities=[validities[one.key] for one in material.dimensions],
    )


def rule_of(policy: RoutingPolicy, dimensions: Sequence[FrozenDimension]) -> IndicatorRule:
    assert policy.threshold is not None  # a constraint of the table
    each = {one.key: float(policy.thresholds.get(one.key, policy.threshold)) for one in dimensions}
    return IndicatorRule(each, DecidedBy(policy.decided_by))


def mcq_of(policy: RoutingPolicy) -> Judge:
    assert policy.mcq is not None  # a constraint of the table
    return policy.mcq


@dataclass(frozen=True)
class _Judged:
    dimension: FrozenDimension
    scores: Scores
    other: Scores


Judged = Mapping[str, _Judged]
Indicators = Mapping[str, Mapping[str, Coefficient]]
"""R by dimension key and system."""
Decisions = Mapping[tuple[str, str], CellDecision]
"""By system and dimension key."""


@dataclass(frozen=True)
class Measured:
    """The measures that do not depend on r: the judges' values, and R of every system on every dimension."""

    material: Material
    judged: Callable[[], Judged]
    indicators: Indicators

    def decisions(self, policy: RoutingPolicy) -> Decisions:
        rule = rule_of(policy, self.material.dimensions)
        return {
            (system, one.key): decide(rule, system, one.key, found)
            for one in self.material.dimensions
            for system, found in self.indicators[one.key].items()
        }

    def units(self, policy: RoutingPolicy) -> list[PlannedUnit]:
        return _units(policy, self.material, self.judged(), self.decisions(policy))[0]


def measure(policy: RoutingPolicy, material: Material, *, preview: bool = False) -> Measured:
    """Read the judges' values and R. Up to three queries; see `decided_by_indicator`."""
    judged_as = digest_of_values(policy.project, [policy.rts, mcq_of(policy)], material)
    judged = cache(lambda: _judge_scores(policy, material, judged_as, preview=preview))
    indicators = _indicators(policy, material, judged, judged_as, preview=preview)
    return Measured(material, judged, indicators)


def _judge_scores(policy: RoutingPolicy, material: Material, judged_as: str, *, preview: bool) -> Judged:
    judges = [policy.rts, mcq_of(policy)]

    def read_samples() -> dict[str, list[Samples]]:
        samples = samples_of(judges, material)
        return {
            one.key: [samples[judge.pk, one.key].all_in_all(one) for judge in judges]
            for one in material.dimensions
        }

    values = remember(["values", judged_as], read_samples) if preview else read_samples()
    return {
        one.key: _Judged(one, *(scores_of(material, one.key, said) for said in values[one.key]))
        for one in material.dimensions
    }


def _indicators(
    policy: RoutingPolicy,
    material: Material,
    judged: Callable[[], Judged],
    judged_as: str,
    *,
    preview: bool,
) -> Indicators:
    def compute() -> Indicators:
        kept = _read_kept(policy, material, judged_as, preview=preview)
        return {
            one.key: _indicators_of_dimension(policy, judged()[one.key], one, kept)
            for one in material.dimensions
        }

    named = [one.key for one in material.dimensions if one.is_named]
    made_from = ["R", policy.coefficient, policy.confidence_level, judged_as, named]
    # r is not among these: while it is moved, only the decisions change.
    return remember(made_from, compute) if preview else compute()


def _read_kept(policy: RoutingPolicy, material: Material, judged_as: str, *, preview: bool) -> ByCell | None:
    """Return R as stored with the page; None if the page has not this R."""
    kept = kept_indicators(policy, judged_as)
    # A preview answers while a slider moves; following a policy may take its time and computes.
    if kept is None and preview and len(material.items) * len(material.dimensions) > FEW_VALUES:
        page = page_of(policy)
        if page is not None:
            raise IndicatorsNotKeptError(page)
    return kept


def _indicators_of_dimension(
    policy: RoutingPolicy, judged: _Judged, dimension: FrozenDimension, kept: ByCell | None
) -> dict[str, Coefficient]:
    measure, mcq = correlation_called(policy.coefficient, named=dimension.is_named), mcq_of(policy)
    cells = [kept.get((system, dimension.key)) for system in judged.scores.system_names] if kept else []
    if cells and all(cells):
        # Points are computed, which is fast; intervals, which are slow, come from the stored page.
        points = indicator(judged.scores, judged.other.as_read, measure)
        return {
            one.system: to_kept(one.coefficient, cell, policy.confidence_level)
            for one, cell in zip(points, cells, strict=True)
            if cell is not None
        }
    found = indicator(
        judged.scores,
        judged.other.as_read,
        measure,
        generator=stream_of_pair(policy.project, policy.rts, mcq, dimension),
        resampling=Resampling(confidence_level=policy.confidence_level),
    )
    return {one.system: one.coefficient for one in found}


def _validities(policy: RoutingPolicy, judged: Judged, *, preview: bool) -> Mapping[str, Validity]:
    """Return by dimension key the relation of R to P over systems; without intervals, which take long."""

    def compute() -> dict[str, Validity]:
        return {
            key: validity(
                each.scores,
                each.other.as_read,
                correlation_called(policy.coefficient, named=each.dimension.is_named),
            )
            for key, each in judged.items()
        }

    if not preview:
        return compute()
    made_from: list[object] = ["validity", policy.coefficient]
    for key, each in judged.items():
        made_from += [
            key,
            each.dimension.is_named,
            each.scores.systems,
            each.scores.as_read,
            each.other.as_read,
            each.scores.human,
        ]
    return remember(made_from, compute)


def _units(
    policy: RoutingPolicy,
    material: Material,
    judged: Mapping[str, _Judged],
    decisions: Decisions,
) -> tuple[list[PlannedUnit], list[AuditCell]]:
    sent: list[PlannedUnit] = []
    kept: list[KeptUnit] = []
    for one in material.dimensions:
        values, others = judged[one.key].scores.judge, judged[one.key].other.judge
        grounds_of = {
            system: Grounds.from_cell(decision)
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
                reason = gettext("{judge} has no value for this unit, so humans rate it.").format(
                    judge=policy.rts.name
                )
                sent.append(PlannedUnit(item, one.id, Why.NO_VALUE, reason, grounds, 1.0))
            else:
                kept.append(KeptUnit((item, one.id), decision.reason, grounds, abs(value - other)))
    audited, audit = audit_of(policy, material, kept)
    return [*sent, *audited], audit


def _cells(
    material: Material,
    systems: Sequence[str],
    judged: Judged,
    decisions: Decisions,
    units: Sequence[PlannedUnit],
    audit: Sequence[AuditCell],
) -> list[PolicyCell]:
    shares = {(each.system, each.dimension): each.share for each in audit}
    system_of = dict(zip(material.items.tolist(), material.systems, strict=True))
    sizes = Counter(material.systems)
    errors = {
        key: parts_by_system(each.scores, np.ones(len(material.items), dtype=bool))
        for key, each in judged.items()
    }
    audited = Counter((system_of[u.item], u.dimension) for u in units if u.why == Why.AUDIT)
    sent = Counter((system_of[u.item], u.dimension) for u in units if u.why != Why.AUDIT)
    return [
        PolicyCell(
            system=system,
            dimension=one,
            decision=decisions[system, one.key],
            units=sizes[system],
            sent=sent[system, one.id],
            audited=audited[system, one.id],
            audited_share=shares.get((system, one.id)),
            errors=errors[one.key][system],
        )
        for system in systems
        for one in material.dimensions
    ]


def _sent_items(material: Material, units: Sequence[PlannedUnit]) -> dict[str, npt.NDArray[np.bool_]]:
    sent = {unit.unit for unit in units if unit.why != Why.AUDIT}
    return {
        one.key: np.array([(item, one.id) in sent for item in material.items.tolist()], dtype=bool)
        for one in material.dimensions
    }


def _agreement(
    dimensions: Sequence[FrozenDimension],
    judged: Mapping[str, _Judged],
    sent: Mapping[str, npt.NDArray[np.bool_]],
) -> list[KeptAgreement]:
    found = (measure_kept_agreement(one, judged[one.key].scores, ~sent[one.key]) for one in dimensions)
    return [agreement for agreement in found if agreement is not None]


def _explain_no_values(policy: RoutingPolicy, judged: Mapping[str, _Judged]) -> str:
    for judge, values in (
        (policy.rts, [each.scores.judge for each in judged.values()]),
        (mcq_of(policy), [each.other.judge for each in judged.values()]),
    ):
        if all(np.isnan(each).all() for each in values):
            return gettext(
                "{judge} has no judgments yet, so R cannot be computed and nothing can be routed."
            ).format(judge=judge.name)
    return ""


T = TypeVar("T")
SECONDS = 600


def remember(parts: Sequence[object], make: Callable[[], T]) -> T:
    """Return the earlier result for these parts, or compute and remember it.

    Arrays count by their contents.
    """
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        digest.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
        digest.update(b"\0")
    key = f"routing-{digest.hexdigest()}"
    found: Any = caches["process"].get(key)
    if found is None:
        found = make()
        caches["process"].set(key, found, SECONDS)
    return found  # type: ignore[no-any-return]
