"""The steps to every coefficient: count, compute, resample, or give the reason for a missing value."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from agreement.bootstrap import (
    LARGEST_MODAL_SHARE,
    Population,
    Resampling,
    Statistic,
    independent,
    jackknife_intervals,
    modal_share,
    modal_shares_of_parts,
    population,
    ratio_of_sums,
    resampled_interval,
    smoothed_interval,
)
from agreement.coefficient import (
    UNDEFINED,
    Coefficient,
    Counts,
    Interval,
    Parameter,
    count,
    counts_of_parts,
    no_variation,
    why_not_pairable,
)
from agreement.data import FloatArray, IntArray, ReliabilityData, UnitParts
from agreement.patterns import Patterns
from agreement.streams import Randomness, generator_of, substream

_BLOCK = 2**20  # numbers held at a time


@dataclass(frozen=True)
class Estimator:
    """A coefficient as a statistic of weighted patterns.

    patterns: finds the distinct units among those with `least_ratings` values or more. statistic: from the
    patterns to a function of weights; the weights of the sample give the coefficient, the weights of
    resamples its interval, so that the two cannot diverge. why_undefined: the message for a statistic that is
    NaN on the sample. bounds: the smallest and the largest value the coefficient can take, for intervals that
    could leave them. smoothed: True if its interval allows for rare values that the sample may lack
    (`smoothed_interval`) if more than LARGEST_MODAL_SHARE of the values are the same.
    """

    name: str
    label: str
    source: str
    patterns: Callable[[ReliabilityData], Patterns]
    statistic: Callable[[Patterns], Statistic]
    why_undefined: str | Callable[[ReliabilityData], str] = no_variation
    least_ratings: int = 2
    bounds: tuple[float, float] = (-1.0, 1.0)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    smoothed: bool = False

    def coefficient(
        self,
        counts: Counts,
        value: float | None,
        interval: Interval | None,
        interval_reason: str | None,
        reason: str | None = None,
    ) -> Coefficient:
        """The coefficient with this value and interval, or undefined for this reason."""
        return Coefficient(
            name=self.name,
            label=self.label,
            value=value,
            reason=reason,
            interval=interval,
            interval_reason=interval_reason,
            counts=counts,
            parameters=self.parameters,
            source=self.source,
        )


def estimate(
    estimator: Estimator,
    data: ReliabilityData,
    generator: Randomness | None,
    resampling: Resampling | None,
) -> Coefficient:
    """The coefficient, with an interval if you pass a generator.

    Undefined without two values of a unit, and if the estimator's statistic is undefined (its
    `why_undefined`). Raises ValueError if documents are to be resampled and the data have none.
    """
    plan = resampling or Resampling()
    if plan.by == "documents" and data.documents is None:
        raise ValueError("Resampling by documents needs the document of each unit.")
    reason = why_not_pairable(count(data))
    if reason is not None:
        return undefined_coefficient(estimator, data, reason)
    patterns = estimator.patterns(data)
    statistic = estimator.statistic(patterns)
    value = statistic(patterns.unit_counts[None].astype(float))[0]
    if np.isnan(value):
        why = estimator.why_undefined
        return undefined_coefficient(estimator, data, why if isinstance(why, str) else why(data))
    # A stream of its own makes the interval independent of which coefficients come first.
    drawn_with = substream(generator, estimator.name, *sorted(estimator.parameters.items()))
    interval = _interval(estimator, data, patterns, statistic, float(value), drawn_with, plan)
    return estimator.coefficient(count(data), float(value), *interval)


def estimates_of_parts(
    estimator: Estimator,
    data: ReliabilityData,
    parts: Sequence[IntArray],
    generators: Sequence[Randomness],
    resampling: Resampling,
) -> list[Coefficient]:
    """`estimate` of each part of the data; each of `parts` is (units,), indices of units, with its generator.

    Parts whose interval leaves out each unit in turn, and so needs no random numbers, are computed in one
    step.
    """
    together = _parts_left_out_in_turn(estimator, data, parts, resampling) if resampling.by == "units" else {}
    return [
        together.get(part) or estimate(estimator, data.of_units(units), generator, resampling)
        for part, (units, generator) in enumerate(zip(parts, generators, strict=True))
    ]


def _parts_left_out_in_turn(
    estimator: Estimator, data: ReliabilityData, parts: Sequence[IntArray], resampling: Resampling
) -> dict[int, Coefficient]:
    """The coefficients of the parts that are defined and have few units, by the part's index.

    The patterns of the whole are computed once: a part, and a part without a unit, only has other weights.
    """
    patterns = estimator.patterns(data)
    statistic, kinds = estimator.statistic(patterns), len(patterns.unit_counts)
    # Units with too few ratings get one pattern more, whose column is cut off below.
    pattern_of = np.full(len(data.ratings_per_unit), kinds)
    pattern_of[data.ratings_per_unit >= estimator.least_ratings] = patterns.of_unit
    members = UnitParts.of(parts)
    unit_counts = members.counts(pattern_of[members.units], kinds + 1)[:, :-1]
    sizes = unit_counts.sum(axis=1)
    few = (sizes >= 2) & (sizes < resampling.jackknife_below)
    # Smoothed intervals need random numbers, so such parts are computed one by one.
    if estimator.smoothed:
        few &= modal_shares_of_parts(data, members) <= LARGEST_MODAL_SHARE
    counts, found = counts_of_parts(data, members), {}
    # The matrix of weights has a row for each left-out unit, so blocks limit its memory.
    at_once = max(1, _BLOCK // max(1, kinds * resampling.jackknife_below))
    for start in range(0, int(few.sum()), at_once):
        chosen = np.flatnonzero(few)[start : start + at_once]
        # The weights of each part, and of each part without one unit of each kind that it has.
        own = unit_counts[chosen]
        of_part, pattern = np.nonzero(own)
        without_one = own[of_part]
        without_one[np.arange(len(pattern)), pattern] -= 1
        values, values_without = np.split(
            statistic(np.concatenate([own, without_one]).astype(float)), [len(own)]
        )
        intervals = jackknife_intervals(
            values, of_part, values_without, own[of_part, pattern], "units", resampling, estimator.bounds
        )
        for part, value, interval in zip(chosen.tolist(), values.tolist(), intervals, strict=True):
            # An undefined part is missing here, and `estimate` then gives its reason.
            if not np.isnan(value):
                found[part] = estimator.coefficient(counts[part], value, *interval)
    return found


def _interval(
    estimator: Estimator,
    data: ReliabilityData,
    patterns: Patterns,
    statistic: Statistic,
    value: float,
    drawn_with: Randomness | None,
    plan: Resampling,
) -> tuple[Interval | None, str | None]:
    """The interval, or None and why."""
    if drawn_with is None:
        return None, "No interval was asked for."
    drawn_from = drawn_population(data, patterns, plan.by, estimator.least_ratings)
    # Resamples contain only values of the sample, which may lack the rare values of nearly equal ones. If the
    # sample contains a single value, as Fleiss' kappa may from lone ratings, no rare value is known.
    if estimator.smoothed and drawn_from.size > 1 and LARGEST_MODAL_SHARE < modal_share(data) < 1:
        own = generator_of(drawn_with, "smoothed", plan.by)
        return smoothed_interval(
            estimator.patterns, estimator.statistic, data, value, own, plan, estimator.least_ratings
        ), None
    return resampled_interval(statistic, drawn_from, drawn_with, plan, estimator.bounds)


def drawn_population(data: ReliabilityData, patterns: Patterns, by: str, least_ratings: int) -> Population:
    """The population of resamples: the units of `patterns`, with `least_ratings` values or more."""

    def make() -> Population:
        rated = data.ratings_per_unit >= least_ratings
        return population(patterns, None if data.documents is None else data.documents[rated], by)

    return data.once((patterns, by), make)


def undefined_coefficient(estimator: Estimator, data: ReliabilityData, reason: str) -> Coefficient:
    """The coefficient with the value None and the reason for it, its parameters and counts as usual."""
    return estimator.coefficient(count(data), None, None, UNDEFINED, reason)


@dataclass(frozen=True)
class Weighted:
    """A statistic of weights (replicates, size).

    size: the number of weighted units (documents); `noun` names them in the interval. bounds: the smallest
    and the largest value of the statistic. unit_counts: (size,), the number of interchangeable units for each
    weight; one by default.
    """

    name: str
    label: str
    source: str
    statistic: Statistic
    size: int
    noun: str
    bounds: tuple[float, float]
    unit_counts: IntArray | None = None

    @classmethod
    def mean_of_items(
        cls,
        name: str,
        label: str,
        source: str,
        values: FloatArray,
        documents: IntArray,
        bounds: tuple[float, float],
    ) -> "Weighted":
        """The mean of values (items,) over weighted documents; documents: (items,), from 0 without gaps."""
        sums = np.bincount(documents, values).astype(float)
        statistic = ratio_of_sums(sums, np.bincount(documents).astype(float))
        return cls(name, label, source, statistic, len(sums), "documents", bounds)

    def coefficient(
        self,
        counts: Counts,
        why_undefined: str,
        generator: Randomness | None,
        resampling: Resampling | None,
    ) -> Coefficient:
        """The statistic at equal weights, with an interval if you pass a generator; NaN is undefined."""
        each = np.ones(self.size, dtype=np.intp) if self.unit_counts is None else self.unit_counts
        value = float(self.statistic(each[None].astype(float))[0]) if self.size else np.nan
        defined = not np.isnan(value)
        interval: Interval | None = None
        interval_reason: str | None = "No interval was asked for."
        if not defined:
            interval_reason = UNDEFINED
        elif (drawn_with := substream(generator, self.name)) is not None:
            drawn_from = replace(independent(self.size, self.noun), group_counts=each)
            interval, interval_reason = resampled_interval(
                self.statistic, drawn_from, drawn_with, resampling or Resampling(), self.bounds
            )
        return Coefficient(
            name=self.name,
            label=self.label,
            value=value if defined else None,
            reason=None if defined else why_undefined,
            interval=interval,
            interval_reason=interval_reason,
            counts=counts,
            source=self.source,
        )
