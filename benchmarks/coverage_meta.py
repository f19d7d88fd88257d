"""How often intervals of the meta-correlation M hold (`coverage.py meta`)."""

from dataclasses import dataclass

import numpy as np

from agreement import spearman
from agreement.comparison import Scores
from agreement.reliability import meta_correlation

SEED = 20_261_125
SYSTEMS, PEOPLE = 12, 3
DECLINES = (0.05, 0.2, 0.35)
"""By how much the correlation of a judge and people falls from the middle to the best system."""
SIZES = (30, 100)
_ENDLESS, _AVERAGED = 6_000, 300


@dataclass(frozen=True)
class HeldMeta:
    """M of endless documents and the mean M of so many, and how often the interval held each."""

    endless: float
    of_so_many: float
    held_endless: float
    held_of_so_many: float
    width: float


def draw_scores(decline: float, documents: int, generator: np.random.Generator) -> Scores:
    """Texts of twelve systems in whole points from 1 to 5; a judge agrees less the better a system is."""
    quality = 3.2 + 0.12 * np.arange(SYSTEMS)
    middle = (SYSTEMS - 1) / 2
    agreement = np.clip(0.45 - decline * (np.arange(SYSTEMS) - middle) / middle, 0.02, 0.95)
    size = documents, SYSTEMS
    text, error = generator.normal(size=(2, *size))
    seen = agreement * text + np.sqrt(1 - agreement**2) * error
    people = quality + 0.7 * text + 0.4 * generator.normal(size=(PEOPLE, *size))
    return Scores(
        systems=np.tile(np.arange(SYSTEMS), documents),
        documents=np.repeat(np.arange(documents), SYSTEMS),
        human=np.clip(np.round(people), 1, 5).reshape(PEOPLE, -1),
        judge=np.clip(np.round(quality + 0.7 * seen), 1, 5).ravel(),
    )


def held_meta(decline: float, documents: int, simulations: int) -> HeldMeta:
    """Return how often the interval holds what endless documents show, and what so many show on average."""
    generator = np.random.default_rng(SEED)
    endless = _value(draw_scores(decline, _ENDLESS, generator))
    mean = float(np.mean([_value(draw_scores(decline, documents, generator)) for _ in range(_AVERAGED)]))
    bounds = []
    for _ in range(simulations):
        scores = draw_scores(decline, documents, generator)
        if interval := meta_correlation(scores, spearman, generator=generator).interval:
            bounds.append((interval.low, interval.high))
    low, high = np.array(bounds).T
    held_endless, held_mean = (float(np.mean((low <= each) & (each <= high))) for each in (endless, mean))
    return HeldMeta(endless, mean, held_endless, held_mean, float(np.mean(high - low)))


def _value(scores: Scores) -> float:
    value = meta_correlation(scores, spearman).value
    return np.nan if value is None else value


def report_meta(simulations: int) -> None:
    """Print a line for each decline and number of documents."""
    print(f"Share of 95 % intervals of M (Spearman) that hold (nominal .95); {simulations:,} of each kind")
    print(
        f"{'decline':>8}{'documents':>10}{'M of so many':>14}{'held':>7}"
        f"{'M of endless':>14}{'held':>7}{'width':>7}"
    )
    for decline in DECLINES:
        for documents in SIZES:
            found = held_meta(decline, documents, simulations)
            print(
                f"{decline:>8g}{documents:>10}{found.of_so_many:>14.2f}{found.held_of_so_many:>7.3f}"
                f"{found.endless:>14.2f}{found.held_endless:>7.3f}{found.width:>7.2f}",
                flush=True,
            )
