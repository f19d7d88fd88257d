"""Whether raters become more severe or milder while they work: severity by thirds of time, as a facet."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy

from annotate.agreement.data import FloatArray
from annotate.agreement.drift import THIRDS, thirds
from annotate.agreement.estimated import Estimated
from annotate.agreement.ranks import holm_by_key
from annotate.agreement.severity import NO_END, PENALTY, fit_severities
from annotate.agreement.severity_values import RatedPoints

LEAST_DOCUMENTS = 18
"""With 9 documents intervals of changes held .88 instead of .95, with 18 .93."""


@dataclass(frozen=True)
class SeverityDrift:
    """A rater's severity, in logits, in each third of the rater's own time, and the last minus the first.

    p_value: two-sided, for no change; adjusted_p_value: by Holm over all raters. Where a third has no values,
    documents are few, or the search does not end, there are none of these and `reason` says why.
    """

    rater: str
    by_third: tuple[Estimated, ...] = ()
    change: Estimated | None = None
    p_value: float | None = None
    adjusted_p_value: float | None = None
    reason: str = ""


def severity_drift(
    values: FloatArray,
    times: FloatArray,
    points: Sequence[float],
    systems: Sequence[str],
    documents: npt.NDArray[Any],
    raters: Sequence[str],
    *,
    penalty: float = PENALTY,
    confidence_level: float = 0.95,
) -> tuple[SeverityDrift, ...]:
    """The model of `rater_severity` in which each rater has a severity for each third of own time.

    values, times: (raters, units), NaN for gaps; what has no time is left out. Systems and units hold still,
    so that where raters get texts in an order of their own it is they who change. Needs what `rater_severity`
    needs. Changes are differences of severities with their covariance (sandwich over documents) and Student's
    t. Sources: Linacre 1989, Many-Facet Rasch Measurement; Myford and Wolfe 2009, Journal of Educational
    Measurement 46, 371-389, for time as a facet.
    """
    timed = np.where(np.isnan(times), np.nan, values)
    when = np.stack(
        [thirds(np.where(np.isnan(each), np.nan, at)) for each, at in zip(timed, times, strict=True)]
    )
    parts = np.where(when[:, None] == np.arange(THIRDS)[:, None], timed[:, None], np.nan)
    rated = RatedPoints.of(parts.reshape(-1, values.shape[1]), points, systems, documents)
    if rated.number_of_documents < LEAST_DOCUMENTS:
        few = f"Timed values are on {rated.number_of_documents} documents; {LEAST_DOCUMENTS} are needed."
        return tuple(SeverityDrift(rater, reason=few) for rater in raters)
    fit = fit_severities(rated, penalty, confidence_level)
    if fit is None:
        return tuple(SeverityDrift(rater, reason=NO_END) for rater in raters)
    severities, slopes = fit.likelihood.with_slopes(fit.likelihood.severities, fit.parameters)
    place = {index: at for at, index in enumerate(rated.rater_indices.tolist())}
    found = []
    for number, rater in enumerate(raters):
        own = [place.get(THIRDS * number + third) for third in range(THIRDS)]
        if None in own:
            found.append(SeverityDrift(rater, reason="A third of the rater’s time has no value with a time."))
            continue
        rows = np.array(own, dtype=np.intp)
        change, slope = severities[rows[-1]] - severities[rows[0]], slopes[rows[-1]] - slopes[rows[0]]
        (changed,) = fit.of(np.array([change]), slope[None])
        found.append(
            SeverityDrift(
                rater,
                tuple(fit.of(severities[rows], slopes[rows])),
                changed,
                _p_value(float(change), float(slope @ fit.covariance @ slope), rated.number_of_documents - 1),
            )
        )
    return _adjust(found)


def _p_value(change: float, variance: float, freedom: int) -> float:
    return float(2 * scipy.special.stdtr(freedom, -abs(change) / np.sqrt(variance))) if variance > 0 else 1.0


def _adjust(found: Sequence[SeverityDrift]) -> tuple[SeverityDrift, ...]:
    adjusted = holm_by_key({index: each.p_value for index, each in enumerate(found)})
    return tuple(replace(each, adjusted_p_value=adjusted.get(index)) for index, each in enumerate(found))
