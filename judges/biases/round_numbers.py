"""Round numbers: on a long scale, multiples of five and ten more often than other numbers."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from annotate.agreement.data import FloatArray
from annotate.agreement.streams import Randomness
from judges.biases.measures import Bias, BiasMeasure, ratio, sums_by_document

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
    """The share of answers that 5 (10) divides, minus the share of points of the scale that it divides.

    samples: (items, samples) as read on the judge's own scale, NaN for a gap; every sample counts once. 0
    where a judge has no liking for round numbers: on 1 to 100 it then gives them in .20 (.10) of answers. The
    interval resamples documents (items,). Undefined on scales of fewer than 20 points.
    """
    points = np.arange(lowest, highest + 1)
    of, number = np.unique(np.asarray(documents), return_inverse=True)
    given = ~np.isnan(samples)
    why = "There are no answers yet."
    if len(points) < LEAST_POINTS:
        why = (
            f"The judge answers on a scale of {len(points)} points, where no number is rounder than others; "
            "ask on 1 to 100 to see it."
        )

    def of_divisor(divisor: int) -> Bias:
        expected = float(np.mean(points % divisor == 0))
        divided = (np.mod(np.where(given, samples, np.nan), divisor) == 0) & given
        parts = sums_by_document((divided - expected * given).sum(axis=1), number, len(of))
        wholes = sums_by_document(given.sum(axis=1).astype(float), number, len(of))
        label = f"Share of multiples of {divisor} minus that of the scale’s points"
        measure = BiasMeasure(f"multiples_of_{divisor}", label, _SOURCE, 0.0, (-1, 1))
        usable = len(points) >= LEAST_POINTS
        size = len(of) if usable else 0
        return Bias(
            measure.of_documents(ratio(parts, wholes), size, int(given.any(axis=1).sum()), why, generator),
            0.0,
        )

    return RoundNumbers(of_divisor(5), of_divisor(10))
