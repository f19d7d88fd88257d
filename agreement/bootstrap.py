"""Confidence intervals by resampling units or documents, computed over weights of distinct patterns.

If nearly all values are the same, a sample may lack the rare ones: then `smoothed_interval`.
"""

import math
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, replace
from threading import Lock
from typing import Any, Literal, cast

import numpy as np
import numpy.typing as npt
import scipy

from agreement.coefficient import Interval
from agreement.data import FloatArray, IntArray, ReliabilityData, UnitParts, divide_where
from agreement.patterns import Patterns
from agreement.streams import Randomness, Stream, generator_of


class KeptArrays:
    """The most recently used arrays, together up to `most` bytes. Safe for several threads."""

    def __init__(self, most: int) -> None:
        self._most, self._bytes = most, 0
        self._arrays = OrderedDict[Hashable, npt.NDArray[Any]]()
        self._lock = Lock()

    def find_or_make(self, key: Hashable, make: Callable[[], npt.NDArray[Any]]) -> npt.NDArray[Any]:
        """Return the array of the key, read-only; an array larger than the limit is computed each time."""
        with self._lock:
            if (found := self._arrays.get(key)) is not None:
                self._arrays.move_to_end(key)
                return found
        # Made outside the lock: two threads may compute one array, but neither waits for the other.
        made = np.asarray(make())
        made.setflags(write=False)
        with self._lock:
            # Another thread may have added the array since, and its bytes count once.
            if made.nbytes <= self._most and key not in self._arrays:
                self._arrays[key] = made
                self._bytes += made.nbytes
            while self._bytes > self._most:
                self._bytes -= self._arrays.popitem(last=False)[1].nbytes
        return made


Statistic = Callable[[FloatArray], FloatArray]
"""From weights (replicates, patterns) to values (replicates,), NaN where a replicate has no variation."""


@dataclass(frozen=True, eq=False)
class OfTotals:
    """A statistic that is a function of totals over units, such as a ratio of two sums.

    summands: (patterns, sums), the summands of a unit with each pattern, for each total; sparse if large.
    of_totals: from totals (replicates, sums) to values (replicates,).

    Being linear, totals of a resample of documents are sums of the documents' own: the patterns of all units,
    possibly thousands, are summed once instead of once for each resample.
    """

    summands: "FloatArray | scipy.sparse.csr_array"
    of_totals: Statistic

    def __call__(self, weights: FloatArray) -> FloatArray:
        """(replicates,): the values at weights (replicates, patterns)."""
        return self.of_totals(np.asarray(weights @ self.summands))


_BLOCK = 2**20  # numbers held at a time
_MOST_DRAWS = 2**23  # counts in the resamples of documents up to which statistics share them
_KEPT = KeptArrays(64 * 2**20)  # the shared resamples and the weights that follow from them
_SMALL = 2**12  # counts; a sparse array of fewer takes longer to make than a dense one to multiply
_ALIKE = 8  # groups of a kind, on average, from which a binomial for each kind samples faster


@dataclass(frozen=True)
class Resampling:
    """The method of an interval.

    by: the units resampled with replacement; documents if units of one document are not independent.
    jackknife_below: with fewer units (documents) than this, the interval omits each in turn instead. noun:
    what intervals and reasons call the groups, by default their kind.
    """

    by: Literal["units", "documents"] = "units"
    replicates: int = 1000
    confidence_level: float = 0.95
    jackknife_below: int = 20
    noun: str = ""

    def __post_init__(self) -> None:
        if self.by not in ("units", "documents"):
            raise ValueError(f"Resampling is by units or by documents, not by {self.by!r}.")
        if self.replicates < 100:
            raise ValueError(f"A bootstrap interval needs at least 100 replicates, not {self.replicates}.")
        if not 0 < self.confidence_level < 1:
            raise ValueError(
                f"The confidence level must lie between 0 and 1, but is {self.confidence_level}."
            )


@dataclass(frozen=True, eq=False)
class Population:
    """The population of resamples.

    pattern_counts: (groups, patterns), `count_patterns`: the number of units with each pattern in a group;
    None if each kind of group is its own pattern.

    group_counts: (groups,): the number of interchangeable groups of each kind.
    """

    pattern_counts: "FloatArray | scipy.sparse.csr_array | None"
    group_counts: IntArray
    by: str

    @property
    def size(self) -> int:
        """The number of units (documents) to resample."""
        return int(self.group_counts.sum())

    @property
    def width(self) -> int:
        """The size of one resample in memory, in numbers."""
        patterns = 0 if self.pattern_counts is None else int(self.pattern_counts.shape[1])
        return max(self.size, patterns)

    def weights(self, draws: IntArray | FloatArray) -> FloatArray:
        """(replicates, patterns): the number of times each pattern occurs, given the counts of each group."""
        if self.pattern_counts is None:
            return draws.astype(float, copy=False)
        return np.asarray((self.pattern_counts.T @ draws.T).T, dtype=float)


def population(patterns: Patterns, documents: IntArray | None, by: str) -> Population:
    """The units to sample from, or the documents that have such units; `documents` is (units,).

    Raises ValueError if documents are to be resampled and there are none.
    """
    if by == "units":
        return Population(None, patterns.unit_counts, by)
    if documents is None:
        raise ValueError("Resampling by documents needs the document of each unit.")
    labels, groups = np.unique(documents, return_inverse=True)
    counts = count_patterns(groups, len(labels), patterns)
    return Population(counts, np.ones(len(labels), dtype=np.intp), by)


def count_patterns(
    groups: IntArray, number: int, patterns: Patterns
) -> "FloatArray | scipy.sparse.csr_array":
    """(number, patterns): the number of units with each pattern in a group, sparse if large; groups:
    (units,).
    """
    shape = (number, len(patterns.unit_counts))
    if number * shape[1] > _SMALL:
        return scipy.sparse.csr_array((np.ones(len(groups)), (groups, patterns.of_unit)), shape=shape)
    positions = groups * shape[1] + patterns.of_unit
    return np.bincount(positions, minlength=number * shape[1]).reshape(shape).astype(float)


def independent(size: int, by: str) -> Population:
    """Units (documents) that are all different, each with its own weight."""
    return Population(None, np.ones(size, dtype=np.intp), by)


def add_up_groups(statistic: Statistic, drawn_from: Population) -> tuple[Statistic, Population]:
    """Return the same statistic of the same groups, by their totals instead of their patterns if possible."""
    if not isinstance(statistic, OfTotals) or drawn_from.pattern_counts is None:
        return statistic, drawn_from
    totals = cast("FloatArray | scipy.sparse.csr_array", drawn_from.pattern_counts @ statistic.summands)
    return statistic.of_totals, replace(drawn_from, pattern_counts=totals)


def nothing(weights: FloatArray) -> FloatArray:
    """A statistic without a value: NaN for each of the replicates."""
    return np.full(len(weights), np.nan)


def ratio_of_sums(parts: FloatArray, wholes: FloatArray) -> Statistic:
    """From weights to sum parts / sum wholes, both (documents, ...); NaN if the wholes add up to 0."""

    def ratios(weights: FloatArray) -> FloatArray:
        total = weights @ wholes
        return divide_where(total > 0, weights @ parts, total)

    return ratios


def mean_over_units(values: FloatArray) -> OfTotals:
    """The mean of values (patterns,) over the units; NaN for no units."""

    def means(totals: FloatArray) -> FloatArray:
        sums, units = totals.T
        return divide_where(units > 0, sums, units)

    return OfTotals(np.stack([values, np.ones_like(values)], axis=1), means)


def resampled_interval(
    statistic: Statistic,
    drawn_from: Population,
    generator: Randomness,
    resampling: Resampling,
    bounds: tuple[float, float],
) -> tuple[Interval | None, str | None]:
    """The interval and None, or None and the reason why there is no interval.

    Percentile bootstrap (Efron and Tibshirani 1993, chapter 13) over units or documents; below
    `resampling.jackknife_below` of them the jackknife (ibid., chapter 11) with Student's t. No interval is
    given where the sample cannot show how much the coefficient may vary: all replicates equal, or too many
    without variation.
    """
    noun = resampling.noun or drawn_from.by
    if drawn_from.size < 2:
        return None, f"An interval needs at least two {noun} with values from two raters."
    statistic, drawn_from = add_up_groups(statistic, drawn_from)
    if drawn_from.size < resampling.jackknife_below:
        counts = drawn_from.group_counts
        whole = statistic(drawn_from.weights(counts[None]))
        # Interchangeable units give the same replicate, so each kind is excluded once.
        without_one = statistic(drawn_from.weights(counts - np.eye(len(counts), dtype=np.intp)))
        only = np.zeros(len(counts), dtype=np.intp)
        return jackknife_intervals(whole, only, without_one, counts, noun, resampling, bounds)[0]
    blocks = [statistic(weights) for weights in draw_weights(drawn_from, generator, resampling.replicates)]
    return _percentile(np.concatenate(blocks), noun, resampling)


def draw_weights(drawn_from: Population, generator: Randomness, replicates: int) -> Iterator[FloatArray]:
    """Yield blocks of weights (some replicates, patterns), `replicates` in total.

    With a stream, resamples of documents follow from its seed and the number of documents alone. Statistics
    on the same documents share them, so they differ by ratings and not by resampling. Computations that do
    not depend on the statistic run once.
    """
    if drawn_from.by != "documents" or not isinstance(generator, Stream):
        yield from _weights(drawn_from, generator_of(generator, drawn_from.by), replicates)
        return
    stream = generator.beside("documents")
    # Too many counts to keep: the same stream draws them again, block by block.
    if replicates * drawn_from.size > _MOST_DRAWS:
        yield from _weights(drawn_from, stream.generator(), replicates)
        return
    block = max(1, _BLOCK // drawn_from.width)
    if replicates <= block:
        # Populations compare by identity, and the key keeps this one alive, so no other can match it.
        key = (drawn_from, stream, replicates)
        yield _KEPT.find_or_make(key, lambda: _shared_weights(drawn_from, stream, replicates))
        return
    # Only the counts are stored; the weights of all replicates together would be too large.
    for start in range(0, replicates, block):
        yield _shared_weights(drawn_from, stream, replicates, slice(start, start + block))


def _shared_weights(
    drawn_from: Population, stream: Stream, replicates: int, some: slice = slice(None)
) -> FloatArray:
    size = drawn_from.size
    counts = _KEPT.find_or_make((stream, size, replicates), lambda: _draw_documents(stream, size, replicates))
    return drawn_from.weights(counts[:, some].T.astype(float))


def _draw_documents(stream: Stream, size: int, replicates: int) -> npt.NDArray[np.int16]:
    """Return the counts in resamples, (documents, replicates): sparse products read them in this order."""
    # A document occurs about once in a resample, so 16 bits suffice.
    counts = np.empty((size, replicates), dtype=np.int16)
    generator, block = stream.generator(), max(1, _BLOCK // size)
    for start in range(0, replicates, block):
        some = slice(start, min(start + block, replicates))
        counts[:, some] = _draw(independent(size, "documents"), generator, some.stop - start).T
    return counts


def _weights(drawn_from: Population, generator: np.random.Generator, replicates: int) -> Iterator[FloatArray]:
    """Yield blocks of weights (some replicates, patterns) from a generator whose state continues."""
    block = max(1, _BLOCK // drawn_from.width)
    for start in range(0, replicates, block):
        yield drawn_from.weights(_draw(drawn_from, generator, min(block, replicates - start)))


def _draw(drawn_from: Population, generator: np.random.Generator, replicates: int) -> IntArray:
    """(replicates, kinds of groups): the number of times each kind is resampled; a row sums to the number of
    groups.
    """
    size, kinds = drawn_from.size, len(drawn_from.group_counts)
    if size > _ALIKE * kinds:
        return generator.multinomial(size, drawn_from.group_counts / size, size=replicates)
    # For many kinds with few groups each, sampling group by group is faster than a binomial for each kind.
    kind = np.repeat(np.arange(kinds), drawn_from.group_counts)
    # Each replicate has its own range of numbers, so one bincount counts all of them.
    drawn = kind[generator.integers(size, size=(replicates, size))] + kinds * np.arange(replicates)[:, None]
    return np.bincount(drawn.ravel(), minlength=replicates * kinds).reshape(replicates, kinds)


def _percentile(
    replicates: FloatArray, by: str, resampling: Resampling
) -> tuple[Interval | None, str | None]:
    varied = np.sort(replicates[~np.isnan(replicates)])
    without = len(replicates) - len(varied)
    tail = (1 - resampling.confidence_level) / 2
    # Replicates that are excluded could all belong beyond one end of the interval.
    if without > tail * len(replicates):
        return None, (
            f"{without} of {len(replicates)} resamples of {by} had no variation, too many to leave out: "
            "nearly all values are the same."
        )
    if varied[0] == varied[-1]:
        return None, _NO_SPREAD.format(by=by)
    return Interval(
        low=_quantile(varied, tail),
        high=_quantile(varied, 1 - tail),
        method=f"percentile bootstrap of {by}",
        confidence_level=resampling.confidence_level,
        replicates=len(replicates),
        replicates_without_variation=without,
    ), None


def _quantile(ordered: FloatArray, share: float) -> float:
    """What `np.quantile` finds in sorted numbers, without its checks: they take longer than the resamples."""
    position = (len(ordered) - 1) * share
    # With the share 1 the position is the last number, which has no next one.
    below = min(math.floor(position), len(ordered) - 2)
    start, end, between = float(ordered[below]), float(ordered[below + 1]), position - below
    # From the nearer of the two, as NumPy does, so that the last digit is the same.
    return end - (end - start) * (1 - between) if between >= 0.5 else start + (end - start) * between


_NO_SPREAD = (
    "The coefficient is the same in every resample of {by}, so they do not tell how much it may vary."
)


def jackknife_intervals(
    whole: FloatArray,
    of_part: IntArray,
    without_one: FloatArray,
    counts: IntArray,
    by: str,
    resampling: Resampling,
    bounds: tuple[float, float],
) -> list[tuple[Interval | None, str | None]]:
    """Leave out each of N in turn: value -+ t sqrt((N - 1) / N sum (value_i - mean)^2), cut at the bounds.

    whole: (parts,), the values. Then for the kinds of units of the first part, of the second, ...: of_part
    (kinds,), the part; without_one (kinds,), its value without a unit of the kind; counts (kinds,), the
    number of such units.
    """
    sizes = np.bincount(of_part, counts, len(whole))
    means = np.bincount(of_part, counts * without_one, len(whole)) / sizes
    squares = np.bincount(of_part, counts * (without_one - means[of_part]) ** 2, len(whole))
    # of_part ascends, so this finds each part's first value; a part varies if another one differs.
    first = without_one[np.searchsorted(of_part, np.arange(len(whole)))]
    varied = np.bincount(of_part, without_one != first[of_part], len(whole)) > 0
    reach = np.sqrt((sizes - 1) / sizes * squares)
    reach *= scipy.special.stdtrit(sizes - 1, (1 + resampling.confidence_level) / 2)
    low, high = np.maximum(whole - reach, bounds[0]), np.minimum(whole + reach, bounds[1])

    def interval(part: int) -> tuple[Interval | None, str | None]:
        size = int(sizes[part])
        # One undefined replicate makes the sums of its part NaN.
        if np.isnan(reach[part]):
            return None, f"Leaving out one of the {size} {by} leaves no variation: rate more of them."
        if not varied[part]:
            return None, _NO_SPREAD.format(by=by)
        method = f"jackknife of {by}, t with {size - 1} degrees of freedom"
        limits = float(low[part]), float(high[part])
        return Interval(*limits, method, resampling.confidence_level, replicates=size), None

    return [interval(part) for part in range(len(whole))]


LARGEST_MODAL_SHARE = 0.8
"""The share of one value above which intervals that only draw what is in the sample are too short."""
_SHAPES_ADD_UP_TO = 1.0  # the addition counts as one unit


def modal_share(data: ReliabilityData) -> float:
    """The share of the most frequent value among the values of units with two values or more; 0 without
    any.
    """
    return data.once("modal share", lambda: float(modal_shares_of_parts(data, UnitParts.whole(data))[0]))


def modal_shares_of_parts(data: ReliabilityData, parts: UnitParts) -> FloatArray:
    """(parts,): `modal_share` of each part of the data."""
    gap = len(data.value_domain)
    # A unit with one value counts as a gap, and gaps are the last column.
    codes = np.where(data.ratings_per_unit >= 2, data.codes, gap)[:, parts.units]
    counts = parts.counts(codes, gap + 1)[:, :-1]
    return np.asarray(counts.max(axis=1) / np.maximum(counts.sum(axis=1), 1))


def smoothed_interval(
    patterns_of: Callable[[ReliabilityData], Patterns],
    statistic_of: Callable[[Patterns], Statistic],
    data: ReliabilityData,
    value: float,
    generator: np.random.Generator,
    resampling: Resampling,
    least_ratings: int = 2,
) -> Interval:
    """Quantiles of a coefficient under the Bayesian bootstrap with one unit more, spread over possibly
    missing values.

    Each unit (document) has a weight from an exponential distribution (Rubin 1981, Annals of Statistics 9,
    130-134). The unit more is divided evenly: for every used value but the most frequent, a unit on which all
    raters gave it and a unit on which one did and the others gave the most frequent one; their weights are
    gamma. So raters may agree on a rare value or not, independent of the sample. The sample's own `value` is
    always inside. Needs two used values. least_ratings: of the units that `patterns_of` uses.
    """
    added = _rare_units(data)
    # The added units belong to no document, so the documents are handled separately below.
    patterns = patterns_of(replace(data, values=np.concatenate([data.values, added], axis=1), documents=None))
    number = added.shape[1]
    kinds = len(patterns.unit_counts)
    # The added units come last; together they weigh as much as _SHAPES_ADD_UP_TO units.
    shapes = np.bincount(patterns.of_unit[-number:], minlength=kinds) * _SHAPES_ADD_UP_TO / number
    documents = None
    if resampling.by == "documents" and data.documents is not None:
        # The patterns leave out units with too few values, and so must their documents.
        documents = data.documents[data.ratings_per_unit >= least_ratings]
    statistic = statistic_of(patterns)
    weights = _random_weights(patterns.of_unit[:-number], documents, shapes, generator, resampling.replicates)
    tail, noun = (1 - resampling.confidence_level) / 2, resampling.noun or resampling.by
    low, high = np.quantile(np.concatenate([statistic(each) for each in weights]), [tail, 1 - tail])
    return Interval(
        min(float(low), value),
        max(float(high), value),
        f"smoothed Bayesian bootstrap of {noun}, as nearly all values are the same",
        resampling.confidence_level,
        replicates=resampling.replicates,
    )


def _rare_units(data: ReliabilityData) -> FloatArray:
    """(raters, added units): as many values in each as a unit usually has, gaps for the other raters."""
    rated = data.ratings_per_unit >= 2
    values = data.values[:, rated]
    used, counts = np.unique(values[~np.isnan(values)], return_counts=True)
    modal = used[counts.argmax()]
    rare = used[used != modal]
    size = int(np.median(data.ratings_per_unit[rated]))
    added = np.full((len(values), 2 * len(rare)), np.nan)
    # First units on which all give a rare value, then units on which only the first rater does.
    added[:size, : len(rare)] = rare
    added[:size, len(rare) :] = modal
    added[0, len(rare) :] = rare
    return added


def _random_weights(
    of_unit: IntArray,
    documents: IntArray | None,
    shapes: FloatArray,
    generator: np.random.Generator,
    replicates: int,
) -> Iterator[FloatArray]:
    """Yield blocks (replicates, patterns) of weights."""
    if documents is None:
        # A sum of n exponential weights is gamma with shape n, so each pattern needs one number.
        yield generator.standard_gamma(
            np.bincount(of_unit, minlength=len(shapes)) + shapes, size=(replicates, len(shapes))
        )
        return
    number = int(documents.max()) + 1
    counts = scipy.sparse.csr_array(
        (np.ones(len(of_unit)), (documents, of_unit)), shape=(number, len(shapes))
    )
    block = max(1, _BLOCK // max(number, len(shapes)))
    for start in range(0, replicates, block):
        size = min(block, replicates - start)
        # One exponential weight for each document, which all its units share.
        drawn = np.asarray((counts.T @ generator.standard_exponential((size, number)).T).T)
        yield drawn + generator.standard_gamma(shapes, size=drawn.shape)
