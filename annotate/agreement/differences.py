"""How far two arrays of values for the same units lie apart, in points of the scale."""

from collections.abc import Callable

import numpy as np

from annotate.agreement.bootstrap import OfTotals, Statistic, mean_over_units
from annotate.agreement.data import FloatArray
from annotate.agreement.estimate import Estimator
from annotate.agreement.measure import PairMeasure, units_with_both
from annotate.agreement.patterns import Patterns

_Elementwise = Callable[[FloatArray], FloatArray]


def _mean_of(of_difference: _Elementwise, of_mean: _Elementwise) -> Callable[[Patterns], Statistic]:
    """of_mean(mean of_difference(first - second)), NaN for no units."""

    def statistic(patterns: Patterns) -> Statistic:
        first, second = patterns.value_domain[patterns.codes].T
        means = mean_over_units(of_difference(first - second))
        return OfTotals(means.summands, lambda totals: of_mean(means.of_totals(totals)))

    return statistic


def _difference(
    name: str, label: str, statistic: Callable[[Patterns], Statistic], least: float
) -> PairMeasure:
    return PairMeasure(
        Estimator(
            name=name,
            label=label,
            source="a mean over units, in points of the scale; no correction for chance",
            patterns=units_with_both,
            statistic=statistic,
            bounds=(least, np.inf),
        )
    )


root_mean_squared_error = _difference(
    "rmse", "Root mean squared error", _mean_of(np.square, np.sqrt), least=0.0
)
"""sqrt(mean (first - second)^2) in points of the scale; 0 is equality. Undefined without units to compare."""

mean_absolute_error = _difference("mae", "Mean absolute error", _mean_of(np.abs, np.positive), least=0.0)
"""mean |first - second| in points of the scale; 0 is equality. Undefined without units to compare."""

bias = _difference("bias", "Bias (mean difference)", _mean_of(np.positive, np.positive), least=-np.inf)
"""mean (first - second); above 0 the first gives higher values. Undefined without units to compare."""
