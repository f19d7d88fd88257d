"""Intervals of deviations, F1 and accuracies (`coverage.py spread`), and of calibration (`calibration`)."""

import numpy as np

from agreement.biases import spread_ratio
from agreement.comparison import Scores, confidence_calibration, sample_distributions, text_preferences
from agreement.data import FloatArray
from agreement.student import ratio_interval
from agreement.summary import deviation_interval
from benchmarks.simulated import covers, on_scale

SEED = 20_261_124
SPREADS = ((3.2, 0.8), (4.2, 0.8), (4.9, 0.8))
"""Means and standard deviations of texts before they are rated from 1 to 5."""
RARE = ((0.05, 0.8), (0.05, 0.95), (0.2, 0.8), (0.2, 0.95), (0.5, 0.8), (0.5, 0.95))
"""Shares of texts of a category, and how often a judge is right."""
PREFERRING = ((4, 0.3), (4, 1.2), (12, 0.7))
"""Systems, and the standard deviation of a judge's errors in points."""
RATIO_MEANS = (None, 3.0, 4.2, 4.8)
_MANY = 200_000


def _mean_of_three(spread: tuple[float, float], size: int, generator: np.random.Generator) -> FloatArray:
    quality = generator.normal(*spread, size=size)
    return np.asarray(on_scale(quality + 0.6 * generator.normal(size=(3, size))).mean(axis=0))


def held_deviations(spread: tuple[float, float], size: int, simulations: int) -> float:
    """Return the share of intervals from so many texts that hold the standard deviation of all."""
    generator = np.random.default_rng(SEED)
    true = _mean_of_three(spread, _MANY, generator).std()
    held = 0
    for _ in range(simulations):
        interval, _ = deviation_interval(_mean_of_three(spread, size, generator))
        held += covers(interval, true)
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


def held_text_preferences(systems: int, documents: int, noise: float, simulations: int) -> float:
    """Return the share of intervals of the accuracy on preferences between texts that hold that of all."""
    generator = np.random.default_rng(SEED)
    quality = generator.normal(0, 0.6, systems)
    many = _preferences(quality, _MANY // systems**2, noise, generator)
    true, held = text_preferences(*many).accuracy.value, []
    assert true is not None
    for _ in range(simulations):
        found = text_preferences(*_preferences(quality, documents, noise, generator)).accuracy
        if found.interval:
            held.append(found.interval.low <= true <= found.interval.high)
    return float(np.mean(held))


def _preferences(
    quality: FloatArray, documents: int, noise: float, generator: np.random.Generator
) -> tuple[FloatArray, FloatArray]:
    """(documents, pairs) points by a judge, better in some documents than in others, and by three people."""
    texts = quality + generator.normal(0, 0.7, (documents, len(quality)))
    people = on_scale(3 + texts + generator.normal(0, 0.6, (3, *texts.shape))).mean(axis=0)
    of_document = noise * np.exp(generator.normal(0, 0.5, (documents, 1)))
    judge = on_scale(3 + texts + of_document * generator.normal(size=texts.shape))
    first, second = np.triu_indices(len(quality), 1)
    by_judge, by_people = ((1 + np.sign(each[:, first] - each[:, second])) / 2 for each in (judge, people))
    return by_judge, by_people


def _judge_like_people(
    mean: float | None, documents: int, generator: np.random.Generator, systems: int = 4, people: int = 3
) -> Scores:
    """Four texts of each document, rated alike by a judge and three people; whole points from 1 to 5 around
    a mean, or any numbers without one.
    """
    of_document, of_system = (
        each.ravel() for each in np.meshgrid(np.arange(documents), np.arange(systems), indexing="ij")
    )
    quality = 0.6 * generator.normal(size=documents)[of_document] + 0.55 * (of_system - (systems - 1) / 2)
    quality += 0.5 * generator.normal(size=len(quality))
    values = quality + 0.5 * generator.normal(size=(people + 1, len(quality)))
    if mean is not None:
        values = on_scale(values + mean)
    return Scores(systems=of_system, documents=of_document, human=values[1:], judge=values[0])


def held_ratios(mean: float | None, documents: int, simulations: int) -> float:
    """Return the share of intervals of the SD ratio that hold 1, of those that there are."""
    generator, held = np.random.default_rng(SEED), []
    for _ in range(simulations):
        bias = spread_ratio(_judge_like_people(mean, documents, generator), generator=generator)
        if bias.is_apart is not None:
            held.append(not bias.is_apart)
    return float(np.mean(held))


def report_spread(simulations: int) -> None:
    print(f"Share of 95 % intervals that hold (nominal .95); {simulations:,} samples of each kind")
    for spread in SPREADS:
        shares = [f"{size}: {held_deviations(spread, size, simulations):.3f}" for size in (12, 20, 32, 100)]
        print(f"standard deviation, texts around {spread[0]:g}  {'  '.join(shares)}", flush=True)
    for mean in RATIO_MEANS:
        shares = [f"{size}: {held_ratios(mean, size, simulations):.3f}" for size in (12, 20, 60, 100)]
        around = "any numbers" if mean is None else f"points around {mean:g}"
        print(f"ratio of standard deviations, {around}  {'  '.join(shares)}", flush=True)
    for share, accuracy in RARE:
        shares = [f"{size}: {held_f1(share, accuracy, size, simulations):.3f}" for size in (12, 30, 100)]
        print(f"F1, category in {share:g}, judge right in {accuracy:g}  {'  '.join(shares)}", flush=True)
    for systems, noise in PREFERRING:
        held = ((size, held_text_preferences(systems, size, noise, simulations)) for size in (10, 30, 100))
        shares = [f"{size}: {share:.3f}" for size, share in held]
        print(
            f"preferences between texts, {systems} systems, noise {noise:g}  {'  '.join(shares)}", flush=True
        )


SEED_OF_CALIBRATION = 20_261_128
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
    generator = np.random.default_rng(SEED_OF_CALIBRATION)
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
        held.append((covers(found.error.interval, error), covers(found.overconfidence.interval, over)))
    return error, *np.mean(held, axis=0).tolist()


def held_energy(items: int, people: int, simulations: int) -> tuple[float, float]:
    """Return how often the intervals of a judge that samples as people do hold 0.

    Of the energy distance and of the difference of total variation.
    """
    generator = np.random.default_rng(SEED_OF_CALIBRATION)
    held = []
    for _ in range(simulations):
        documents = np.arange(items) // ITEMS_OF_DOCUMENT
        quality = (
            generator.normal(3, 0.8, items) + generator.normal(0, 0.6, items // ITEMS_OF_DOCUMENT)[documents]
        )
        noise = generator.normal(0, 0.8, (items, people + 10))
        values = on_scale(quality[:, None] + noise)
        found = sample_distributions(
            values[:, people:],
            values[:, :people].T,
            [1, 2, 3, 4, 5],
            documents=documents,
            generator=generator,
        )
        held.append((covers(found.energy.interval, 0), covers(found.total_variation.difference.interval, 0)))
    energy, variation = np.mean(held, axis=0).tolist()
    return energy, variation


def report_calibration(simulations: int) -> None:
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
