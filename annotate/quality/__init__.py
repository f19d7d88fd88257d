"""Signals in an annotator's ratings that need a look. Pure: no Django. Evidence, never a verdict.

A signal has innocent reasons. An output may deserve the same value on every dimension, and a rater who knows
the documents by heart reads faster. Signals are therefore counted and compared with the other raters'
signals, and have no automatic effect.
"""

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

    characters: length of the rated output, without its document. seconds: active time, 0 if not measured.
    values: number of values; lowest, highest: their range, None without any.
    """

    assignment: int
    characters: int
    seconds: float
    values: int
    lowest: float | None
    highest: float | None

    @property
    def is_too_fast(self) -> bool:
        """Whether the item took less time than a very fast reader needs for its output alone."""
        return 0 < self.seconds < self.characters * 60 / FASTEST_READING

    @property
    def is_straight(self) -> bool:
        return self.values >= FEWEST_VALUES and self.lowest == self.highest

    @property
    def one_value(self) -> float | None:
        return self.lowest if self.lowest == self.highest else None


MOST_SHOWN = 100


@dataclass(frozen=True)
class Signals:
    """The signals of one annotator's items: counts, and the first assignments of each kind."""

    items: int = 0
    timed: int = 0
    median_seconds: float | None = None
    too_fast: int = 0
    several_values: int = 0
    straight: int = 0
    longest_run: int = 0
    too_fast_shown: Sequence[int] = ()
    straight_shown: Sequence[int] = ()


def signals_of(items: Sequence[RatedItem]) -> Signals:
    times = [item.seconds for item in items if item.seconds > 0]
    too_fast = [item.assignment for item in items if item.is_too_fast]
    straight = [item.assignment for item in items if item.is_straight]
    return Signals(
        items=len(items),
        timed=len(times),
        median_seconds=median(times) if times else None,
        too_fast=len(too_fast),
        several_values=sum(item.values >= FEWEST_VALUES for item in items),
        straight=len(straight),
        too_fast_shown=too_fast[:MOST_SHOWN],
        straight_shown=straight[:MOST_SHOWN],
        # Items with several values have no `one_value`, and end a run.
        longest_run=max(
            (len(list(run)) for value, run in groupby(item.one_value for item in items) if value is not None),
            default=0,
        ),
    )
