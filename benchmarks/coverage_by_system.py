"""How often intervals of P and R of one system hold (`coverage.py by_system`)."""

import numpy as np

from agreement import PairMeasure
from agreement.comparison import (
    CORRELATIONS,
    Scores,
    SystemCoefficient,
    correlation_by_system,
    reliability_by_system,
)
from agreement.data import FloatArray

SEED = 20_261_128
TEXTS = ((0.15, 3.2), (0.45, 3.2), (0.8, 3.2), (0.45, 4.4), (0.8, 4.4))
"""Correlation of a judge's view of a text with people's, and the mean of texts on a scale from 1 to 5."""
SIZES = (12, 40, 100)
_MANY = 200_000


def draw_judged(
    goes_with: float, mean: float, size: int, generator: np.random.Generator
) -> tuple[Scores, FloatArray]:
    """Return one system's texts with three people and a judge, and the values of a second judge."""
    text, *errors = generator.normal(size=(3, size))
    seen = [goes_with * text + np.sqrt(1 - goes_with**2) * error for error in errors]
    people = mean + 0.7 * text + 0.4 * generator.normal(size=(3, size))
    judge, second = (np.clip(np.round(mean + 0.7 * each), 1, 5) for each in (seen[0], text))
    scores = Scores(
        systems=np.zeros(size, dtype=int),
        documents=np.arange(size),
        human=np.clip(np.round(people), 1, 5),
        judge=judge,
    )
    return scores, second


def held_by_system(
    measure: PairMeasure, goes_with: float, mean: float, size: int, simulations: int
) -> tuple[float, float, float]:
    """Return which share of intervals of P, and of R, hold the value of endless items; and how many exist."""
    generator = np.random.default_rng([SEED, size])
    many, second = draw_judged(goes_with, mean, _MANY, generator)
    true = [each.coefficient.value for each in _both(measure, many, second)]
    held: list[list[bool]] = [[], []]
    for _ in range(simulations):
        found = _both(measure, *draw_judged(goes_with, mean, size, generator), generator)
        for kept, each, value in zip(held, found, true, strict=True):
            interval = each.coefficient.interval
            if interval and value is not None:
                kept.append(interval.low <= value <= interval.high)
    exist = sum(map(len, held)) / (2 * simulations)
    return float(np.mean(held[0])), float(np.mean(held[1])), exist


def _both(
    measure: PairMeasure, scores: Scores, second: FloatArray, generator: np.random.Generator | None = None
) -> tuple[SystemCoefficient, ...]:
    return (
        *correlation_by_system(scores, measure, generator=generator),
        *reliability_by_system(scores, second, measure, generator=generator),
    )


def report_by_system(simulations: int) -> None:
    """Print a line for each correlation and kind of texts."""
    print(f"Share of 95 % intervals of P and R that hold (nominal .95); {simulations:,} systems of each kind")
    for name, measure in CORRELATIONS.items():
        for goes_with, mean in TEXTS:
            print(f"{name:<14} judge goes with people by {goes_with:g}, texts around {mean:g}", end="")
            for size in SIZES:
                agreement, indicator, exist = held_by_system(measure, goes_with, mean, size, simulations)
                print(f"   {size} items: P {agreement:.3f} R {indicator:.3f} ({exist:.2f} exist)", end="")
            print(flush=True)
