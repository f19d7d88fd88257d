"""How near a judge's answers are to people's where answers are labels, spans, orders or preferences."""

from collections.abc import Hashable, Sequence

import numpy as np

from agreement import Coefficient, Counts, Resampling
from agreement.data import FloatArray
from agreement.estimate import Weighted
from agreement.streams import Randomness

_NOTHING = "No item has two answers to compare."


def mean_closeness(
    closeness: FloatArray,
    documents: Sequence[Hashable],
    *,
    answers: int,
    raters: int,
    generator: Randomness | None = None,
) -> Coefficient:
    """The mean of 1 - distance over items, from 0 to 1; it is not corrected for chance.

    closeness: (items,), of each item the mean of 1 - distance over its pairs of answers, NaN for an item
    without a pair. documents: (items,), which the interval resamples. answers, raters: their numbers.
    Each item counts once, whatever its number of raters. Undefined if all items lack a pair.
    Source: observed agreement, as in Artstein and Poesio 2008, Computational Linguistics 34, 555-596.
    """
    compared = ~np.isnan(closeness)
    labels = [each for each, is_compared in zip(documents, compared.tolist(), strict=True) if is_compared]
    index_of = {label: index for index, label in enumerate(dict.fromkeys(labels))}
    group = np.array([index_of[each] for each in labels], dtype=np.intp)
    sums = np.bincount(group, closeness[compared], len(index_of)).astype(float)
    sizes = np.bincount(group, minlength=len(index_of)).astype(float)

    def statistic(weights: FloatArray) -> FloatArray:
        return np.asarray((weights @ sums) / (weights @ sizes))

    source = "Artstein and Poesio 2008, Computational Linguistics 34, 555-596"
    weighted = Weighted(
        "mean_closeness", "Mean closeness", source, statistic, len(index_of), "documents", (0.0, 1.0)
    )
    items = int(compared.sum())
    counts = Counts(len(closeness), items, raters=raters, ratings=answers, pairable_values=answers)
    return weighted.coefficient(counts, _NOTHING, generator, Resampling(by="documents"))
