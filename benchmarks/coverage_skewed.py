"""Intervals where nearly all values are the same: of alpha (`coverage.py skewed`), of kappas (`kappas`)."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from agreement import (
    Coefficient,
    Interval,
    ReliabilityData,
    Resampling,
    fleiss_kappa,
    krippendorff_alpha,
    weighted_kappa,
)
from agreement.alpha import alpha_statistic
from agreement.bootstrap import population, resampled_interval
from agreement.data import FloatArray
from agreement.patterns import by_value
from benchmarks.simulated import covers

SEED = 20_261_123
_PLAN = Resampling(by="documents", replicates=500)  # a document is a unit where it has one item
KAPPAS: dict[str, Callable[..., Coefficient]] = {"Fleiss": fleiss_kappa, "weighted": weighted_kappa}

Drawn = Callable[[int, np.random.Generator], ReliabilityData]


def held_kappas(drawn: Drawn, units: int, simulations: int) -> dict[str, tuple[float, float]]:
    """Return each kappa in a large population and the coverage of its defined intervals."""
    generator = np.random.default_rng([SEED, units])
    many = drawn(100_000, generator)
    truth = {name: kappa(many).value or 0.0 for name, kappa in KAPPAS.items()}
    held: dict[str, list[bool]] = {name: [] for name in KAPPAS}
    for _ in range(simulations):
        data = drawn(units, generator)
        for name, kappa in KAPPAS.items():
            found = kappa(data, generator=generator, resampling=_PLAN)
            if found.defined:
                interval = found.interval
                held[name].append(covers(interval, truth[name]))
    return {name: (truth[name], float(np.mean(held[name]))) for name in KAPPAS}


@dataclass(frozen=True)
class Ceiling:
    """Ratings of which nearly all are a 5. rare: the share of units that are not; how often a rater misses
    one of these, and says of a 5 that it is none. items: of a document, which has shares of its own.
    """

    name: str
    rare: float
    missed: float
    false: float
    values: tuple[int, ...] = (3, 4)
    raters: int = 3
    level: str = "ordinal"
    items: int = 1

    def ratings(self, units: int, generator: np.random.Generator) -> FloatArray:
        """(raters, units)."""
        shape = self.raters + 1, -(-units // self.items)
        factors = np.ones(shape) if self.items == 1 else generator.standard_gamma(2, shape) / 2
        factors = np.repeat(factors, self.items, axis=1)[:, :units]
        is_rare = generator.random(units) < self.rare * factors[0]
        wrong = generator.random((self.raters, units)) < factors[1:] * np.where(
            is_rare, self.missed, self.false
        )
        truth = np.where(is_rare, generator.choice(self.values, size=units), 5)
        others = generator.choice(self.values, size=wrong.shape)
        return np.where(wrong, np.where(is_rare, 5, others), truth).astype(float)

    def data(self, units: int, generator: np.random.Generator) -> ReliabilityData:
        """The same as reliability data."""
        values = self.ratings(units, generator)
        return ReliabilityData(
            values,
            measurement_level=self.level,
            value_domain=[1, 2, 3, 4, 5],
            documents=np.arange(units) // self.items,
        )


CEILINGS = (
    Ceiling("by chance", rare=0.0, missed=0.0, false=0.08),
    Ceiling("hardly found", rare=0.07, missed=0.5, false=0.05, values=(4,)),
    Ceiling("found by half", rare=0.05, missed=0.4, false=0.02),
    Ceiling("usually found", rare=0.09, missed=0.2, false=0.02, values=(1, 2, 3, 4)),
    Ceiling("surely found", rare=0.09, missed=0.1, false=0.01, values=(4,)),
    Ceiling("two raters, nominal", rare=0.1, missed=0.3, false=0.03, raters=2, level="nominal"),
    Ceiling("documents of 5", rare=0.09, missed=0.2, false=0.02, items=5),
    Ceiling("interval", rare=0.09, missed=0.2, false=0.02, values=(1, 2, 3, 4), level="interval"),
)


def skewed_alpha(ceiling: Ceiling, units: int, simulations: int) -> tuple[float, float, float]:
    """Return the coverage of alpha by Concord's intervals and plain ones, and how many plain ones exist."""
    generator = np.random.default_rng([SEED, units])
    true = krippendorff_alpha(ceiling.data(300_000, generator)).value or 0.0
    given, plain = [], []
    for _ in range(simulations):
        data = ceiling.data(units, generator)
        alpha = krippendorff_alpha(data, generator=generator, resampling=_PLAN)
        if alpha.defined:
            given.append(covers(alpha.interval, true))
            usual = _plain_interval(data, generator)
            if usual:
                plain.append(usual.low <= true <= usual.high)
    return float(np.mean(given)), float(np.mean(plain)) if plain else np.nan, len(plain) / simulations


def _plain_interval(data: ReliabilityData, generator: np.random.Generator) -> Interval | None:
    patterns = by_value(data)
    statistic = alpha_statistic(patterns, data.measurement_level)
    drawn_from = population(patterns, data.documents, "documents")
    return resampled_interval(statistic, drawn_from, generator, _PLAN, (-1.0, 1.0))[0]


def report_skewed(simulations: int) -> None:
    print(f"Share of 95 % intervals that hold alpha; {simulations:,} samples of each kind")
    print(
        f"{'rare values are':<22}{'alpha':>7}{'units':>7}{'nominal':>9}{'given':>8}{'plain':>8}{'exists':>8}"
    )
    for ceiling in CEILINGS:
        alpha = krippendorff_alpha(ceiling.data(300_000, np.random.default_rng(SEED))).value or 0.0
        for units in (10, 20, 50, 150) if ceiling.items == 1 else (50, 150):
            given, plain, exists = skewed_alpha(ceiling, units, simulations)
            print(
                f"{ceiling.name:<22}{alpha:>7.2f}{units:>7}{0.95:>9.3f}{given:>8.3f}{plain:>8.3f}{exists:>8.2f}"
            )


def report_kappas(simulations: int) -> None:
    print(f"Share of 95 % intervals that hold kappa (nominal .95); {simulations:,} samples of each kind")
    for ceiling in CEILINGS:
        for units in (20, 50, 150) if ceiling.items == 1 else (50, 150):
            found = held_kappas(ceiling.data, units, simulations)
            shares = "  ".join(f"{name} {kappa:.2f}: {held:.3f}" for name, (kappa, held) in found.items())
            print(f"{ceiling.name:<22}{units:>7}  {shares}", flush=True)
