"""How often intervals of the other coefficients of ratings hold (`coverage.py others`)."""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np

from agreement import COEFFICIENTS, MEASURES, Coefficient, ReliabilityData, Resampling, spearman
from agreement.comparison import Level, Scores, correlation_with_humans
from agreement.data import FloatArray
from agreement.drift import OrderEffect, carry_over, position_effect
from benchmarks.simulated import measure_coverage, on_scale

SEED = 20_261_126
PLAN = Resampling(by="documents", replicates=500)
TEXTS, PEOPLE = 4, 3
SEVERITIES = np.array([-0.2, 0.0, 0.2])
MEANS = (3.0, 4.2)
SIZES = (12, 30, 100)
_MANY, _MANY_RATERS = 10_000, 100
Drawn = Callable[[int, np.random.Generator], Iterator[tuple[str, Coefficient]]]


def draw_ratings(
    mean: float, documents: int, severities: FloatArray, generator: np.random.Generator
) -> FloatArray:
    """(raters, documents * texts): whole points from 1 to 5; texts of a document are alike."""
    quality = 0.5 * generator.normal(size=(documents, 1)) + 0.7 * generator.normal(size=(documents, TEXTS))
    seen = mean + quality + severities[:, None, None]
    seen = seen + 0.3 * generator.normal(size=(len(severities), documents, 1))  # a rater's mood
    return on_scale(seen + 0.6 * generator.normal(size=seen.shape)).reshape(len(severities), -1)


def coefficients(
    mean: float, documents: int, generator: np.random.Generator, *, severities: FloatArray = SEVERITIES
) -> Iterator[tuple[str, Coefficient]]:
    """Yield every coefficient of one project's ratings with its interval; ICC's is by F distributions."""
    ratings = draw_ratings(mean, documents, severities, generator)
    of_document = np.repeat(np.arange(documents), TEXTS)
    data = ReliabilityData(
        ratings, measurement_level="interval", value_domain=[1, 2, 3, 4, 5], documents=of_document
    )
    for name, coefficient in COEFFICIENTS.items():
        if not name.startswith("icc"):
            yield name, coefficient(data, generator=generator, resampling=PLAN)
    judge, people = ratings[0], ratings[1:]
    for name, measure in MEASURES.items():
        found = measure(
            judge, people.mean(axis=0), documents=of_document, generator=generator, resampling=PLAN
        )
        yield name, found
    scores = Scores(
        systems=np.tile(np.arange(TEXTS), documents), documents=of_document, human=people, judge=judge
    )
    within = correlation_with_humans(scores, spearman, Level.DOCUMENT, generator=generator, resampling=PLAN)
    yield "spearman within documents", within


def icc_of_a_new_panel(
    mean: float, documents: int, generator: np.random.Generator, *, raters: int = PEOPLE
) -> Iterator[tuple[str, Coefficient]]:
    """Yield ICC's forms of units that are independent of each other, with raters drawn anew."""
    severities = 0.2 * generator.normal(size=raters)
    ratings = draw_ratings(mean, documents * TEXTS, severities, generator)[:, ::TEXTS]
    data = ReliabilityData(ratings, measurement_level="interval", value_domain=[1, 2, 3, 4, 5])
    for name, coefficient in COEFFICIENTS.items():
        if name.startswith("icc"):
            yield name, coefficient(data)


def truth_of_panels(mean: float, generator: np.random.Generator) -> dict[str, float]:
    """Return ICC as very many raters and units show it, with Spearman and Brown's formula for three."""
    many = dict(icc_of_a_new_panel(mean, 2_000, generator, raters=_MANY_RATERS))
    one = many["icc_a1"].value or 0.0
    share = (many["icc_ck"].value or 0.0) / _MANY_RATERS  # of k raters r k / (1 + (k - 1) r)
    consistent = share / (1 - share * (_MANY_RATERS - 1))
    return {"icc_a1": one, "icc_ak": of_three(one), "icc_ck": of_three(consistent)}


def of_three(one: float) -> float:
    """Return the reliability of the mean of three raters from that of one."""
    return PEOPLE * one / (1 + (PEOPLE - 1) * one)


def rejected_order_effects(documents: int, simulations: int) -> tuple[float, float]:
    """Return how often position and the value before are said to matter where neither does."""
    generator = np.random.default_rng([SEED, documents])
    of_document = np.repeat(np.arange(documents), TEXTS)
    positions = np.tile(np.arange(TEXTS), documents)
    found = []
    for _ in range(simulations):
        values = draw_ratings(4.2, documents, np.zeros(1), generator)[0]
        effects: list[OrderEffect] = [
            each(values, of_document, positions) for each in (position_effect, carry_over)
        ]
        found.append([each.p_value is not None and each.p_value <= 0.05 for each in effects])
    position, before = np.mean(found, axis=0)
    return float(position), float(before)


def report_others(simulations: int) -> None:
    print(f"Share of 95 % intervals that hold (nominal .95); {simulations:,} projects of each kind")
    for mean in MEANS:
        generator = np.random.default_rng(SEED)
        many = {name: found.value or 0.0 for name, found in coefficients(mean, _MANY, generator)}
        _print(mean, many, partial(coefficients, mean), simulations)
        panels = truth_of_panels(mean, generator)
        _print(mean, panels, partial(icc_of_a_new_panel, mean), simulations)
    for documents in SIZES:
        position, before = rejected_order_effects(documents, simulations)
        print(
            f"order effects, {documents} documents (level .05): position {position:.3f}, before {before:.3f}"
        )


def _print(mean: float, truth: dict[str, float], drawn: Drawn, simulations: int) -> None:
    shares = {
        size: measure_coverage(
            lambda generator, size=size: ((name, each.interval) for name, each in drawn(size, generator)),  # type: ignore[misc]
            truth,
            simulations,
            np.random.default_rng([SEED, size]),
        )
        for size in SIZES
    }
    for name in truth:
        of_sizes = "  ".join(f"{size}: {shares[size][name][0]:.3f}" for size in SIZES)
        print(f"around {mean:g}  {name:<28}{truth[name]:>7.3f}  {of_sizes}", flush=True)
