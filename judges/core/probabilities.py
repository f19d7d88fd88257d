"""How probable a judge found the answer that it gave, by the stored log-probabilities."""

import math
from collections.abc import Iterable, Mapping

import numpy as np
import numpy.typing as npt

from judges.core.models import Judgment

LogProbabilities = Mapping[str, float] | None
"""As `Judgment.log_probabilities` has them."""


def chosen_probability(judgment: Judgment) -> float | None:
    """Return the probability of the likeliest answer where the judgment was read; None if it is unknown.

    The probability is that of the model, not a share among the answers of the scale: it is low, too, where
    the model was about to write something else.
    """
    found = judgment.log_probabilities
    return math.exp(max(found.values())) if found else None


def chosen_probabilities(rows: Iterable[LogProbabilities]) -> npt.NDArray[np.float64]:
    """Return the same for each row of the column; NaN where it is unknown."""
    likeliest = [max(found.values()) if found else math.nan for found in rows]
    return np.exp(np.array(likeliest, dtype=np.float64))
