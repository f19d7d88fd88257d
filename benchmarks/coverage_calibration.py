"""How often intervals of a judge's calibration and distribution cover (`coverage.py calibration`)."""

import numpy as np

from agreement import Coefficient
from agreement.comparison import confidence_calibration, sample_distributions
from agreement.data import FloatArray

SEED = 20_261_128
ITEMS_OF_DOCUMENT = 4
SIZES = (60, 200, 800)
OVERCONFIDENCE = (0.0, 0.1, 0.25)
SAMPLES = (5, 20)
_ENDLESS = 200_000


def draw_judge(
    items: int, samples: int, overconfidence: float, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """(items,), (items,): shares of samples at the mode, and the chance that the judge is right."""
    confidence = np.clip(np.ceil(generator.beta(4, 1.5, items) * samples), 1, samples) / samples
    return confidence, np.clip(confidence - overconfidence, 0, 1)


def held_calibration(
    items: int, samples: int, overconfidence: float, simulations: int
) -> tuple[float, float, float]:
    """Return the true error, and how often the intervals of the error and of the overconfidence hold."""
    generator = np.random.default_rng(SEED)
    confidence, chance = draw_judge(_ENDLESS, samples, overconfidence, generator)
    positions = np.ceil(confidence * 10 - 1e-9).astype(int)
    error = float(np.abs(np.bincount(positions, confidence - chance)).sum() / _ENDLESS)
    over = float((confidence - chance).mean())
    held = []
    for _ in range(simulations):
        confidence, chance = draw_judge(items, samples, overconfidence, generator)
        right = (generator.random(items) < chance).astype(float)
        documents = np.arange(items) // ITEMS_OF_DOCUMENT
        found = confidence_calibration(confidence, right, documents=documents, generator=generator)
        held.append((_holds(found.error, error), _holds(found.overconfidence, over)))
    return error, *np.mean(held, axis=0).tolist()


def held_energy(items: int, people: int, simulations: int) -> tuple[float, float]:
    """Return how often the intervals of a judge that samples as people do hold 0.

    Of the energy distance and of the difference of total variation.
    """
    generator = np.random.default_rng(SEED)
    held = []
    for _ in range(simulations):
        documents = np.arange(items) // ITEMS_OF_DOCUMENT
        quality = (
            generator.normal(3, 0.8, items) + generator.normal(0, 0.6, items // ITEMS_OF_DOCUMENT)[documents]
        )
        noise = generator.normal(0, 0.8, (items, people + 10))
        values = np.clip(np.round(quality[:, None] + noise), 1, 5)
        found = sample_distributions(
            values[:, people:],
            values[:, :people].T,
            [1, 2, 3, 4, 5],
            documents=documents,
            generator=generator,
        )
        held.append((_holds(found.energy, 0), _holds(found.total_variation.difference, 0)))
    energy, variation = np.mean(held, axis=0).tolist()
    return energy, variation


def _holds(found: Coefficient, truth: float) -> bool:
    interval = found.interval
    return interval is not None and interval.low <= truth <= interval.high


def report_calibration(simulations: int) -> None:
    """Print a line for each size, number of samples and overconfidence."""
    print(f"Share of 95 % intervals that hold (nominal .95); {simulations:,} of each kind")
    print(
        f"{'items':>6}{'samples':>8}{'too sure by':>12}{'true error':>11}{'error':>7}{'overconfidence':>15}"
    )
    for items in SIZES:
        for samples in SAMPLES:
            for over in OVERCONFIDENCE:
                error, of_error, of_over = held_calibration(items, samples, over, simulations)
                print(
                    f"{items:>6}{samples:>8}{over:>12g}{error:>11.3f}{of_error:>7.3f}{of_over:>15.3f}",
                    flush=True,
                )
    print("A judge of ten samples with the distribution of people's values: intervals that hold 0")
    print(f"{'items':>6}{'people':>8}{'energy distance':>17}{'total variation':>17}")
    for items in SIZES:
        for people in (3, 6):
            energy, variation = held_energy(items, people, simulations)
            print(f"{items:>6}{people:>8}{energy:>17.3f}{variation:>17.3f}", flush=True)
