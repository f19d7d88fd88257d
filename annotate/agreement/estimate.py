"""The way every coefficient over patterns goes: count, compute, resample, or say why not."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np

from annotate.agreement.bootstrap import Resampling, Statistic, population, resampled_interval
from annotate.agreement.coefficient import (
    Coefficient,
    Interval,
    Parameter,
    count,
    no_variation,
    why_not_pairable,
)
from annotate.agreement.data import ReliabilityData
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
    interval, interval_reason = _interval(estimator, data, patterns, float(value), drawn_with, plan)
    return Coefficient(
        name=estimator.name,
        label=estimator.label,
        value=float(value),
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
    if estimator.smoothed and drawn_from.size > 1 and modal_share(data) > LARGEST_MODAL_SHARE:
        own = generator_of(drawn_with, "smoothed", plan.by)
        return smoothed_interval(estimator.patterns, estimator.statistic, data, value, own, plan), None
    return resampled_interval(estimator.statistic(patterns), drawn_from, drawn_with, plan, estimator.bounds)


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
