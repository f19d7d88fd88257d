"""Test whether a new system is outside the range of the systems of a judge's calibration."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.student import t_reach

FEWEST_SYSTEMS = 3
_TINY = 1e-9


@dataclass(frozen=True)
class SystemRange:
    """A new system's mean compared with the means of calibrated systems; `reason` if no comparison is
    possible.

    lowest, highest: of the calibrated systems' means. expected_from, expected_to: the 95 % prediction
    interval of one more system's mean. beyond: the share of its units outside the range of the calibrated
    units.
    """

    mean: float | None
    systems: int
    lowest: float | None = None
    highest: float | None = None
    expected_from: float | None = None
    expected_to: float | None = None
    beyond: float | None = None
    reason: str = ""

    @property
    def is_outside(self) -> bool:
        """Return True if the mean is outside the prediction interval."""
        if self.mean is None or self.expected_from is None or self.expected_to is None:
            return False
        return not self.expected_from - _TINY <= self.mean <= self.expected_to + _TINY


def compare_with_systems(
    new: npt.ArrayLike, calibrated: npt.ArrayLike, systems: npt.ArrayLike, *, confidence_level: float = 0.95
) -> SystemRange:
    """Compare a new system's units with the units of k calibrated systems.

    new: (units,) of the new system. calibrated, systems: (units,), values and any labels of their systems.
    NaN is excluded. The interval is m +- t(k - 1) s sqrt(1 + 1 / k) over the k systems' means; it treats them
    as a normal sample. Source: Hahn and Meeker 1991, section 4.7. Undefined below three systems.
    """
    own, values = np.asarray(new, dtype=float), np.asarray(calibrated, dtype=float)
    labels = np.asarray(systems)[~np.isnan(values)]
    own, values = own[~np.isnan(own)], values[~np.isnan(values)]
    names = np.unique(labels)
    if not own.size:
        return SystemRange(None, len(names), reason="The new system has no values.")
    mean = float(own.mean())
    if len(names) < FEWEST_SYSTEMS:
        reason = f"{len(names)} calibrated systems do not show how systems differ; it takes {FEWEST_SYSTEMS}."
        return SystemRange(mean, len(names), reason=reason)
    means = np.array([values[labels == name].mean() for name in names])
    error = float(means.std(ddof=1) * np.sqrt(1 + 1 / len(means)))
    reach = t_reach(error, len(means) - 1, confidence_level)
    beyond = (own < values.min()) | (own > values.max())
    return SystemRange(
        mean=mean,
        systems=len(means),
        lowest=float(means.min()),
        highest=float(means.max()),
        expected_from=float(means.mean() - reach),
        expected_to=float(means.mean() + reach),
        beyond=float(beyond.mean()),
    )
