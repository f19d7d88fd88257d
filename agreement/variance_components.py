"""The sources of variance in ratings, and the numbers of raters and documents that a study needs."""

import math
from dataclasses import astuple, dataclass
from itertools import product

import numpy as np

from agreement.crossed_fit import ErrorVariances
from agreement.data import FloatArray

_FACETS = (0, 1, 2)  # axes: raters, documents, systems
Shared = tuple[bool, bool, bool]


@dataclass(frozen=True)
class VarianceComponents:
    """Variances in squared points of the scale, each 0 or more.

    rest: raters by systems by documents, and whatever else makes one rating differ from another.
    """

    systems: float
    documents: float
    documents_by_systems: float
    raters: float
    raters_by_systems: float
    raters_by_documents: float
    rest: float

    @property
    def total(self) -> float:
        """The variance of one rating."""
        return float(sum(astuple(self)))

    @property
    def of_differences(self) -> ErrorVariances:
        """The components that remain in a difference of two systems."""
        return ErrorVariances(self.raters_by_systems, self.documents_by_systems, self.rest)

    def generalisability(self, raters: int, documents: int) -> float | None:
        """E rho^2 of a system's mean: the reliability of differences of systems over other raters and
        documents.

        Systems over systems plus error, with each rater rating every output of this number of documents. None
        without any variance. Source: Brennan 2001, Generalizability Theory, equations 4.7 to 4.9.
        """
        # Half the variance of a difference is the error variance of one mean.
        return _share(self.systems, self.of_differences.of_difference(raters, documents) / 2)

    def dependability(self, raters: int, documents: int) -> float | None:
        """Phi of a system's mean: the same for its height, where severe raters and hard documents are error.

        Source: Brennan 2001, equations 4.10 to 4.12.
        """
        heights = (
            self.raters / raters
            + self.documents / documents
            + self.raters_by_documents / (raters * documents)
        )
        error = self.of_differences.of_difference(raters, documents) / 2 + heights
        return _share(self.systems, error)


def why_no_components(values: FloatArray) -> str:
    """Return the reason why `variance_components` cannot estimate from these values; empty if it can.

    values: (raters, documents, systems), NaN for a gap. Two raters must share two systems on two documents.
    """
    if len(_pair_counts(values)) < 2 ** len(_FACETS):
        return "Two raters must share texts of two systems on two documents."
    return ""


def variance_components(values: FloatArray) -> VarianceComponents:
    """The components of values (raters, documents, systems), NaN for gaps, by Koch's symmetric sums.

    Half the mean squared difference of two ratings that share just the facets A is the sum of variances of
    all effects that have a facet outside A: eight kinds of pairs, seven unknown variances. Without gaps these
    are the estimates that equate mean squares to expectations; negative estimates become 0. Time and memory
    grow with the number of values. Sources: Koch 1968, Technometrics 10, 551-558; Brennan 2001, chapter 4.
    Raises ValueError if `why_no_components` gives a reason.
    """
    if reason := why_no_components(values):
        raise ValueError(reason)
    given = ~np.isnan(values)
    # Differences do not depend on the mean, and small numbers lose fewer digits.
    centred = np.where(given, values - values[given].mean(), 0.0)
    # Half the squared differences over ordered pairs of a group: n sum x^2 - (sum x)^2.
    sums = {
        shared: float(np.sum(_over(given, shared) * _over(centred**2, shared)))
        - float(np.sum(_over(centred, shared) ** 2))
        for shared in _KINDS
    }
    counts, sums = _pair_counts(values), _alternate(sums, over_more=True)
    # What pairs that share A differ less by than pairs that share nothing is the sum of the variances of all
    # effects within A.
    nothing = sums[_KINDS[0]] / counts[_KINDS[0]]
    within = {shared: nothing - sums[shared] / count for shared, count in counts.items()}
    found = _alternate(within, over_more=False)
    of = {shared: max(0.0, value) for shared, value in found.items()}
    return VarianceComponents(
        systems=of[False, False, True],
        documents=of[False, True, False],
        documents_by_systems=of[False, True, True],
        raters=of[True, False, False],
        raters_by_systems=of[True, False, True],
        raters_by_documents=of[True, True, False],
        rest=of[True, True, True],
    )


def _share(signal: float, error: float) -> float | None:
    return signal / (signal + error) if signal + error > 0 else None


_EITHER = (False, True)
_KINDS: list[Shared] = list(product(_EITHER, _EITHER, _EITHER))


def _over(table: FloatArray, shared: Shared) -> FloatArray:
    """Sum a table over the facets that are not shared."""
    return np.asarray(table.sum(axis=tuple(axis for axis in _FACETS if not shared[axis])), dtype=float)


def _pair_counts(values: FloatArray) -> dict[Shared, float]:
    """The numbers of ordered pairs of ratings that share just these facets, for the kinds that occur."""
    given = (~np.isnan(values)).astype(float)
    # A squared number of ratings counts the ordered pairs that share at least these facets.
    counts = {shared: float(np.sum(_over(given, shared) ** 2)) for shared in _KINDS}
    # Counts are differences of float sums, so 0.5 separates 0 from 1.
    return {shared: count for shared, count in _alternate(counts, over_more=True).items() if count > 0.5}


def _alternate(sums: dict[Shared, float], *, over_more: bool) -> dict[Shared, float]:
    """By inclusion and exclusion, the part of each sum that belongs to just its own facets.

    over_more: sums are over pairs that share these facets and maybe others; else over effects within them.
    """
    found = dict.fromkeys(sums, 0.0)
    for few, more in product(sums, sums):
        if all(needed <= there for needed, there in zip(few, more, strict=True)):
            own, other = (few, more) if over_more else (more, few)
            found[own] += (-1) ** (sum(few) + sum(more)) * sums[other]
    return found


MOST_RATERS = 100


def reliability_of_mean(single: float, raters: int) -> float:
    """ICC(A,m) of the mean of m raters, from ICC(A,1) of one: m r / (1 + (m - 1) r).

    With the variances of units, raters and the rest, ICC(A,m) is units / (units + (raters + rest) / m), which
    is the dependability phi of generalisability theory for random raters, so one value gives all others.
    Source: Brennan 2001, Generalizability Theory, chapter 2; McGraw and Wong 1996. Raises ValueError
    for fewer than one rater, and for an ICC(A,1) below 0, of which no mean follows.
    """
    if raters < 1:
        raise ValueError("A mean needs at least one rater.")
    if single < 0:
        raise ValueError("Raters who agree less than by chance have no reliable mean.")
    return raters * single / (1 + (raters - 1) * single)


def raters_needed(single: float, target: float) -> int | None:
    """The fewest raters whose mean reaches this reliability, from ICC(A,1) of one rater.

    None if more than 100 would be needed, or if raters do not agree at all (ICC(A,1) of 0 or less). Raises
    ValueError for a target that is not between 0 and 1.
    """
    if not 0 < target < 1:
        raise ValueError("A reliability to reach lies between 0 and 1.")
    if single <= 0:
        return None
    if single >= 1:
        return 1
    # Of a reliability that is reached exactly rounding must not ask one rater more.
    needed = max(1, math.ceil(target * (1 - single) / (single * (1 - target)) - 1e-9))
    return needed if needed <= MOST_RATERS else None


def expected_width(width: float, units: int, planned: int) -> float:
    """The expected width of an interval with `planned` units (documents), from its width with `units`: as 1 /
    sqrt(n).
    """
    return width * math.sqrt(units / planned)


def units_needed(width: float, units: int, target: float) -> int:
    """The fewest units (documents) with which an interval is no wider than the target."""
    return math.ceil(units * (width / target) ** 2 - 1e-9)
