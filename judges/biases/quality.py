"""Decline with quality: less agreement with people on the better systems."""

import numpy as np

from annotate.agreement import Coefficient, spearman
from annotate.agreement.streams import Randomness, generator_of
from judges.biases.measures import CONTROLS, DEALT, Bias, control_of, errors_of, judged_by_both
from judges.comparison import Scores
from judges.comparison import meta_correlation as meta_of

EXPECTED = 0.0


def decline_with_quality(scores: Scores, measured: Coefficient, *, generator: Randomness) -> Bias:
    """M by Spearman: the correlation over systems of P with the mean human score; below 0 is a decline.

    measured: M with its interval, as `judges.reliability.meta_correlation` gives it. The control deals the
    judge's errors at random: where systems are near the end of the scale M falls below 0 for any judge, since
    what does not vary correlates with nothing.
    Source: Shen and others 2023, table 6.
    """
    if not measured.defined:
        return Bias(measured, EXPECTED)
    both = judged_by_both(scores)
    dice, errors = generator_of(generator, "decline_with_quality", "control"), errors_of(both)
    found = (
        meta_of(both.of_judge(both.human_means + dice.permutation(errors)), spearman).value
        for _ in range(CONTROLS)
    )
    return Bias(measured, EXPECTED, control_of((np.nan if m is None else m for m in found), DEALT))
