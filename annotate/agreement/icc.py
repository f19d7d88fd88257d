"""Intraclass correlations from the mean squares of units by raters."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import get_args

import numpy as np

from annotate.agreement.bootstrap import Resampling, Statistic
from annotate.agreement.coefficient import Coefficient, count
from annotate.agreement.complete import complete_units, too_few_complete
from annotate.agreement.data import FloatArray, MeasurementLevel, ReliabilityData
from annotate.agreement.estimate import Estimator, estimate, undefined_coefficient
from annotate.agreement.icc_interval import Form, f_interval
from annotate.agreement.mean_squares import MeanSquares, mean_squares
from annotate.agreement.patterns import Patterns, by_rater
from annotate.agreement.streams import Randomness

_WHY_UNDEFINED = (
    "The units' means do not vary, so there is nothing for the raters to tell apart. "
    "Read percent agreement beside it, or rate units that differ more."
)


def intraclass_correlation(
    data: ReliabilityData,
    *,
    form: Form = "A,1",
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """An intraclass correlation of n units rated by each of k raters.

    With the mean squares R of units, W within units, C of raters and E of error

        ICC(1)   = (R - W) / (R + (k - 1) W)                    ICC(k)   = (R - W) / R
        ICC(C,1) = (R - E) / (R + (k - 1) E)                    ICC(C,k) = (R - E) / R
        ICC(A,1) = (R - E) / (R + (k - 1) E + k (C - E) / n)    ICC(A,k) = (R - E) / (R + (C - E) / n)

    Takes units that every rater rated; the others are counted in `counts.units_left_out`. Its interval is
    McGraw and Wong's (F distribution, independent units); with a generator it is a bootstrap instead.
    Source: Shrout and Fleiss 1979; McGraw and Wong 1996, tables 4 and 7.
    Undefined below two such units, where values do not vary (for means of k raters: where the units' means do
    not), and for nominal data. ValueError for another form.
    """
    if form not in get_args(Form):
        raise ValueError(f"The form {form!r} is not one of: {'; '.join(get_args(Form))}.")
    complete, left_out = complete_units(data)
    estimator = Estimator(
        name="icc_" + form.replace(",", "").lower(),
        label=f"ICC({form})",
        source="McGraw and Wong 1996, Forming inferences about some intraclass correlation coefficients",
        patterns=by_rater,
        statistic=partial(_statistic, form=form),
        why_undefined=_WHY_UNDEFINED,
        bounds=(-np.inf, 1.0),
        parameters={"form": form},
    )
    counts = count(data, units_left_out=left_out)
    reason = _why_impossible(data) or too_few_complete(data, complete)
    if reason is not None:
        return replace(undefined_coefficient(estimator, data, reason), counts=counts)
    result = replace(estimate(estimator, complete, generator, resampling), counts=counts)
    if result.value is None or generator is not None:
        return result
    patterns = by_rater(complete)
    squares = mean_squares(patterns, patterns.unit_counts[None].astype(float))
    level = (resampling or Resampling()).confidence_level
    interval, interval_reason = f_interval(squares, form, level)
    return replace(result, interval=interval, interval_reason=interval_reason)


def _why_impossible(data: ReliabilityData) -> str | None:
    if data.measurement_level is MeasurementLevel.NOMINAL:
        return "Nominal values have no mean, so there is no intraclass correlation; read alpha or kappa."
    return None


def _statistic(patterns: Patterns, form: Form) -> Statistic:
    values = patterns.value_domain[patterns.codes]
    lowest, highest = values.min(axis=1), values.max(axis=1)

    def correlations(weights: FloatArray) -> FloatArray:
        drawn = weights > 0
        low = np.min(np.where(drawn, lowest, np.inf), axis=1)
        high = np.max(np.where(drawn, highest, -np.inf), axis=1)
        numerator, denominator = _FORMS[form](mean_squares(patterns, weights))
        defined = (high > low) & (denominator > 0) & (weights.sum(axis=1) >= 2)
        result = np.full(len(weights), np.nan)
        np.divide(numerator, denominator, out=result, where=defined)
        return result

    return correlations


_Fraction = Callable[[MeanSquares], tuple[FloatArray, FloatArray]]

_FORMS: dict[Form, _Fraction] = {
    "1": lambda s: (s.units - s.within, s.units + (s.k - 1) * s.within),
    "k": lambda s: (s.units - s.within, s.units),
    "C,1": lambda s: (s.units - s.error, s.units + (s.k - 1) * s.error),
    "C,k": lambda s: (s.units - s.error, s.units),
    "A,1": lambda s: (
        s.units - s.error,
        s.units + (s.k - 1) * s.error + s.k * (s.raters - s.error) / s.n,
    ),
    "A,k": lambda s: (s.units - s.error, s.units + (s.raters - s.error) / s.n),
}
