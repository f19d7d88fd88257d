"""Means from units that were drawn with known, unequal probabilities, and such probabilities."""

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from annotate.agreement.data import FloatArray
from judges.reliability.estimates import Estimate, effective_size, warnings_of, with_interval
from judges.reliability.sample import RatedSample


def weighted_estimate(
    sample: RatedSample, *, weight: float | None = None, confidence_level: float = 0.95
) -> Estimate:
    """The mean human score of this batch, where each unit i was drawn on its own with probability pi_i.

    theta = lam fbar_N + sum_s (Y_i - lam f_i) / pi_i / sum_s 1 / pi_i (Hajek's form: the sum of weights in
    place of N, which keeps a judge that is too generous throughout from adding noise). Variance
    sum_s (1 - pi_i) / pi_i^2 (e_i - ebar)^2 / (sum_s 1 / pi_i)^2, so that units rated for certain add
    nothing, times n / (n - 2) (n - 1 where lam is given) over the n units that were not certain, and t with
    as many degrees of freedom. lam minimises it, cut to 0..1; weight=0 is people only.
    Source: Hajek 1971; Saerndal, Swensson and Wretman 1992, sections 5.7 and 6.6 (Poisson sampling).
    Undefined without 2 ratings; where probabilities are unknown, use the other estimates.
    """
    empty = _empty("weighted", "Weighted estimate (Hajek)", _HAJEK, sample)
    reason = _why_none(sample)
    if reason is not None or sample.probabilities is None:
        return replace(empty, reason=reason)
    chance = sample.probabilities[sample.rated]
    rated, judge = sample.human[sample.rated], sample.judge[sample.rated]
    influence = (1 - chance) / chance**2
    lam = weight if weight is not None else _least_spread(rated, judge, 1 / chance, influence, sample)
    overall = lam * sample.judge.mean() if lam else 0.0
    residuals = rated - lam * judge if lam else rated
    centre = np.average(residuals, weights=1 / chance)
    variance = float(np.sum(influence * (residuals - centre) ** 2)) / float(np.sum(1 / chance)) ** 2
    uncertain = int((chance < 1).sum())
    freedom = max(uncertain - (2 if weight is None else 1), 1)
    variance *= uncertain / freedom
    found = replace(empty, value=float(overall + centre), weight=lam, warnings=_warnings(sample))
    complete = bool((chance == 1).all()) and sample.ratings == sample.units
    effective = effective_size(variance, sample, finite=True)
    return with_interval(found, variance, freedom, confidence_level, effective=effective, complete=complete)


def active_inference(
    sample: RatedSample, *, weight: float | None = None, confidence_level: float = 0.95
) -> Estimate:
    """The mean human score of the population that the batch comes from, from an active sample.

    inc_i = lam f_i + (Y_i - lam f_i) xi_i / pi_i, xi_i = 1 where the unit was rated; theta = mean(inc),
    interval theta -+ z sd(inc) / sqrt(N). lam minimises the variance of inc, cut to 0..1.
    Where the sample has documents, increments are summed within each and t has G - 1 degrees of freedom.
    Source: Zrnic and Candes 2024, Active Statistical Inference, equation 3 (Horvitz and Thompson 1952).
    Undefined without 2 ratings, probabilities, or values of the judge.
    """
    empty = _empty("active_inference", "Active inference (Horvitz-Thompson)", _ACTIVE, sample)
    reason = _why_none(sample)
    if reason is None and not sample.judged:
        reason = "The judge has no value for these units yet."
    if reason is not None or sample.probabilities is None:
        return replace(empty, reason=reason)
    weights = np.where(sample.rated, 1 / sample.probabilities, 0.0)
    people = np.where(sample.rated, sample.human, 0.0) * weights
    judge = sample.judge * (1 - weights)
    lam = weight if weight is not None else _slope_between_0_and_1(people, -judge)
    increments = lam * judge + people
    value = float(increments.mean())
    found = replace(empty, value=value, weight=lam, warnings=_warnings(sample))
    variance, freedom = _variance_of_mean(increments - value, sample)
    effective = effective_size(variance, sample, finite=False)
    return with_interval(found, variance, freedom, confidence_level, effective=effective)


def active_probabilities(
    expected_error: npt.ArrayLike, share: float, *, mix: float = 0.25, least: float = 0.05
) -> FloatArray:
    """(units,): with which probability to draw each unit, larger where the judge is expected to err more.

    pi_i = (1 - mix) share u_i / mean(u) + mix share, at least `least`, at most 1, scaled between the two
    limits so that on average a share `share` of the units is drawn. expected_error: (units,), the predicted
    |Y - f| or its root mean square, not below 0 (`cross_fitted_loss`, cut at 0); any mistake in it
    costs precision, never validity. On SummEval it narrowed intervals by 1 to 6%.
    Source: Zrnic and Candes 2024, section 4. ValueError unless 0 < least <= share <= 1.
    """
    error = np.asarray(expected_error, dtype=float)
    if not 0 < least <= share <= 1:
        raise ValueError("The least probability must be above 0, and the share at least that and at most 1.")
    if not 0 <= mix <= 1:
        raise ValueError(f"The uniform part must lie between 0 and 1, but is {mix}.")
    if np.isnan(error).any() or (error < 0).any():
        raise ValueError("Expected errors must be numbers of 0 or more.")
    mean = error.mean() if len(error) else 0.0
    relative = error / mean if mean > 0 else np.ones(len(error))
    return _scaled_to(share, (1 - mix) * relative + mix, least)


_HAJEK = "Hajek 1971; Saerndal, Swensson and Wretman 1992, sections 5.7 and 6.6"
_ACTIVE = "Zrnic and Candes 2024, Active Statistical Inference, arXiv 2403.03208"


def _scaled_to(share: float, relative: FloatArray, least: float) -> FloatArray:
    """clip(c x relative, least, 1) with the c at which the mean is the share, by bisection."""
    if not len(relative):
        return relative
    low, high = 0.0, 1 / max(float(relative.min()), 1e-9)
    for _ in range(100):
        middle = (low + high) / 2
        if np.clip(middle * relative, least, 1).mean() < share:
            low = middle
        else:
            high = middle
    return np.asarray(np.clip(high * relative, least, 1))


def _least_spread(
    rated: FloatArray, judge: FloatArray, weights: FloatArray, influence: FloatArray, sample: RatedSample
) -> float:
    """The lam in 0..1 with the least sum of influence x (residual - weighted mean)^2."""
    if not sample.judged:
        return 0.0
    people, scores = (values - np.average(values, weights=weights) for values in (rated, judge))
    spread = float(np.sum(influence * scores**2))
    return float(np.clip(np.sum(influence * people * scores) / spread, 0, 1)) if spread > 1e-12 else 0.0


def _slope_between_0_and_1(values: FloatArray, predictor: FloatArray) -> float:
    centred = predictor - predictor.mean()
    spread = float(np.sum(centred**2))
    return (
        float(np.clip(np.sum(centred * (values - values.mean())) / spread, 0, 1)) if spread > 1e-12 else 0.0
    )


def _variance_of_mean(centred: FloatArray, sample: RatedSample) -> tuple[float, float | None]:
    if sample.documents is None:
        return float(np.mean(centred**2)) / len(centred), None
    sums = np.bincount(sample.documents, centred) / len(centred)
    groups = len(sums)
    if groups < 2:
        return 0.0, None
    rated_groups = len(np.unique(sample.documents[sample.rated]))
    return groups / (groups - 1) * float(np.sum(sums**2)), max(rated_groups - 1, 1)


def _warnings(sample: RatedSample) -> tuple[str, ...]:
    uncertain = np.ones(sample.units) if sample.probabilities is None else sample.probabilities < 1
    found = warnings_of(sample.of_units(uncertain.astype(bool)))
    if sample.skipped:
        drawn = sample.skipped + sample.ratings
        found += (
            f"{sample.skipped} of {drawn} assigned units have no rating; "
            "they are taken to be like those of the same probability that have one.",
        )
    return found


def _why_none(sample: RatedSample) -> str | None:
    if sample.probabilities is None:
        return "The probabilities with which units were drawn are unknown."
    if sample.ratings >= 2:
        return None
    if not sample.ratings:
        return "No person has rated a unit yet."
    return "Only 1 unit is rated; this estimate needs 2."


def _empty(name: str, label: str, source: str, sample: RatedSample) -> Estimate:
    return Estimate(name, label, source, None, None, sample.ratings, sample.units)
