"""Tests of the crossed model: of true nulls (`coverage.py crossed`), and where raters or texts vary more on
one system (`coverage.py unequal`).
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from agreement import (
    CrossedDifferences,
    SystemDifference,
    crossed_differences,
    mean_values,
    system_differences,
)
from agreement.data import FloatArray
from benchmarks.simulated import on_scale

SEED = 20_261_123
SEED_OF_UNEQUAL = 20_261_128
LEVEL = 0.05
ODD = 0
"""The system that may differ from the others."""


@dataclass(frozen=True)
class UnequalPanel:
    """Ratings of equally good systems; on the first raters, texts or residuals may vary more.

    raters_vary, texts_vary, rest_varies: standard deviations in points on the first system and on the others.
    rounded: to the points of a scale from 1 to 5. gaps: the share of ratings that are missing.
    """

    name: str
    raters_vary: tuple[float, float] = (0.2, 0.2)
    texts_vary: tuple[float, float] = (0.25, 0.25)
    rest_varies: tuple[float, float] = (0.55, 0.55)
    raters: int = 3
    documents: int = 32
    systems: int = 6
    rounded: bool = False
    gaps: float = 0.0

    def ratings(self, generator: np.random.Generator) -> FloatArray:
        """(raters, documents, systems): one project."""
        raters, documents, systems = self.raters, self.documents, self.systems
        values = 3.8 + _by_system(self.rest_varies, systems) * generator.normal(
            size=(raters, documents, systems)
        )
        values += 0.3 * generator.normal(size=(raters, 1, 1))
        values += _by_system(self.raters_vary, systems) * generator.normal(size=(raters, 1, systems))
        values += 0.3 * generator.normal(size=(raters, documents, 1))
        values += _by_system(self.texts_vary, systems) * generator.normal(size=(1, documents, systems))
        if self.rounded:
            values = on_scale(values)
        values[generator.random(values.shape) < self.gaps] = np.nan
        return np.asarray(values)


def _by_system(deviations: tuple[float, float], systems: int) -> FloatArray:
    return np.where(np.arange(systems) == ODD, *deviations)


EQUAL = UnequalPanel("equal")
SPLIT = UnequalPanel("raters split", raters_vary=(0.5, 0.05))
VARIED = UnequalPanel("texts vary", texts_vary=(0.75, 0.25))
NOISY = UnequalPanel("the rest varies", rest_varies=(1.0, 0.45))
SIZES = (12, 32, 100)


@dataclass(frozen=True)
class HeldPairs:
    """The share of 95 % intervals that hold 0, of pairs with the odd system and of others; the share of
    projects in which Holm's correction leaves any pair significant; the share in which the odd one is marked.
    """

    odd: float
    others: float
    familywise: float
    marked: float


def held_pairs(panel: UnequalPanel, simulations: int, *, by_system: bool = True) -> HeldPairs:
    """Return the shares over this number of simulated projects of one kind."""
    generator = np.random.default_rng([SEED_OF_UNEQUAL, panel.raters, panel.documents, panel.systems])
    names = [str(each) for each in range(panel.systems)]
    shares = np.zeros(4)
    for _ in range(simulations):
        found = crossed_differences(panel.ratings(generator), names, by_system=by_system)
        shares += _shares_of(found)
    return HeldPairs(*(shares / simulations).tolist())


def _shares_of(found: CrossedDifferences) -> FloatArray:
    held = [(each.p_value or 0) > LEVEL for each in found.differences]
    is_odd = [each.first == str(ODD) for each in found.differences]
    others = [held[index] for index in np.flatnonzero(~np.array(is_odd))]
    any_found = min(each.adjusted_p_value or 0 for each in found.differences) <= LEVEL
    marked = any(each.system == str(ODD) for each in found.outlying)
    return np.array([np.mean([held[i] for i in np.flatnonzero(is_odd)]), np.mean(others), any_found, marked])


def unequal_panels() -> Iterator[UnequalPanel]:
    for raters, systems in ((3, 6), (5, 6), (3, 13)):
        for rounded in (False, True):
            for kind in (EQUAL, SPLIT, VARIED):
                for documents in SIZES:
                    yield replace(kind, raters=raters, systems=systems, rounded=rounded, documents=documents)
    yield from (replace(NOISY, documents=documents) for documents in SIZES)
    yield from (replace(kind, documents=12, gaps=0.1) for kind in (EQUAL, SPLIT, VARIED))


def report_unequal(simulations: int) -> None:
    print(f"Share of 95 % intervals that hold 0, and family-wise error (.05); {simulations:,} of each kind")
    print(f"{'':<52}{'by system':^32}{'one variance for all':^24}")
    print(
        f"{'panel':<18}{'raters':>7}{'systems':>8}{'documents':>10}{'points':>8}"
        f"{'odd':>8}{'others':>8}{'error':>8}{'marked':>8}{'odd':>8}{'others':>8}{'error':>8}"
    )
    for panel in unequal_panels():
        number = simulations // 10 if panel.gaps else simulations
        by_system = held_pairs(panel, number)
        common = held_pairs(panel, number, by_system=False)
        name = f"{panel.name}, gaps" if panel.gaps else panel.name
        sizes = f"{panel.raters:>7}{panel.systems:>8}{panel.documents:>10}{panel.rounded!s:>8}"
        print(f"{name:<18}{sizes}", end="")
        for each in (*vars(by_system).values(), common.odd, common.others, common.familywise):
            print(f"{each:>8.3f}", end="")
        print(flush=True)


@dataclass(frozen=True)
class Panel:
    """Ratings of equally good systems; the standard deviation of rater by system is in points.

    The other deviations are near to those of SummEval-OP. rounded: to the points of a scale from 1 to 5.
    """

    rater_by_system: float = 0.2
    raters: int = 3
    documents: int = 32
    systems: int = 6
    gaps: float = 0.0
    rounded: bool = False

    def ratings(self, generator: np.random.Generator) -> FloatArray:
        """(raters, documents, systems): one project."""
        size = self.raters, self.documents, self.systems
        values = 3.8 + 0.55 * generator.normal(size=size)
        values += 0.3 * generator.normal(size=(self.raters, 1, 1))
        values += self.rater_by_system * generator.normal(size=(self.raters, 1, self.systems))
        values += 0.3 * generator.normal(size=(self.raters, self.documents, 1))
        values += 0.25 * generator.normal(size=(1, self.documents, self.systems))
        if self.rounded:
            values = on_scale(values)
        values[generator.random(size) < self.gaps] = np.nan
        return values


def crossed_model(panel: Panel, simulations: int) -> tuple[float, float]:
    """Return which share of true nulls the crossed model rejects, and which the paired t test."""
    generator = np.random.default_rng(SEED)
    names = [str(each) for each in range(panel.systems)]
    shares = np.zeros(2)
    for _ in range(simulations):
        values = panel.ratings(generator)
        means = mean_values(values.reshape(panel.raters, -1)).reshape(values.shape[1:])
        paired = system_differences(means, names)
        shares += [_rejected(crossed_differences(values, names).differences), _rejected(paired)]
    return float(shares[0] / simulations), float(shares[1] / simulations)


def _rejected(found: tuple[SystemDifference, ...]) -> float:
    return float(np.mean([each.p_value is not None and each.p_value <= LEVEL for each in found]))


def report_crossed(simulations: int) -> None:
    print(f"Share of true nulls rejected at {LEVEL:g}; {simulations:,} projects of each kind")
    print(f"{'panel':<88}{'nominal':>8}{'crossed':>9}{'paired t':>9}")
    for panel in (
        *(Panel(spread) for spread in (0.0, 0.1, 0.2, 0.3)),
        Panel(rounded=True),
        Panel(raters=2, documents=20, systems=3),
        Panel(raters=5, documents=20),
        Panel(systems=3, documents=15, gaps=0.2),
    ):
        crossed, paired = crossed_model(panel, simulations if not panel.gaps else simulations // 4)
        print(f"{', '.join(f'{name} {value:g}' for name, value in vars(panel).items()):<88}", end="")
        print(f"{LEVEL:>8.3f}{crossed:>9.3f}{paired:>9.3f}")
