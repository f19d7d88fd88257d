"""Anchoring between dimensions, or halo: one impression in the values of several dimensions."""

from collections.abc import Callable, Sequence

import numpy as np

from agreement.biases.measures import (
    CONTROLS,
    DEALT,
    Bias,
    BiasMeasure,
    control_of,
    errors_of,
    sums_by_document,
)
from agreement.bootstrap import Statistic
from agreement.comparison import Scores
from agreement.data import FloatArray, IntArray, divide_where
from agreement.streams import Randomness, generator_of

_SOURCE = "Stureborg, Alikaniotis and Suhara 2024, sec. 3.3; Thorndike 1920 (halo)"
MOST_RANGES = 10
Range = tuple[float, float]
"""Part of a scale, by its lowest and highest point."""
_WHY = "Values of the judge and of people on two dimensions of the same items are needed, and they must vary."


def correlated_errors(dimensions: Sequence[Scores], *, generator: Randomness) -> Bias:
    """The mean over pairs of dimensions of Pearson's r between the errors f - h of one and of the other.

    dimensions: the same items on each dimension; those with all values count. 0 where a judge errs on each
    dimension by itself; above 0 one impression colours several. Errors of people that go together are in
    it, too. The interval resamples documents. The control deals the errors of each dimension by itself.
    Undefined where no two dimensions have errors that vary.
    """
    measure = BiasMeasure(
        "correlated_errors", "Correlation of errors between dimensions", _SOURCE, 0.0, (-1, 1)
    )
    return _between(measure, _of_errors, dimensions, generator)


def correlation_beyond_people(dimensions: Sequence[Scores], *, generator: Randomness) -> Bias:
    """The mean over pairs of dimensions of |r| between the judge's values, minus that between people's means.

    Above 0 its dimensions go together more than people's. Errors alone make it fall below 0, as the control
    shows, whose errors are dealt in each dimension by itself. Undefined where values do not vary.
    """
    label = "Correlation between dimensions, judge minus people"
    measure = BiasMeasure("correlation_beyond_people", label, _SOURCE, 0.0, (-1, 1))
    return _between(measure, _beyond, dimensions, generator)


_Values = tuple[FloatArray, FloatArray, IntArray, int]
"""Judge and people (items, dimensions), documents (items,), and how many documents there are."""


def _between(
    measure: BiasMeasure,
    statistic_of: Callable[[_Values], Statistic],
    dimensions: Sequence[Scores],
    generator: Randomness,
) -> Bias:
    judge, human, documents, size = values = _whole_items(dimensions)
    pairable = len(dimensions) > 1 and len(judge) > 1
    statistic = statistic_of(values) if pairable else _all_undefined
    measured = measure.of_documents(statistic, size, len(judge), _WHY, generator)
    if not measured.defined:
        return Bias(measured, measure.without)
    dice, whole = generator_of(generator, measure.name, "control"), np.ones((1, size))
    errors = judge - human
    controls = (
        float(statistic_of((human + dice.permuted(errors, axis=0), human, documents, size))(whole)[0])
        for _ in range(CONTROLS)
    )
    return Bias(measured, measure.without, control_of(controls, f"{DEALT}, in each dimension"))


def _whole_items(dimensions: Sequence[Scores]) -> _Values:
    if not dimensions:
        return np.empty((0, 0)), np.empty((0, 0)), np.empty(0, dtype=np.intp), 0
    judge = np.column_stack([each.judge for each in dimensions])
    errors = np.column_stack([errors_of(each) for each in dimensions])
    whole = ~np.isnan(errors).any(axis=1)
    documents = np.unique(dimensions[0].documents[whole], return_inverse=True)[1]
    return judge[whole], (judge - errors)[whole], documents, int(documents.max(initial=-1)) + 1


def _of_errors(values: _Values) -> Statistic:
    judge, human, documents, size = values
    return mean_correlation(judge - human, documents, size, absolute=False)


def _beyond(values: _Values) -> Statistic:
    judge, human, documents, size = values
    of_judge, of_people = (mean_correlation(each, documents, size, absolute=True) for each in (judge, human))
    return lambda weights: of_judge(weights) - of_people(weights)


def mean_correlation(values: FloatArray, documents: IntArray, size: int, *, absolute: bool) -> Statistic:
    """From weights to the mean of Pearson's r over pairs of columns of values (items, columns) with one."""
    if not len(values):
        return _all_undefined
    centred = values - values.mean(axis=0)  # the same r, with fewer digits lost
    first, second = np.triu_indices(values.shape[1], k=1)
    parts = (np.ones((len(values), 1)), centred, centred**2, centred[:, first] * centred[:, second])
    tables = [sums_by_document(part, documents, size) for part in parts]

    def means(weights: FloatArray) -> FloatArray:
        number, sums, squares, products = (weights @ table for table in tables)
        number = np.maximum(number, 1)  # nothing drawn: no variance, so no r
        variance = squares / number - (sums / number) ** 2
        covariance = products / number - sums[:, first] * sums[:, second] / number**2
        scale = np.sqrt(np.maximum(variance[:, first] * variance[:, second], 0))
        found = divide_where(scale > 1e-9, covariance, scale)
        known = ~np.isnan(found)
        total = np.nansum(np.abs(found) if absolute else found, axis=1)
        return divide_where(known.any(axis=1), total, known.sum(axis=1))

    return means


def scores_given_before(
    before: FloatArray, after: FloatArray, ranges_before: Sequence[Range], ranges: Sequence[Range]
) -> IntArray:
    """(ranges before, ranges): how often a score on one dimension followed which score on the one before it.

    before, after: of one shape, such as (items, samples) of a judge or (raters, items) of people, NaN for a
    gap; pairs without gap count. A value between two ranges, as on a judge's own scale, counts in the nearer,
    halves in the upper.
    Source: Stureborg, Alikaniotis and Suhara 2024, fig. 4.
    """
    both = ~np.isnan(before) & ~np.isnan(after)
    counts = np.zeros((len(ranges_before), len(ranges)), dtype=np.intp)
    np.add.at(counts, (_range_of(before[both], ranges_before), _range_of(after[both], ranges)), 1)
    return counts


def ranges_of(points: Sequence[float]) -> list[Range]:
    """Each point (points,) of a scale as a range of its own; of a scale of over ten points, ten ranges."""
    parts = np.array_split(np.asarray(points, dtype=float), min(len(points), MOST_RANGES))
    return [(float(part[0]), float(part[-1])) for part in parts]


def _range_of(values: FloatArray, ranges: Sequence[Range]) -> IntArray:
    highest, lowest = (np.array([each[end] for each in ranges]) for end in (1, 0))
    return np.searchsorted((highest[:-1] + lowest[1:]) / 2, values, side="right")


def _all_undefined(weights: FloatArray) -> FloatArray:
    return np.full(len(weights), np.nan)
