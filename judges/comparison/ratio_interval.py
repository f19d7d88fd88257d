"""An interval for a share of few things that lie in documents."""

import numpy as np
import scipy

from annotate.agreement import Interval
from annotate.agreement.data import FloatArray

_LEAST_EFFECT = 0.2
"""Of documents on the variance: less would be chance."""


def ratio_interval(
    hits: FloatArray, sizes: FloatArray, confidence_level: float = 0.95
) -> tuple[Interval | None, str | None]:
    """The interval of F = sum hits / sum sizes, both (documents,), hits at most sizes; None and why without.

    Wilson's (1927) with Student's t for z, and sum sizes / deff for n: deff is the variance of F over
    documents (linearised, D / (D - 1) sum (hits - F sizes)^2 / (sum sizes)^2) over that of independent
    things, F (1 - F) / sum sizes; 1 where F is 0 or 1. Degrees of freedom: documents with a size, minus 1.
    Drawing documents held .81 to .94 of .95 where a category is rare. Source: Korn and Graubard 1998, Survey
    Methodology 24, 193-201, for deff and t. None with fewer than two such documents.
    """
    used = sizes > 0
    documents, total = int(used.sum()), float(sizes.sum())
    if documents < 2:
        return None, "An interval needs the category in two documents."
    share = float(hits.sum()) / total
    spread = share * (1 - share) / total
    variance = len(sizes) / (len(sizes) - 1) * float(np.sum((hits - share * sizes) ** 2)) / total**2
    effect = max(variance / spread, _LEAST_EFFECT) if spread > 1e-12 else 1.0
    size, t = total / effect, float(scipy.special.stdtrit(documents - 1, (1 + confidence_level) / 2))
    middle = (share + t**2 / (2 * size)) / (1 + t**2 / size)
    reach = t * np.sqrt(share * (1 - share) / size + t**2 / (4 * size**2)) / (1 + t**2 / size)
    low, high = max(middle - reach, 0.0), min(middle + reach, 1.0)
    return Interval(float(low), float(high), f"Wilson over {documents} documents", confidence_level), None
