"""The way every coefficient over patterns goes: count, compute, resample, or say why not."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from annotate.agreement.bootstrap import (
    Resampling,
    Statistic,
    jackknife_interval,
    population,
    resampled_interval,
)
from annotate.agreement.coefficient import (
    Coefficient,
    Interval,
    Parameter,
    count,
    no_variation,
    why_not_pairable,
)
from annotate.agreement.data import IntArray, ReliabilityData
from annotate.agreement.patterns import Patterns
from annotate.agreement.rare_values import LARGEST_MODAL_SHARE, modal_share, smoothed_interval
from annotate.agreement.streams import Randomness, generator_of, substream


@dataclass(frozen=True)
class Estimator:
    """A coefficient as a statistic of weighted patterns.

    patterns: finds the distinct units among those with `least_ratings` values or more.
    statistic: from the patterns to a function of weights; the weights of the sample give the coefficient, the
    weights of resamples its interval, so that the two cannot part.
    why_undefined: the sentence for a statistic that is NaN on the sample.
    bounds: the smallest and the largest value the coefficient can take, for intervals that could leave them.
    smoothed: whether its interval allows for rare values that the sample may lack (`smoothed_interval`) where
    more than LARGEST_MODAL_SHARE of the values are the same.
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


def estimate(
    estimator: Estimator,
    data: ReliabilityData,
    generator: Randomness | None,
    resampling: Resampling | None,
) -> Coefficient:
    """The coefficient, with an interval where a generator is given."""
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
    drawn_with = substream(generator, estimator.name, *sorted(estimator.parameters.items()))
    interval = _interval(estimator, data, patterns, statistic, float(value), drawn_with, plan)
    return _coefficient(estimator, data, float(value), *interval)


def estimates_of_parts(
    estimator: Estimator,
    data: ReliabilityData,
    parts: Sequence[IntArray],
    generators: Sequence[Randomness],
    resampling: Resampling,
) -> list[Coefficient]:
    """`estimate` of each part of the data; `parts` are the indices of its units, each with its generator.

    The patterns of the whole are found once: a part has other weights. Only parts whose interval draws are
    estimated one by one.
    """
    patterns = estimator.patterns(data)
    statistic = estimator.statistic(patterns)
    pattern_of = np.full(len(data.ratings_per_unit), -1)
    pattern_of[data.ratings_per_unit >= estimator.least_ratings] = patterns.of_unit
    found = []
    for units, generator in zip(parts, generators, strict=True):
        part, shown = data.of_units(units), pattern_of[units]
        counts = np.bincount(shown[shown >= 0], minlength=len(patterns.unit_counts))
        left_out_in_turn = (
            _with_each_left_out(estimator, part, statistic, counts, resampling)
            if _is_left_out_in_turn(estimator, part, int(counts.sum()), resampling)
            else None
        )
        found.append(left_out_in_turn or estimate(estimator, part, generator, resampling))
    return found


def _is_left_out_in_turn(
    estimator: Estimator, part: ReliabilityData, size: int, resampling: Resampling
) -> bool:
    """Whether the interval of a part leaves out each unit in turn, which draws nothing."""
    if resampling.by != "units" or not 2 <= size < resampling.jackknife_below:
        return False
    return not (estimator.smoothed and modal_share(part) > LARGEST_MODAL_SHARE)


def _with_each_left_out(
    estimator: Estimator,
    part: ReliabilityData,
    statistic: Statistic,
    counts: IntArray,
    resampling: Resampling,
) -> Coefficient | None:
    """The coefficient of a part whose patterns occur `counts` times with its jackknife interval; None
    where it is undefined.
    """
    occurring = np.flatnonzero(counts)
    weights = np.tile(counts.astype(float), (len(occurring) + 1, 1))
    weights[np.arange(1, len(weights)), occurring] -= 1
    value, *without_one = statistic(weights)
    if np.isnan(value):
        return None
    interval = jackknife_interval(
        value, np.array(without_one), counts[occurring], "units", resampling, estimator.bounds
    )
    return _coefficient(estimator, part, float(value), *interval)


def _coefficient(
    estimator: Estimator,
    data: ReliabilityData,
    value: float,
    interval: Interval | None,
    interval_reason: str | None,
) -> Coefficient:
    return Coefficient(
        name=estimator.name,
        label=estimator.label,
        value=value,
        interval=interval,
        interval_reason=interval_reason,
        counts=count(data),
        parameters=estimator.parameters,
        source=estimator.source,
    )


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
    rated = data.ratings_per_unit >= estimator.least_ratings
    documents = None if data.documents is None else data.documents[rated]
    drawn_from = population(patterns, documents, plan.by)
    # Resamples hold only what is in the sample, which may lack the rare values of nearly equal ones.
    # Where they hold one value only, as Fleiss' kappa may from lone ratings, no rare one is known.
    if estimator.smoothed and drawn_from.size > 1 and LARGEST_MODAL_SHARE < modal_share(data) < 1:
        own = generator_of(drawn_with, "smoothed", plan.by)
        return smoothed_interval(
            estimator.patterns, estimator.statistic, data, value, own, plan, estimator.least_ratings
        ), None
    return resampled_interval(statistic, drawn_from, drawn_with, plan, estimator.bounds)


def undefined_coefficient(estimator: Estimator, data: ReliabilityData, reason: str) -> Coefficient:
    """The coefficient without a value."""
    return Coefficient(
        name=estimator.name,
        label=estimator.label,
        value=None,
        reason=reason,
        interval_reason="The coefficient is undefined.",
        counts=count(data),
        parameters=estimator.parameters,
        source=estimator.source,
    )
