"""How often a control chart alarms by chance, and how soon after a judge changes (`coverage.py drift`)."""

from dataclasses import dataclass

import numpy as np

from agreement.control_chart import control_chart
from agreement.data import FloatArray

SEED = 20_261_128
CHECKS = 50
LOOKED_FOR = 20
"""The checks in which a change is looked for."""


@dataclass(frozen=True)
class Watched:
    """A judge that is asked again about items, one of each document, and answers from 1 to 5.

    noise: standard deviation of an answer to the same question; 0: it always answers the same. started: the
    first check after the change; 1: it changed before the first check.
    """

    name: str
    noise: float
    items: int = 20
    dimensions: int = 4
    shift: float = 0.0
    started: int = 1

    def values(self, checks: int, generator: np.random.Generator) -> FloatArray:
        """(dimensions, 1 + checks, items)."""
        shape = self.dimensions, checks + 1, self.items
        usual = 3.0 + 0.8 * generator.normal(size=(self.dimensions, 1, self.items))
        later = np.arange(checks + 1)[:, None] >= self.started
        found = usual + self.noise * generator.normal(size=shape)
        return np.clip(np.round(found + self.shift * later), 1, 5)


STEADY = (
    Watched("never varies", 0.0),
    Watched("noise .3", 0.3),
    Watched("noise .7", 0.7),
    Watched("noise .7, one dimension", 0.7, dimensions=1),
)
CHANGED = tuple(
    Watched(f"{name}, {shift} points, {when}", noise, shift=shift, started=started)
    for name, noise in (("never varies", 0.0), ("noise .3", 0.3), ("noise .7", 0.7))
    for shift in (0.3, 0.5, 1.0)
    for when, started in (("before check 1", 1), ("before check 6", 6))
)


def find_alarms(judge: Watched, checks: int, simulations: int) -> list[int | None]:
    """Return the check of the first alarm of each watch; None without one."""
    generator, found = np.random.default_rng([SEED, judge.items, judge.dimensions]), []
    for _ in range(simulations):
        drawn = judge.values(checks, generator)
        owners = np.arange(judge.items)
        charts = control_chart(dict(enumerate(drawn)), dict.fromkeys(range(len(drawn)), owners))
        alarms = [point.check for chart in charts.values() for point in chart if point.is_alarm]
        found.append(min(alarms, default=None))
    return found


def count_covered(judge: Watched, simulations: int) -> float:
    """Return the share of 95 % intervals of one check that hold the shift's mean."""
    generator = np.random.default_rng(SEED)
    held: list[bool] = []
    many = [judge.values(1, generator) for _ in range(5_000)]
    large = np.mean([each[:, 1] - each[:, 0] for each in many])
    for _ in range(simulations):
        drawn = judge.values(1, generator)
        charts = control_chart(dict(enumerate(drawn)), dict.fromkeys(range(len(drawn)), range(judge.items)))
        for (point,) in charts.values():
            assert point.low is not None
            assert point.high is not None
            held.append(bool(point.low <= large <= point.high))
    return float(np.mean(held))


def report_drift(simulations: int) -> None:
    """Print shares of watches with an alarm, and the checks from a change to its alarm."""
    print(f"20 items in 20 documents, 4 dimensions; {simulations} watches, level .05\n")
    print(f"{'nothing changes':<38}{'alarm in 50 checks':>20}")
    for judge in STEADY:
        false = [each is not None for each in find_alarms(judge, CHECKS, simulations)]
        print(f"{judge.name:<38}{np.mean(false):>20.3f}", flush=True)
    print(f"\n{'a change':<38}{'alarm in 20 checks':>20}{'checks: median':>16}{'90 %':>8}")
    for judge in CHANGED:
        alarms = find_alarms(judge, LOOKED_FOR, simulations)
        after = [np.inf if each is None else each - judge.started + 1 for each in alarms]
        caught = float(np.mean([each is not None for each in alarms]))
        median, most = np.quantile(after, [0.5, 0.9], method="higher")
        print(f"{judge.name:<38}{caught:>20.3f}{median:>16.0f}{most:>8.0f}", flush=True)
    covered = count_covered(Watched("", 0.7, shift=0.5), simulations)
    print(f"\n95 % intervals of one check that cover a shift of .5 with noise .7: {covered:.3f}")
