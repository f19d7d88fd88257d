"""How far alpha moves when some values of the same raters are revised, with a paired interval."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from annotate.agreement.alpha import alpha_statistic
from annotate.agreement.bootstrap import Resampling, Statistic
from annotate.agreement.coefficient import Coefficient, count, why_not_pairable
from annotate.agreement.data import FloatArray, ReliabilityData
from annotate.agreement.estimate import Estimator, estimate, undefined_coefficient
from annotate.agreement.patterns import Patterns, by_rater
from annotate.agreement.streams import Randomness


def alpha_difference(
    before: ReliabilityData,
    after: ReliabilityData,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Krippendorff's alpha of `after` minus that of `before`, with an interval where a generator is given.

    before, after: (raters, units) with gaps in the same places, the same level and value domain; raises
    ValueError otherwise. Each resample of units (documents) gives both alphas, so what they share cancels.
    Undefined where no unit has two values, or either alpha is undefined. Between -2 and 2.
    Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability; interval: percentile bootstrap of
    the pairs, Efron and Tibshirani 1993, chapter 13.
    """
    if not np.array_equal(np.isnan(before.values), np.isnan(after.values)):
        raise ValueError("Revised values stand where there were values before, and nowhere else.")
    raters = len(before.raters)
    estimator = Estimator(
        name="alpha_difference",
        label="Difference of Krippendorff's alpha",
        source="Krippendorff 2011, Computing Krippendorff's alpha-reliability",
        patterns=lambda data: by_rater(data, least_ratings=4),
        statistic=_difference_of_halves(before, raters),
        why_undefined="Alpha is undefined before or after: all pairable values are the same.",
        least_ratings=4,
        bounds=(-2.0, 2.0),
        parameters={"measurement_level": before.measurement_level.value},
    )
    reason = why_not_pairable(count(before))
    if reason is not None:
        return undefined_coefficient(estimator, before, reason)
    # Each unit with its values before and after, so that one weight counts both.
    both = ReliabilityData(
        np.concatenate([before.values, after.values]),
        measurement_level=before.measurement_level,
        value_domain=before.value_domain,
        documents=before.documents,
    )
    return replace(estimate(estimator, both, generator, resampling), counts=count(before))


def _difference_of_halves(data: ReliabilityData, raters: int) -> Callable[[Patterns], Statistic]:
    def statistic(patterns: Patterns) -> Statistic:
        halves = patterns.codes[:, :raters], patterns.codes[:, raters:]
        before, after = (
            alpha_statistic(replace(patterns, codes=codes), data.measurement_level) for codes in halves
        )

        def differences(weights: FloatArray) -> FloatArray:
            return after(weights) - before(weights)

        return differences

    return statistic
