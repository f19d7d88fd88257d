"""Krippendorff's alpha of answers that are not numbers, such as sets of labels, by their distances."""

from collections.abc import Callable, Sequence
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from agreement.bootstrap import OfTotals, Resampling
from agreement.coefficient import Coefficient
from agreement.data import FloatArray, ReliabilityData, divide_where
from agreement.estimate import Estimator, estimate
from agreement.patterns import Patterns, beside, by_value
from agreement.streams import Randomness

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
        statistic=lambda patterns: _alpha_statistic(patterns, table),
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


def _alpha_statistic(patterns: Patterns, table: FloatArray) -> OfTotals:
    """Alpha for many weightings; a value of the patterns is a position in the table."""
    used = patterns.value_domain.astype(np.intp)
    distances = table[np.ix_(used, used)]
    counts = patterns.value_counts()
    # Over ordered pairs of a unit's answers, each over m - 1.
    observed = np.asarray((counts * np.asarray(counts @ distances)).sum(axis=1)) / (patterns.ratings - 1)

    def alphas(totals: FloatArray) -> FloatArray:
        marginals, disagreement = totals[:, :-1], totals[:, -1]
        expected = np.sum((marginals @ distances) * marginals, axis=1)
        varied = expected > 1e-12
        return 1 - divide_where(varied, (marginals.sum(axis=1) - 1) * disagreement, expected)

    return OfTotals(beside(counts, observed), alphas)
