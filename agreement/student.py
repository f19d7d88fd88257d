"""Student's t: standard errors, intervals, p values and degrees of freedom; ratios of sums over documents."""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import scipy

from agreement.coefficient import UNDEFINED, Coefficient, Counts, Interval
from agreement.data import FloatArray, IntArray, divide_where


def standard_error(values: FloatArray, *, of: int | None = None) -> float:
    """Return s / sqrt(n) of the mean of values (n,), divisor of s^2: n - 1.

    of: the size N of a finite population; the error is then times sqrt(1 - n / N). Source: Cochran 1977,
    section 2.6.
    """
    left_out = 1 - len(values) / of if of else 1.0
    return float(values.std(ddof=1) * np.sqrt(left_out / len(values)))


def t_reach(error: float, freedom: float, confidence_level: float) -> float:
    """Return the half-width of the t interval of an estimate with this standard error."""
    return float(error * scipy.special.stdtrit(freedom, (1 + confidence_level) / 2))


def normal_reach(error: float, confidence_level: float) -> float:
    """Return the half-width of the normal interval of an estimate with this standard error."""
    return float(error * scipy.special.ndtri((1 + confidence_level) / 2))


def t_p_value(value: float, error: float, freedom: float) -> float:
    """Return the two-sided p value of t = value / error."""
    # The lower tail keeps small p values, which a difference from 1 would lose.
    return float(2 * scipy.special.stdtr(freedom, -abs(value) / error))


def t_power(noncentrality: float, freedom: float, significance_level: float) -> float:
    """Return the probability that a two-sided t test is significant with the right sign.

    noncentrality: the true difference over its standard error.
    """
    critical = float(scipy.special.stdtrit(freedom, 1 - significance_level / 2))
    # Beyond this the noncentral t overflows; an error of the standard deviation hides no such difference.
    if noncentrality > 10 * critical + 10:
        return 1.0
    return float(1 - scipy.special.nctdtr(freedom, noncentrality, critical))


def noncentrality_with_power(power: float, freedom: float, significance_level: float) -> float:
    """Return the true difference over its standard error at which `t_power` is this."""
    critical = scipy.special.stdtrit(freedom, 1 - significance_level / 2)
    return float(scipy.special.nctdtrinc(freedom, 1 - power, critical))


def satterthwaite_freedom(parts: Iterable[tuple[float, float]]) -> float | None:
    """Return the degrees of freedom of a sum of variances, each given with its own.

    (sum v)^2 / sum (v^2 / f); None if the divisor is 0. Source: Satterthwaite 1946, Biometrics Bulletin 2,
    110-114.
    """
    pairs = list(parts)
    lost = sum(variance**2 / freedom for variance, freedom in pairs)
    return sum(variance for variance, _ in pairs) ** 2 / lost if lost > 0 else None


_LEAST_EFFECT = 0.2
"""Of documents on the variance: less would be chance."""


def ratio_interval(
    hits: FloatArray, sizes: FloatArray, confidence_level: float = 0.95
) -> tuple[Interval | None, str | None]:
    """The interval of F = sum hits / sum sizes, both (documents,), hits <= sizes; or None and the reason.

    Wilson's (1927) with Student's t for z, and sum sizes / deff for n: deff is the variance of F over
    documents (linearised, D / (D - 1) sum (hits - F sizes)^2 / (sum sizes)^2) over the variance for
    independent items, F (1 - F) / sum sizes; 1 if F is 0 or 1. Degrees of freedom: documents with a size,
    minus 1. Resampled documents cover .81 to .94 instead of .95 for a rare category. Source: Korn and
    Graubard 1998, Survey Methodology 24, 193-201, for deff and t. None with fewer than two such documents.
    """
    return mean_ratio_interval(hits[:, None], sizes[:, None], confidence_level)


def column_ratios(hits: FloatArray, sizes: FloatArray) -> FloatArray:
    """(columns,): sum hits / sum sizes of tables (documents, columns); 1 where the size is 0."""
    totals = sizes.sum(axis=0)
    return np.where(totals > 0, divide_where(totals > 0, hits.sum(axis=0), totals), 1.0)


def mean_ratio_interval(
    hits: FloatArray, sizes: FloatArray, confidence_level: float = 0.95
) -> tuple[Interval | None, str | None]:
    """`ratio_interval` of the mean over columns of F = sum hits / sum sizes, such as F1 of pairs of raters.

    hits, sizes: (documents, columns). A column of size 0 has the ratio 1. The mean is linearised: a document
    adds the mean over columns of (hits - F sizes) / sum sizes. Independent things are as many as a column
    has on average.
    """
    used, totals = (sizes > 0).any(axis=1), sizes.sum(axis=0)
    documents = int(used.sum())
    if documents < 2:
        return None, "An interval needs the category in two documents."
    ratios = column_ratios(hits, sizes)
    share, total = float(ratios.mean()), float(totals[totals > 0].mean())
    # A column of size 0 has NaN here and adds nothing, as its ratio is 1 in every sample.
    residuals = divide_where(totals > 0, hits - ratios * sizes, totals)
    added = np.nansum(residuals, axis=1) / len(totals)
    # Linearised deviations add up to 0, so no mean is subtracted.
    variance = len(sizes) / (len(sizes) - 1) * float(np.sum(added**2))
    spread = share * (1 - share) / total
    effect = max(variance / spread, _LEAST_EFFECT) if spread > 1e-12 else 1.0
    size, t = total / effect, t_reach(1.0, documents - 1, confidence_level)
    # Wilson's interval, with t for z and the effective number for n.
    middle = (share + t**2 / (2 * size)) / (1 + t**2 / size)
    reach = t * np.sqrt(share * (1 - share) / size + t**2 / (4 * size**2)) / (1 + t**2 / size)
    low, high = max(middle - reach, 0.0), min(middle + reach, 1.0)
    return Interval(float(low), float(high), f"Wilson over {documents} documents", confidence_level), None


def sum_by_document(values: FloatArray, documents: IntArray, size: int | None = None) -> FloatArray:
    """(documents, ...): sums over the units of each document; values: (units, ...), documents: (units,).

    size: the number of documents, if the last may have no unit.
    """
    sums = np.zeros((int(documents.max(initial=-1)) + 1 if size is None else size, *values.shape[1:]))
    # `bincount` takes a single column, and `+=` would add only one unit of each document.
    np.add.at(sums, documents, values)
    return sums


@dataclass(frozen=True)
class RatioName:
    """Name and source of a ratio, and the reasons to give without a value or an interval."""

    name: str
    label: str
    source: str
    why_undefined: str
    why_no_interval: str = "An interval needs answers on two documents."


def ratio_coefficient(
    named: RatioName, hits: FloatArray, sizes: FloatArray, counts: Counts, confidence_level: float = 0.95
) -> Coefficient:
    """The mean over columns of sum hits / sum sizes, both (documents, columns), with its interval.

    A column of size 0 has the ratio 1. Undefined without columns. Without documents of a size there is a
    value but no interval.
    """
    defined = hits.shape[1] > 0
    interval = mean_ratio_interval(hits, sizes, confidence_level)[0] if defined else None
    missing = named.why_no_interval if defined else UNDEFINED
    return Coefficient(
        name=named.name,
        label=named.label,
        value=float(column_ratios(hits, sizes).mean()) if defined else None,
        reason=None if defined else named.why_undefined,
        interval=interval,
        interval_reason=None if interval else missing,
        counts=counts,
        source=named.source,
    )
