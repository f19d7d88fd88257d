"""Intervals of P and R of one system (`coverage.py by_system`), and of M (`coverage.py meta`)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from agreement import Interval, PairMeasure, spearman
from agreement.comparison import (
    CORRELATIONS,
    Scores,
    SystemCoefficient,
    correlation_by_system,
    reliability_by_system,
)
from agreement.data import FloatArray
from agreement.reliability import meta_correlation
from benchmarks.simulated import measure_coverage, on_scale

SEED = 20_261_128
TEXTS = ((0.15, 3.2), (0.45, 3.2), (0.8, 3.2), (0.45, 4.4), (0.8, 4.4))
"""Correlation of a judge's view of a text with people's, and the mean of texts on a scale from 1 to 5."""
ITEMS = (12, 40, 100)
_MANY = 200_000


def draw_judged(
    goes_with: float, mean: float, size: int, generator: np.random.Generator
) -> tuple[Scores, FloatArray]:
    """Return one system's texts with three people and a judge, and the values of a second judge."""
    text, *errors = generator.normal(size=(3, size))
    seen = [goes_with * text + np.sqrt(1 - goes_with**2) * error for error in errors]
    people = mean + 0.7 * text + 0.4 * generator.normal(size=(3, size))
    judge, second = (on_scale(mean + 0.7 * each) for each in (seen[0], text))
    scores = Scores(
        systems=np.zeros(size, dtype=int),
        documents=np.arange(size),
        human=on_scale(people),
        judge=judge,
    )
    return scores, second


def held_by_system(
    measure: PairMeasure, goes_with: float, mean: float, size: int, simulations: int
) -> tuple[float, float, float]:
    """Return the coverage of P and R in the population, and the share of defined intervals."""
    generator = np.random.default_rng([SEED, size])
    many, second = draw_judged(goes_with, mean, _MANY, generator)
    true = [each.coefficient.value or 0.0 for each in _both(measure, many, second)]

    def draw(generator: np.random.Generator) -> Iterator[tuple[str, Interval | None]]:
        found = _both(measure, *draw_judged(goes_with, mean, size, generator), generator)
        return ((name, each.coefficient.interval) for name, each in zip("PR", found, strict=True))

    shares = measure_coverage(draw, dict(zip("PR", true, strict=True)), simulations, generator)
    return shares["P"][0], shares["R"][0], (shares["P"][1] + shares["R"][1]) / 2


def _both(
    measure: PairMeasure, scores: Scores, second: FloatArray, generator: np.random.Generator | None = None
) -> tuple[SystemCoefficient, ...]:
    return (
        *correlation_by_system(scores, measure, generator=generator),
        *reliability_by_system(scores, second, measure, generator=generator),
    )


def report_by_system(simulations: int) -> None:
    print(f"Share of 95 % intervals of P and R that hold (nominal .95); {simulations:,} systems of each kind")
    for name, measure in CORRELATIONS.items():
        for goes_with, mean in TEXTS:
            print(f"{name:<14} judge goes with people by {goes_with:g}, texts around {mean:g}", end="")
            for size in ITEMS:
                agreement, indicator, exist = held_by_system(measure, goes_with, mean, size, simulations)
                print(f"   {size} items: P {agreement:.3f} R {indicator:.3f} ({exist:.2f} exist)", end="")
            print(flush=True)


SEED_OF_META = 20_261_125
SYSTEMS, PEOPLE = 12, 3
DECLINES = (0.05, 0.2, 0.35)
"""By how much the correlation of a judge and people falls from the middle to the best system."""
DOCUMENTS = (30, 100)
_ENDLESS, _AVERAGED = 6_000, 300


@dataclass(frozen=True)
class HeldMeta:
    """M in the population, the mean M of samples of this size, and the coverage of each."""

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
        human=on_scale(people).reshape(PEOPLE, -1),
        judge=on_scale(quality + 0.7 * seen).ravel(),
    )


def held_meta(decline: float, documents: int, simulations: int) -> HeldMeta:
    """Return the coverage of M in the population, and of the mean M of samples of this size."""
    generator = np.random.default_rng(SEED_OF_META)
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
    print(f"Share of 95 % intervals of M (Spearman) that hold (nominal .95); {simulations:,} of each kind")
    print(
        f"{'decline':>8}{'documents':>10}{'M of so many':>14}{'held':>7}"
        f"{'M of endless':>14}{'held':>7}{'width':>7}"
    )
    for decline in DECLINES:
        for documents in DOCUMENTS:
            found = held_meta(decline, documents, simulations)
            print(
                f"{decline:>8g}{documents:>10}{found.of_so_many:>14.2f}{found.held_of_so_many:>7.3f}"
                f"{found.endless:>14.2f}{found.held_endless:>7.3f}{found.width:>7.2f}",
                flush=True,
            )
