"""Krippendorff's alpha at every measurement level, with a bootstrap interval."""

from collections.abc import Sequence

import numpy as np

from annotate.agreement.bootstrap import OfTotals, Resampling, Statistic
from annotate.agreement.coefficient import Coefficient
from annotate.agreement.data import FloatArray, IntArray, MeasurementLevel, ReliabilityData
from annotate.agreement.estimate import Estimator, estimate, estimates_of_parts
from annotate.agreement.metric import FIXED_METRICS, expected_disagreement, pair_disagreement
from annotate.agreement.patterns import Patterns, beside, by_value
from annotate.agreement.streams import Randomness


def krippendorff_alpha(
    data: ReliabilityData,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Krippendorff's alpha at the data's measurement level; with an interval where a generator is given.

    alpha = 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck, with o_ck the coincidences of pairable values (a
    pair counts 1 / (values of its unit - 1)), n_c their marginals, n their total, and d_ck

        nominal   1 for c != k
        ordinal   (s_c - s_k)^2 with s_c = sum_{g<c} n_g + n_c / 2
        interval  (c - k)^2
        ratio     ((c - k) / (c + k))^2, and 0 for two zeros

    1 is full agreement, 0 what chance gives, below 0 systematic disagreement.
    Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability, sections C to E.
    Undefined where no unit has two values, or all pairable values are the same. Where more than 80 % of them
    are, the interval is that of `rare_values.smoothed_interval`.
    """
    return estimate(_estimator(data.measurement_level), data, generator, resampling)


def alphas_of_parts(
    data: ReliabilityData,
    parts: Sequence[IntArray],
    *,
    generators: Sequence[Randomness],
    resampling: Resampling,
) -> list[Coefficient]:
    """`krippendorff_alpha` of each part of the data; each of `parts` is (units,), the indices of its units.

    Undefined as it is. Much faster than one by one where there are many small parts, as alpha of every
    document is.
    """
    return estimates_of_parts(_estimator(data.measurement_level), data, parts, generators, resampling)


def _estimator(level: MeasurementLevel) -> Estimator:
    return Estimator(
        name="krippendorff_alpha",
        label="Krippendorff's alpha",
        source="Krippendorff 2011, Computing Krippendorff's alpha-reliability",
        patterns=by_value,
        statistic=lambda patterns: alpha_statistic(patterns, level),
        parameters={"measurement_level": level.value},
        smoothed=True,
    )


def alpha_statistic(patterns: Patterns, level: MeasurementLevel) -> Statistic:
    """Alpha for many weightings of the patterns at once."""
    return _ordinal(patterns) if level is MeasurementLevel.ORDINAL else _with_fixed_metric(patterns, level)


def _alphas(marginals: FloatArray, observed: FloatArray, expected: FloatArray) -> FloatArray:
    """(replicates,): alpha from marginals (replicates, categories) and both sums over ordered pairs."""
    varied = np.count_nonzero(marginals, axis=1) >= 2
    share = np.full(len(marginals), np.nan)
    np.divide((marginals.sum(axis=1) - 1) * observed, expected, out=share, where=varied)
    return 1 - share


def _with_fixed_metric(patterns: Patterns, level: MeasurementLevel) -> OfTotals:
    """Alpha for differences that depend on the two values only."""
    metric, values = FIXED_METRICS[level], patterns.value_domain
    per_unit = 2 * pair_disagreement(patterns, metric, values) / (patterns.ratings - 1)

    def alphas(totals: FloatArray) -> FloatArray:
        marginals, observed = totals[:, :-1], totals[:, -1]
        return _alphas(marginals, observed, expected_disagreement(marginals, marginals, metric, values))

    return OfTotals(beside(patterns.value_counts(), per_unit), alphas)


def _ordinal(patterns: Patterns) -> Statistic:
    """Alpha for the ordinal difference, whose midpoints s_c come from each replicate's own marginals.

    Within a unit, sum over ordered pairs of (s_c - s_k)^2 = 2 (m sum s^2 - (sum s)^2); overall, likewise, and
    the mean of s is n / 2.
    """
    value_counts = patterns.value_counts()
    shares = 1 / (patterns.ratings - 1)
    spread_counts = value_counts * (patterns.ratings * shares)[:, None]

    def alphas(weights: FloatArray) -> FloatArray:
        marginals = np.asarray(weights @ value_counts)
        total = marginals.sum(axis=1, keepdims=True)
        midpoints = np.cumsum(marginals, axis=1) - (marginals + total) / 2
        squares = midpoints**2
        sums = np.asarray(midpoints @ value_counts.T)
        raised = np.asarray(weights @ spread_counts)
        observed = np.sum(squares * raised, axis=1) - (weights * sums**2) @ shares
        return _alphas(marginals, 2 * observed, 2 * total[:, 0] * np.sum(squares * marginals, axis=1))

    return alphas
