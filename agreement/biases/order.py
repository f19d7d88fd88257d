"""Order effects: of a choice's options, of the two outputs of a pair, and of dimensions in a call."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from agreement.biases.measures import (
    CONTROLS,
    NEITHER,
    Bias,
    BiasMeasure,
    Control,
    control_of,
    errors_of,
)
from agreement.bootstrap import Statistic, nothing, ratio_of_sums
from agreement.comparison import Scores, Verdicts
from agreement.comparison.head_to_head import points_by_order
from agreement.data import FloatArray, divide_where
from agreement.streams import Randomness, generator_of
from agreement.student import sum_by_document

_OPTIONS_SOURCE = "options in reverse order, as Shi and others 2024 (arXiv 2406.07791) swap texts"
_NO_OPTIONS_IN_BOTH_ORDERS = "No item was judged with the options in both orders."


def option_order(
    forward: FloatArray, backward: FloatArray, documents: npt.ArrayLike, *, generator: Randomness
) -> tuple[Bias, Bias]:
    """The effect of reversed options on a choice: the mean shift, and the share of items that change.

    forward, backward: (items,), values with the lowest point as option A, and with the highest. The shift is
    mean (backward - forward) / 2 in points of the scale: above 0 the judge leans to the first options, below
    0 to the last. The control of the shift assigns each item's two values to the two orders by a coin toss.
    The share has a value without bias only for a judge at temperature 0 that reads the options: 0. Intervals
    resample documents (items,).
    """
    known = ~np.isnan(forward) & ~np.isnan(backward)
    # A lean of s lowers the forward value by s and raises the backward one by s.
    of, moved = np.asarray(documents)[known], (backward - forward)[known] / 2
    shift = BiasMeasure("option_shift", "Shift to the first option", _OPTIONS_SOURCE)
    share = BiasMeasure("options_changed", "Items whose value changes", _OPTIONS_SOURCE, 0.0, (0.0, 1.0))
    measured = shift.mean_of_items(moved, of, _NO_OPTIONS_IN_BOTH_ORDERS, generator)
    is_moved = (moved != 0).astype(float)
    changed = share.mean_of_items(is_moved, of, _NO_OPTIONS_IN_BOTH_ORDERS, generator)
    # An exchange of an item's two values changes the sign of its shift.
    dice = generator_of(generator, "option_shift", "control")
    tosses = dice.choice([-1.0, 1.0], size=(CONTROLS, len(moved))) @ moved / max(len(moved), 1)
    control = control_of(tosses.tolist(), "each item’s two values, dealt by a coin") if len(moved) else None
    return Bias(measured, 0.0, control), Bias(changed, 0.0)


_DECIMALS = 9
_PLACE_PREFERENCE = BiasMeasure(
    "place_preference",
    "Outcomes that move to the text shown second minus those to the first, of all that move",
    "Shi and others 2024, Judging the Judges (arXiv 2406.07791), preference fairness",
    0.0,
    (-1.0, 1.0),
)
_NOTHING_CHANGED = "No outcome changed when the texts were swapped, or no pair was judged in both orders."


@dataclass(frozen=True)
class PlacePreference:
    """The bias, the numbers of changed outcomes by position, and McNemar's exact p (two-sided)."""

    bias: Bias
    to_first: int
    to_second: int
    p_value: float | None


def place_preference(verdicts: Verdicts, *, generator: Randomness) -> PlacePreference:
    """(to second - to first) / changed, over pairs of systems and documents judged in both orders.

    -1: every change favours the first output; 0: equally many changes each way; 1: every change favours the
    second output. The interval resamples documents; p is McNemar's exact p, for changes that are independent
    of each other. The control is a judge with as many changes, each to either position by a coin toss: its
    central 95 %.

    Undefined if nothing changes.
    """
    orders = points_by_order(verdicts, verdicts.pairs)
    both = ~np.isnan(orders).any(axis=0)
    # Who wins in each order: 1 for the first system, -1 for the second, 0 for neither.
    forward, backward = np.sign(np.round(np.where(both, orders, 0.5) - 0.5, _DECIMALS))
    to_first, to_second = (forward > backward), (forward < backward)
    changed = (to_first | to_second).sum(axis=1)
    used = changed > 0
    parts = (to_second.sum(axis=1) - to_first.sum(axis=1)).astype(float)
    measured = _PLACE_PREFERENCE.of_documents(
        ratio_of_sums(parts[used], changed[used].astype(float)),
        int(used.sum()),
        int(both.sum()),
        _NOTHING_CHANGED,
        generator,
    )
    number = int(changed.sum())
    first, second = int(to_first.sum()), int(to_second.sum())
    if not number:
        return PlacePreference(Bias(measured, 0.0), first, second, None)
    # With h of n changes to the second position, the measure is (h - (n - h)) / n.
    # The central 95 % of heads; the distribution of a fair coin is symmetric.
    least = int(np.searchsorted(scipy.special.bdtr(np.arange(number + 1), number, 0.5), 0.025))
    low, high = (float(2 * each - number) / number for each in (least, number - least))
    control = Control(0.0, low, high, "a judge that changes as often, by a toss of a coin")
    # Both tails; with equally many changes each way they overlap and add up to more than 1.
    p_value = min(1.0, 2 * float(scipy.special.bdtr(min(first, second), number, 0.5)))
    return PlacePreference(Bias(measured, 0.0, control), first, second, p_value)


_CALL_SOURCE = "Stureborg, Alikaniotis and Suhara 2024, sec. 3.3, table 3"
_DEALT = "the same values, with the places dealt to the items at random"
_NEEDS_ROTATION = (
    "The dimension must be asked first about some items and later about others: rotate the order."
)

IsLater = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class LaterPlaces:
    """The effect of earlier dimensions of a call on a dimension."""

    correlation: Bias
    shift: Bias


def later_places(scores: Scores, places: FloatArray, *, generator: Randomness) -> LaterPlaces:
    """Pearson's r with people's means, and the mean error f - h: later in a call minus first in a call.

    places: (items,), 0 if the dimension is the first of its call, NaN if unknown. Positions must be random
    for each item, as rotated orders are; otherwise the items differ too. Both differences are 0 if the
    position has no effect. The difference of r is below 0 if earlier dimensions make scores less like
    people's. Intervals resample documents. The control permutes the positions among the items.

    Undefined if the dimension is never first, or never later.
    """
    known = ~np.isnan(scores.judge) & ~np.isnan(scores.human_means) & ~np.isnan(places)
    both, is_later = scores.of_items(known), places[known] > 0
    label = "Correlation with people, later minus first in the call"
    correlation = BiasMeasure("correlation_at_later_places", label, _CALL_SOURCE, 0.0, (-2, 2))
    shift = BiasMeasure("shift_at_later_places", "Mean error, later minus first in the call", _CALL_SOURCE)
    return LaterPlaces(
        _compare_positions(correlation, _correlation, both, is_later, generator),
        _compare_positions(shift, _mean_error, both, is_later, generator),
    )


def _compare_positions(
    measure: BiasMeasure,
    of_part: Callable[[Scores, IsLater], Statistic],
    both: Scores,
    is_later: IsLater,
    generator: Randomness,
) -> Bias:
    size, items = len(both.document_labels), len(both.judge)

    def statistic_of(is_later: IsLater) -> Statistic:
        later, first = of_part(both, is_later), of_part(both, ~is_later)
        return lambda weights: later(weights) - first(weights)

    statistic, why = statistic_of(is_later), _NEEDS_ROTATION if items else NEITHER
    measured = measure.of_documents(statistic, size, items, why, generator)
    if not measured.defined:
        return Bias(measured, measure.without)
    dice, whole = generator_of(generator, measure.name, "control"), np.ones((1, size))
    controls = (float(statistic_of(dice.permutation(is_later))(whole)[0]) for _ in range(CONTROLS))
    return Bias(measured, measure.without, control_of(controls, _DEALT))


def _correlation(both: Scores, chosen: IsLater) -> Statistic:
    """From weights to Pearson's r of the judge and people over the chosen items."""
    if not chosen.any():
        return nothing
    sides = both.as_read[chosen], both.human_means[chosen]
    x, y = (each - each.mean() for each in sides)  # the same r, fewer digits lost
    parts = np.column_stack([np.ones_like(x), x, y, x * x, y * y, x * y])
    table = sum_by_document(parts, both.documents[chosen], len(both.document_labels))

    def correlations(weights: FloatArray) -> FloatArray:
        number, of_x, of_y, xx, yy, xy = (weights @ table).T
        number = np.maximum(number, 1)  # empty sample: no variance, so no r
        scale = np.sqrt(np.maximum((xx - of_x**2 / number) * (yy - of_y**2 / number), 0))
        # A spread below this is rounding of 0, which grows with the number of items.
        return divide_where(scale > 1e-9 * number, xy - of_x * of_y / number, scale)

    return correlations


def _mean_error(both: Scores, chosen: IsLater) -> Statistic:
    """From weights to the mean error over the chosen items."""
    values = np.column_stack([errors_of(both) * chosen, chosen])
    return ratio_of_sums(*sum_by_document(values, both.documents, len(both.document_labels)).T)
