"""Kendall's W: how far raters put units into the same order."""

from dataclasses import replace

import numpy as np
import scipy

from annotate.agreement.bootstrap import Resampling, Statistic
from annotate.agreement.coefficient import Coefficient, count
from annotate.agreement.complete import complete_units, too_few_complete
from annotate.agreement.data import FloatArray, MeasurementLevel, ReliabilityData
from annotate.agreement.estimate import Estimator, estimate, undefined_coefficient
from annotate.agreement.patterns import Patterns, by_rater
from annotate.agreement.streams import Randomness

_WHY_UNDEFINED = "Every rater gave one and the same value throughout, so there is no order to compare."


def kendall_w(
    data: ReliabilityData,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Kendall's coefficient of concordance, corrected for ties; 0 to 1.

    W = 12 S / (m^2 (n^3 - n) - m sum_j T_j) for m raters and n units, with S the squared deviations of the
    units' rank sums and T_j = sum (t^3 - t) over the ties of rater j. `parameters` hold the test of no
    concordance: chi2 = m (n - 1) W with n - 1 degrees of freedom.
    Takes units that every rater rated; the others are counted in `counts.units_left_out`.
    Source: Kendall and Gibbons 1990, Rank correlation methods, chapter 6.
    Undefined below two such units, where every rater gave one value throughout, and for nominal data.
    """
    complete, left_out = complete_units(data)
    estimator = Estimator(
        name="kendall_w",
        label="Kendall's W",
        source="Kendall and Gibbons 1990, Rank correlation methods, chapter 6",
        patterns=by_rater,
        statistic=_statistic,
        why_undefined=_WHY_UNDEFINED,
        bounds=(0.0, 1.0),
    )
    reason = _why_impossible(data) or too_few_complete(data, complete)
    result = (
        undefined_coefficient(estimator, data, reason)
        if reason
        else estimate(estimator, complete, generator, resampling)
    )
    counts = count(data, units_left_out=left_out)
    result = replace(result, counts=counts)
    if result.value is None:
        return result
    raters, units = complete.values.shape
    chi2 = raters * (units - 1) * result.value
    p_value = float(scipy.special.chdtrc(units - 1, chi2))
    return replace(result, parameters={"chi2": chi2, "degrees_of_freedom": units - 1, "p_value": p_value})


def _why_impossible(data: ReliabilityData) -> str | None:
    if data.measurement_level is MeasurementLevel.NOMINAL:
        return "Nominal values have no order, so there are no ranks; read alpha or kappa."
    return None


def _statistic(patterns: Patterns) -> Statistic:
    """W = S / (m sum_j V_j), with V_j the squared deviations of rater j's ranks, which ties make smaller."""
    raters = range(patterns.codes.shape[1])

    def concordances(weights: FloatArray) -> FloatArray:
        rank_sums = np.zeros_like(weights)
        spread = np.zeros(len(weights))
        varied = np.zeros(len(weights), dtype=bool)
        for rater in raters:
            marginal = np.asarray(weights @ patterns.values_of(rater))
            ranks = np.cumsum(marginal, axis=1) - (marginal + marginal.sum(axis=1, keepdims=True)) / 2
            rank_sums += ranks[:, patterns.codes[:, rater]]
            spread += np.sum(marginal * ranks**2, axis=1)
            varied |= np.count_nonzero(marginal, axis=1) > 1
        result = np.full(len(weights), np.nan)
        np.divide(np.sum(weights * rank_sums**2, axis=1), len(raters) * spread, out=result, where=varied)
        return result

    return concordances
