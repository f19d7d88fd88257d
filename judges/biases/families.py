"""Self-preference: errors in favour of systems of the judge's own family."""

import numpy as np
import numpy.typing as npt

from annotate.agreement.bootstrap import Statistic
from annotate.agreement.data import FloatArray
from annotate.agreement.streams import Randomness
from judges.biases.measures import Bias, BiasMeasure, against_dealt, errors_of, sums_by_document
from judges.comparison import Scores

_MEASURE = BiasMeasure(
    "self_preference",
    "Mean error on systems of its own family minus that on others",
    "Wataoka, Takahashi and Ri 2024 (arXiv 2410.21819), for scores",
)
UNKNOWN = (
    "Texts of the judge’s own family and of others are needed: tag the items of a system with its family, "
    "such as “family: gpt”, which is that of models with gpt in their names."
)


def self_preference(scores: Scores, own: FloatArray, *, generator: Randomness) -> Bias:
    """mean (f - h) over items of the judge's own family, minus the mean over items of other families.

    own: (items,), 1 of its family, 0 of another, NaN unknown. Above 0 the judge is kinder to its family than
    people are. The interval resamples documents. Undefined without items of both.
    """
    known = ~np.isnan(own) & ~np.isnan(scores.judge) & ~np.isnan(scores.human_means)
    is_own = own[known] == 1
    judged = scores.of_items(known)
    return against_dealt(
        _MEASURE,
        lambda each: _difference(each, is_own),
        judged,
        UNKNOWN,
        generator,
        without_items=UNKNOWN,
    )


def _difference(both: Scores, is_own: npt.NDArray[np.bool_]) -> Statistic:
    errors, size = errors_of(both), len(both.document_labels)
    sides = np.column_stack([is_own, ~is_own]).astype(float)
    sums = sums_by_document(sides * errors[:, None], both.documents, size)
    counts = sums_by_document(sides, both.documents, size)

    def differences(weights: FloatArray) -> FloatArray:
        number = weights @ counts
        means = np.full(number.shape, np.nan)
        np.divide(weights @ sums, number, out=means, where=number > 0)
        return np.asarray(means[:, 0] - means[:, 1])

    return differences
