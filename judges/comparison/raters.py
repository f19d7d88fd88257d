"""One rater held against the others as a judge is held against people."""

from dataclasses import replace

import numpy as np

from annotate.agreement import Coefficient
from annotate.agreement.measure import PairMeasure
from annotate.agreement.streams import Randomness, substream
from judges.comparison.correlations import Level, correlation_with_humans
from judges.comparison.reasons import RATER
from judges.comparison.scores import Scores


def correlation_with_other_raters(
    scores: Scores,
    rater: int,
    measure: PairMeasure,
    level: Level = Level.DATASET,
    *,
    with_own: bool = False,
    generator: Randomness | None = None,
) -> Coefficient:
    """The correlation of one rater's values with the mean of the other raters', over the items of both.

    rater: a row of `scores.human`. with_own: with the rater's own value in the mean, as Gao and others 2023
    (arXiv 2304.02554), table 6, have it; a rater then partly correlates with itself, and is above a judge of
    the same quality. Levels and intervals as in `correlation_with_humans`.
    Undefined with fewer than two such items (systems), and where a side is constant.
    """
    own = scores.human[rater]
    others = scores.human if with_own else np.delete(scores.human, rater, axis=0)
    beside = scores.beside(others, own)
    found = correlation_with_humans(
        beside, measure, level, generator=substream(generator, "rater", rater, with_own), side=RATER
    )
    against = "the mean of all raters" if with_own else "the mean of the other raters"
    return replace(found, label=f"{found.label}: one rater and {against}")
