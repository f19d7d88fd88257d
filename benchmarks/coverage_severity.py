"""How often intervals of severities and fair means hold (`coverage.py severity`)."""

from dataclasses import dataclass

import numpy as np

from agreement import rater_severity, severity_drift
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
    """Print a line for each kind of panel."""
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
