"""Units rated by every rater, for the coefficients that cannot take gaps."""

import numpy as np

from annotate.agreement.coefficient import count, why_not_pairable
from annotate.agreement.data import ReliabilityData


def complete_units(data: ReliabilityData) -> tuple[ReliabilityData, int]:
    """The units with a value from every rater who gave any, and how many pairable units that leaves out."""
    return data.once(("complete units", data.measurement_level), lambda: _complete_units(data))


def _complete_units(data: ReliabilityData) -> tuple[ReliabilityData, int]:
    rated = data.codes < len(data.value_domain)
    raters = np.flatnonzero(rated.any(axis=1))
    complete = rated[raters].all(axis=0) if len(raters) else np.zeros(rated.shape[1], dtype=bool)
    left_out = int(np.sum((data.ratings_per_unit >= 2) & ~complete))
    return data.of_raters(raters.tolist()).of_units(complete), left_out


def too_few_complete(data: ReliabilityData, complete: ReliabilityData) -> str | None:
    """The reason why the complete units do not suffice, or None where they do."""
    reason = why_not_pairable(count(data))
    if reason is not None:
        return reason
    raters, units = complete.values.shape
    if units >= 2:
        return None
    return (
        f"It needs two or more units with a value from each of the {raters} raters, but there "
        f"{'is 1' if units else 'are none'}; Krippendorff's alpha takes gaps."
    )
