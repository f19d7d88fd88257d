"""Intraclass correlations and Kendall's W: coefficients of the units that every rater rated."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Literal, get_args

import numpy as np
import scipy

from agreement.bootstrap import Resampling, Statistic
from agreement.coefficient import Coefficient, Interval, count, why_not_pairable
from agreement.data import FloatArray, MeasurementLevel, ReliabilityData, divide_where
from agreement.estimate import Estimator, estimate, undefined_coefficient
from agreement.patterns import Patterns, by_rater, ranks_of_values
from agreement.streams import Randomness


def complete_units(data: ReliabilityData) -> tuple[ReliabilityData, int]:
    """The units with a value from every rater with any value, and the number of pairable units excluded."""
    # Several coefficients use the same units, so the data computes them once.
    return data.once(("complete units", data.measurement_level), lambda: _complete_units(data))


def _complete_units(data: ReliabilityData) -> tuple[ReliabilityData, int]:
    rated = data.codes < len(data.value_domain)
    raters = np.flatnonzero(rated.any(axis=1))
    # `all` over no rater is true, but without raters no unit is complete.
    complete = rated[raters].all(axis=0) if len(raters) else np.zeros(rated.shape[1], dtype=bool)
    left_out = int(np.sum((data.ratings_per_unit >= 2) & ~complete))
    return data.of_raters(raters.tolist()).of_units(complete), left_out


def too_few_complete(data: ReliabilityData, complete: ReliabilityData) -> str | None:
    """The reason why the complete units do not suffice, or None if they do."""
    reason = why_not_pairable(count(data))
    if reason is not None:
        return reason
    raters, units = complete.values.shape
    if units >= 2:
        return None
    return (
        f"It needs two or more units with a value from each of the {raters} raters, but there "
        f"{'is 1' if units else 'are none'}; Krippendorff's alpha takes gaps."
    )


def _estimate_complete(
    estimator: Estimator,
    data: ReliabilityData,
    not_nominal: str,
    generator: Randomness | None,
    resampling: Resampling | None,
) -> tuple[Coefficient, ReliabilityData]:
    """The coefficient of the complete units, and these; `not_nominal` is why nominal values have none."""
    complete, left_out = complete_units(data)
    is_nominal = data.measurement_level is MeasurementLevel.NOMINAL
    reason = not_nominal if is_nominal else too_few_complete(data, complete)
    result = (
        estimate(estimator, complete, generator, resampling)
        if reason is None
        else undefined_coefficient(estimator, data, reason)
    )
    # Counts are of all units, because they also show the number of excluded ones.
    return replace(result, counts=count(data, units_left_out=left_out)), complete


_TINY = 1e-12  # of the total: sums of squares below it are rounding


@dataclass(frozen=True, eq=False)
class MeanSquares:
    """Mean squares, each (replicates,), of n units by k raters."""

    units: FloatArray
    within: FloatArray
    raters: FloatArray
    error: FloatArray
    n: FloatArray
    k: int


def mean_squares(patterns: Patterns, weights: FloatArray) -> MeanSquares:
    """The two-way mean squares for many weightings of complete patterns; weights: (replicates, patterns)."""
    values = patterns.value_domain[patterns.codes]
    # Centred, as differences of large sums of squares lose digits.
    values = values - np.average(values.mean(axis=1), weights=patterns.unit_counts)
    k = values.shape[1]
    n = weights.sum(axis=1)
    rater_sums = weights @ values
    # Resamples have another mean than the sample, so centring does not make this 0.
    correction = rater_sums.sum(axis=1) ** 2 / (n * k)
    total = weights @ np.sum(values**2, axis=1) - correction
    between_units = weights @ values.sum(axis=1) ** 2 / k - correction
    between_raters = np.sum(rater_sums**2, axis=1) / n - correction
    # Rounding leaves tiny sums of squares, which would make an undefined ratio finite.
    floor = _TINY * np.maximum(total, 0)
    units, within, raters, error = (
        np.where(squares > floor, squares, 0.0)
        for squares in (
            between_units,
            total - between_units,
            between_raters,
            total - between_units - between_raters,
        )
    )
    # A resample of one unit would divide by 0; the statistics exclude it.
    degrees = np.maximum(n - 1, 1)
    return MeanSquares(
        units=units / degrees,
        within=within / (n * (k - 1)),
        raters=raters / (k - 1),
        error=error / (degrees * (k - 1)),
        n=n,
        k=k,
    )


LEAST = 1e-9  # rounding error of 1 + (k - 1) r if it is 0

Form = Literal["1", "k", "A,1", "A,k", "C,1", "C,k"]
"""McGraw and Wong's names: one-way, agreement, consistency; of one rater's values or the mean of k raters."""


def f_interval(
    squares: MeanSquares, form: Form, confidence_level: float
) -> tuple[Interval | None, str | None]:
    """The interval from F distributions, or None and why; `squares` hold one replicate.

    McGraw and Wong 1996, table 7; for agreement with Satterthwaite's degrees of freedom. The limits for the
    mean of k raters are those for one rater, stepped up by Spearman and Brown's k r / (1 + (k - 1) r), which
    has no value from r = -1 / (k - 1) down. It assumes normal effects and independent units.
    """
    noise = squares.within if form in ("1", "k") else squares.error
    if not noise[0] > 0:
        return None, "The raters' values leave no error to estimate the interval from."
    upper_tail = (1 + confidence_level) / 2
    low, high = (
        _agreement(squares, upper_tail) if form[0] == "A" else _variance_ratio(squares, form, upper_tail)
    )
    if not (math.isfinite(low) and math.isfinite(high)):
        return None, "The F distributions have no limits for so few units with such values."
    k = squares.k
    if form.endswith("k"):
        if 1 + (k - 1) * low < LEAST:
            return None, "One rater’s limit is so low that the mean of the raters has none."
        low, high = (k * limit / (1 + (k - 1) * limit) for limit in (low, high))
    return Interval(low, high, "F distribution (McGraw and Wong 1996)", confidence_level), None


def _variance_ratio(squares: MeanSquares, form: Form, upper_tail: float) -> tuple[float, float]:
    """Limits for ICC(1) and ICC(C,1) from F = units / within, or units / error."""
    n, k = float(squares.n[0]), squares.k
    one_way = form in ("1", "k")
    noise = squares.within if one_way else squares.error
    freedom = n * (k - 1) if one_way else (n - 1) * (k - 1)
    ratio = float(squares.units[0] / noise[0])
    # F over its quantile, and F times the quantile with the degrees of freedom exchanged.
    low = ratio / float(scipy.special.fdtri(n - 1, freedom, upper_tail))
    high = ratio * float(scipy.special.fdtri(freedom, n - 1, upper_tail))
    return (low - 1) / (low + k - 1), (high - 1) / (high + k - 1)


def _agreement(squares: MeanSquares, upper_tail: float) -> tuple[float, float]:
    """Limits for ICC(A,1)."""
    n, k = float(squares.n[0]), squares.k
    units, raters, error = float(squares.units[0]), float(squares.raters[0]), float(squares.error[0])
    value = (units - error) / (units + (k - 1) * error + k * (raters - error) / n)
    # The terms a MSC and b MSE of table 7, whose sum has Satterthwaite's degrees of freedom.
    a = k * value / (n * (1 - value)) * raters
    b = (1 + k * value * (n - 1) / (n * (1 - value))) * error
    freedom = (a + b) ** 2 / (a**2 / (k - 1) + b**2 / ((n - 1) * (k - 1)))
    below = float(scipy.special.fdtri(n - 1, freedom, upper_tail))
    above = float(scipy.special.fdtri(freedom, n - 1, upper_tail))
    rest = k * raters + (k * n - k - n) * error
    low = n * (units - below * error) / (below * rest + n * units)
    high = n * (above * units - error) / (rest + n * above * units)
    return low, high


_NO_MEANS = "Nominal values have no mean, so there is no intraclass correlation; read alpha or kappa."
_NO_SPREAD = (
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

    Uses units that every rater rated; `counts.units_left_out` is the number of the others. Its interval is
    McGraw and Wong's (F distribution, independent units); with a generator it is a bootstrap instead. Source:
    Shrout and Fleiss 1979; McGraw and Wong 1996, tables 4 and 7. Undefined below two such units, if values do
    not vary (for means of k raters: if the units' means do not), and for nominal data. Raises ValueError for
    another form.
    """
    if form not in get_args(Form):
        raise ValueError(f"The form {form!r} is not one of: {'; '.join(get_args(Form))}.")
    estimator = Estimator(
        name="icc_" + form.replace(",", "").lower(),
        label=f"ICC({form})",
        source="McGraw and Wong 1996, Forming inferences about some intraclass correlation coefficients",
        patterns=by_rater,
        statistic=partial(_icc_statistic, form=form),
        why_undefined=_NO_SPREAD,
        # For the mean of k raters an intraclass correlation has no lower bound.
        bounds=(-np.inf, 1.0),
        parameters={"form": form},
    )
    result, complete = _estimate_complete(estimator, data, _NO_MEANS, generator, resampling)
    if result.value is None or generator is not None:
        return result
    patterns = by_rater(complete)
    # The sample itself is the only replicate here.
    squares = mean_squares(patterns, patterns.unit_counts[None].astype(float))
    level = (resampling or Resampling()).confidence_level
    interval, interval_reason = f_interval(squares, form, level)
    return replace(result, interval=interval, interval_reason=interval_reason)


def _icc_statistic(patterns: Patterns, form: Form) -> Statistic:
    values = patterns.value_domain[patterns.codes]
    lowest, highest = values.min(axis=1), values.max(axis=1)

    def correlations(weights: FloatArray) -> FloatArray:
        # The extremes of a resample tell whether its values vary.
        drawn = weights > 0
        low = np.min(np.where(drawn, lowest, np.inf), axis=1)
        high = np.max(np.where(drawn, highest, -np.inf), axis=1)
        numerator, denominator = _FORMS[form](mean_squares(patterns, weights))
        defined = (high > low) & (denominator > 0) & (weights.sum(axis=1) >= 2)
        return divide_where(defined, numerator, denominator)

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


_NO_RANKS = "Nominal values have no order, so there are no ranks; read alpha or kappa."
_NO_ORDER = "Every rater gave one and the same value throughout, so there is no order to compare."


def kendall_w(
    data: ReliabilityData,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Kendall's coefficient of concordance, corrected for ties; 0 to 1.

    W = 12 S / (m^2 (n^3 - n) - m sum_j T_j) for m raters and n units, with S the squared deviations of the
    units' rank sums and T_j = sum (t^3 - t) over the ties of rater j. `parameters` hold the test of no
    concordance: chi2 = m (n - 1) W with n - 1 degrees of freedom. Uses units that every rater rated;
    `counts.units_left_out` is the number of the others. Source: Kendall and Gibbons 1990, Rank correlation
    methods, chapter 6. Undefined below two such units, if every rater gave one value to all units, and for
    nominal data.
    """
    estimator = Estimator(
        name="kendall_w",
        label="Kendall's W",
        source="Kendall and Gibbons 1990, Rank correlation methods, chapter 6",
        patterns=by_rater,
        statistic=_concordance,
        why_undefined=_NO_ORDER,
        bounds=(0.0, 1.0),
    )
    result, complete = _estimate_complete(estimator, data, _NO_RANKS, generator, resampling)
    if result.value is None:
        return result
    raters, units = complete.values.shape
    chi2 = raters * (units - 1) * result.value
    # The complement of the distribution keeps small p-values, which a difference from 1 loses.
    p_value = float(scipy.special.chdtrc(units - 1, chi2))
    return replace(result, parameters={"chi2": chi2, "degrees_of_freedom": units - 1, "p_value": p_value})


def _concordance(patterns: Patterns) -> Statistic:
    """W = S / (m sum_j V_j), with V_j the squared deviations of rater j's ranks, which ties make smaller."""
    raters = range(patterns.codes.shape[1])

    def concordances(weights: FloatArray) -> FloatArray:
        rank_sums = np.zeros_like(weights)
        spread = np.zeros(len(weights))
        varied = np.zeros(len(weights), dtype=bool)
        for rater in raters:
            marginal = np.asarray(weights @ patterns.values_of(rater))
            # Ranks count from the middle, so rank sums are deviations from their mean.
            ranks = ranks_of_values(marginal, axis=1)
            rank_sums += ranks[:, patterns.codes[:, rater]]
            spread += np.sum(marginal * ranks**2, axis=1)
            varied |= np.count_nonzero(marginal, axis=1) > 1
        return divide_where(varied, np.sum(weights * rank_sums**2, axis=1), len(raters) * spread)

    return concordances
