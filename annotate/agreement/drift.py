"""Whether raters change while a round goes on: agreement and mean differences by thirds of its time."""

from dataclasses import dataclass

import numpy as np

from annotate.agreement.alpha import krippendorff_alpha
from annotate.agreement.coefficient import Coefficient
from annotate.agreement.data import FloatArray, IntArray, MeasurementLevel, ReliabilityData
from annotate.agreement.differences import bias

THIRDS = 3


@dataclass(frozen=True)
class RaterDrift:
    """A rater's mean difference from the others on the same units, by thirds of the rater's own time."""

    rater: str
    by_third: tuple[Coefficient, ...]

    @property
    def change(self) -> float | None:
        """The last third's difference minus the first third's; None where either is undefined."""
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

    times: (raters, units), when each value was given, in any unit; NaN for a gap. A unit belongs where its
    last value was given; units with one value count nowhere. Each is undefined as alpha is.
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
