"""Stored R of the reliability page, for decisions, while the judgments are unchanged."""

from collections.abc import Mapping
from dataclasses import replace

from agreement import Coefficient, Interval
from annotate.core.errors import DomainError
from annotate.core.models import ComputedResult
from annotate.results.queries.kept import sections_from
from annotate.results.registry import Result, result_of
from annotate.results.table import Cell
from judges.core.models import RoutingPolicy
from judges.results.tables.reliability import INDICATOR, JUDGED, indicators_in

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
