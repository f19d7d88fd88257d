"""The paper's rule: R of systems on dimensions against r, and the units that it sends to people."""

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cache
from math import isnan
from typing import Any, TypeVar

import numpy as np
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
from annotate.core.models import ComputedResult
from annotate.results.queries.kept import sections_from
from annotate.results.registry import Result, result_of
from annotate.results.table import Cell
from judges.core.models import RoutingPolicy
from judges.results.queries.scores import Material, Samples, samples_of, scores_of, stream_of_pair
from judges.results.tables.parameters import digest_of_values
from judges.results.tables.reliability import INDICATOR, JUDGED, indicators_in
from judges.routing.queries.audit import AuditCell
from judges.routing.queries.units import (
    Decided,
    ExpectedGain,
    Grounds,
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


def kept_indicators(policy: RoutingPolicy, judged: str, *, is_required: bool = False) -> ByCell | None:
    """Return R by system and dimension key from the stored page, None unless it is of these judgments.

    judged: their `digest_of_values`. The page is stored for each round and choice of P, which do not change
    R. So the latest one is used, and newer ratings do not matter. One query. is_required: raise
    IndicatorsNotKeptError instead if a worker can compute the page.
    """
    # The parameters in the names of stored results.
    asked = {
        "rts": str(policy.rts_id),
        "mcq": str(policy.mcq_id),
        "coefficient": policy.coefficient,
        "confidence": f"{policy.confidence_level:g}",
    }
    pages = ComputedResult.objects.filter(
        project=policy.project,
        name__startswith=f"reliability?rts={asked['rts']}&mcq={asked['mcq']}&",
        name__contains=f"&coefficient={asked['coefficient']}&confidence={asked['confidence']}&",
        content__contains=judged,
    )
    row = pages.exclude(name__contains="&plot=").order_by("-computed_at").first()
    # The filter on the content only finds likely rows; the parameter of the table decides.
    for table in (each for section in sections_from(row.content) for each in section.tables) if row else ():
        if table.key == INDICATOR and table.parameters.get(JUDGED) == judged:
            return indicators_in(table)
    if is_required:
        with suppress(DomainError):  # without values of the judges there is no page
            raise IndicatorsNotKeptError(result_of(policy.project, "reliability", asked))
    return None


FEW_VALUES = 5_000
"""With more, R and the evidence on a judge take longer than a page may compute."""


def decide_by_indicator(policy: RoutingPolicy, material: Material, *, preview: bool = False) -> Decided:
    """Return the rule's decisions on the present judgments. Up to three queries.

    R equals the value on the reliability page: it is read if stored, else computed by the same function from
    the same streams. A preview remembers judgments and R while nothing has changed. It raises
    IndicatorsNotKeptError if a worker should compute R.
    """
    measured = measure(policy, material, preview=preview)
    judged = measured.judged()
    validities = _validities(policy, measured, preview=preview)
    decisions = measured.decisions(policy)
    # The decisions on cells, then on their units.
    units, audit = measured.divide(policy, decisions)
    cells = _cells(measured, decisions, units, audit)
    kept = {
        one.key: sum_parts(
            each.errors for each in cells if each.dimension == one and not each.decision.to_humans
        )
        for one in material.dimensions
    }
    # The errors that people correct and the ones that stay, by the rated units.
    gain = ExpectedGain(
        sum_parts(each.errors for each in cells if each.decision.to_humans), sum_parts(kept.values())
    )
    sent = {unit.unit for unit in units if unit.why != Why.AUDIT}
    agreement = []
    for one in material.dimensions:
        # People compared with the RTS judge on all staying units, audited ones included.
        stay = np.array([(item, one.id) not in sent for item in material.items.tolist()], dtype=bool)
        agreement.append(measure_kept_agreement(one, judged[one.key][0], stay))
    refusal = ""
    for index, judge in enumerate((policy.rts, policy.mcq)):
        if not refusal and all(np.isnan(each[index].judge).all() for each in judged.values()):
            refusal = gettext(
                "{judge} has no judgments yet, so R cannot be computed and nothing can be routed."
            ).format(judge=judge)
    return Decided(
        units=units,
        agreement=[each for each in agreement if each is not None],
        kept=kept,
        gain=gain if gain.sent.rated or gain.kept.rated else None,
        refusal=refusal,
        audit=audit,
        cells=cells,
        validities=[validities[one.key] for one in material.dimensions],
    )


Judged = Mapping[str, tuple[Scores, Scores]]
Indicators = Mapping[str, Mapping[str, Coefficient]]
"""R by dimension key and system."""
Decisions = Mapping[tuple[str, str], CellDecision]
"""By system and dimension key."""


@dataclass(frozen=True)
class Measured:
    """What does not depend on r: values of both judges, and R of every system on every dimension.

    judged: returns by dimension key people with the RTS judge, and with the MCQ judge.
    """

    material: Material
    judged: Callable[[], Judged]
    indicators: Indicators

    def decisions(self, policy: RoutingPolicy) -> Decisions:
        dimensions = self.material.dimensions
        assert policy.threshold is not None  # a constraint of the table
        limits = {one.key: float(policy.thresholds.get(one.key, policy.threshold)) for one in dimensions}
        rule = IndicatorRule(limits, DecidedBy(policy.decided_by))
        return {
            (system, one.key): decide(rule, system, one.key, found)
            for one in dimensions
            for system, found in self.indicators[one.key].items()
        }

    def divide(
        self, policy: RoutingPolicy, decisions: Decisions
    ) -> tuple[list[PlannedUnit], list[AuditCell]]:
        """Return the units for people (whole cells, units without a value, audits), and the audit."""
        sent: list[PlannedUnit] = []
        kept: list[KeptUnit] = []
        items, systems = self.material.items.tolist(), self.material.systems
        grounds_of = {}
        for key, decision in decisions.items():
            r = decision.indicator
            grounds_of[key] = Grounds(
                indicator=r.value,
                low=r.interval.low if r.interval else None,
                high=r.interval.high if r.interval else None,
                items=r.counts.pairable_units,
                threshold=decision.threshold,
            )
        for one in self.material.dimensions:
            values, others = (each.judge.tolist() for each in self.judged()[one.key])
            for item, system, value, other in zip(items, systems, values, others, strict=True):
                decision, grounds = decisions[system, one.key], grounds_of[system, one.key]
                if decision.to_humans:
                    why = Why.THRESHOLD if decision.held_against is not None else Why.UNDEFINED
                    sent.append(PlannedUnit(item, one.id, why, decision.reason, grounds, 1.0))
                elif isnan(value):
                    reason = gettext("{judge} has no value for this unit, so humans rate it.")
                    reason = reason.format(judge=policy.rts.name)
                    sent.append(PlannedUnit(item, one.id, Why.NO_VALUE, reason, grounds, 1.0))
                else:
                    kept.append(KeptUnit((item, one.id), decision.reason, grounds, abs(value - other)))
        audited, audit = audit_of(policy, self.material, kept)
        return [*sent, *audited], audit


def measure(policy: RoutingPolicy, material: Material, *, preview: bool = False) -> Measured:
    """Read the judges' values and R. Up to three queries; see `decide_by_indicator`."""
    rts, mcq = policy.rts, policy.mcq
    assert mcq is not None  # a constraint of the table
    dimensions = material.dimensions
    digest = digest_of_values(policy.project, [rts, mcq], material)

    def read_values() -> dict[tuple[int, str], Samples]:
        found = {}
        for (judge, key), samples in samples_of([rts, mcq], material).items():
            scores = scores_of(material, key, samples)
            # Only values of judges are remembered; `read_scores` adds the present ratings.
            found[judge, key] = Samples(scores.judge[:, None], scores.as_read[:, None])
        return found

    @cache
    def read_scores() -> Judged:
        values = remember(["values", digest], read_values) if preview else read_values()
        return {
            one.key: (
                scores_of(material, one.key, values[rts.pk, one.key]),
                scores_of(material, one.key, values[mcq.pk, one.key]),
            )
            for one in dimensions
        }

    def measure_indicators() -> Indicators:
        # A preview answers while a slider moves; following a policy may take its time and computes.
        is_slow = preview and len(material.items) * len(dimensions) > FEW_VALUES
        stored, found = kept_indicators(policy, digest, is_required=is_slow), {}
        for one in dimensions:
            own, other = read_scores()[one.key]
            correlation = correlation_called(policy.coefficient, named=one.is_named)
            cells = [(stored or {}).get((system, one.key)) for system in own.system_names]
            # Points are computed, which is fast; intervals, which are slow, come from the stored page.
            is_stored = bool(cells) and all(cells)
            stream = None if is_stored else stream_of_pair(policy.project, rts, mcq, one)
            resampling = Resampling(confidence_level=policy.confidence_level)
            r = indicator(own, other.as_read, correlation, generator=stream, resampling=resampling)
            found[one.key] = {
                each.system: _add_stored_interval(each.coefficient, cell, policy.confidence_level)
                if is_stored and cell
                else each.coefficient
                for each, cell in zip(r, cells, strict=True)
            }
        return found

    made_from = ["R", policy.coefficient, policy.confidence_level, digest]
    # Named categories have no order, so no R, whatever the judgments are.
    made_from.append([one.key for one in dimensions if one.is_named])
    # r is not among these: while it is moved, only the decisions change.
    indicators = remember(made_from, measure_indicators) if preview else measure_indicators()
    return Measured(material, read_scores, indicators)


def _add_stored_interval(point: Coefficient, cell: Cell, confidence_level: float) -> Coefficient:
    if cell.low is None or cell.high is None:
        return replace(point, interval_reason=cell.interval_reason or point.interval_reason)
    interval = Interval(cell.low, cell.high, cell.how, confidence_level)
    return replace(point, interval=interval, interval_reason=None)


def _validities(policy: RoutingPolicy, measured: Measured, *, preview: bool) -> Mapping[str, Validity]:
    """Return by dimension key the relation of R to P over systems; without intervals, which take long."""
    judged = [(one, *measured.judged()[one.key]) for one in measured.material.dimensions]

    def compute() -> dict[str, Validity]:
        return {
            one.key: validity(own, other.as_read, correlation_called(policy.coefficient, named=one.is_named))
            for one, own, other in judged
        }

    if not preview:
        return compute()
    made_from: list[object] = ["validity", policy.coefficient]
    for one, own, other in judged:
        # `digest_of_values` covers judgments alone, and validity depends on ratings too.
        made_from += [one.key, one.is_named, own.systems, own.as_read, other.as_read, own.human]
    return remember(made_from, compute)


def _cells(
    measured: Measured, decisions: Decisions, units: Sequence[PlannedUnit], audit: Sequence[AuditCell]
) -> list[PolicyCell]:
    material = measured.material
    shares = {(each.system, each.dimension): each.share for each in audit}
    system_of = dict(zip(material.items.tolist(), material.systems, strict=True))
    sizes = Counter(material.systems)
    everything = np.ones(len(material.items), dtype=bool)
    errors = {key: parts_by_system(own, everything) for key, (own, _) in measured.judged().items()}
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
        for system in sizes
        for one in material.dimensions
    ]


T = TypeVar("T")
SECONDS = 600


def remember(parts: Sequence[object], make: Callable[[], T]) -> T:
    """Return the earlier result for these parts (arrays by their contents), or compute and remember it."""
    digest = hashlib.blake2b(digest_size=20)
    for part in parts:
        digest.update(part.tobytes() if isinstance(part, np.ndarray) else repr(part).encode())
        # A separator: the parts "ab", "c" and "a", "bc" must differ.
        digest.update(b"\0")
    key = f"routing-{digest.hexdigest()}"
    # In memory, because the shared cache would store these arrays in the database.
    found: Any = caches["process"].get(key)
    if found is None:
        found = make()
        caches["process"].set(key, found, SECONDS)
    return found  # type: ignore[no-any-return]
