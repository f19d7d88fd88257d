"""Changes of raters during a round: by thirds of its time, and as changes of severity."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.alpha import krippendorff_alpha
from agreement.coefficient import Coefficient, Estimated
from agreement.data import FloatArray, IntArray, MeasurementLevel, ReliabilityData
from agreement.measures import bias
from agreement.ranks import holm_by_key
from agreement.severity import NO_END, PENALTY, fit_severities
from agreement.severity_likelihood import RatedPoints
from agreement.severity_misfit import NO_VARIANCE
from agreement.student import t_p_value

THIRDS = 3


@dataclass(frozen=True)
class RaterDrift:
    """A rater's mean difference from the others on the same units, by thirds of the rater's own time."""

    rater: str
    by_third: tuple[Coefficient, ...]

    @property
    def change(self) -> float | None:
        """The last third's difference minus the first third's; None if either is undefined."""
        first, last = self.by_third[0].value, self.by_third[-1].value
        return None if first is None or last is None else last - first


def thirds(times: FloatArray) -> IntArray:
    """(n,): 0, 1 or 2 for the first, middle and last third of `times` (n,) in order, -1 for a gap (NaN).

    The parts differ by one at the most; equal times stay in their given order.
    """
    found = np.full(len(times), -1, dtype=np.intp)
    given = np.flatnonzero(~np.isnan(times))
    order = given[np.argsort(times[given], kind="stable")]
    found[order] = np.arange(len(order)) * THIRDS // max(len(order), 1)
    return found


def alpha_by_third(data: ReliabilityData, times: FloatArray) -> tuple[Coefficient, ...]:
    """Krippendorff's alpha of the units completed in the first, middle and last third.

    times: (raters, units), the time of each value, in any unit; NaN for a gap. A unit belongs to the third of
    its last value; units with one value do not count. Each is undefined as alpha is.
    """
    timed = np.where(np.isnan(data.values), np.nan, times)
    last = np.full(timed.shape[1], np.nan)
    pairable = np.sum(~np.isnan(timed), axis=0) >= 2
    last[pairable] = np.nanmax(timed[:, pairable], axis=0) if pairable.any() else []
    parts = thirds(last)
    return tuple(krippendorff_alpha(data.of_units(parts == part)) for part in range(THIRDS))


def rater_drift(data: ReliabilityData, times: FloatArray) -> tuple[RaterDrift, ...]:
    """Each rater's mean difference from the mean of the others, by thirds of the rater's own time.

    times: (raters, units), when each value was last given, in seconds since any moment.
    Above 0 the rater gives higher values than the others. Raters' own severity cancels in the change from the
    first to the last third, as long as the others hold still (differential rater functioning over time:
    Myford and Wolfe 2009, Journal of Educational Measurement 46, 371-389). No rater on a nominal dimension,
    whose codes have no differences; undefined in a third without units that another rater has rated.
    """
    if data.measurement_level is MeasurementLevel.NOMINAL:
        return ()
    counts = np.sum(~np.isnan(data.values), axis=0)
    totals = np.nansum(data.values, axis=0)
    return tuple(
        RaterDrift(rater, _differences(own, when, totals, counts))
        for rater, own, when in zip(data.raters, data.values, times, strict=True)
    )


def _differences(
    own: FloatArray, when: FloatArray, totals: FloatArray, counts: IntArray
) -> tuple[Coefficient, ...]:
    compared = ~np.isnan(own) & (counts >= 2)
    others = np.full(len(own), np.nan)
    others[compared] = (totals[compared] - own[compared]) / (counts[compared] - 1)
    parts = thirds(np.where(compared, when, np.nan))
    return tuple(bias(own[parts == part], others[parts == part]) for part in range(THIRDS))


LEAST_DOCUMENTS = 18
"""With 9 documents intervals of changes held .88 instead of .95, with 18 .93."""


@dataclass(frozen=True)
class SeverityDrift:
    """A rater's severity, in logits, in each third of the rater's own time, and the last minus the first.

    p_value: two-sided, for no change; adjusted_p_value: by Holm over all raters; neither where the change has
    no variance. If a third has no values, documents are few, or the search does not end, these are missing.
    `reason` gives the reason.
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
    """The model of `rater_severity` in which each rater has a severity for each third of the rater's own
    time.

    values, times: (raters, units), NaN for gaps; values without a time are excluded. Systems and units are
    constant. So if each rater has a separate order of outputs, changes are due to raters. Needs what
    `rater_severity` needs. Changes are differences of severities with their covariance (sandwich over
    documents) and Student's t. Sources: Linacre 1989, Many-Facet Rasch Measurement; Myford and Wolfe 2009,
    Journal of Educational Measurement 46, 371-389, for time as a facet.
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
    row_of = {index: at for at, index in enumerate(rated.rater_indices.tolist())}
    found = []
    for number, rater in enumerate(raters):
        own = [row_of.get(THIRDS * number + third) for third in range(THIRDS)]
        if None in own:
            found.append(SeverityDrift(rater, reason="A third of the rater’s time has no value with a time."))
            continue
        rows = np.array(own, dtype=np.intp)
        change, slope = severities[rows[-1]] - severities[rows[0]], slopes[rows[-1]] - slopes[rows[0]]
        (changed,) = fit.of(np.array([change]), slope[None])
        error = np.sqrt(float(slope @ fit.covariance @ slope))
        found.append(
            SeverityDrift(
                rater,
                tuple(fit.of(severities[rows], slopes[rows])),
                changed,
                t_p_value(change, error, rated.number_of_documents - 1) if error > 0 else None,
                reason="" if error > 0 else NO_VARIANCE,
            )
        )
    return _adjust(found)


def _adjust(found: Sequence[SeverityDrift]) -> tuple[SeverityDrift, ...]:
    adjusted = holm_by_key({index: each.p_value for index, each in enumerate(found)})
    return tuple(replace(each, adjusted_p_value=adjusted.get(index)) for index, each in enumerate(found))
