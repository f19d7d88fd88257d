"""Percent agreement, exact or within one point: not corrected for chance, so read beside a coefficient."""

from functools import partial

import numpy as np

from annotate.agreement.bootstrap import OfTotals, Resampling, mean_over_units
from annotate.agreement.coefficient import Coefficient
from annotate.agreement.data import FloatArray, MeasurementLevel, ReliabilityData
from annotate.agreement.estimate import Estimator, estimate, undefined_coefficient
from annotate.agreement.metric import pair_disagreement
from annotate.agreement.patterns import Patterns, by_value
from annotate.agreement.streams import Randomness

_DECIMALS = 9


def percent_agreement(
    data: ReliabilityData,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """The share, 0 to 1, of pairs of values of a unit that are equal, averaged over units with two or more.

    mean_u sum_k n_uk (n_uk - 1) / (m_u (m_u - 1)), with n_uk of the m_u values of unit u equal to k.
    Source: Fleiss 1971, equation 2; with gaps Gwet 2014, chapter 2.
    Undefined where no unit has two values.
    """
    estimator = _estimator("percent_agreement", "Percent agreement", 0.0)
    return estimate(estimator, data, generator, resampling)


def within_one_agreement(
    data: ReliabilityData,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """The share, 0 to 1, of pairs of values of a unit that differ by 1 at most; averaged over units.

    Undefined where no unit has two values, and for nominal data, whose values have no distance.
    """
    estimator = _estimator("within_one_agreement", "Agreement within one point", 1.0)
    if data.measurement_level is MeasurementLevel.NOMINAL:
        reason = "Nominal values have no distance, so none are within one point; read percent agreement."
        return undefined_coefficient(estimator, data, reason)
    return estimate(estimator, data, generator, resampling)


def _estimator(name: str, label: str, tolerance: float) -> Estimator:
    return Estimator(
        name=name,
        label=label,
        source="Fleiss 1971, Measuring nominal scale agreement among many raters, equation 2",
        patterns=by_value,
        statistic=partial(_statistic, tolerance=tolerance),
        bounds=(0.0, 1.0),
        parameters={"tolerance": tolerance},
    )


def _statistic(patterns: Patterns, tolerance: float) -> OfTotals:
    def apart(first: FloatArray, second: FloatArray) -> FloatArray:
        # 2.2 and 1.2 are a point apart, as floats a little more.
        return (np.round(np.abs(first - second), _DECIMALS) > tolerance).astype(float)

    pairs = patterns.ratings * (patterns.ratings - 1) / 2
    agreeing = 1 - pair_disagreement(patterns, apart, patterns.value_domain) / pairs
    return mean_over_units(agreeing)
