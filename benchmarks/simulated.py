"""What the simulations of `coverage.py` share: ratings on a scale from 1 to 5, and intervals that cover."""

from collections.abc import Callable, Iterable, Mapping
from typing import Protocol

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray


class Ends(Protocol):
    """An interval. An end that could not be computed is None."""

    @property
    def low(self) -> float | None: ...

    @property
    def high(self) -> float | None: ...


def on_scale(values: npt.ArrayLike) -> FloatArray:
    """Round values to the points of a scale from 1 to 5."""
    return np.clip(np.round(np.asarray(values, dtype=np.float64)), 1, 5)


def covers(interval: Ends | None, truth: float) -> bool:
    """Return True if the interval contains the truth, False also without an interval."""
    if interval is None or interval.low is None or interval.high is None:
        return False
    return bool(interval.low <= truth <= interval.high)


def measure_coverage(
    draw: Callable[[np.random.Generator], Iterable[tuple[str, Ends | None]]],
    truth: Mapping[str, float],
    simulations: int,
    generator: np.random.Generator,
) -> dict[str, tuple[float, float]]:
    """Return for each statistic the share of its intervals that cover, and the share of simulations with one.

    draw: simulates a project, and gives its intervals by the names of `truth`. The first share is NaN
    without any interval.
    """
    covered: dict[str, list[bool]] = {name: [] for name in truth}
    for _ in range(simulations):
        for name, interval in draw(generator):
            if interval is not None and interval.low is not None:
                covered[name].append(covers(interval, truth[name]))
    return {
        name: (float(np.mean(each)) if each else np.nan, len(each) / simulations)
        for name, each in covered.items()
    }
