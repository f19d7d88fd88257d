"""The mean human score of a batch, from the judge's values for all units and people's for a few."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from agreement import Interval
from agreement.bootstrap import LARGEST_MODAL_SHARE
from agreement.data import FloatArray
from agreement.reliability.sample import RatedSample
from agreement.student import satterthwaite_freedom, t_reach
from agreement.summary import NO_SPREAD, UNEQUAL

LEAST_DISTINCT = 5
LEAST_RATINGS = 20
LEAST_OF_ONE_RATER = 50
"""Of a sample, for asymptotic intervals to hold what they claim; found by benchmarks/coverage.py routing."""

NO_RATING = "No person has rated a unit yet."
NO_JUDGE = "The judge has no value for these units yet."


@dataclass(frozen=True)
class Estimate:
    """A mean human score, or None with a reason.

    interval: None with `interval_reason` without one. weight: the weight of the judge's value, the slope b or
    lam; None if it is not used. effective_sample_size: the size of a simple random sample with people only
    that would be as precise. batch_variance: the part of the squared standard error that comes from the batch
    being a sample itself. ratings, units: n and N. warnings: messages on the reasons why an asymptotic
    interval is unsafe here.
    """

    name: str
    label: str
    source: str
    value: float | None
    reason: str | None
    ratings: int
    units: int
    standard_error: float | None = None
    degrees_of_freedom: float | None = None
    interval: Interval | None = None
    interval_reason: str | None = None
    weight: float | None = None
    effective_sample_size: float | None = None
    batch_variance: float = 0.0
    warnings: tuple[str, ...] = ()

    @property
    def width(self) -> float | None:
        """The length of the interval."""
        return None if self.interval is None else self.interval.high - self.interval.low


def humans_only(sample: RatedSample, *, confidence_level: float = 0.95) -> Estimate:
    """The mean over the rated units, as if there were no judge: the reference for every other estimate.

    ybar -+ t_{n-1} sqrt((1 - n / N) s^2 / n); by documents as `regression_estimate`. Source: Cochran 1977,
    Sampling Techniques, section 2.6. Undefined without ratings, and for units sampled with different
    probabilities: use `weighted_estimate` with the weight 0.
    """
    empty = no_estimate("humans_only", "People only", "Cochran 1977, section 2.6", sample)
    reason = _explain_missing(sample, 1, needs_judge=False)
    if reason is not None:
        return replace(empty, reason=reason)
    rated = sample.human[sample.rated]
    found = replace(empty, value=float(rated.mean()), warnings=warnings_of(sample))
    return _add_finite_interval(found, sample, rated - rated.mean(), 1, confidence_level)


def judge_only(sample: RatedSample) -> Estimate:
    """The mean of the judge's values over all units, which gives no information on its distance from
    people's mean. Undefined if the judge has no values; never an interval.
    """
    empty = no_estimate("judge_only", "The judge only", "", sample)
    if not sample.judged:
        return replace(empty, reason=NO_JUDGE)
    no_interval = "A judge's mean tells nothing of its distance from people's; no interval covers that."
    return replace(empty, value=float(sample.judge.mean()), interval_reason=no_interval)


def regression_estimate(sample: RatedSample, *, confidence_level: float = 0.95) -> Estimate:
    """The mean human score of the N units of this batch, from a simple random sample of them.

    ybar + b (fbar_N - fbar_n), b = Cov_n(Y, f) / Var_n(f); variance SSE / (n - 2) times (1 - n / N) / n +
    (fbar_N - fbar_n)^2 / sum_n (f - fbar_n)^2, t with n - 2 degrees of freedom. The second term is the
    contribution of an uncertain slope: without it coverage at 20 ratings is about .007 lower. If the sample
    has documents, residuals are summed within each, the slope is treated as known, and t has G - 1 degrees of
    freedom for G rated documents. The finite population consists of documents if the rated ones are fully
    rated, and does not count otherwise. Asymptotic: below about 50 ratings of a skewed scale its coverage is
    below its level. Source: Cochran 1977, sections 7.1 to 7.5; Royall 1970 for the variance given the judge's
    values; Cameron and Miller 2015 for documents. Undefined without 3 ratings, without values of the judge,
    and for unequal probabilities.
    """
    empty = no_estimate("regression", "Regression estimate", "Cochran 1977, sections 7.1 to 7.5", sample)
    reason = _explain_missing(sample, 3)
    if reason is not None:
        return replace(empty, reason=reason)
    rated, judge = sample.human[sample.rated], sample.judge[sample.rated]
    slope = least_squares_slope(rated, judge)
    # fbar_N - fbar_n: how far the rated units differ from the batch in the judge's values.
    apart = float(sample.judge.mean() - judge.mean())
    residuals = rated - rated.mean() - slope * (judge - judge.mean())
    found = replace(
        empty, value=float(rated.mean() + slope * apart), weight=slope, warnings=warnings_of(sample)
    )
    spread = float(np.sum((judge - judge.mean()) ** 2))
    of_slope = apart**2 / spread if spread > 1e-12 else 0.0
    return _add_finite_interval(found, sample, residuals, 2, confidence_level, of_slope=of_slope)


def prediction_powered(
    sample: RatedSample, *, weight: float | None = None, confidence_level: float = 0.95
) -> Estimate:
    """PPI++: the mean human score of the population that the batch comes from.

    theta = lam mean_u(f) + mean_n(Y - lam f) with u the N - n unrated units; by default lam is power-tuned,
    Cov_n(Y, f) / ((1 + n / (N - n)) Var_N(f)) cut to 0..1; weight=1 is PPI, weight=0 people only. Variance
    lam^2 Var_u(f) / (N - n) + Var_n(Y - lam f) / n, whose root is `standard_error`, with the divisors of
    ppi_py (n for Cov and the variances, N - 1 for Var_N). The interval takes the sum of squared residuals by
    n - 1 instead (n - 2 where lam is tuned on them) and t with the effective degrees of freedom of the sum
    (Satterthwaite 1946): normal quantiles hold .65 to .92 of .95 at 3 to 20 ratings, these .94 to .97 from 4
    on. None below 4 ratings. Where the sample has documents, every unit's share in theta is summed within its
    document instead, and t has G - 1 degrees of freedom.
    Source: Angelopoulos and others 2023, Science 382; Angelopoulos, Duchi and Zrnic 2023, PPI++.
    Undefined with fewer than 2 ratings, where every unit is rated (use people's mean), without values of the
    judge, and for unequal probabilities.
    """
    empty = no_estimate("ppi", "PPI++" if weight is None else f"PPI, weight {weight:g}", _PPI, sample)
    reason = _explain_missing(sample, 2)
    if reason is None and sample.ratings == sample.units:
        reason = "Every unit is rated, so the mean of the ratings is exact."
    if reason is not None:
        return replace(empty, reason=reason)
    rated, judge, others = sample.human[sample.rated], sample.judge[sample.rated], sample.judge[~sample.rated]
    lam, spread = weight or 0.0, float(np.concatenate([judge, others]).var(ddof=1))
    if weight is None and spread > 1e-12:
        # The divisors n here and N - 1 above are the ones of ppi_py.
        covariance = float(np.mean((rated - rated.mean()) * (judge - judge.mean())))
        lam = float(np.clip(covariance / ((1 + len(rated) / len(others)) * spread), 0, 1))
    residuals = rated - lam * judge
    variance = lam**2 * others.var() / len(others) + residuals.var() / len(rated)
    found = replace(
        empty,
        value=float(lam * others.mean() + residuals.mean()),
        weight=lam,
        warnings=warnings_of(sample),
    )
    if sample.documents is not None:
        # By documents: the share of each unit in theta, of rated and of other units.
        shares = np.empty(sample.units)
        shares[sample.rated] = (residuals - residuals.mean()) / len(rated)
        shares[~sample.rated] = lam * (others - others.mean()) / len(others)
        return _add_clustered_interval(found, sample, shares, confidence_level, finite=False)
    if len(rated) < _LEAST_FOR_PPI:
        few = f"{len(rated)} ratings are too few for an interval, which needs {_LEAST_FOR_PPI}."
        return replace(found, standard_error=float(np.sqrt(variance)), interval_reason=few)
    effective = float(rated.var() / variance) if variance > 0 else None
    left = len(rated) - (2 if weight is None else 1)
    of_judge = float(lam**2 * others.var() / len(others))
    # var() has the divisor n, so this is the sum of squares / (n - 1 or n - 2), over n.
    of_residuals = float(residuals.var() / left)
    of_others = max(len(others) - 1, 1)
    freedom = satterthwaite_freedom([(of_judge, of_others), (of_residuals, left)]) or min(of_others, left)
    found = with_interval(found, of_judge + of_residuals, freedom, confidence_level, effective=effective)
    # The standard error keeps ppi_py's divisors; the interval has the larger ones.
    return replace(found, standard_error=float(np.sqrt(variance))) if found.interval else found


def beyond_batch(estimate: Estimate, sample: RatedSample, *, confidence_level: float = 0.95) -> Estimate:
    """An estimate of a batch's mean as one of the population that the batch is a random sample of.

    Variance Var + s^2 / N, s^2 the variance of people's values, weighted by 1 / pi; t with the estimate's
    degrees of freedom, n - 1 if Var is 0. With every unit rated this is the classical t interval; of a
    difference of two systems by document, the paired t test. For a sample without documents. No interval if
    the estimate has none, below 2 ratings, and without spread. Source: Cochran 1977, section 2.12, for the
    variance over batches.
    """
    if estimate.standard_error is None or estimate.interval is None:
        return estimate
    rated = sample.human[sample.rated]
    plain = replace(estimate, interval=None, standard_error=None, degrees_of_freedom=None)
    if len(rated) < 2:
        return replace(plain, interval_reason="An interval needs more than 1 rating.")
    weights = np.ones(len(rated)) if sample.probabilities is None else 1 / sample.probabilities[sample.rated]
    # The batch is itself a sample of N units, which adds s^2 / N.
    of_batch = weighted_variance(rated, weights) / sample.units
    within = estimate.standard_error**2
    freedom = estimate.degrees_of_freedom if within > 0 else len(rated) - 1
    size = estimate.effective_sample_size
    found = with_interval(plain, within + of_batch, freedom, confidence_level, effective=size)
    return replace(found, batch_variance=of_batch)


_LEAST_FOR_PPI = 4
_PPI = "Angelopoulos, Duchi and Zrnic 2023, PPI++, arXiv 2311.01453"


def safety_warnings(rated: npt.ArrayLike) -> tuple[str, ...]:
    """Why an asymptotic interval over these human values (n,) is unsafe: too few distinct, or one too common.

    Fewer than 5 distinct values, or more than 80% of one: the rare other values are then often not in the
    sample, and the interval is too short.
    """
    values, counts = np.unique(np.asarray(rated, dtype=float), return_counts=True)
    if not len(values):
        return ()
    found = []
    if len(values) < LEAST_DISTINCT:
        found.append(f"The ratings have only {len(values)} distinct values; trust the guaranteed interval.")
    share = counts.max() / counts.sum()
    if share > LARGEST_MODAL_SHARE:
        usual = values[counts.argmax()]
        found.append(f"{share:.0%} of the ratings are {usual:g}; trust the guaranteed interval.")
    return tuple(found)


def warnings_of(sample: RatedSample, *, name: str = "") -> tuple[str, ...]:
    """Return the reasons why an asymptotic interval from this random sample is unsafe: too few ratings, or
    `safety_warnings`.

    If every unit is rated, their number does not matter. name: of the units in the message.
    """
    found = safety_warnings(sample.human[sample.rated])
    if 0 < sample.ratings < min(LEAST_RATINGS, sample.units):
        units = f"{sample.units} units {name}".strip()
        few = f"Only {sample.ratings} of {units} are rated; asymptotic intervals need {LEAST_RATINGS}."
        found = (few, *found)
    elif not found and _all_points_of_one_rater(sample):
        found = (
            f"Only {sample.ratings} texts have a value of one rater; asymptotic intervals of whole points "
            f"need {LEAST_OF_ONE_RATER}.",
        )
    return found


def _all_points_of_one_rater(sample: RatedSample) -> bool:
    """Return True if there are only whole points, no more than enough of them, and few ratings.

    Then it is a sample with all points of the scale that has no other warning: a sample with rare points by
    chance, whose mean is too close to them.
    """
    values = np.unique(sample.human[sample.rated])
    whole = bool(len(values)) and bool(np.all(values == np.round(values)))
    return whole and len(values) <= LEAST_DISTINCT and sample.ratings < min(LEAST_OF_ONE_RATER, sample.units)


def projected_widths(estimate: Estimate, ratings: Sequence[int]) -> list[float | None]:
    """The width of the interval after these numbers of ratings, with unchanged residuals.

    2 t sqrt((1 - n' / N) s^2 / n') with s^2 from the standard error of an estimate by `humans_only` or
    `regression_estimate` without documents; `beyond_batch` adds its variance to each. None below 3 ratings,
    above N, or without a standard error.
    """
    if estimate.standard_error is None or estimate.interval is None or estimate.ratings >= estimate.units:
        return [None] * len(ratings)
    size, units = estimate.ratings, estimate.units
    of_batch = estimate.batch_variance
    # The variance formula, solved for s^2.
    spread = (estimate.standard_error**2 - of_batch) * size / (1 - size / units)
    # The number of fitted parameters, which is the same for every n'.
    lost = size - (estimate.degrees_of_freedom or size)
    level = estimate.interval.confidence_level
    widths: list[float | None] = []
    for number in ratings:
        possible = 3 <= number <= units
        error = np.sqrt((1 - number / units) * spread / number + of_batch) if possible else np.nan
        widths.append(2 * t_reach(error, number - lost, level) if possible else None)
    return widths


def with_interval(
    estimate: Estimate,
    variance: float,
    freedom: float | None,
    confidence_level: float,
    *,
    effective: float | None = None,
    complete: bool = False,
) -> Estimate:
    """The estimate with value -+ t (or z, without degrees of freedom) sqrt(variance).

    complete: every unit was rated, so that a variance of 0 is true; else residuals without spread give no
    information on the spread of the others, and there is no interval.
    """
    if estimate.value is None:
        return estimate
    check_level(confidence_level)
    if variance <= 0 and not complete:
        return replace(estimate, interval_reason=NO_SPREAD)
    error = float(np.sqrt(max(variance, 0)))
    reach = t_reach(error, np.inf if freedom is None else freedom, confidence_level)
    kind = "normal" if freedom is None else f"t with {freedom:.3g} degrees of freedom"
    interval = Interval(
        estimate.value - reach,
        estimate.value + reach,
        f"asymptotic, {kind}",
        confidence_level,
    )
    return replace(
        estimate,
        standard_error=error,
        degrees_of_freedom=freedom,
        interval=interval,
        interval_reason=None,
        effective_sample_size=effective,
    )


def cut_to_scale(estimate: Estimate, low: float, high: float) -> Estimate:
    """The estimate of a mean with its interval cut to the ends of the scale, since no mean is beyond them."""
    found = estimate.interval
    if found is None:
        return estimate
    ends = (min(max(found.low, low), high), max(min(found.high, high), low))
    return replace(estimate, interval=replace(found, low=ends[0], high=ends[1]))


def check_level(confidence_level: float) -> None:
    """Nothing for a level between 0 and 1, ValueError otherwise."""
    if not 0 < confidence_level < 1:
        raise ValueError(f"The confidence level must lie between 0 and 1, but is {confidence_level}.")


def weighted_variance(values: FloatArray, weights: FloatArray) -> float:
    """Return n / (n - 1) sum w (x - mean)^2 / sum w of 2 or more values (n,); exactly 0 if all are equal."""
    centred = values - np.average(values, weights=weights)
    # Rounding of the mean would give equal values a tiny variance, and so an interval.
    if not np.any(np.abs(centred) > 1e-12):
        return 0.0
    return float(np.average(centred**2, weights=weights)) * len(values) / (len(values) - 1)


def effective_size(variance: float, sample: RatedSample, *, finite: bool) -> float | None:
    """The n' at which people alone have this variance: s^2 (1 / n' - 1 / N) if finite, else s^2 / n'.

    None if people's values do not vary, or if nothing is uncertain.
    """
    rated = sample.human[sample.rated]
    spread = float(rated.var(ddof=1)) if len(rated) > 1 else 0.0
    if spread <= 0 or (variance <= 0 and not finite):
        return None
    # The variance of a mean of n' ratings, solved for n'.
    return 1 / (variance / spread + (1 / sample.units if finite else 0))


def _add_finite_interval(
    estimate: Estimate,
    sample: RatedSample,
    residuals: FloatArray,
    fitted: int,
    confidence_level: float,
    *,
    of_slope: float = 0.0,
) -> Estimate:
    """With the variance of a mean of residuals in a finite population; `fitted` parameters were estimated.

    of_slope: the variance that an estimated slope adds, in variances of a residual.
    """
    number, units = sample.ratings, sample.units
    if sample.documents is not None:
        shares = np.zeros(units)
        # The root makes the result SSE / (n - fitted) / n if every document has one unit.
        shares[sample.rated] = residuals / number * np.sqrt((number - 1) / max(number - fitted, 1))
        return _add_clustered_interval(estimate, sample, shares, confidence_level, finite=True)
    if number <= fitted and number < units:
        return replace(estimate, interval_reason=f"An interval needs more than {fitted} ratings.")
    freedom = max(number - fitted, 1)
    spread = float(np.sum(residuals**2)) / freedom
    # Residuals that are rounding would give an interval of nearly no width instead of none.
    if not np.any(np.abs(residuals) > 1e-12):
        spread = 0.0
    variance = spread * ((1 - number / units) / number + of_slope)
    return with_interval(
        estimate,
        variance,
        freedom,
        confidence_level,
        effective=effective_size(variance, sample, finite=True),
        complete=number == units,
    )


def _add_clustered_interval(
    estimate: Estimate, sample: RatedSample, shares: FloatArray, confidence_level: float, *, finite: bool
) -> Estimate:
    """With G / (G - 1) times the sum over documents of (sum of shares)^2, shares (units,) in the estimate.

    finite: the population is the batch; it counts as a sample of whole documents only if the rated ones are
    fully rated.
    """
    if sample.documents is None:
        raise ValueError("The document of each unit is needed.")
    of_rated = np.unique(sample.documents[sample.rated])
    if len(of_rated) < 2:
        return replace(estimate, interval_reason="An interval by documents needs two rated documents.")
    sums = np.bincount(sample.documents, shares)
    everything = len(sums)
    # Beyond the batch, unrated units have shares in the estimate too, so all documents count.
    counted = len(of_rated) if finite else everything
    variance = counted / (counted - 1) * float(np.sum(sums**2))
    whole = bool(sample.rated[np.isin(sample.documents, of_rated)].all())
    if finite and whole:
        variance *= 1 - len(of_rated) / everything
    return with_interval(
        estimate,
        variance,
        len(of_rated) - 1,
        confidence_level,
        effective=effective_size(variance, sample, finite=finite and whole),
        complete=sample.ratings == sample.units,
    )


def least_squares_slope(values: FloatArray, predictor: FloatArray) -> float:
    """Return Cov(values, predictor) / Var(predictor), both (n,); 0 if the predictor does not vary."""
    centred = predictor - predictor.mean()
    spread = float(np.sum(centred**2))
    return float(np.sum(centred * (values - values.mean()))) / spread if spread > 1e-12 else 0.0


def no_estimate(name: str, label: str, source: str, sample: RatedSample) -> Estimate:
    """Return an estimate without a value yet, with the sizes of the sample."""
    return Estimate(name, label, source, None, None, sample.ratings, sample.units)


def why_too_few(sample: RatedSample, least: int) -> str | None:
    """Return the reason why fewer ratings than `least` give no estimate; None if there are enough."""
    if sample.ratings >= least:
        return None
    if not sample.ratings:
        return NO_RATING
    rated = "1 unit is" if sample.ratings == 1 else f"{sample.ratings} units are"
    return f"Only {rated} rated; this estimate needs {least}."


def _explain_missing(sample: RatedSample, least: int, *, needs_judge: bool = True) -> str | None:
    if sample.unequal:
        return UNEQUAL
    return why_too_few(sample, least) or (NO_JUDGE if needs_judge and not sample.judged else None)
