"""Many comparisons at once: Holm's correction of p values, and the ranks and letters of systems."""

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import ascii_lowercase
from typing import Protocol, TypeVar

import numpy as np
import numpy.typing as npt
import scipy

from agreement.data import FloatArray

Key = TypeVar("Key", bound=Hashable)


class ComparedPair(Protocol):
    """A pair of systems with an interval of their difference that holds for all pairs at once."""

    @property
    def first(self) -> str:
        """The system from whose mean the other's is subtracted."""

    @property
    def second(self) -> str:
        """The other."""

    @property
    def simultaneous_low(self) -> float | None:
        """The lower end, None without an interval."""

    @property
    def simultaneous_high(self) -> float | None:
        """The upper end."""


@dataclass(frozen=True)
class RankSet:
    """The ranks that a system may have, 1 the best; they hold for all systems at once."""

    system: str
    best: int
    worst: int


def rank_sets(systems: Sequence[str], differences: Iterable[ComparedPair]) -> tuple[RankSet, ...]:
    """For each system the ranks it may have, by inverting the simultaneous intervals of all pairs.

    1 + the number of systems that are surely better, to K - the number surely worse, "surely" being a
    simultaneous interval without 0. Pairs without an interval give no information. Every true rank is in its
    set with the confidence level of the intervals. Source: Chatzi and others 2024, Prediction-Powered Ranking
    of Large Language Models, algorithm 1.
    """
    better: dict[str, int] = dict.fromkeys(systems, 0)
    worse: dict[str, int] = dict.fromkeys(systems, 0)
    for each in differences:
        if each.simultaneous_low is None or each.simultaneous_high is None:
            continue
        if each.simultaneous_low > 0:
            better[each.second] += 1
            worse[each.first] += 1
        elif each.simultaneous_high < 0:
            better[each.first] += 1
            worse[each.second] += 1
    return tuple(RankSet(name, 1 + better[name], len(systems) - worse[name]) for name in systems)


def why_no_strengths(beaten: FloatArray, systems: Sequence[str]) -> str:
    """Why strengths have no finite estimate, "" if they have: a group of systems won or lost everything.

    beaten: (systems, systems), above 0 if the row's system ever won against the column's system. The
    likelihood has a maximum if these wins lead from each system to each other. Source: Ford 1957, American
    Mathematical Monthly 64, 28-33.
    """
    parts, of_system = scipy.sparse.csgraph.connected_components(
        scipy.sparse.csr_array(beaten), connection="strong"
    )
    if parts == 1:
        return ""
    # The smallest group makes the shortest message, and its name suffices.
    smallest = np.bincount(of_system).argmin()
    named = ", ".join(name for name, part in zip(systems, of_system, strict=True) if part == smallest)
    return f"{named}: won, lost or missed every comparison with the others, so there is no finite strength."


def holm(p_values: npt.ArrayLike) -> FloatArray:
    """(tests,): adjusted p values, max over the smaller ones of (m - i + 1) p_(i), cut at 1.

    Source: Holm 1979, Scandinavian Journal of Statistics 6, 65-70.
    """
    given = np.asarray(p_values, dtype=float)
    order = np.argsort(given)
    stepped = np.maximum.accumulate(given[order] * np.arange(len(given), 0, -1))
    adjusted = np.empty(len(given))
    adjusted[order] = np.minimum(stepped, 1)
    return adjusted


def holm_by_key(p_values: Mapping[Key, float | None]) -> dict[Key, float]:
    """Return the adjusted p values by the same keys; a test without a p value (None) is excluded."""
    given = {key: p_value for key, p_value in p_values.items() if p_value is not None}
    return dict(zip(given, holm(list(given.values())).tolist(), strict=True))


def share_letters(systems: Sequence[str], differing: Iterable[tuple[str, str]]) -> dict[str, str]:
    """Return the letters of each system, such as "ab", from the pairs that surely differ.

    systems: the best first. Each of the letters is a largest set of systems of which no two differ; a has the
    best system. Two systems share one exactly if their pair does not differ. Source: Piepho 2004, Journal of
    Computational and Graphical Statistics 13, 456-466 (insert and absorb).
    """
    groups: list[frozenset[str]] = [frozenset(systems)] if systems else []
    for pair in differing:
        # Insert: a group with both systems becomes two, each without one of them.
        split = [group - {name} for group in groups if group.issuperset(pair) for name in pair]
        kept = [group for group in groups if not group.issuperset(pair)]
        distinct = list(dict.fromkeys([*kept, *split]))
        # Absorb: a group within another is not a largest set.
        groups = [group for group in distinct if not any(group < other for other in distinct)]
    order = {name: index for index, name in enumerate(systems)}
    groups.sort(key=lambda group: sorted(order[name] for name in group))
    # a, b, ..., z, a1, b1, ...
    times = [divmod(index, len(ascii_lowercase)) for index in range(len(groups))]
    letters = [ascii_lowercase[letter] + (str(more) if more else "") for more, letter in times]
    return {
        name: "".join(letter for letter, group in zip(letters, groups, strict=True) if name in group)
        for name in systems
    }
