"""Intervals of severities and fair means (`coverage.py severity`), and split units (`coverage.py splits`)."""

from dataclasses import dataclass

import numpy as np

from agreement import ReliabilityData, rater_severity, severity_drift, split_units
from agreement.data import FloatArray, IntArray

SEED = 20_261_123
LEVEL = 0.05
_THRESHOLDS = (-2.0, -0.7, 0.7, 2.0)


@dataclass(frozen=True)
class Panel:
    """Raters of these severities and systems of these means, in logits, on a scale from 1 to 5.

    spread: the standard deviation of units within a system. of_document: what a document's units share.
    drift: how much more severe the last rater is in the last third of time than in the first.
    """

    documents: int = 32
    systems: int = 6
    severities: tuple[float, ...] = (-0.5, 0.0, 0.5)
    means: tuple[float, ...] = ()
    spread: float = 1.0
    of_document: float = 0.0
    drift: float = 0.0

    @property
    def means_of_systems(self) -> FloatArray:
        """(systems,), in logits."""
        return np.array(self.means) if self.means else np.linspace(-0.5, 2, self.systems)

    def values(
        self, generator: np.random.Generator, moved: FloatArray | float = 0.0
    ) -> tuple[FloatArray, list[str], IntArray]:
        """(raters, units) values, and each unit's system and document.

        moved: (raters, units), by how much a rater is more severe there.
        """
        size = self.documents, self.systems
        own = np.sqrt(self.spread**2 - self.of_document**2)
        units = self.means_of_systems + own * generator.normal(size=size)
        units += self.of_document * generator.normal(size=(self.documents, 1))
        shares = _shares(units.reshape(-1) - np.array(self.severities)[:, None] - moved)
        drawn = generator.random((*shares.shape[:2], 1))
        values = 1.0 + (shares.cumsum(axis=2) < drawn).sum(axis=2)
        names = [f"S{index}" for index in range(self.systems)] * self.documents
        return values, names, np.repeat(np.arange(self.documents), self.systems)

    def fair_means(self) -> FloatArray:
        """(systems,): what a rater of severity 0 gives on average to very many units."""
        normal = np.random.default_rng(SEED).normal(size=200_000)
        return np.array(
            [
                float((_shares(mean + self.spread * normal) @ np.arange(1, 6)).mean())
                for mean in self.means_of_systems
            ]
        )


def _shares(located: FloatArray) -> FloatArray:
    logs = located[..., None] * np.arange(5) - np.concatenate([[0.0], np.cumsum(_THRESHOLDS)])
    found = np.exp(logs - logs.max(axis=-1, keepdims=True))
    return np.asarray(found / found.sum(axis=-1, keepdims=True))


def held_severities(kind: Panel, simulations: int) -> tuple[float, float, float]:
    """Return how often intervals of severities and of fair means hold, and the mean outfit."""
    generator, found = np.random.default_rng(SEED), np.zeros(3)
    fair = kind.fair_means()
    for _ in range(simulations):
        values, systems, documents = kind.values(generator)
        names = [str(index) for index in range(len(kind.severities))]
        model = rater_severity(values, [1, 2, 3, 4, 5], systems, documents, names)
        severities = zip((each.severity for each in model.raters), kind.severities, strict=True)
        means = zip((each.fair for each in model.systems), fair.tolist(), strict=True)
        found += [
            np.mean([each.low <= true <= each.high for each, true in severities]),
            np.mean([each.low <= true <= each.high for each, true in means]),
            np.mean([each.outfit for each in model.raters]),
        ]
    return float(found[0] / simulations), float(found[1] / simulations), float(found[2] / simulations)


def held_drifts(kind: Panel, simulations: int) -> tuple[float, float]:
    """Return how often intervals of changes hold, and how often raters who hold still are said to change.

    Every rater has an order of documents of the rater's own. The last rater drifts by steps at each third.
    """
    generator, held, rejected = np.random.default_rng(SEED), [], []
    for _ in range(simulations):
        times = np.array(
            [generator.permutation(kind.documents).repeat(kind.systems) for _ in kind.severities]
        )
        third = times * 3 // kind.documents
        moved = np.zeros(times.shape)
        moved[-1] = kind.drift * (third[-1] - 1) / 2
        values, systems, documents = kind.values(generator, moved)
        names = [str(index) for index in range(len(kind.severities))]
        found = severity_drift(values, times.astype(float), [1, 2, 3, 4, 5], systems, documents, names)
        for each, true in zip(found, [*[0.0] * (len(names) - 1), kind.drift], strict=True):
            if each.change is not None:
                held.append(each.change.low <= true <= each.change.high)
                if not true:
                    rejected.append((each.p_value or 1) <= LEVEL)
    return float(np.mean(held)), float(np.mean(rejected))


def found_misfits(kind: Panel, simulations: int, *, missing: float = 0.0, spoilt: str = "") -> float:
    """Return the share of panels that the model is said not to fit.

    missing: the share of values that are not given, at random. spoilt: by a rater who answers at random, or a
    system whose units are good or bad and nothing between.
    """
    generator, found = np.random.default_rng(SEED), 0
    for _ in range(simulations):
        values, systems, documents = kind.values(generator)
        if spoilt == "rater":
            values[-1] = generator.integers(1, 6, values.shape[1])
        elif spoilt == "system":
            own = np.array(systems) == "S0"
            good = generator.random(own.sum()) < 0.7
            values[:, own] = np.clip(
                np.where(good, 5, 2) + generator.integers(-1, 2, (len(values), own.sum())), 1, 5
            )
        values[generator.random(values.shape) < missing] = np.nan
        names = [str(index) for index in range(len(values))]
        found += rater_severity(values, [1, 2, 3, 4, 5], systems, documents, names).finds_misfit(LEVEL)
    return found / simulations


def report_severity(simulations: int) -> None:
    print(f"Share of 95 % intervals that hold, and mean outfit; {simulations:,} panels of each kind")
    for kind in (Panel(5), Panel(15), Panel(32), Panel(32, of_document=0.7)):
        severities, fair, fit = held_severities(kind, simulations)
        print(f"{kind.documents:>4} documents, shared {kind.of_document:g}", end="  ")
        print(f"severities {severities:.3f}  fair means {fair:.3f}  outfit {fit:.3f}")
    print("Changes from the first third of time to the last: intervals that hold, true nulls rejected at .05")
    for kind in (Panel(18), Panel(33), Panel(33, drift=0.8), Panel(33, of_document=0.7)):
        held, rejected = held_drifts(kind, simulations)
        print(f"{kind.documents:>4} documents, shared {kind.of_document:g}, drift {kind.drift:g}", end="  ")
        print(f"held {held:.3f}  rejected {rejected:.3f}", flush=True)
    print("Share of panels that the model is said not to fit, at .05")
    for kind in (Panel(12), Panel(32), Panel(32, of_document=0.7), Panel(100)):
        shares = [
            found_misfits(kind, simulations, **options)
            for options in ({}, {"missing": 0.4}, {"spoilt": "rater"}, {"spoilt": "system"})
        ]
        print(f"{kind.documents:>4} documents, shared {kind.of_document:g}", end="  ")
        names = ("true", "true, gaps", "rater at random", "system of two kinds")
        print("  ".join(f"{name} {share:.3f}" for name, share in zip(names, shares, strict=True)), flush=True)


SEED_OF_SPLITS = 20_261_128
CUTS = np.array([-1.5, -0.5, 0.5, 1.5])
PANELS = ((100, 3, 3), (400, 3, 3), (400, 3, 8), (200, 5, 5), (100, 10, 10))
"""Units, values of each unit, and raters of the panel."""
KINDS = ("model", "usual", "precise", "noisy", "uneven raters", "skewed", "slips")
SPLIT_SHARE = 0.05
CAMP = 1.7


@dataclass(frozen=True)
class MarkRates:
    """Shares of panels with a false mark without and with split units, false marks per panel, and more.

    rate: the mean share of false marks among marks. power: the share of split units that are marked.
    """

    any_false: float
    per_panel: float
    rate: float
    power: float


def draw_panel(
    kind: str, units: int, values: int, raters: int, split: int, generator: np.random.Generator
) -> ReliabilityData:
    """Values 1 to 5 of a latent quality, a severity of each rater and noise; the first units have camps."""
    severity = generator.normal(0, 0.3, raters)
    spread = {"precise": 0.3, "noisy": 1.0}.get(kind, 0.6)
    noise = spread * (
        np.exp(generator.normal(0, 0.4, raters)) if kind == "uneven raters" else np.ones(raters)
    )
    quality = generator.normal(1.5 if kind == "skewed" else 0, 1, units)
    who = generator.random((units, raters)).argsort(axis=1)[:, :values]
    camps = np.where(np.arange(values) < max(values // 2, 1), -CAMP, CAMP)
    latent = np.tile(quality[:, None], (1, values))
    latent[:split] = camps
    if kind == "model":
        given = _draw_from_model(1.5 * latent - severity[who], generator)
    else:
        seen = latent - severity[who] + noise[who] * generator.normal(size=latent.shape)
        given = np.searchsorted(CUTS, seen).astype(float)
    if kind == "slips":
        slipped = generator.random(given.shape) < 0.03
        given = np.where(slipped, generator.integers(0, 5, given.shape), given)
    table = np.full((raters, units), np.nan)
    table[who, np.arange(units)[:, None]] = given + 1
    return ReliabilityData(table, measurement_level="ordinal", value_domain=[1, 2, 3, 4, 5])


def _draw_from_model(where: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Return values 0 to 4 of the rating scale model with these differences of unit and severity."""
    costs = np.concatenate([[0.0], np.cumsum(CUTS)])
    logs = where[:, :, None] * np.arange(5) - costs
    return np.asarray((logs + generator.gumbel(size=logs.shape)).argmax(axis=2), dtype=float)


def mark_rates(kind: str, panel: tuple[int, int, int], simulations: int) -> MarkRates:
    """Return rates of marked units in panels of noise, and in panels with split units."""
    generator = np.random.default_rng(SEED_OF_SPLITS)
    units = panel[0]
    number = round(SPLIT_SHARE * units)
    alone, rates, powers = [], [], []
    for _ in range(simulations):
        noise = split_units(draw_panel(kind, *panel, 0, generator), generator=generator)
        alone.append(len(noise.splitting))
        mixed = split_units(draw_panel(kind, *panel, number, generator), generator=generator).splitting
        false = sum(each.unit >= number for each in mixed)
        rates.append(false / max(len(mixed), 1))
        powers.append((len(mixed) - false) / number)
    counts = np.array(alone)
    return MarkRates(
        float((counts > 0).mean()), float(counts.mean()), float(np.mean(rates)), float(np.mean(powers))
    )


def report_splits(simulations: int) -> None:
    print(f"Units marked as splitting raters (false discovery rate .05); {simulations:,} panels of each kind")
    print(
        f"{'units':>6}{'values':>7}{'raters':>7}  {'noise':<14}{'panels with a':>14}{'false marks':>12}"
        f"{'with 5 % split units:':>23}"
    )
    print(f"{'':36}{'false mark':>12}{'per panel':>12}{'false share':>13}{'found':>8}")
    for panel in PANELS:
        for kind in KINDS:
            found = mark_rates(kind, panel, simulations)
            print(
                f"{panel[0]:>6}{panel[1]:>7}{panel[2]:>7}  {kind:<14}{found.any_false:>12.3f}"
                f"{found.per_panel:>12.3f}{found.rate:>13.3f}{found.power:>8.2f}",
                flush=True,
            )
