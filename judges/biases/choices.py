"""Order of options: whether a multiple choice depends on which option stands first."""

import numpy as np
import numpy.typing as npt

from annotate.agreement.bootstrap import Statistic
from annotate.agreement.data import FloatArray
from annotate.agreement.streams import Randomness, generator_of
from judges.biases.measures import CONTROLS, Bias, BiasMeasure, Control, control_of, ratio, sums_by_document

_SOURCE = "options in reverse order, as Shi and others 2024 (arXiv 2406.07791) swap texts"
_WHY = "No item was judged with the options in both orders."


def option_order(
    forward: FloatArray, backward: FloatArray, documents: npt.ArrayLike, *, generator: Randomness
) -> tuple[Bias, Bias]:
    """How a choice moves when its options are reversed: the mean shift, and the share of items that change.

    forward, backward: (items,), values with the lowest point as option A, and with the highest. The shift is
    mean (backward - forward) / 2 in points of the scale: above 0 the judge leans to options that stand first,
    below 0 to those that stand last. The control of the shift deals each item's two values to the two orders
    by a toss of a coin. The share has no value without bias but that of a judge at
    temperature 0 that reads the options, which is 0. Intervals resample documents (items,).
    """
    known = ~np.isnan(forward) & ~np.isnan(backward)
    of, number = np.unique(np.asarray(documents)[known], return_inverse=True)
    moved = (backward - forward)[known] / 2
    items = len(moved)

    def mean_of(values: FloatArray) -> Statistic:
        sums = sums_by_document(values, number, len(of))
        return ratio(sums, sums_by_document(np.ones(items), number, len(of)))

    shift = BiasMeasure("option_shift", "Shift to the first option", _SOURCE)
    share = BiasMeasure("options_changed", "Items whose value changes", _SOURCE, 0.0, (0.0, 1.0))
    measured = shift.of_documents(mean_of(moved), len(of), items, _WHY, generator)
    changed = share.of_documents(mean_of((moved != 0).astype(float)), len(of), items, _WHY, generator)
    return Bias(measured, 0.0, _by_coin(moved, generator)), Bias(changed, 0.0)


def _by_coin(moved: FloatArray, generator: Randomness) -> Control | None:
    if not len(moved):
        return None
    dice = generator_of(generator, "option_shift", "control")
    tosses = dice.choice([-1.0, 1.0], size=(CONTROLS, len(moved)))
    return control_of((tosses @ moved / len(moved)).tolist(), "each item’s two values, dealt by a coin")
