"""What a judge's own samples show: how far those of an item differ, and a liking for round numbers."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.biases.measures import Bias, BiasMeasure, Control, sums_by_document
from agreement.bootstrap import ratio_of_sums
from agreement.data import FloatArray, divide_where
from agreement.streams import Randomness

_SPREAD_OF_SAMPLES = BiasMeasure(
    "spread_of_samples", "SD of an item’s samples", "standard deviation within items", 0.0, (0.0, np.inf)
)
_NO_TWO_SAMPLES = (
    "No item has two samples; ask the judge more than once about the same items, above temperature 0."
)


def spread_of_samples(
    samples: FloatArray, human: FloatArray, documents: npt.ArrayLike, *, generator: Randomness
) -> Bias:
    """The mean over items of the standard deviation (n - 1) of a judge's samples, in points of the scale.

    samples: (items, samples) on the dimension's scale; human: (raters, items). 0 where it repeats itself. The
    control is people: the same of the values of an item's raters; only more than theirs is found. The
    interval resamples documents (items,).
    """
    spread = _spread(samples.T)
    known = ~np.isnan(spread)
    measured = _SPREAD_OF_SAMPLES.mean_of_items(
        spread[known], np.asarray(documents)[known], _NO_TWO_SAMPLES, generator
    )
    of_people = _spread(human)[known] if len(human) > 1 else np.empty(0)
    of_people = of_people[~np.isnan(of_people)]
    control = None
    if len(of_people) and measured.defined:
        mean = float(of_people.mean())
        control = Control(mean, mean, mean, "people who rate one item, on average")
    return Bias(measured, 0.0, control, one_sided=True)


def _spread(values: FloatArray) -> FloatArray:
    """(items,): the standard deviation of values (raters, items), NaN where an item has fewer than two."""
    given = (~np.isnan(values)).sum(axis=0)
    mean = np.nansum(values, axis=0) / np.maximum(given, 1)
    squares = np.nansum((values - mean) ** 2, axis=0)
    found = divide_where(given > 1, squares, given - 1)
    return np.asarray(np.sqrt(found))


LEAST_POINTS = 20
"""A scale with fewer points has no round numbers to speak of."""
_SOURCE = "Stureborg, Alikaniotis and Suhara 2024, fig. 3"


@dataclass(frozen=True)
class RoundNumbers:
    """Shares of multiples of five and of ten among whole answers, each beside that of the scale's points."""

    fives: Bias
    tens: Bias


def round_numbers(
    samples: FloatArray, documents: npt.ArrayLike, lowest: int, highest: int, *, generator: Randomness
) -> RoundNumbers:
    """The share of answers that 5 (10) divides, minus 1/5 (1/10).

    samples: (items, samples) as read on the judge's own scale, NaN for a gap; every sample counts once. Each
    multiple between the ends of the scale is compared with the answers around it, up to halfway to the next,
    of which values of any quality and any range have a fifth (tenth) in its middle. Answers nearer to an end
    do not count: the best and the worst texts get the ends, which are round, from a judge without a liking.
    0 where a judge has no liking for round numbers. The interval resamples documents (items,). Undefined on
    scales of fewer than 20 points.
    """
    points = highest - lowest + 1
    of, number = np.unique(np.asarray(documents), return_inverse=True)
    why = "No answer is near a round number between the ends of the scale."
    if points < LEAST_POINTS:
        why = (
            f"The judge answers on a scale of {points} points, where no number is rounder than others; "
            "ask on 1 to 100 to see it."
        )

    def of_divisor(divisor: int) -> Bias:
        least, most = (lowest // divisor + 1) * divisor, (-(-highest // divisor) - 1) * divisor
        beyond = np.maximum(least - samples, samples - most) - divisor / 2
        counted = np.where(np.isnan(samples), 0.0, np.where(beyond < 0, 1.0, 0.5 * (beyond == 0)))
        excess = counted * ((np.mod(np.where(np.isnan(samples), 1, samples), divisor) == 0) - 1 / divisor)
        parts, wholes = (sums_by_document(each.sum(axis=1), number, len(of)) for each in (excess, counted))
        label = f"Share of multiples of {divisor} minus 1/{divisor}, between the ends of the scale"
        measure = BiasMeasure(f"multiples_of_{divisor}", label, _SOURCE, 0.0, (-1, 1))
        size = len(of) if points >= LEAST_POINTS else 0
        items = int((counted > 0).any(axis=1).sum())
        return Bias(measure.of_documents(ratio_of_sums(parts, wholes), size, items, why, generator), 0.0)

    return RoundNumbers(of_divisor(5), of_divisor(10))
