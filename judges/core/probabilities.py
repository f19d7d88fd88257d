import math
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from judges.core.models import Judgment

LogProbabilities = Mapping[str, float] | None
"""As `Judgment.log_probabilities` has them."""


def chosen_probability(judgment: Judgment) -> float | None:
    """Return the probability of the likeliest answer at the token of the answer; None if it is unknown.

    It is the model's probability, not a share among the answers of the scale. So it is low, too, if the model
    was likely to write something else.
    """
    found = judgment.log_probabilities
    return math.exp(max(found.values())) if found else None


def chosen_probabilities(rows: Iterable[LogProbabilities]) -> npt.NDArray[np.float64]:
    """Return `chosen_probability` for each row of the column; NaN for unknown ones."""
    likeliest = [max(found.values()) if found else math.nan for found in rows]
    return np.exp(np.array(likeliest, dtype=np.float64))
