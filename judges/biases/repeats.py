"""Self-inconsistency: how far a judge's samples of one item are apart."""

import numpy as np
import numpy.typing as npt

from annotate.agreement.data import FloatArray
from annotate.agreement.streams import Randomness
from judges.biases.measures import Bias, BiasMeasure, Control, ratio, sums_by_document

_MEASURE = BiasMeasure(
    "spread_of_samples", "SD of an item’s samples", "standard deviation within items", 0.0, (0.0, np.inf)
)
_WHY = "No item has two samples; ask the judge more than once about the same items, above temperature 0."


def spread_of_samples(
    samples: FloatArray, human: FloatArray, documents: npt.ArrayLike, *, generator: Randomness
) -> Bias:
    """The mean over items of the standard deviation (n - 1) of a judge's samples, in points of the scale.

    samples: (items, samples) on the dimension's scale; human: (raters, items). 0 where it repeats itself. The
    control is people: the same of the values of an item's raters. The interval resamples documents (items,).
    """
    spread = _spread(samples.T)
    known = ~np.isnan(spread)
    of, number = np.unique(np.asarray(documents)[known], return_inverse=True)
    parts = sums_by_document(spread[known], number, len(of))
    wholes = sums_by_document(np.ones(int(known.sum())), number, len(of))
    measured = _MEASURE.of_documents(ratio(parts, wholes), len(of), int(known.sum()), _WHY, generator)
    of_people = _spread(human)[known] if len(human) > 1 else np.empty(0)
    of_people = of_people[~np.isnan(of_people)]
    control = None
    if len(of_people) and measured.defined:
        mean = float(of_people.mean())
        control = Control(mean, mean, mean, "people who rate one item, on average")
    return Bias(measured, 0.0, control)


def _spread(values: FloatArray) -> FloatArray:
    """(items,): the standard deviation of values (raters, items), NaN where an item has fewer than two."""
    given = (~np.isnan(values)).sum(axis=0)
    mean = np.nansum(values, axis=0) / np.maximum(given, 1)
    squares = np.nansum((values - mean) ** 2, axis=0)
    found = np.full(values.shape[1], np.nan)
    np.divide(squares, given - 1, out=found, where=given > 1)
    return np.asarray(np.sqrt(found))
