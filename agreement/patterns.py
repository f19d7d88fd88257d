"""Units with the same values are interchangeable: find the distinct ones and count them once."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from agreement.data import FloatArray, IntArray, ReliabilityData

_LARGEST_CODE = 2**62
_SMALL = 2**14  # numbers; a sparse array of fewer takes longer to make than a dense one to multiply
_TABULATED = 4  # possible keys for each one that is there: up to these counting in a table beats sorting


@dataclass(frozen=True, eq=False)
class Patterns:
    """The distinct columns of a table of ratings.

    codes: (patterns, raters), positions in the value domain, its length for a gap. unit_counts: (patterns,),
    the number of units with each pattern. of_unit: (units,), the pattern of each unit.
    """

    codes: IntArray
    unit_counts: IntArray
    of_unit: IntArray
    value_domain: FloatArray

    @property
    def ratings(self) -> FloatArray:
        """(patterns,): the number of values of a unit with this pattern."""
        return np.asarray(np.sum(self.codes < len(self.value_domain), axis=1), dtype=float)

    def value_counts(self) -> "FloatArray | scipy.sparse.csr_array":
        """(patterns, categories):

        the number of times each category occurs in each pattern; sparse if large.
        """
        return self._table(*np.nonzero(self.codes < len(self.value_domain)))

    def values_of(self, rater: int) -> "FloatArray | scipy.sparse.csr_array":
        """(patterns, categories): 1 at the category that this rater gave; sparse if large."""
        rows = np.flatnonzero(self.codes[:, rater] < len(self.value_domain))
        return self._table(rows, np.full(len(rows), rater))

    def _table(self, rows: IntArray, raters: IntArray) -> "FloatArray | scipy.sparse.csr_array":
        shape = (len(self.codes), len(self.value_domain))
        columns = self.codes[rows, raters]
        if shape[0] * shape[1] > _SMALL:
            return scipy.sparse.csr_array((np.ones(len(rows)), (rows, columns)), shape=shape)
        counts = np.bincount(rows * shape[1] + columns, minlength=shape[0] * shape[1])
        return counts.reshape(shape).astype(float)


def beside(
    table: "FloatArray | scipy.sparse.sparray", *columns: FloatArray
) -> "FloatArray | scipy.sparse.csr_array":
    """A table (patterns, ...) with more columns (patterns,); sparse if it was."""
    if isinstance(table, np.ndarray):
        return np.column_stack([table, *columns])
    more = scipy.sparse.csr_array(np.stack(columns, axis=1))
    return scipy.sparse.hstack([table, more], format="csr")


def ranks_of_values(counts: FloatArray, axis: int) -> FloatArray:
    """The rank that ties share, counted from the middle; counts: of ordered values, on this axis."""
    return np.asarray(np.cumsum(counts, axis=axis) - (counts + counts.sum(axis=axis, keepdims=True)) / 2)


def by_rater(data: ReliabilityData, *, least_ratings: int = 1) -> Patterns:
    """The distinct columns among units with enough ratings, with raters distinguished."""
    return data.once(("by_rater", least_ratings), lambda: _by_rater(data, least_ratings))


def _by_rater(data: ReliabilityData, least_ratings: int) -> Patterns:
    kept = data.codes[:, data.ratings_per_unit >= least_ratings]
    return _patterns(kept, data.value_domain)


def by_value(data: ReliabilityData, *, least_ratings: int = 2, keep_unused: bool = False) -> Patterns:
    """The distinct sets of values among units with enough ratings, raters not distinguished.

    3 raters on 5 points make up to 35. Unused categories are dropped from the value domain unless
    `keep_unused`.
    """
    key = ("by_value", least_ratings, keep_unused)
    return data.once(key, lambda: _count_by_value(data, least_ratings, keep_unused))


def _count_by_value(data: ReliabilityData, least_ratings: int, keep_unused: bool) -> Patterns:
    columns = by_rater(data, least_ratings=least_ratings)
    sets = _patterns(np.sort(columns.codes, axis=1).T, data.value_domain)
    unit_counts = np.bincount(sets.of_unit, columns.unit_counts, len(sets.codes)).astype(np.intp)
    used = np.arange(len(data.value_domain))
    if not keep_unused:
        used = np.unique(sets.codes[sets.codes < len(data.value_domain)])
    return Patterns(
        codes=np.searchsorted(used, sets.codes),
        unit_counts=unit_counts,
        of_unit=sets.of_unit[columns.of_unit],
        value_domain=data.value_domain[used],
    )


def _patterns(codes: npt.NDArray[np.integer], domain: FloatArray) -> Patterns:
    keys = _keys(codes, radix=len(domain) + 1)
    first, of_unit, unit_counts = _distinct(keys)
    return Patterns(codes[:, first].T.astype(np.intp), unit_counts, of_unit, domain)


def _keys(codes: npt.NDArray[np.integer], radix: int) -> IntArray:
    """(units,): one number per column, equal where columns are equal; renumbered before it overflows."""
    keys = np.zeros(codes.shape[1], dtype=np.intp)
    span = 1
    for row in codes:
        if span * radix > _LARGEST_CODE:
            distinct, keys = np.unique(keys, return_inverse=True)
            span = len(distinct)
        keys *= radix
        keys += row
        span *= radix
    return keys


def _distinct(keys: IntArray) -> tuple[IntArray, IntArray, IntArray]:
    """For each distinct key one position; the distinct key of each position; the number of occurrences."""
    if not len(keys) or keys.max() >= _TABULATED * len(keys):
        _, first, of_unit, counts = np.unique(
            keys, return_index=True, return_inverse=True, return_counts=True
        )
        return first, of_unit, counts
    table = np.bincount(keys)
    occurring = np.flatnonzero(table)
    positions = np.empty(len(table), dtype=np.intp)
    positions[keys] = np.arange(len(keys))
    number = np.empty(len(table), dtype=np.intp)
    number[occurring] = np.arange(len(occurring))
    return positions[occurring], number[keys], table[occurring]
