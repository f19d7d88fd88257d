"""How familiar a model finds the texts at each rating, beside those at the same rating of people."""

import numpy as np
import numpy.typing as npt

from annotate.agreement import Coefficient
from annotate.agreement.data import FloatArray
from annotate.agreement.streams import Randomness
from judges.biases.measures import BiasMeasure, ratio, sums_by_document
from judges.comparison import Scores, bin_values

_SOURCE = "Stureborg, Alikaniotis and Suhara 2024, table 1"
_WHY = "No text with a perplexity has this rating."


def perplexity_by_rating(
    scores: Scores, log_perplexity: FloatArray, points: FloatArray, *, generator: Randomness
) -> list[tuple[Coefficient, Coefficient]]:
    """The mean perplexity of the texts at each point of a scale: of the judge's rating, and of people's mean.

    log_perplexity: (items,), NaN where unknown. points: (points,), in order; a value between two counts as
    the nearer one, halfway as the upper. Only texts that judge and people have rated count, so both are about
    the same texts. A judge that prefers what it finds familiar has a mean that falls more steeply than
    people's. Intervals resample documents. Undefined at a point that no such text has.
    Source: Stureborg and others 2024, table 1.
    """
    usable = ~np.isnan(scores.judge) & ~np.isnan(scores.human_means) & ~np.isnan(log_perplexity)
    both, perplexity = scores.of_items(usable), np.exp(log_perplexity[usable])
    judged, rated = (bin_values(each, points) for each in (both.judge, both.human_means))
    return [
        (
            _mean(both, perplexity, judged == point, "judge", point, generator),
            _mean(both, perplexity, rated == point, "people", point, generator),
        )
        for point in points
    ]


def _mean(
    both: Scores,
    perplexity: FloatArray,
    at: npt.NDArray[np.bool_],
    whose: str,
    point: float,
    generator: Randomness,
) -> Coefficient:
    of, number = np.unique(both.documents[at], return_inverse=True)
    measure = BiasMeasure(
        f"perplexity_by_rating_{whose}_{point:g}", "Mean perplexity", _SOURCE, bounds=(0.0, np.inf)
    )
    parts = sums_by_document(perplexity[at], number, len(of))
    wholes = sums_by_document(np.ones(int(at.sum())), number, len(of))
    return measure.of_documents(ratio(parts, wholes), len(of), int(at.sum()), _WHY, generator)
