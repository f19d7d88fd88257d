"""A coefficient from a statistic of weighted units or documents, each of which stands for itself."""

from dataclasses import dataclass

import numpy as np

from annotate.agreement.bootstrap import Resampling, Statistic, independent, resampled_interval
from annotate.agreement.coefficient import Coefficient, Counts, Interval


@dataclass(frozen=True)
class Weighted:
    """What is computed from weights (replicates, size).

    size: how many units (documents) are weighted; `noun` names them in the interval. bounds: the smallest and
    the largest value the statistic can take.
    """

    name: str
    label: str
    source: str
    statistic: Statistic
    size: int
    noun: str
    bounds: tuple[float, float]

    def coefficient(
        self,
        counts: Counts,
        why_undefined: str,
        generator: np.random.Generator | None,
        resampling: Resampling | None,
    ) -> Coefficient:
        """The statistic at equal weights, with an interval where a generator is given; NaN is undefined."""
        value = float(self.statistic(np.ones((1, self.size)))[0]) if self.size else np.nan
        defined = not np.isnan(value)
        interval: Interval | None = None
        interval_reason: str | None = "No interval was asked for."
        if not defined:
            interval_reason = "The coefficient is undefined."
        elif generator is not None:
            drawn_from, plan = independent(self.size, self.noun), resampling or Resampling()
            interval, interval_reason = resampled_interval(
                self.statistic, drawn_from, generator, plan, self.bounds
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
