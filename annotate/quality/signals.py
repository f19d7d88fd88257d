"""Time and patterns in one annotator's items."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import groupby
from statistics import median

FASTEST_READING = 3000
"""Characters a minute above which nobody reads closely: about twice what adults read silently.

Brysbaert (2019), How many words do we read per minute?, gives 238 English words a minute for non-fiction,
some 1,400 characters with spaces.
"""
FEWEST_VALUES = 3
"""From how many values on an item it is remarkable that all are the same."""


@dataclass(frozen=True)
class RatedItem:
    """An item that an annotator has finished.

    characters: of the text that was rated, without its document. seconds: active time, 0 where it was not
    measured. values: how many were given; lowest, highest: of them, None without any.
    """

    assignment: int
    characters: int
    seconds: float
    values: int
    lowest: float | None
    highest: float | None

    @property
    def is_too_fast(self) -> bool:
        """Whether the item took less time than its text alone takes a very fast reader."""
        return 0 < self.seconds < self.characters * 60 / FASTEST_READING

    @property
    def is_straight(self) -> bool:
        """Whether three or more values were given and all are the same."""
        return self.values >= FEWEST_VALUES and self.lowest == self.highest

    @property
    def one_value(self) -> float | None:
        """The value that the item has throughout, None where it has several or none."""
        return self.lowest if self.lowest == self.highest else None


@dataclass(frozen=True)
class Signals:
    """What one annotator's items show. Shares are None where there is nothing to take a share of."""

    items: int
    timed: int
    median_seconds: float | None
    too_fast: tuple[int, ...]
    several_values: int
    straight: tuple[int, ...]
    longest_run: int


def signals_of(items: Sequence[RatedItem]) -> Signals:
    """Return what an annotator's items show, given in the order in which they were met."""
    times = [item.seconds for item in items if item.seconds > 0]
    return Signals(
        items=len(items),
        timed=len(times),
        median_seconds=median(times) if times else None,
        too_fast=tuple(item.assignment for item in items if item.is_too_fast),
        several_values=sum(item.values >= FEWEST_VALUES for item in items),
        straight=tuple(item.assignment for item in items if item.is_straight),
        longest_run=_longest_run(item.one_value for item in items),
    )


def _longest_run(values: Iterable[float | None]) -> int:
    """Return for how many items in a row one and the same value was all that was given."""
    return max((len(list(run)) for value, run in groupby(values) if value is not None), default=0)
