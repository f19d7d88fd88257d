"""How often intervals of standard deviations and of one category's F1 hold (`coverage.py spread`)."""

import numpy as np

from annotate.agreement.data import FloatArray
from annotate.agreement.deviation_interval import deviation_interval
from judges.comparison.ratio_interval import ratio_interval

SEED = 20_261_124
SPREADS = ((3.2, 0.8), (4.2, 0.8), (4.9, 0.8))
"""Means and standard deviations of texts before they are rated from 1 to 5."""
RARE = ((0.05, 0.8), (0.05, 0.95), (0.2, 0.8), (0.2, 0.95), (0.5, 0.8), (0.5, 0.95))
"""Shares of texts of a category, and how often a judge is right."""
_MANY = 200_000


def _mean_of_three(spread: tuple[float, float], size: int, generator: np.random.Generator) -> FloatArray:
    quality = generator.normal(*spread, size=size)
    return np.asarray(np.clip(np.round(quality + 0.6 * generator.normal(size=(3, size))), 1, 5).mean(axis=0))


def held_deviations(spread: tuple[float, float], size: int, simulations: int) -> float:
    """Return the share of intervals from so many texts that hold the standard deviation of all."""
    generator = np.random.default_rng(SEED)
    true = _mean_of_three(spread, _MANY, generator).std()
    held = 0
    for _ in range(simulations):
        interval, _ = deviation_interval(_mean_of_three(spread, size, generator))
        held += interval is not None and interval.low <= true <= interval.high
    return held / simulations


def _documents(
    share: float, accuracy: float, documents: int, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """(documents,) hits and sizes of a category's F1: four texts each, three people who are right in .9."""
    in_document = generator.beta(6 * share, 6 * (1 - share), size=(documents, 1))
    truth = generator.random((documents, 4)) < in_document
    people = np.where(generator.random((3, documents, 4)) < 0.9, truth, ~truth).mean(axis=0)
    judge = np.where(generator.random((documents, 4)) < accuracy, truth, ~truth)
    return (people * judge).sum(axis=1), ((people + judge) / 2).sum(axis=1)


def held_f1(share: float, accuracy: float, documents: int, simulations: int) -> float:
    """Return the share of intervals from so many documents that hold F1, of those that there are."""
    generator = np.random.default_rng(SEED)
    hits, sizes = _documents(share, accuracy, _MANY, generator)
    true, held = hits.sum() / sizes.sum(), []
    for _ in range(simulations):
        interval, _ = ratio_interval(*_documents(share, accuracy, documents, generator))
        if interval:
            held.append(interval.low <= true <= interval.high)
    return float(np.mean(held))


def report_spread(simulations: int) -> None:
    """Print a line for each kind of values."""
    print(f"Share of 95 % intervals that hold (nominal .95); {simulations:,} samples of each kind")
    for spread in SPREADS:
        shares = [f"{size}: {held_deviations(spread, size, simulations):.3f}" for size in (12, 20, 32, 100)]
        print(f"standard deviation, texts around {spread[0]:g}  {'  '.join(shares)}", flush=True)
    for share, accuracy in RARE:
        shares = [f"{size}: {held_f1(share, accuracy, size, simulations):.3f}" for size in (12, 30, 100)]
        print(f"F1, category in {share:g}, judge right in {accuracy:g}  {'  '.join(shares)}", flush=True)
