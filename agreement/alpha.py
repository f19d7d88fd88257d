"""Krippendorff's alpha, its change when values are revised, and a second computation as a check.

`alpha_by_distance` is for answers that are not numbers, such as sets of labels.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import replace
from importlib.metadata import version
from typing import TypeVar

import krippendorff
import numpy as np
import numpy.typing as npt

from agreement.bootstrap import OfTotals, Resampling, Statistic
from agreement.coefficient import Coefficient, count, why_not_pairable
from agreement.data import FloatArray, IntArray, MeasurementLevel, ReliabilityData, divide_where
from agreement.estimate import Estimator, estimate, estimates_of_parts, undefined_coefficient
from agreement.patterns import (
    FIXED_METRICS,
    Patterns,
    beside,
    by_rater,
    by_value,
    expected_disagreement,
    pair_disagreement,
    ranks_of_values,
)
from agreement.streams import Randomness


def krippendorff_alpha(
    data: ReliabilityData,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Krippendorff's alpha at the data's measurement level, with an interval if you pass a generator.

    alpha = 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck, with o_ck the coincidences of pairable values (a
    pair counts 1 / (values of its unit - 1)), n_c their marginals, n their total, and d_ck

        nominal   1 for c != k
        ordinal   (s_c - s_k)^2 with s_c = sum_{g<c} n_g + n_c / 2
        interval  (c - k)^2
        ratio     ((c - k) / (c + k))^2, and 0 for two zeros

    1 is full agreement, 0 is agreement by chance, below 0 is systematic disagreement. Source: Krippendorff
    2011, Computing Krippendorff's alpha-reliability, sections C to E. Undefined if no unit has two values, or
    if all pairable values are equal. The interval is `smoothed_interval` if over 80 % of them are equal.
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

    Undefined for the same reasons. For many small parts, such as documents, this is much faster than one
    call for each.
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
    if level is MeasurementLevel.ORDINAL:
        return _ordinal(patterns)
    # The differences of other levels depend on the two values only.
    metric, values = FIXED_METRICS[level], patterns.value_domain
    # Both orders of a pair count, each over m - 1: the unit's part of sum o_ck d_ck.
    per_unit = 2 * pair_disagreement(patterns, metric, values) / (patterns.ratings - 1)

    def alphas(totals: FloatArray) -> FloatArray:
        marginals, observed = totals[:, :-1], totals[:, -1]
        return _alphas(marginals, observed, expected_disagreement(marginals, marginals, metric, values))

    return OfTotals(beside(patterns.value_counts(), per_unit), alphas)


def _alphas(marginals: FloatArray, observed: FloatArray, expected: FloatArray) -> FloatArray:
    """(replicates,): alpha from marginals (replicates, categories) and both sums over ordered pairs."""
    # Counts show if values vary; the expected disagreement may be only rounding.
    varied = np.count_nonzero(marginals, axis=1) >= 2
    return 1 - divide_where(varied, (marginals.sum(axis=1) - 1) * observed, expected)


def _ordinal(patterns: Patterns) -> Statistic:
    """Alpha for the ordinal difference, whose midpoints s_c come from each replicate's own marginals.

    Within a unit, sum over ordered pairs of (s_c - s_k)^2 = 2 (m sum s^2 - (sum s)^2); overall, the same, and
    the mean of s is n / 2.
    """
    value_counts = patterns.value_counts()
    shares = 1 / (patterns.ratings - 1)
    spread_counts = value_counts * (patterns.ratings * shares)[:, None]

    def alphas(weights: FloatArray) -> FloatArray:
        marginals = np.asarray(weights @ value_counts)
        # Counted from the middle, s has the mean 0, so the overall sum needs no squared mean.
        midpoints = ranks_of_values(marginals, axis=1)
        squares = midpoints**2
        sums = np.asarray(midpoints @ value_counts.T)
        raised = np.asarray(weights @ spread_counts)
        # Within units m sum s^2 - (sum s)^2, each over m - 1.
        observed = np.sum(squares * raised, axis=1) - (weights * sums**2) @ shares
        # Both sums are doubled for the two orders of a pair.
        return _alphas(
            marginals, 2 * observed, 2 * marginals.sum(axis=1) * np.sum(squares * marginals, axis=1)
        )

    return alphas


def alpha_difference(
    before: ReliabilityData,
    after: ReliabilityData,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Krippendorff's alpha of `after` minus alpha of `before`, with an interval if you pass a generator.

    before, after: (raters, units), the same level. `after` has values of the same raters, with gaps at the
    same positions. Its last row may be one more rater, with a value for each unit. Raises ValueError
    otherwise. Both alphas use the units with two values in `before`. Each resample of units (documents) gives
    both alphas, so shared effects cancel. Undefined if no unit has two values, or either alpha is undefined.
    Between -2 and 2. Source: Krippendorff 2011, Computing Krippendorff's alpha-reliability; interval:
    percentile bootstrap of the pairs, Efron and Tibshirani 1993, chapter 13.
    """
    raters, more = len(before.raters), len(after.raters) - len(before.raters)
    if not np.array_equal(np.isnan(before.values), np.isnan(after.values[:raters])):
        raise ValueError("Revised values stand where there were values before, and nowhere else.")
    if more > 1 or np.isnan(after.values[raters:]).any():
        raise ValueError("At most one rater joins, with a value for each unit.")

    def differences(patterns: Patterns) -> Statistic:
        one, other = (
            alpha_statistic(replace(patterns, codes=codes), before.measurement_level)
            for codes in (patterns.codes[:, :raters], patterns.codes[:, raters:])
        )
        return lambda weights: other(weights) - one(weights)

    estimator = Estimator(
        name="alpha_difference",
        label="Difference of Krippendorff's alpha",
        source="Krippendorff 2011, Computing Krippendorff's alpha-reliability",
        # Two values before make two values after, and the rater who joins adds one.
        patterns=lambda data: by_rater(data, least_ratings=4 + more),
        statistic=differences,
        why_undefined="Alpha is undefined before or after: all pairable values are the same.",
        least_ratings=4 + more,
        bounds=(-2.0, 2.0),
        parameters={"measurement_level": before.measurement_level.value},
    )
    reason = why_not_pairable(count(before))
    if reason is not None:
        return undefined_coefficient(estimator, before, reason)
    # Each unit with its values before and after, so that one weight counts both.
    both = ReliabilityData(
        np.concatenate([before.values, after.values]),
        measurement_level=before.measurement_level,
        value_domain=np.union1d(before.value_domain, after.value_domain),
        documents=before.documents,
    )
    return replace(estimate(estimator, both, generator, resampling), counts=count(before))


TOLERANCE = 1e-9
PACKAGE = f"krippendorff {version('krippendorff')}"
_MOST_NUMBERS = 2**25  # the package holds units x values x values numbers at a time: 256 MB

logger = logging.getLogger(__name__)


def checked_alpha(
    data: ReliabilityData,
    *,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """`krippendorff_alpha`, with its point estimate computed again by the package krippendorff.

    The parameters say by which version. Where the two differ by more than 1e-9 the coefficient has a
    `warning` and the log an error; ours stays the value. Undefined as `krippendorff_alpha`, and then not
    checked; nor is it where the package would need more than 256 MB.
    """
    alpha = krippendorff_alpha(data, generator=generator, resampling=resampling)
    return _check(alpha, data, slice(None))


def checked_alphas_of_parts(
    data: ReliabilityData,
    parts: Sequence[IntArray],
    *,
    generators: Sequence[Randomness],
    resampling: Resampling,
) -> list[Coefficient]:
    """Return `checked_alpha` of each part of the data, computed together.

    parts: for each part, (units,), the indices of its units. generators: one for each part.
    """
    alphas = alphas_of_parts(data, parts, generators=generators, resampling=resampling)
    return [_check(alpha, data, units) for alpha, units in zip(alphas, parts, strict=True)]


def _check(alpha: Coefficient, data: ReliabilityData, units: IntArray | slice) -> Coefficient:
    if alpha.value is None:
        return alpha
    values = len(data.value_domain)
    if alpha.counts.pairable_units * values**2 > _MOST_NUMBERS:
        return _add_parameter(alpha, f"no, {values} distinct values are too many for {PACKAGE}")
    other = krippendorff.alpha(
        value_counts=data.once("value counts", lambda: _value_counts(data))[units],
        value_domain=data.value_domain,
        level_of_measurement=data.measurement_level.value,
    )
    return with_comparison(alpha, float(other))


def with_comparison(alpha: Coefficient, other: float) -> Coefficient:
    """Return the coefficient with the package's result, and with a warning if the two differ by over 1e-9.

    alpha: must be defined, otherwise there is nothing to compare.
    """
    assert alpha.value is not None
    if abs(alpha.value - other) <= TOLERANCE:
        return _add_parameter(alpha, f"by {PACKAGE}")
    warning = f"{PACKAGE} finds {other!r} where Concord finds {alpha.value!r}; do not report either."
    logger.error("Alpha is computed differently: %s %s", warning, dict(alpha.parameters))
    return replace(_add_parameter(alpha, f"differs from {PACKAGE}"), warning=warning)


def _add_parameter(alpha: Coefficient, said: str) -> Coefficient:
    return replace(alpha, parameters={**alpha.parameters, "cross_checked": said})


def _value_counts(data: ReliabilityData) -> IntArray:
    """(units, values): the number of raters with each value for each unit."""
    units, width = data.codes.shape[1], len(data.value_domain) + 1  # the last column counts gaps
    positions = np.arange(units) * width + data.codes.astype(np.intp)
    return np.bincount(positions.ravel(), minlength=units * width).reshape(units, width)[:, :-1]


Answer = TypeVar("Answer")
Distance = Callable[[Answer, Answer], float]
"""From two answers to their distance: symmetric, not negative, 0 for the same answer."""

_ALL_ALIKE = (
    "All answers that can be compared have the distance 0: without variation, agreement cannot be told from "
    "chance. Read the share of equal answers, or have units answered that differ more."
)


def alpha_by_distance(
    codes: npt.ArrayLike,
    answers: Sequence[Answer],
    distance: Distance[Answer] | npt.ArrayLike,
    *,
    name: str = "",
    documents: npt.ArrayLike | None = None,
    generator: Randomness | None = None,
    resampling: Resampling | None = None,
) -> Coefficient:
    """Krippendorff's alpha with any distance between answers; the distance is not squared.

    codes: (raters, units), the position of each rater's answer in `answers`, NaN for a gap. answers: the
    distinct answers, also unused ones. distance: a function of two answers, or a table (answers, answers).
    name: of the distance, for the parameters; by default the function's name. documents: (units,), any
    labels.

    alpha = 1 - (n - 1) sum o_ck d_ck / sum n_c n_k d_ck, as in `krippendorff_alpha`. With d = 1 for different
    answers it is nominal alpha. The interval is computed as in `krippendorff_alpha`; it resamples documents
    if you pass them. Source: Krippendorff 2011; with distances of sets Passonneau 2006. Undefined without a
    unit that has two answers, and if all answers have the distance 0. ValueError for a table of another
    shape, with negative numbers, or that is not symmetric with zeros on its diagonal.
    """
    table = distance_table(answers, distance)
    data = ReliabilityData(
        codes,
        measurement_level="nominal",
        value_domain=np.arange(max(len(answers), 1)),
        documents=documents,
    )
    called = name or getattr(distance, "__name__", "") or "table"
    estimator = Estimator(
        name="alpha_by_distance",
        label="Krippendorff's alpha",
        source="Krippendorff 2011, Computing Krippendorff's alpha-reliability",
        patterns=by_value,
        statistic=lambda patterns: _statistic_of_distances(patterns, table),
        why_undefined=_ALL_ALIKE,
        parameters={"distance": called},
        smoothed=True,
    )
    by_default = Resampling() if documents is None else Resampling(by="documents")
    return estimate(estimator, data, generator, resampling or by_default)


def distance_table(answers: Sequence[Answer], distance: Distance[Answer] | npt.ArrayLike) -> FloatArray:
    """(answers, answers): the distance of each pair; ValueError as for `alpha_by_distance`."""
    size = len(answers)
    if callable(distance):
        table = np.zeros((size, size))
        for row, answer in enumerate(answers):
            # Distances are symmetric, so one half is computed and mirrored.
            table[row, row:] = [distance(answer, other) for other in answers[row:]]
        table = np.maximum(table, table.T)
    else:
        table = np.array(distance, dtype=float)
    if table.shape != (size, size):
        raise ValueError(f"There are {size} answers, but the distances have the shape {table.shape}.")
    if not np.isfinite(table).all() or (table < 0).any():
        raise ValueError("Distances must be finite and not negative.")
    if table.diagonal().any():
        raise ValueError("An answer must have the distance 0 to itself.")
    if not np.allclose(table, table.T):
        raise ValueError("Distances must be the same in both directions.")
    return table


def _statistic_of_distances(patterns: Patterns, table: FloatArray) -> OfTotals:
    """Alpha for many weightings; a value of the patterns is a position in the table."""
    used = patterns.value_domain.astype(np.intp)
    distances = table[np.ix_(used, used)]
    counts = patterns.value_counts()
    # Over ordered pairs of a unit's answers, each over m - 1.
    observed = np.asarray((counts * np.asarray(counts @ distances)).sum(axis=1)) / (patterns.ratings - 1)

    def alphas(totals: FloatArray) -> FloatArray:
        marginals, disagreement = totals[:, :-1], totals[:, -1]
        expected = np.sum((marginals @ distances) * marginals, axis=1)
        # Different answers may have the distance 0, so counts do not tell whether answers vary.
        varied = expected > 1e-12
        return 1 - divide_where(varied, (marginals.sum(axis=1) - 1) * disagreement, expected)

    return OfTotals(beside(counts, observed), alphas)
