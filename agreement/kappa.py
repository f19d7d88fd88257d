"""Percent agreement, and what corrects it for chance: Cohen's and Fleiss' kappa, Gwet's AC1 and AC2."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np
import scipy

from agreement.bootstrap import OfTotals, Resampling, Statistic, mean_over_units
from agreement.coefficient import Coefficient
from agreement.data import FloatArray, MeasurementLevel, ReliabilityData, divide_where
from agreement.estimate import Estimator, estimate, undefined_coefficient
from agreement.patterns import (
    Metric,
    Patterns,
    Weights,
    beside,
    by_rater,
    by_value,
    expected_disagreement,
    pair_disagreement,
    weighting,
)
from agreement.streams import Randomness

_DECIMALS = 9


def percent_agreement(
    data: ReliabilityData,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """The share, 0 to 1, of pairs of values of a unit that are equal, averaged over units with two or more.

    mean_u sum_k n_uk (n_uk - 1) / (m_u (m_u - 1)), with n_uk of the m_u values of unit u equal to k. Source:
    Fleiss 1971, equation 2; with gaps Gwet 2014, chapter 2. Undefined if no unit has two values.
    """
    estimator = _agreement_within("percent_agreement", "Percent agreement", 0.0)
    return estimate(estimator, data, generator, resampling)


def within_one_agreement(
    data: ReliabilityData,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """The share, 0 to 1, of pairs of values of a unit that differ by up to 1; averaged over units.

    Undefined if no unit has two values, and for nominal data, whose values have no distance.
    """
    estimator = _agreement_within("within_one_agreement", "Agreement within one point", 1.0)
    if data.measurement_level is MeasurementLevel.NOMINAL:
        reason = "Nominal values have no distance, so none are within one point; read percent agreement."
        return undefined_coefficient(estimator, data, reason)
    return estimate(estimator, data, generator, resampling)


def _agreement_within(name: str, label: str, tolerance: float) -> Estimator:
    def apart(first: FloatArray, second: FloatArray) -> FloatArray:
        # 2.2 and 1.2 differ by one point, but by slightly more as floats.
        return (np.round(np.abs(first - second), _DECIMALS) > tolerance).astype(float)

    def share_within(patterns: Patterns) -> OfTotals:
        pairs = patterns.ratings * (patterns.ratings - 1) / 2
        return mean_over_units(1 - pair_disagreement(patterns, apart, patterns.value_domain) / pairs)

    return Estimator(
        name=name,
        label=label,
        source="Fleiss 1971, Measuring nominal scale agreement among many raters, equation 2",
        patterns=by_value,
        statistic=share_within,
        bounds=(0.0, 1.0),
        parameters={"tolerance": tolerance},
    )


_WHY_UNDEFINED = (
    "No two raters gave values that vary over units they share: agreement cannot be told from chance. "
    "Read percent agreement beside it, or rate units that differ more."
)


def weighted_kappa(
    data: ReliabilityData,
    *,
    weights: Weights | None = None,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Cohen's weighted kappa of two raters, and the mean over pairs of raters of more than two.

    1 - sum w_ij O_ij / sum w_ij E_ij over the units that both rated: O the observed shares of value pairs, E
    the products of the two raters' own shares, w_ij 1, |i - j| or (i - j)^2 for i != j. `weighting` gives
    the usual weights of a measurement level. Source: Cohen 1960 (identity), Cohen 1968 (weights), Light 1971
    (mean over pairs). Undefined if no two raters share a unit, or if every pair of raters gave a single
    value to all units; such pairs are excluded from the mean and counted in `parameters`.
    """
    name, metric, scores = weighting(data, weights)

    def mean_over_pairs(patterns: Patterns) -> Statistic:
        of_pairs = _pair_kappas(patterns, metric, scores)

        def means(weights: FloatArray) -> FloatArray:
            kappas = of_pairs(weights)
            defined = ~np.isnan(kappas)
            return divide_where(defined.any(axis=1), kappas.sum(axis=1, where=defined), defined.sum(axis=1))

        return means

    estimator = Estimator(
        name="weighted_kappa",
        label="Cohen's kappa" if name == "identity" else f"Cohen's kappa, {name} weights",
        source="Cohen 1968, Weighted kappa; mean over pairs of raters: Light 1971",
        patterns=partial(by_rater, least_ratings=2),
        statistic=mean_over_pairs,
        why_undefined=_WHY_UNDEFINED,
        parameters={"weights": name},
        smoothed=True,
    )
    result = estimate(estimator, data, generator, resampling)
    if not result.counts.pairable_units:
        return result
    # Computed again for the sample alone: the numbers of pairs are parameters, which resamples lack.
    patterns = estimator.patterns(data)
    found = _pair_kappas(patterns, metric, scores)(patterns.unit_counts[None].astype(float))[0]
    numbers = {"pairs": len(found), "undefined_pairs": int(np.isnan(found).sum())}
    return replace(result, parameters={"weights": name, **numbers})


def _pair_kappas(
    patterns: Patterns, metric: Metric, scores: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """Return a function from weights to kappas (replicates, pairs of raters), NaN if a pair has no
    variation.
    """
    gap, pairs = len(patterns.value_domain), list(combinations(range(patterns.codes.shape[1]), 2))

    def kappas(weights: FloatArray) -> FloatArray:
        found = np.empty((len(weights), len(pairs)))
        for index, pair in enumerate(pairs):
            # Each pair of raters is compared on the units that both rated.
            shared = np.flatnonzero((patterns.codes[:, pair] < gap).all(axis=1))
            own, (first, second) = weights[:, shared], patterns.codes[shared][:, pair].T
            left, right = (np.asarray(own @ patterns.values_of(rater)[shared]) for rater in pair)
            # O and E are both multiplied by the squared number of units, which cancels in the ratio.
            observed = own @ metric(scores[first], scores[second]) * own.sum(axis=1)
            expected = expected_disagreement(left, right, metric, scores)
            # If both gave one and the same value throughout, the expected disagreement is 0.
            varied = np.count_nonzero(left + right, axis=1) > 1
            found[:, index] = 1 - divide_where(varied, observed, expected)
        return found

    return kappas


# Gwet's chance agreement counts unused values of the scale, and shares include units with one rating.
_PATTERNS = partial(by_value, least_ratings=1, keep_unused=True)


def fleiss_kappa(
    data: ReliabilityData,
    *,
    weights: Weights = "identity",
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Fleiss' kappa, for any number of raters and with gaps.

    (pa - pe) / (1 - pe), with pa the percent agreement with weights w_kl = 1 - d_kl / largest d, pe = sum
    w_kl p_k p_l, and p_k is the mean over rated units of the share of k in the unit. Source: Fleiss 1971,
    equations 2 to 7; weights and gaps: Gwet 2014, chapters 2 and 3. Undefined if no unit has two values, or
    all values are the same.
    """
    name, metric, scores = weighting(data, weights)
    estimator = Estimator(
        name="fleiss_kappa",
        label="Fleiss' kappa" if name == "identity" else f"Fleiss' kappa, {name} weights",
        source="Fleiss 1971, Measuring nominal scale agreement among many raters",
        patterns=_PATTERNS,
        statistic=partial(_fleiss, metric=metric, scores=scores),
        least_ratings=1,
        parameters={"weights": name},
        smoothed=True,
    )
    return estimate(estimator, data, generator, resampling)


def gwet_ac(
    data: ReliabilityData,
    *,
    weights: Weights | None = None,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Gwet's AC1 (identity weights) or AC2, for any number of raters and with gaps.

    (pa - pe) / (1 - pe), with pa the percent agreement with weights w_kl = 1 - d_kl / largest d, pe = sum
    w_kl / (q (q - 1)) * sum p_k (1 - p_k) over all q values of the domain, used or not, and p_k is the mean
    over rated units of the share of k in the unit. Source: Gwet 2008; weights and gaps: Gwet 2014, chapters 2
    and 3. Undefined if no unit has two values, or the domain has one value; without variation it is defined.
    """
    name, metric, scores = weighting(data, weights)
    estimator = Estimator(
        name="gwet_ac",
        label="Gwet's AC1" if name == "identity" else f"Gwet's AC2, {name} weights",
        source="Gwet 2008, Computing inter-rater reliability and its variance; 2014, Handbook",
        patterns=_PATTERNS,
        statistic=partial(_gwet, metric=metric, scores=scores),
        least_ratings=1,
        parameters={"weights": name},
    )
    if len(scores) < 2:
        return undefined_coefficient(
            estimator, data, "The scale has a single value, so no disagreement is possible."
        )
    return estimate(estimator, data, generator, resampling)


def _fleiss(patterns: Patterns, metric: Metric, scores: FloatArray) -> OfTotals:
    def kappas(totals: FloatArray) -> FloatArray:
        shares, observed = _shares(totals), _observed_disagreement(totals)
        expected = expected_disagreement(shares, shares, metric, scores)
        varied = (np.count_nonzero(shares, axis=1) > 1) & ~np.isnan(observed)
        # The largest d cancels in the ratio of disagreements.
        return 1 - divide_where(varied, observed, expected)

    return OfTotals(_summands(patterns, metric, scores), kappas)


def _gwet(patterns: Patterns, metric: Metric, scores: FloatArray) -> OfTotals:
    q = len(scores)
    uniform = np.ones((1, q))
    largest = metric(scores[:1], scores[-1:])[0]
    # The sum of all agreement weights w_kl = 1 - d_kl / largest d.
    total_weight = q**2 - expected_disagreement(uniform, uniform, metric, scores)[0] / largest

    def coefficients(totals: FloatArray) -> FloatArray:
        shares = _shares(totals)
        by_chance = total_weight / (q * (q - 1)) * np.sum(shares * (1 - shares), axis=1)
        # (pa - pe) / (1 - pe) = 1 - (1 - pa) / (1 - pe), with 1 - pa the observed disagreement.
        return np.asarray(1 - _observed_disagreement(totals) / largest / (1 - by_chance))

    return OfTotals(_summands(patterns, metric, scores), coefficients)


def _summands(
    patterns: Patterns, metric: Metric, scores: FloatArray
) -> "FloatArray | scipy.sparse.csr_array":
    """(patterns, categories + 3): the share of each category, 1, the mean disagreement of two values, and 1.

    The last two are 0 for a unit with a single value.
    """
    in_unit = patterns.value_counts() * (1 / patterns.ratings[:, None])
    pairs = patterns.ratings * (patterns.ratings - 1) / 2
    disagreement = pair_disagreement(patterns, metric, scores)
    mean = np.divide(disagreement, pairs, out=np.zeros_like(pairs), where=pairs > 0)
    return beside(in_unit, np.ones_like(pairs), mean, (pairs > 0).astype(float))


def _shares(totals: FloatArray) -> FloatArray:
    """(replicates, categories): mean over rated units of the share of each category in the unit."""
    return np.asarray(totals[:, :-3] / totals[:, [-3]])


def _observed_disagreement(totals: FloatArray) -> FloatArray:
    """(replicates,): mean disagreement of two values of a unit, over units with two or more; else NaN."""
    return divide_where(totals[:, -1] > 0, totals[:, -2], totals[:, -1])
