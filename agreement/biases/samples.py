"""A judge's own samples: their spread within an item, and a preference for round numbers."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement import Coefficient
from agreement.biases.measures import NO_SECOND_RATER, Bias, BiasMeasure, Control, sums_by_document
from agreement.bootstrap import ratio_of_sums
from agreement.data import FloatArray, divide_where
from agreement.streams import Randomness

_SPREAD_OF_SAMPLES = BiasMeasure(
    "spread_of_samples", "SD of an item’s samples", "standard deviation within items", 0.0, (0.0, np.inf)
)
_BEYOND_PEOPLE = BiasMeasure(
    "spread_beyond_people",
    "SD of an item’s samples minus that of its raters",
    "standard deviation within items",
)
_NO_TWO_SAMPLES = (
    "No item has two samples; ask the judge more than once about the same items, above temperature 0."
)


def spread_of_samples(
    samples: FloatArray, human: FloatArray, documents: npt.ArrayLike, *, generator: Randomness
) -> Bias:
    """The square root of the mean over items of the variance (n - 1) of a judge's samples, in points.

    samples: (items, samples) on the dimension's scale; human: (raters, items). 0 if the judge repeats itself.
    The control is people: the same root for the values of an item's raters. Variances are unbiased at every
    number of samples or raters. The judge has a bias if its spread surely exceeds people's: the interval of
    the difference, on items with both, is above 0. Intervals resample documents (items,).
    """
    own, of_people = _variances(samples.T), _variances(human)
    documents, known = np.asarray(documents), ~np.isnan(own)
    measured = _root_mean(_SPREAD_OF_SAMPLES, own[known, None], np.ones(1), documents[known], generator)
    if not measured.defined:
        return Bias(measured, 0.0, one_sided=True)
    both = known & ~np.isnan(of_people)
    if not both.any():
        return Bias(measured, 0.0, one_sided=True, control_reason=NO_SECOND_RATER)
    variances = np.column_stack([own, of_people])[both]
    spread = float(np.sqrt(variances[:, 1].mean()))
    beyond = _root_mean(_BEYOND_PEOPLE, variances, np.array([1.0, -1.0]), documents[both], generator)
    control = Control(spread, spread, spread, "people who rate one item, on average")
    return Bias(measured, 0.0, control, one_sided=True, beyond=beyond)


def _root_mean(
    measure: BiasMeasure,
    variances: FloatArray,
    signs: FloatArray,
    documents: npt.NDArray[Any],
    generator: Randomness,
) -> Coefficient:
    """The roots of the mean variances (items, sides), added with signs (sides,)."""
    labels, number = np.unique(documents, return_inverse=True)
    sums = sums_by_document(np.column_stack([np.ones(len(variances)), variances]), number, len(labels))

    def statistic(weights: FloatArray) -> FloatArray:
        totals = weights @ sums
        return np.asarray(np.sqrt(totals[:, 1:] / totals[:, :1]) @ signs)

    return measure.of_documents(statistic, len(labels), len(variances), _NO_TWO_SAMPLES, generator)


def _variances(values: FloatArray) -> FloatArray:
    """(items,): the variance of values (raters, items), NaN if an item has fewer than two."""
    given = (~np.isnan(values)).sum(axis=0)
    mean = np.nansum(values, axis=0) / np.maximum(given, 1)
    squares = np.nansum((values - mean) ** 2, axis=0)
    return divide_where(given > 1, squares, given - 1)


LEAST_POINTS = 20
"""A scale with fewer points has no round numbers to speak of."""
_TOO_NARROW = (
    "The middle 90 % of the judge’s answers do not cover three multiples of {step}, so a peak cannot be told "
    "from a preference."
)
_SOURCE = "Stureborg, Alikaniotis and Suhara 2024, fig. 3"


@dataclass(frozen=True)
class RoundNumbers:
    """Shares of multiples of five and of ten among answers, each minus their share among the scale's
    points.
    """

    fives: Bias
    tens: Bias


def round_numbers(
    samples: FloatArray, documents: npt.ArrayLike, lowest: int, highest: int, *, generator: Randomness
) -> RoundNumbers:
    """The share of answers that 5 (10) divides, minus 1/5 (1/10).

    samples: (items, samples) as read on the judge's own scale, NaN for a gap; every sample counts once. Each
    multiple between the ends of the scale is compared with the answers around it, up to halfway to the next,
    of which evenly spread answers have a fifth (tenth) in the middle. Answers nearer to an end do not count:
    a judge without a preference also gives the ends, which are round, to the best and worst outputs. 0
    without a preference for round numbers. The interval resamples documents (items,). Undefined on scales of
    fewer than 20 points, and if the middle 90 % of the counted answers do not cover three multiples (two
    steps): a peak at a multiple is no preference.
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
        answers = samples[counted > 0]
        narrow = len(answers) > 0 and np.ptp(np.quantile(answers, [0.05, 0.95])) < 2 * divisor
        size = len(of) if points >= LEAST_POINTS and not narrow else 0
        items = int((counted > 0).any(axis=1).sum())
        reason = _TOO_NARROW.format(step=divisor) if narrow and points >= LEAST_POINTS else why
        return Bias(measure.of_documents(ratio_of_sums(parts, wholes), size, items, reason, generator), 0.0)

    return RoundNumbers(of_divisor(5), of_divisor(10))
