"""The cheapest numbers of raters and documents for a power or the width of an interval."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial

import numpy as np

from agreement.crossed_fit import ErrorVariances
from agreement.streams import Stream
from agreement.student import noncentrality_with_power, normal_reach, t_power, t_reach
from agreement.variance_components import VarianceComponents

LEAST_RATERS, MOST_RATERS = 2, 20
LEAST_DOCUMENTS, MOST_DOCUMENTS = 3, 10_000
# A fixed seed, so that the same variances always give the same design.
_PANELS, _DOCUMENTS, _SEED = 20, 100, 20_261_128

Reaches = Callable[[int, int], bool]
"""Whether so many raters and documents are enough."""


@dataclass(frozen=True)
class Design:
    """A number of raters, of which `per_document` rate every output of the systems on a document."""

    raters: int
    documents: int
    systems: int
    per_document: int

    @property
    def ratings(self) -> int:
        """The number of outputs rated, counted once for each rater."""
        return self.per_document * self.documents * self.systems


def cheapest_designs(
    goals: Iterable[Reaches],
    systems: int,
    *,
    training: float = 0,
    raters: Iterable[int] = range(LEAST_RATERS, MOST_RATERS + 1),
    per_document: int | None = None,
) -> list[Design]:
    """Return for each number of raters the design with the fewest documents that reaches every goal.

    The cheapest comes first, and with equal cost fewer raters. training: the cost of a rater before the first
    rating, in ratings. per_document: the number of raters who rate a document, each rater about equally many
    documents; by default all. Designs with fewer raters are excluded. goals: each true from some number of
    documents on. Numbers of raters that do not reach a goal with 10,000 documents are excluded. Raises
    ValueError if per_document is below 2.
    """
    _check_per_document(per_document)
    known = list(goals)
    found = []
    for number in raters:
        each = per_document or number
        if each > number:
            continue
        documents = [
            fewest_reaching(partial(goal, number), least=LEAST_DOCUMENTS, most=MOST_DOCUMENTS)
            for goal in known
        ]
        if documents and all(documents):
            # Each rater shares documents with others, so that rater and document effects can be separated.
            fewest = max(-(-number // (each - 1)), *(few for few in documents if few))
            found.append(Design(number, fewest, systems, each))
    return sorted(found, key=lambda each: (each.ratings + training * each.raters, each.raters))


def width_of_difference(
    variances: ErrorVariances,
    systems: int,
    raters: int,
    documents: int,
    *,
    per_document: int | None = None,
    confidence_level: float = 0.95,
) -> float:
    """Return the expected width, in points, of the interval of one difference of systems.

    2 t sqrt(v), with v and Satterthwaite's degrees of freedom of the crossed model. per_document: the number
    of raters for a document, by default all. At least two systems, raters and documents.
    """
    error = float(np.sqrt(variances.of_difference(raters, documents, per_document)))
    if error == 0:
        return 0.0
    freedom = variances.degrees_of_freedom(systems, raters, documents, per_document)
    return 2 * t_reach(error, freedom, confidence_level)


def deviation_of_alpha(
    components: VarianceComponents, systems: int, raters: int, per_document: int | None = None
) -> tuple[float, float]:
    """Return interval alpha and its standard error times the square root of documents, for this number of
    raters.

    per_document: the number of raters, in rotation, for a document; by default all. With w the mean variance
    of raters within the units of a document and q the mean square of its values about the mean of all, alpha
    = 1 - E[w] / E[q], and its linearisation is -(w - (1 - alpha) q) / E[q]. Expectations and its deviation
    over documents are from 20 panels of raters with 100 documents, normal with these variances, always the
    same ones. Raters are fixed, as in intervals that resample documents. Values are not rounded or cut to a
    scale: multiply a measured width by the ratio of two designs, or take the result as approximate. Source:
    Krippendorff 2011 for alpha; the linearisation is a delta method. Raises ValueError if per_document is
    below 2.
    """
    _check_per_document(per_document)
    generator = Stream(_SEED).of("deviation_of_alpha").generator()
    shape = (_PANELS, _DOCUMENTS, systems, raters)
    # Axes are panels, documents, systems, raters; an effect has length 1 where it is constant.
    parts = (
        (components.systems, (_PANELS, 1, systems, 1)),
        (components.documents, (_PANELS, _DOCUMENTS, 1, 1)),
        (components.documents_by_systems, (_PANELS, _DOCUMENTS, systems, 1)),
        (components.raters, (_PANELS, 1, 1, raters)),
        (components.raters_by_systems, (_PANELS, 1, systems, raters)),
        (components.raters_by_documents, (_PANELS, _DOCUMENTS, 1, raters)),
        (components.rest, shape),
    )
    values = np.zeros(shape)
    for variance, own in parts:
        values += np.sqrt(variance) * generator.normal(size=own)
    if per_document is not None:
        # Each document takes the next raters in turn.
        turns = (per_document * np.arange(_DOCUMENTS)[:, None] + np.arange(per_document)) % raters
        values = np.take_along_axis(values, turns[None, :, None], axis=3)
    # w and q of each document.
    within = values.var(axis=3, ddof=1).mean(axis=2)
    squares = ((values - values.mean(axis=(1, 2, 3), keepdims=True)) ** 2).mean(axis=(2, 3))
    total = squares.mean(axis=1)
    alphas = 1 - within.mean(axis=1) / total
    linear = (within - (1 - alphas)[:, None] * squares) / total[:, None]
    return float(alphas.mean()), float(np.sqrt(linear.var(axis=1, ddof=1).mean()))


def width_of_alpha(deviation: float, documents: int, *, confidence_level: float = 0.95) -> float:
    """Return the expected width of alpha's interval, from a deviation as `deviation_of_alpha` returns it."""
    return 2 * normal_reach(deviation / np.sqrt(documents), confidence_level)


def _check_per_document(per_document: int | None) -> None:
    if per_document is not None and per_document < 2:
        raise ValueError(f"At least 2 raters rate each document, not {per_document}.")


def fewest_reaching(reaches: Callable[[int], bool], *, least: int, most: int) -> int | None:
    """Return the least number from `least` to `most` that reaches a goal, or None. Doubles, then halves."""
    # The search relies on goals that hold from some number on.
    low, high = least - 1, least
    while not reaches(high):
        low, high = high, 2 * high
        if low >= most:
            return None
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if reaches(middle) else (middle, high)
    return high if high <= most else None


MOST_PAIRED_DOCUMENTS = 100_000


def paired_power(
    difference: float, deviation: float, documents: int, *, significance_level: float = 0.05
) -> float:
    """Return the probability that the paired t test finds this mean difference, with its sign.

    deviation: the standard deviation of differences between documents, in the same unit. The test is
    two-sided with n - 1 degrees of freedom; a significant result with the wrong sign does not count.
    Source: Cohen 1988, Statistical Power Analysis, chapter 2; noncentral t. Raises ValueError for fewer than
    3 documents or a deviation below 0.
    """
    if documents < LEAST_DOCUMENTS or deviation < 0:
        raise ValueError("Power needs three documents or more and a standard deviation of 0 or more.")
    # Without variation between documents, every sample shows the difference.
    if deviation == 0:
        return float(difference != 0)
    noncentrality = abs(difference) / deviation * np.sqrt(documents)
    return t_power(noncentrality, documents - 1, significance_level)


def documents_needed(
    difference: float, deviation: float, *, significance_level: float = 0.05, power: float = 0.8
) -> int | None:
    """Return the fewest documents at which `paired_power` reaches this power; None above 100,000."""
    if not difference:
        return None
    return fewest_reaching(
        lambda documents: (
            paired_power(difference, deviation, documents, significance_level=significance_level) >= power
        ),
        least=LEAST_DOCUMENTS,
        most=MOST_PAIRED_DOCUMENTS,
    )


def smallest_difference_found(
    deviation: float, documents: int, *, significance_level: float = 0.05, power: float = 0.8
) -> float:
    """Return the mean difference that the paired t test finds with this power. Raises as `paired_power`."""
    if documents < LEAST_DOCUMENTS or deviation < 0:
        raise ValueError("Power needs three documents or more and a standard deviation of 0 or more.")
    noncentrality = noncentrality_with_power(power, documents - 1, significance_level)
    return float(noncentrality * deviation / np.sqrt(documents))
