"""A coefficient from a statistic of weighted units or documents, each of which stands for itself."""

from dataclasses import dataclass, replace

import numpy as np

from annotate.agreement.bootstrap import Resampling, Statistic, independent, resampled_interval
from annotate.agreement.coefficient import Coefficient, Counts, Interval
from annotate.agreement.data import IntArray
from annotate.agreement.streams import Randomness, substream


@dataclass(frozen=True)
class Weighted:
    """What is computed from weights (replicates, size).

    size: how many units (documents) are weighted; `noun` names them in the interval. bounds: the smallest and
    the largest value the statistic can take. unit_counts: (size,), how many interchangeable units each weight
    is of; one without.
    """

    name: str
    label: str
    source: str
    statistic: Statistic
    size: int
    noun: str
    bounds: tuple[float, float]
    unit_counts: IntArray | None = None

    def coefficient(
        self,
        counts: Counts,
        why_undefined: str,
        generator: Randomness | None,
        resampling: Resampling | None,
    ) -> Coefficient:
        """The statistic at equal weights, with an interval where a generator is given; NaN is undefined."""
        each = np.ones(self.size, dtype=np.intp) if self.unit_counts is None else self.unit_counts
        value = float(self.statistic(each[None].astype(float))[0]) if self.size else np.nan
        defined = not np.isnan(value)
        interval: Interval | None = None
        interval_reason: str | None = "No interval was asked for."
        if not defined:
            interval_reason = "The coefficient is undefined."
        elif (drawn_with := substream(generator, self.name)) is not None:
            drawn_from = replace(independent(self.size, self.noun), group_counts=each)
            interval, interval_reason = resampled_interval(
                self.statistic, drawn_from, drawn_with, resampling or Resampling(), self.bounds
            )
        return Coefficient(
            name=self.name,
            label=self.label,
            value=value if defined else None,
            reason=None if defined else why_undefined,
            interval=interval,
            interval_reason=interval_reason,
            counts=counts,
            source=self.source,
        )
