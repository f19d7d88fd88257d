"""Fleiss' kappa and Gwet's AC1 and AC2: one observed agreement, two ideas of chance."""

from functools import partial

import numpy as np
import scipy

from annotate.agreement.bootstrap import OfTotals, Resampling
from annotate.agreement.coefficient import Coefficient
from annotate.agreement.data import FloatArray, ReliabilityData
from annotate.agreement.estimate import Estimator, estimate, undefined_coefficient
from annotate.agreement.metric import Metric, Weights, expected_disagreement, pair_disagreement, weighting
from annotate.agreement.patterns import Patterns, beside, by_value
from annotate.agreement.streams import Randomness

_PATTERNS = partial(by_value, least_ratings=1, keep_unused=True)


def fleiss_kappa(
    data: ReliabilityData,
    *,
    weights: Weights = "identity",
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Fleiss' kappa, for any number of raters and with gaps.

    (pa - pe) / (1 - pe), where pa is percent agreement with weights w_kl = 1 - d_kl / largest d,
    pe = sum w_kl p_k p_l, and p_k is the mean over rated units of the share of k in the unit.
    Source: Fleiss 1971, equations 2 to 7; weights and gaps: Gwet 2014, chapters 2 and 3.
    Undefined where no unit has two values, or all values are the same.
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

    (pa - pe) / (1 - pe), where pa is percent agreement with weights w_kl = 1 - d_kl / largest d,
    pe = sum w_kl / (q (q - 1)) * sum p_k (1 - p_k) over all q values of the domain, used or not, and p_k is
    the mean over rated units of the share of k in the unit.
    Source: Gwet 2008; weights and gaps: Gwet 2014, chapters 2 and 3.
    Undefined where no unit has two values, or the domain has one value; without variation it is defined.
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
        result = np.full(len(totals), np.nan)
        np.divide(observed, expected, out=result, where=varied)
        return 1 - result

    return OfTotals(_summands(patterns, metric, scores), kappas)


def _gwet(patterns: Patterns, metric: Metric, scores: FloatArray) -> OfTotals:
    q = len(scores)
    uniform = np.ones((1, q))
    largest = metric(scores[:1], scores[-1:])[0]
    total_weight = q**2 - expected_disagreement(uniform, uniform, metric, scores)[0] / largest

    def coefficients(totals: FloatArray) -> FloatArray:
        shares = _shares(totals)
        by_chance = total_weight / (q * (q - 1)) * np.sum(shares * (1 - shares), axis=1)
        return np.asarray(1 - _observed_disagreement(totals) / largest / (1 - by_chance))

    return OfTotals(_summands(patterns, metric, scores), coefficients)


def _summands(
    patterns: Patterns, metric: Metric, scores: FloatArray
) -> "FloatArray | scipy.sparse.csr_array":
    """(patterns, categories + 3): the share of each category, 1, the mean disagreement of two values, and 1.

    The last two are 0 where the unit has one value only.
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
    result = np.full(len(totals), np.nan)
    np.divide(totals[:, -2], totals[:, -1], out=result, where=totals[:, -1] > 0)
    return result
