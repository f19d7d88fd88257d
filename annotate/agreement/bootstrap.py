"""Confidence intervals by resampling units or documents, computed over weights of distinct patterns."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy

from annotate.agreement.coefficient import Interval
from annotate.agreement.data import FloatArray, IntArray
from annotate.agreement.patterns import Patterns
from annotate.agreement.streams import Randomness, generator_of

Statistic = Callable[[FloatArray], FloatArray]
"""From weights (replicates, patterns) to values (replicates,), NaN where a replicate has no variation."""

_BLOCK = 2**20  # numbers held at a time
_ALIKE = 8  # groups of a kind, on average, from which a binomial for each kind is the faster draw


@dataclass(frozen=True)
class Resampling:
    """How an interval is made.

    by: what is drawn with replacement; documents where units of one document are not independent.
    jackknife_below: with fewer units (documents) than this, each is left out in turn instead.
    """

    by: Literal["units", "documents"] = "units"
    replicates: int = 1000
    confidence_level: float = 0.95
    jackknife_below: int = 20

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
    """What is resampled.

    pattern_counts: (groups, patterns), sparse: how many units with each pattern a group has; None where each
    kind of group is a pattern of its own.
    group_counts: (groups,): how many interchangeable groups there are of each kind.
    """

    pattern_counts: "scipy.sparse.csr_array | None"
    group_counts: IntArray
    by: str

    @property
    def size(self) -> int:
        """How many units (documents) there are to draw from."""
        return int(self.group_counts.sum())

    def weights(self, draws: IntArray | FloatArray) -> FloatArray:
        """(replicates, patterns): how often each pattern occurs, given how often each group was drawn."""
        if self.pattern_counts is None:
            return draws.astype(float)
        return np.asarray((self.pattern_counts.T @ draws.T).T, dtype=float)


def population(patterns: Patterns, documents: IntArray | None, by: str) -> Population:
    """The units to draw from, or the documents that have such units; `documents` is (units,)."""
    if by == "units":
        return Population(None, patterns.unit_counts, by)
    if documents is None:
        raise ValueError("Resampling by documents needs the document of each unit.")
    groups = np.unique(documents, return_inverse=True)[1]
    number = int(groups.max(initial=-1)) + 1
    shape = (number, len(patterns.unit_counts))
    counts = scipy.sparse.csr_array((np.ones(len(groups)), (groups, patterns.of_unit)), shape=shape)
    return Population(counts, np.ones(number, dtype=np.intp), by)


def independent(size: int, by: str) -> Population:
    """Units (documents) that are all different, each with a weight of its own."""
    return Population(None, np.ones(size, dtype=np.intp), by)


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
    if drawn_from.size < 2:
        return None, f"An interval needs at least two {drawn_from.by} with values from two raters."
    if drawn_from.size < resampling.jackknife_below:
        return _jackknife(statistic, drawn_from, resampling, bounds)
    draws = draw_weights(drawn_from, generator_of(generator, resampling.by), resampling.replicates)
    blocks = [statistic(weights) for weights in draws]
    return _percentile(np.concatenate(blocks), drawn_from.by, resampling)


def draw_weights(
    drawn_from: Population, generator: np.random.Generator, replicates: int
) -> Iterator[FloatArray]:
    """Yield blocks of weights (some replicates, patterns), as often as there are replicates in all."""
    counts = drawn_from.pattern_counts
    block = max(1, _BLOCK // max((drawn_from.size,) if counts is None else (drawn_from.size, *counts.shape)))
    for start in range(0, replicates, block):
        yield drawn_from.weights(_draw(drawn_from, generator, min(block, replicates - start)))


def _draw(drawn_from: Population, generator: np.random.Generator, replicates: int) -> IntArray:
    """(replicates, kinds of groups): how often each kind is drawn, as often as there are groups."""
    size, kinds = drawn_from.size, len(drawn_from.group_counts)
    if size > _ALIKE * kinds:
        return generator.multinomial(size, drawn_from.group_counts / size, size=replicates)
    # Of many kinds with few groups each, drawing group by group is faster than a binomial for each kind.
    kind = np.repeat(np.arange(kinds), drawn_from.group_counts)
    drawn = kind[generator.integers(size, size=(replicates, size))] + kinds * np.arange(replicates)[:, None]
    return np.bincount(drawn.ravel(), minlength=replicates * kinds).reshape(replicates, kinds)


def _percentile(
    replicates: FloatArray, by: str, resampling: Resampling
) -> tuple[Interval | None, str | None]:
    varied = replicates[~np.isnan(replicates)]
    without = len(replicates) - len(varied)
    tail = (1 - resampling.confidence_level) / 2
    if without > tail * len(replicates):
        return None, (
            f"{without} of {len(replicates)} resamples of {by} had no variation, too many to leave out: "
            "nearly all values are the same."
        )
    low, high = np.quantile(varied, [tail, 1 - tail])
    if varied.min() == varied.max():
        return None, _NO_SPREAD.format(by=by)
    return Interval(
        low=float(low),
        high=float(high),
        method=f"percentile bootstrap of {by}",
        confidence_level=resampling.confidence_level,
        replicates=len(replicates),
        replicates_without_variation=without,
    ), None


_NO_SPREAD = (
    "The coefficient is the same in every resample of {by}, so they do not tell how much it may vary."
)


def _jackknife(
    statistic: Statistic, drawn_from: Population, resampling: Resampling, bounds: tuple[float, float]
) -> tuple[Interval | None, str | None]:
    counts = drawn_from.group_counts
    whole = statistic(drawn_from.weights(counts[None]))[0]
    without_one = statistic(drawn_from.weights(counts - np.eye(len(counts), dtype=np.intp)))
    return jackknife_interval(whole, without_one, counts, drawn_from.by, resampling, bounds)


def jackknife_interval(
    whole: float,
    without_one: FloatArray,
    counts: IntArray,
    by: str,
    resampling: Resampling,
    bounds: tuple[float, float],
) -> tuple[Interval | None, str | None]:
    """Leave out each of N in turn: value -+ t sqrt((N - 1) / N sum (value_i - mean)^2), cut at the bounds.

    without_one: (kinds,), the value without one unit of each kind; counts: (kinds,), how many there are.
    """
    size = int(counts.sum())
    if np.isnan(without_one).any():
        return None, f"Leaving out one of the {size} {by} leaves no variation: rate more of them."
    spread = without_one - np.average(without_one, weights=counts)
    error = np.sqrt((size - 1) / size * np.sum(counts * spread**2))
    if not np.ptp(without_one):
        return None, _NO_SPREAD.format(by=by)
    reach = error * scipy.special.stdtrit(size - 1, (1 + resampling.confidence_level) / 2)
    return Interval(
        low=float(max(whole - reach, bounds[0])),
        high=float(min(whole + reach, bounds[1])),
        method=f"jackknife of {by}, t with {size - 1} degrees of freedom",
        confidence_level=resampling.confidence_level,
        replicates=size,
    ), None
