"""Cohen's kappa, weighted or not, of two raters; its mean over pairs for more."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import combinations

import numpy as np

from annotate.agreement.bootstrap import Resampling, Statistic
from annotate.agreement.coefficient import Coefficient
from annotate.agreement.data import FloatArray, ReliabilityData
from annotate.agreement.estimate import Estimator, estimate
from annotate.agreement.metric import Metric, Weights, expected_disagreement, weighting
from annotate.agreement.patterns import Patterns, by_rater
from annotate.agreement.streams import Randomness

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
    the products of the two raters' own shares, w_ij 1, |i - j| or (i - j)^2 for i != j. `metric.weighting`
    says which weights are usual for a measurement level.
    Source: Cohen 1960 (identity), Cohen 1968 (weights), Light 1971 (mean over pairs).
    Undefined where no two raters share a unit, or every pair of raters gave one and the same value
    throughout; such pairs are left out of the mean and counted in `parameters`.
    """
    name, metric, scores = weighting(data, weights)
    estimator = Estimator(
        name="weighted_kappa",
        label="Cohen's kappa" if name == "identity" else f"Cohen's kappa, {name} weights",
        source="Cohen 1968, Weighted kappa; mean over pairs of raters: Light 1971",
        patterns=partial(by_rater, least_ratings=2),
        statistic=partial(_statistic, metric=metric, scores=scores),
        why_undefined=_WHY_UNDEFINED,
        parameters={"weights": name},
        smoothed=True,
    )
    result = estimate(estimator, data, generator, resampling)
    if not result.counts.pairable_units:
        return result
    patterns = estimator.patterns(data)
    of_pairs = _pair_kappas(patterns, metric, scores)(patterns.unit_counts[None].astype(float))[0]
    undefined_pairs = int(np.isnan(of_pairs).sum())
    return replace(
        result, parameters={"weights": name, "pairs": len(of_pairs), "undefined_pairs": undefined_pairs}
    )


def _statistic(patterns: Patterns, metric: Metric, scores: FloatArray) -> Statistic:
    """The mean over pairs of raters whose kappa is defined."""
    of_pairs = _pair_kappas(patterns, metric, scores)

    def means(weights: FloatArray) -> FloatArray:
        kappas = of_pairs(weights)
        defined = ~np.isnan(kappas)
        result = np.full(len(weights), np.nan)
        np.divide(
            kappas.sum(axis=1, where=defined), defined.sum(axis=1), out=result, where=defined.any(axis=1)
        )
        return result

    return means


def _pair_kappas(
    patterns: Patterns, metric: Metric, scores: FloatArray
) -> Callable[[FloatArray], FloatArray]:
    """From weights to kappas (replicates, pairs of raters), NaN where a pair has no variation."""
    pairs = list(combinations(range(patterns.codes.shape[1]), 2))

    def kappas(weights: FloatArray) -> FloatArray:
        columns = [_pair_kappa(patterns, pair, metric, scores, weights) for pair in pairs]
        return np.stack(columns, axis=1)

    return kappas


def _pair_kappa(
    patterns: Patterns, pair: tuple[int, int], metric: Metric, scores: FloatArray, weights: FloatArray
) -> FloatArray:
    gap = len(patterns.value_domain)
    shared = (patterns.codes[:, pair] < gap).all(axis=1)
    first, second = patterns.codes[shared][:, pair].T
    weights = weights[:, shared]
    left, right = (np.asarray(weights @ patterns.values_of(rater)[np.flatnonzero(shared)]) for rater in pair)
    observed = weights @ metric(scores[first], scores[second]) * weights.sum(axis=1)
    expected = expected_disagreement(left, right, metric, scores)
    share = np.full(len(weights), np.nan)
    np.divide(observed, expected, out=share, where=np.count_nonzero(left + right, axis=1) > 1)
    return 1 - share
