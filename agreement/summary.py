"""Mean and spread of one list of values, the values that raters give, and their range within a unit.

Also the entropy of a unit's values, and the part of the variance within units that severity explains.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt
import scipy

from agreement.bootstrap import Resampling, Statistic
from agreement.coefficient import Coefficient, Counts, Interval, count
from agreement.data import FloatArray, ReliabilityData, divide_where
from agreement.estimate import Weighted
from agreement.streams import Randomness
from agreement.student import standard_error, t_reach

KNOWN_MEAN = "Every output is rated, so this mean is known."
NO_SPREAD = "The rated units show no spread that could tell how much others differ; rate more."
UNEQUAL = "The units were drawn with different probabilities; only a weighted estimate is unbiased."
_DECIMALS = 12


def mean(
    values: npt.ArrayLike,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """sum x / n over the values (units,) that are there, NaN for a gap; undefined without any.

    The interval resamples units.
    """
    return _summarise(values, "mean", "Mean", (-np.inf, np.inf), _means, generator, resampling)


def mean_score(
    values: npt.ArrayLike,
    scale: tuple[float, float],
    *,
    texts: int | None = None,
    confidence_level: float = 0.95,
) -> Coefficient:
    """The mean of a system's scores (documents,), NaN for a gap, with a t interval within the scale.

    mean -+ t s / sqrt(n) with n - 1 degrees of freedom, cut to the ends of the scale: no mean is beyond.
    `texts`: N, if the question is about these outputs alone; s / sqrt(n) is then times sqrt(1 - n / N), and
    with n = N the mean is known. Sources: Student 1908; Cochran 1977, section 2.6.
    """
    found = mean(values)
    value = found.value
    given = np.asarray(values, dtype=float)
    given = given[~np.isnan(given)]
    size = len(given)
    if value is None:
        return found
    found = replace(found, name="mean_score", source="Student 1908; Cochran 1977, section 2.6")
    if size == texts:
        return replace(found, interval_reason=KNOWN_MEAN)
    if size < 2:
        return replace(found, interval_reason="An interval needs more than 1 rating.")
    if np.ptp(given) < 10**-_DECIMALS:
        return replace(found, interval_reason=NO_SPREAD)
    reach = t_reach(standard_error(given, of=texts), size - 1, confidence_level)
    method = f"t with {size - 1} degrees of freedom, cut to the scale"
    low, high = max(scale[0], value - reach), min(scale[1], value + reach)
    return replace(found, interval=Interval(low, high, method, confidence_level), interval_reason=None)


def standard_deviation(
    values: npt.ArrayLike,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """sqrt(sum (x - mean)^2 / n) over the values (units,) that are there; the divisor is n, not n - 1.

    Undefined without two values. With a generator it has an interval, `deviation_interval`.
    """
    name, label = "standard_deviation", "Standard deviation"
    found = _summarise(values, name, label, (0.0, np.inf), _deviations, None, None, least=2)
    if generator is None or not found.defined:
        return found
    listed = np.asarray(values, dtype=float)
    level = (resampling or Resampling()).confidence_level
    interval, reason = deviation_interval(np.sort(listed[~np.isnan(listed)]), level)
    return replace(found, interval=interval, interval_reason=reason)


def spread_within_units(
    values: npt.ArrayLike,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """The mean over units of the standard deviation (divisor m) of the m raters' values (raters, units).

    In points of the scale; 0 is full agreement. Source: Shen and others 2023, table 20. Undefined if no unit
    has two values; units with fewer are excluded.
    """
    return _summarise(
        deviations_within_units(values),
        "spread_within_units",
        "Mean standard deviation among raters",
        (0.0, np.inf),
        _means,
        generator,
        resampling,
        missing="No unit has values from two raters; have the raters rate some of the same units.",
    )


def deviations_within_units(values: npt.ArrayLike) -> FloatArray:
    """(units,): the standard deviation (divisor m) of the m values (raters, units), NaN with fewer than 2."""
    table = np.asarray(values, dtype=float)
    given = ~np.isnan(table)
    number = given.sum(axis=0)
    result = np.full(table.shape[1], np.nan)
    shared = number >= 2
    means = np.sum(table, axis=0, where=given)[shared] / number[shared]
    squares = np.sum((table[:, shared] - means) ** 2, axis=0, where=given[:, shared])
    result[shared] = np.sqrt(squares / number[shared])
    return result


def _summarise(
    values: npt.ArrayLike,
    name: str,
    label: str,
    bounds: tuple[float, float],
    statistic: Callable[[FloatArray], Statistic],
    generator: Randomness | None,
    resampling: Resampling | None,
    *,
    least: int = 1,
    missing: str = "There are no values yet.",
) -> Coefficient:
    """The statistic of a list of values, of which `least` are needed; with a generator also its interval."""
    listed = np.asarray(values, dtype=float)
    if listed.ndim != 1:
        raise ValueError(f"A list of values is needed, but its shape is {listed.shape}.")
    given = listed[~np.isnan(listed)]
    # Equal values are interchangeable: there are far fewer to resample, and the interval does not depend on
    # their order. Means of the same ratings, added in another order, differ after the twelfth decimal.
    distinct, counts_of = np.unique(np.round(given, _DECIMALS), return_counts=True)
    weighted = Weighted(
        name=name,
        label=label,
        source="in points of the scale",
        statistic=statistic(distinct),
        # The size 0 makes the statistic undefined if there are too few values.
        size=len(distinct) if len(given) >= least else 0,
        noun="units",
        bounds=bounds,
        unit_counts=counts_of,
    )
    counts = Counts(len(listed), 0, raters=min(len(given), 1), ratings=len(given), pairable_values=0)
    reason = "There is only one value; two or more are needed." if len(given) else missing
    return weighted.coefficient(counts, reason, generator, resampling)


def _means(values: FloatArray) -> Statistic:
    return lambda weights: weights @ values / weights.sum(axis=1)


def _deviations(values: FloatArray) -> Statistic:
    # The variance does not depend on the origin, and a difference of large means loses digits.
    centred = values - values[:1]

    def deviations(weights: FloatArray) -> FloatArray:
        total = weights.sum(axis=1)
        variance = weights @ centred**2 / total - (weights @ centred / total) ** 2
        return np.asarray(np.sqrt(np.maximum(variance, 0)))

    return deviations


LEAST_VALUES = 6
METHOD = "of the logarithm, by kurtosis"


def deviation_interval(
    values: FloatArray, confidence_level: float = 0.95
) -> tuple[Interval | None, str | None]:
    """The interval of the standard deviation of the population of values (n,), or None and the reason.

    The root of exp(ln(c s^2) -+ z e): s^2 is the variance (divisor n - 1), c = n / (n - z), e = c sqrt((k -
    (n - 3) / n) / (n - 1)), and k the kurtosis n sum (x - m)^4 / (sum (x - mean)^2)^2 about a mean m that
    leaves out a share of 1 / (2 sqrt(n - 4)) at each end. Bootstrap intervals underestimated the spread of
    few values and covered .72 to .92 instead of .95. Source: Bonett 2006, Computational Statistics and Data
    Analysis 50, 775-782. None with fewer than 6 values, and if all are the same.
    """
    size = len(values)
    if size < LEAST_VALUES:
        return None, f"An interval of a standard deviation needs {LEAST_VALUES} values; there are {size}."
    if np.ptp(values) == 0:
        return None, "All values are the same, so they do not tell how much they may vary."
    z = float(scipy.special.ndtri((1 + confidence_level) / 2))
    correction = size / (size - z)
    # LEAST_VALUES keeps the number under the root positive.
    cut = int(size / (2 * np.sqrt(size - 4)))
    trimmed = np.sort(values)[cut : size - cut].mean()
    squares = float(np.sum((values - values.mean()) ** 2))
    kurtosis = size * float(np.sum((values - trimmed) ** 4)) / squares**2
    # Of two values that are equally frequent the kurtosis is 1, and rounding must not leave a root below 0.
    error = correction * np.sqrt(max(kurtosis - (size - 3) / size, 0.0) / (size - 1))
    middle = np.log(correction * squares / (size - 1))
    # Half the logarithm of a variance is the logarithm of the standard deviation.
    low, high = np.exp((middle + np.array([-1, 1]) * z * error) / 2)
    return Interval(float(low), float(high), METHOD, confidence_level), None


@dataclass(frozen=True)
class ValueDistribution:
    """The number of times a rater, or all together (`rater` is None), gave each value of the domain,
    ascending.
    """

    rater: str | None
    values: tuple[float, ...]
    counts: tuple[int, ...]

    @property
    def ratings(self) -> int:
        """The number of values."""
        return sum(self.counts)

    @property
    def mean(self) -> float | None:
        """The mean value, or None without ratings."""
        if not self.ratings:
            return None
        return float(np.dot(self.values, self.counts) / self.ratings)


def value_distributions(data: ReliabilityData) -> tuple[ValueDistribution, ...]:
    """Counts of each value of the domain: of all raters together, then of each; gaps are not counted."""
    size = len(data.value_domain)
    each = [np.bincount(codes, minlength=size + 1)[:size] for codes in data.codes]
    total = np.sum(each, axis=0) if each else np.zeros(size, dtype=np.intp)
    values = tuple(data.value_domain.tolist())
    named = zip((None, *data.raters), (total, *each), strict=True)
    return tuple(ValueDistribution(rater, values, tuple(counts.tolist())) for rater, counts in named)


def value_ranges(data: ReliabilityData) -> FloatArray:
    """(units,): largest minus smallest value, which tells disputes; NaN with fewer than two values."""
    given = ~np.isnan(data.values)
    high = np.max(data.values, axis=0, where=given, initial=-np.inf)
    low = np.min(data.values, axis=0, where=given, initial=np.inf)
    ranges = np.full(data.values.shape[1], np.nan)
    # Without values both ends are infinite, so only units with two values are subtracted.
    np.subtract(high, low, out=ranges, where=data.ratings_per_unit >= 2)
    return ranges


MOST_RATERS, MOST_GROUPS = 20, 20_000
"""Of more raters, or more documents, the share has no interval: each needs a table of raters by raters."""
_SOURCE = "share of the variance within units, adjusted for degrees of freedom (Ezekiel 1930)"
_WHY = "Every unit's values are the same; there is no variance within units to explain."


def rater_effects(values: FloatArray) -> FloatArray:
    """(raters,): the difference of each rater from the others on the same units, in points, with mean 0.

    values: (raters, units), NaN for a gap. Least squares of value = unit + rater. 0 for a rater who shares no
    unit with others.
    """
    laplacian, sums, _ = _normal_equations(values)
    # Effects are defined up to a constant, so the matrix has no inverse.
    effects = np.linalg.pinv(laplacian, hermitian=True) @ sums
    shares = laplacian.diagonal() > 0
    return np.where(shares, effects - effects[shares].mean() if shares.any() else 0.0, 0.0)


def severity_share(
    data: ReliabilityData, *, generator: Randomness | None = None, resampling: Resampling | None = None
) -> Coefficient:
    """The share of the variance within units that the raters' main effects explain.

    1 - MS_rest / MS_within, cut at 0: MS_within is the mean square of the values around their unit's mean,
    MS_rest what remains after each rater's effect (`rater_effects`), each divided by its degrees of freedom.
    Over units with two values or more. 1: raters differ only by a constant shift; 0: they differ only unit by
    unit. The interval resamples documents, or units; there is none with more than 20 raters. Undefined
    without such units, without variation, and without degrees of freedom for the rest.
    """
    plan = resampling or Resampling()
    pairable = data.of_units(data.ratings_per_unit >= 2)
    counts = count(data)
    by_documents = plan.by == "documents"
    labels = pairable.documents if by_documents else np.arange(pairable.values.shape[1])
    if labels is None:
        raise ValueError("Resampling by documents needs the document of each unit.")
    raters = np.flatnonzero((~np.isnan(pairable.values)).any(axis=1))
    number, of_unit = np.unique(labels, return_inverse=True)
    few = len(raters) <= MOST_RATERS and len(number) <= MOST_GROUPS
    # Without an interval one group with all units is enough.
    groups = of_unit if few else np.zeros_like(of_unit)
    size = len(number) if few else min(len(number), 1)
    found = Weighted(
        "severity_share",
        "Share of severity in the variance within units",
        _SOURCE,
        _share_of_sums(pairable.values[raters], groups, size),
        size,
        plan.by if few else "units",
        (0.0, 1.0),
    ).coefficient(counts, _WHY, generator if few else None, plan)
    if few or not found.defined:
        return found
    why = f"With more than {MOST_RATERS} raters or {MOST_GROUPS:,} {plan.by} no interval is computed."
    return replace(found, interval_reason=why)


def _normal_equations(values: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return (raters, raters), (raters,), (raters, units): the equations of effects, and centred values."""
    given = ~np.isnan(values)
    number = given.sum(axis=0)
    counted = (given & (number > 1)).astype(float)
    means = np.nansum(values, axis=0) / np.maximum(number, 1)
    centred = np.where(counted > 0, values - means, 0.0)
    # Normal equations of raters with the units eliminated: a Laplacian, linked by shared units.
    table = np.diag(counted.sum(axis=1)) - (counted / np.maximum(number, 1)) @ counted.T
    return table, centred.sum(axis=1), centred


def _share_of_sums(values: FloatArray, groups: npt.NDArray[np.intp], size: int) -> Statistic:
    """Return the share as a function of weights (replicates, groups); groups: (units,)."""
    raters = len(values)
    # The normal equations are sums over units, so resamples only weight the ones of each group.
    tables = np.zeros((size, raters * raters))
    sums, squares, freedom = np.zeros((size, raters)), np.zeros(size), np.zeros(size)
    for group in range(size):
        own = values[:, groups == group]
        table, of_raters, centred = _normal_equations(own)
        tables[group], sums[group] = table.ravel(), of_raters
        squares[group] = float((centred**2).sum())
        freedom[group] = (~np.isnan(own)).sum() - own.shape[1]

    def shares(weights: FloatArray) -> FloatArray:
        table = (weights @ tables).reshape(-1, raters, raters)
        own = weights @ sums
        effects = (np.linalg.pinv(table, hermitian=True) @ own[:, :, None])[:, :, 0]
        # The sum of squares that the raters' effects explain.
        explained = (effects * own).sum(axis=1)
        within, total = weights @ squares, weights @ freedom
        # The rank is the number of effects that the shared units identify.
        rest = total - np.linalg.matrix_rank(table, hermitian=True)
        known = (rest > 0) & (within > 0)
        # MS_rest / MS_within.
        of_rest = divide_where(known, (within - explained) * total, rest * np.maximum(within, 1e-300))
        return np.where(known, np.clip(1 - of_rest, 0.0, 1.0), np.nan)

    return shares


def normalised_entropy(values: FloatArray, points: int) -> float:
    """The entropy of values (n,), divided by the largest possible entropy of n values on a scale of `points`
    points.

    0 if all values are equal, 1 if they are spread as evenly as possible. 0 for one value or one point.
    """
    counts = np.unique(values, return_counts=True)[1]
    # The most even distribution of as many values over the points.
    whole, left = divmod(len(values), points)
    most = _entropy(np.array([whole + (index < left) for index in range(points)]))
    return _entropy(counts) / most if most > 0 else 0.0


def _entropy(counts: npt.NDArray[np.integer]) -> float:
    shares = counts[counts > 0] / counts.sum()
    return abs(float((shares * np.log(shares)).sum()))  # no term is above 0, and -0.0 would show a sign
