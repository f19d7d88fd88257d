"""How often units are marked that do not split raters (`coverage.py splits`)."""

from dataclasses import dataclass

import numpy as np

from agreement import ReliabilityData, split_units
from agreement.data import FloatArray

SEED = 20_261_128
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
    generator = np.random.default_rng(SEED)
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
    """Print a line for each panel and kind of noise."""
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
