"""Place in a call: whether a dimension is judged otherwise where others stand before it in the prompt."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotate.agreement.bootstrap import Statistic
from annotate.agreement.data import FloatArray
from annotate.agreement.streams import Randomness, generator_of
from judges.biases.anchoring import mean_correlation
from judges.biases.measures import (
    CONTROLS,
    NEITHER,
    Bias,
    BiasMeasure,
    control_of,
    errors_of,
    ratio,
    sums_by_document,
)
from judges.comparison import Scores

_SOURCE = "Stureborg, Alikaniotis and Suhara 2024, sec. 3.3, table 3"
_DEALT = "the same values, with the places dealt to the items at random"
_WHY = "The dimension must be asked first about some items and later about others: rotate the order."

IsLater = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class LaterPlaces:
    """What a dimension loses or gains where others stand before it."""

    correlation: Bias
    shift: Bias


def later_places(scores: Scores, places: FloatArray, *, generator: Randomness) -> LaterPlaces:
    """Pearson's r with people's means, and the mean error f - h, where asked later minus where asked first.

    places: (items,), 0 where the dimension is the first of its call, NaN where that is unknown. They must be
    drawn for each item, as rotated orders are: otherwise the items differ, too. Both differences are 0 where
    the place does nothing; that of r is below 0 where what stands before draws scores away from people's.
    Intervals resample documents. The control deals the places to the items.
    Undefined where the dimension is never first, or never later.
    """
    known = ~np.isnan(scores.judge) & ~np.isnan(scores.human_means) & ~np.isnan(places)
    both, is_later = scores.of_items(known), places[known] > 0
    label = "Correlation with people, later minus first in the call"
    correlation = BiasMeasure("correlation_at_later_places", label, _SOURCE, 0.0, (-2, 2))
    shift = BiasMeasure("shift_at_later_places", "Mean error, later minus first in the call", _SOURCE)
    return LaterPlaces(
        _compare_places(correlation, _of_correlations, both, is_later, generator),
        _compare_places(shift, _of_errors, both, is_later, generator),
    )


def _compare_places(
    measure: BiasMeasure,
    statistic_of: Callable[[Scores, IsLater], Statistic],
    both: Scores,
    is_later: IsLater,
    generator: Randomness,
) -> Bias:
    size, items = len(both.document_labels), len(both.judge)
    statistic, why = statistic_of(both, is_later), _WHY if items else NEITHER
    measured = measure.of_documents(statistic, size, items, why, generator)
    if not measured.defined:
        return Bias(measured, measure.without)
    dice, whole = generator_of(generator, measure.name, "control"), np.ones((1, size))
    controls = (float(statistic_of(both, dice.permutation(is_later))(whole)[0]) for _ in range(CONTROLS))
    return Bias(measured, measure.without, control_of(controls, _DEALT))


def _of_correlations(both: Scores, is_later: IsLater) -> Statistic:
    values, size = np.column_stack([both.as_read, both.human_means]), len(both.document_labels)
    later, first = (
        mean_correlation(values[own], both.documents[own], size, absolute=False)
        for own in (is_later, ~is_later)
    )
    return lambda weights: later(weights) - first(weights)


def _of_errors(both: Scores, is_later: IsLater) -> Statistic:
    errors, size = errors_of(both), len(both.document_labels)
    later, first = (
        ratio(*(sums_by_document(each, both.documents, size) for each in (errors * own, own.astype(float))))
        for own in (is_later, ~is_later)
    )
    return lambda weights: later(weights) - first(weights)
