"""Standings of systems that one panel of raters rated, or several whose severity is compared."""

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

import numpy as np

from agreement.data import FloatArray
from agreement.student import normal_reach, standard_error
from agreement.summary import mean_score
from agreement.system_differences import (
    LEAST_DOCUMENTS,
    SystemDifference,
    adjust_p_values,
    levels_of,
    paired_difference,
    ranks_and_letters,
    too_few,
    with_t_interval,
)

UNKNOWN_SEVERITY = "How severe these raters are compared with the first ones is not known."


@dataclass(frozen=True)
class PanelOffset:
    """How much higher a panel rates than the first one: a value and half the length of its 95 % interval.

    Without a value or a reach the panel's systems are compared with no other panel's.
    """

    value: float | None = 0.0
    reach: float | None = 0.0

    @property
    def is_known(self) -> bool:
        """Return True if means can be compared with the means of other panels."""
        return self.value is not None and self.reach is not None

    @property
    def error(self) -> float:
        """Return the standard error: the reach / 1.96, at whatever level means are compared."""
        return (self.reach or 0.0) / normal_reach(1.0, 0.95)


@dataclass(frozen=True)
class SystemStanding:
    """A system among the others: its mean with interval, possible ranks, and the letters of its groups.

    reason: why there is no mean or no interval. Ranks are 0 and letters empty if no pair can be compared.
    """

    system: str
    mean: float | None
    low: float | None
    high: float | None
    reason: str
    documents: int
    best: int = 0
    worst: int = 0
    letters: str = ""


def compare_panels(
    scores: FloatArray,
    systems: Sequence[str],
    scale: tuple[float, float],
    panels: Sequence[int],
    offsets: Sequence[PanelOffset],
    *,
    within: Mapping[tuple[str, str], SystemDifference] | None = None,
    corrected: Collection[str] = (),
    confidence_level: float = 0.95,
) -> tuple[SystemStanding, ...]:
    """Return the systems, the highest mean first, with ranks and groups over all pairs.

    scores: (documents, systems), NaN for gaps. panels: (systems,), positions in `offsets`, whose first is 0.
    A mean is the panel's mean minus the offset; half its interval is the root of the squares of the t
    interval's half and of the offset's reach at the same level. Scores of `corrected` systems may be beyond
    the scale, so their intervals are not cut to it. Pairs are compared by document (`system_differences`), or
    by `within` for pairs of one panel. Between two panels the squared errors of both offsets add to the
    variance, an error being the reach / 1.96; within a panel they cancel. Letters join pairs with an adjusted
    p above 1 - confidence_level (Holm over all pairs), ranks invert Bonferroni's intervals. Sources: Student
    1908; Holm 1979; Chatzi and others 2024; Piepho 2004; Kolen and Brennan 2014, section 8.2, for common
    items that link two panels.
    """
    means = [
        panel_mean(
            scores[:, index],
            name,
            scale,
            offsets[panels[index]],
            is_corrected=name in corrected,
            confidence_level=confidence_level,
        )
        for index, name in enumerate(systems)
    ]
    # A system without a mean has neither ranks nor letters, so its pairs are no tests.
    pairs = [
        (one, other)
        for one, other in combinations(range(len(systems)), 2)
        if means[one].mean is not None and means[other].mean is not None
    ]
    levels = levels_of(confidence_level, len(pairs))
    differences = adjust_p_values(
        [
            (within or {}).get((systems[one], systems[other]))
            or paired_difference(scores[:, one] - scores[:, other], systems[one], systems[other], levels)
            if panels[one] == panels[other]
            else _across(
                scores[:, one] - scores[:, other],
                (systems[one], systems[other]),
                (offsets[panels[one]], offsets[panels[other]]),
                levels,
            )
            for one, other in pairs
        ]
    )
    # Systems without a mean come last, and names decide between equal means.
    ordered = sorted(means, key=lambda each: (each.mean is None, -(each.mean or 0.0), each.system))
    names = [each.system for each in ordered if each.mean is not None]
    ranks = ranks_and_letters(names, differences, 1 - confidence_level)
    return tuple(replace(each, **ranks.get(each.system, {})) for each in ordered)


def panel_mean(
    scores: FloatArray,
    system: str,
    scale: tuple[float, float],
    offset: PanelOffset,
    *,
    is_corrected: bool = False,
    confidence_level: float = 0.95,
) -> SystemStanding:
    """Return a system's mean as `compare_panels` has it, without ranks and groups. scores: (documents,)."""
    documents = int((~np.isnan(scores)).sum())
    # Only uncorrected means are cut to the scale: a correction may move one beyond its ends.
    is_cut = offset == PanelOffset() and not is_corrected
    ends = scale if is_cut else (-math.inf, math.inf)
    found = mean_score(scores, ends, confidence_level=confidence_level)
    plain = SystemStanding(
        system, found.value, None, None, found.reason or found.interval_reason or "", documents
    )
    if found.value is None:
        return plain
    if not offset.is_known:
        return replace(plain, mean=None, reason=UNKNOWN_SEVERITY)
    value, interval = found.value - (offset.value or 0.0), found.interval
    if interval is None:
        return replace(plain, mean=value)
    # The first panel defines the scale, so its systems have no error of an offset.
    if offset == PanelOffset():
        return replace(plain, low=interval.low, high=interval.high)
    reach = math.hypot(interval.high - found.value, normal_reach(offset.error, confidence_level))
    return replace(plain, mean=value, low=value - reach, high=value + reach)


def _across(
    apart: FloatArray,
    names: tuple[str, str],
    offsets: tuple[PanelOffset, PanelOffset],
    levels: tuple[float, float],
) -> SystemDifference:
    """Compare two systems of different panels, from their differences by document (documents,)."""
    given = apart[~np.isnan(apart)]
    found = SystemDifference(*names, len(given), None)
    if not all(each.is_known for each in offsets):
        return replace(found, reason=UNKNOWN_SEVERITY)
    if len(given) < LEAST_DOCUMENTS:
        return too_few(found)
    of_offsets = sum(each.error**2 for each in offsets)
    variance = standard_error(given) ** 2 + of_offsets
    value = float(given.mean()) - (offsets[0].value or 0.0) + (offsets[1].value or 0.0)
    # The error of equal differences is only rounding.
    if variance <= (1e-12 * np.abs(given).max(initial=1)) ** 2:
        return replace(found, value=value, reason="The difference is the same on every document.")
    return with_t_interval(found, value, [(variance, len(given) - 1)], levels)
