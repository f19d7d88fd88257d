"""The paper's rule: a system stays with the judge on a dimension where R is above r, else humans rate it."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from agreement import Coefficient


class DecidedBy(StrEnum):
    """Which number must be above r."""

    ESTIMATE = "estimate"
    LOWER_BOUND = "lower_bound"


@dataclass(frozen=True)
class IndicatorRule:
    """thresholds: one r for all dimensions, or one for each by its key; decided_by: the bound by default.

    ValueError for an r outside -1..1.
    """

    thresholds: float | Mapping[str, float]
    decided_by: DecidedBy = DecidedBy.LOWER_BOUND

    def __post_init__(self) -> None:
        given = self.thresholds.values() if isinstance(self.thresholds, Mapping) else [self.thresholds]
        for threshold in given:
            if not -1 <= threshold <= 1:
                raise ValueError(f"A threshold r must lie between -1 and 1, but is {threshold}.")

    def threshold(self, dimension: str) -> float | None:
        """The r of a dimension, None if the rule has none."""
        if isinstance(self.thresholds, Mapping):
            return self.thresholds.get(dimension)
        return self.thresholds


@dataclass(frozen=True)
class CellDecision:
    """The decision of the rule for one system on one dimension, and its reason.

    to_humans: all units of the cell go to humans; otherwise they stay with the judge, except for the audit.
    held_against: the number that was compared with the threshold, None without one.
    """

    system: str
    dimension: str
    to_humans: bool
    reason: str
    indicator: Coefficient
    held_against: float | None
    threshold: float | None


def decide(rule: IndicatorRule, system: str, dimension: str, indicator: Coefficient) -> CellDecision:
    """The decision for one cell: humans rate if R <= r, and if R is undefined.

    indicator: R of this system on this dimension, from `agreement.reliability.indicator`, with its interval
    if the rule compares the lower bound with r. Without a defined R (no values of a method, fewer than 3
    items, constant values), without the bound the rule needs, or without an r for the dimension, units go to
    humans, with the reason. Source: Shen and others 2023, section 5, who leave r open.
    """
    threshold = rule.threshold(dimension)
    held_against = indicator.value
    if rule.decided_by is DecidedBy.LOWER_BOUND and indicator.defined:
        held_against = None if indicator.interval is None else indicator.interval.low
    to_humans, reason = _decide(rule, indicator, held_against, threshold)
    return CellDecision(system, dimension, to_humans, reason, indicator, held_against, threshold)


def _decide(
    rule: IndicatorRule, indicator: Coefficient, held_against: float | None, threshold: float | None
) -> tuple[bool, str]:
    if threshold is None:
        return True, "The rule names no threshold for this dimension, so humans rate it."
    if not indicator.defined:
        return True, f"R is undefined, so humans rate these units: {indicator.reason}"
    if held_against is None:
        return True, f"R has no lower bound, so humans rate these units: {indicator.interval_reason}"
    what = "R" if rule.decided_by is DecidedBy.ESTIMATE else "The lower bound of R"
    if held_against <= threshold:
        return True, f"{what} is {held_against:.3f}, not above {threshold:g}: humans rate these units."
    return False, f"{what} is {held_against:.3f}, above {threshold:g}: the judge rates these units."
