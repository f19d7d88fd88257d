"""Coverage of intervals for labels, preferences, rankings, spans and parts (`coverage.py questions`)."""

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from agreement import (
    LabelAnswers,
    MarkedSpan,
    Rankings,
    Resampling,
    SpannedText,
    SpanWeights,
    agreement_by_label,
    best_worst_scores,
    label_alpha,
    label_rates,
    mean_concordance,
    mqm_alpha,
    plackett_luce,
    ranking_alpha,
    share_of_yes,
    span_f1,
)
from agreement.comparison import PairwiseAnswers, preference_alpha, share_of_agreement
from agreement.data import FloatArray

SEED = 20_261_128
SIZES = (12, 30, 100)
PLAN = Resampling(by="documents", replicates=500)
RATERS, ITEMS = 3, 4
STRENGTHS = np.array([0.8, 0.3, 0.0, -0.3, -0.8])
RATES = np.array([0.5, 0.2, 0.05])
RARE = np.array([0.06, 0.04, 0.01])
"""Rates of labels with which nine of ten items have none."""
_MANY = 10_000
Found = Iterator[tuple[str, float, float | None, float | None]]
"""Name, value and ends of each interval."""


def draw_labels(documents: int, generator: np.random.Generator) -> Found:
    """Yield statistics of labels that a half, a fifth and a twentieth of the items have."""
    answers = _draw_sets(RATES, documents, generator)
    yield _named("MASI alpha", label_alpha(answers, generator=generator, resampling=PLAN))
    for each in agreement_by_label(answers):
        yield _named(f"F1, rate {RATES[int(str(each.label))]:g}", each.f1)
    for rate in label_rates(answers, ["S"] * answers.given.shape[1]):
        yield _named(f"rate {RATES[int(str(rate.label))]:g}", rate.rate)
    rare = _draw_sets(RARE, documents, generator)
    yield _named("MASI alpha, rare", label_alpha(rare, generator=generator, resampling=PLAN))


def _draw_sets(rates: FloatArray, documents: int, generator: np.random.Generator) -> LabelAnswers:
    """Sets by raters who miss a label more often on some documents than on others."""
    in_document = generator.beta(6 * rates, 6 * (1 - rates), size=(documents, len(rates)))
    truth = generator.random((documents * ITEMS, len(rates))) < np.repeat(in_document, ITEMS, axis=0)
    sure = np.repeat(generator.beta(18, 2, size=documents), ITEMS)[None, :, None]
    missed = generator.random((RATERS, *truth.shape)) > sure
    found = generator.random((RATERS, *truth.shape)) < (1 - sure) * rates
    given = np.where(truth, ~missed, found)
    rows = [[frozenset(np.flatnonzero(unit).tolist()) for unit in row] for row in given]
    return LabelAnswers(rows, labels=range(len(rates)), documents=np.repeat(np.arange(documents), ITEMS))


def draw_preferences(documents: int, generator: np.random.Generator) -> Found:
    """Yield agreement on comparisons of five systems' outputs; raters agree more on some documents."""
    pairs = generator.integers(5, size=(documents, ITEMS))
    others = (pairs + generator.integers(1, 5, size=pairs.shape)) % 5
    clear = generator.gamma(2, 0.6, size=(documents, 1))
    better = STRENGTHS[pairs] - STRENGTHS[others] + clear * generator.normal(size=pairs.shape)
    values = better + generator.normal(size=(RATERS, *pairs.shape))
    answers = PairwiseAnswers(
        np.clip(np.round(values), -2, 2).reshape(RATERS, -1),
        first=[str(one) for one in pairs.ravel()],
        second=[str(other) for other in others.ravel()],
        documents=np.repeat(np.arange(documents), ITEMS),
        strongest=2,
    )
    for name, by_strength in (("alpha of winners", False), ("alpha of strength", True)):
        alpha = preference_alpha(answers, by_strength=by_strength, generator=generator, resampling=PLAN)
        yield _named(name, alpha)
    yield _named("same winner", share_of_agreement(answers, generator=generator, resampling=PLAN))


def draw_rankings(documents: int, generator: np.random.Generator) -> Found:
    """Yield statistics of rankings of four of five systems, by three raters who look at the same outputs."""
    quality = STRENGTHS + generator.gumbel(size=(documents, 5))
    seen = quality + generator.normal(0, 0.7, size=(RATERS, documents, 5))
    left_out = generator.integers(5, size=documents)
    seen[:, np.arange(documents), left_out] = -np.inf
    ranks = (-seen).argsort(axis=2).argsort(axis=2) + 1.0
    ranks[:, np.arange(documents), left_out] = np.nan
    rankings = Rankings(ranks, systems=[str(index) for index in range(5)])
    yield _named("alpha of rankings", ranking_alpha(rankings, generator=generator, resampling=PLAN))
    yield _named("mean W", mean_concordance(rankings, generator=generator, resampling=PLAN))
    for system in plackett_luce(rankings).systems:
        if system.strength:
            yield f"strength {system.system}", *vars(system.strength).values()
    orders = [np.argsort(row)[:4] for row in ranks.reshape(-1, 5)]
    scores = best_worst_scores(
        [[str(index) for index in order] for order in orders],
        [str(order[0]) for order in orders],
        [str(order[-1]) for order in orders],
        documents=np.tile(np.arange(documents), RATERS),
    )
    for score in scores:
        yield _named(f"best-worst {score.system}", score.score)


def draw_spans(documents: int, generator: np.random.Generator) -> Found:
    """Yield statistics of errors that raters find, miss and mark with either severity."""
    texts = []
    for document in range(documents):
        found = float(generator.beta(6, 3))
        for _ in range(2):
            starts = 60 * generator.choice(10, size=int(generator.poisson(1.5)), replace=False)
            severe = generator.random(len(starts)) < 0.3
            spans = {str(rater): _spans(starts, severe, found, generator) for rater in range(RATERS)}
            texts.append(SpannedText(str(document), 600, spans))
    yield _named("F1 of spans", span_f1(texts))
    weights = SpanWeights({"minor": 1, "major": 5})
    yield _named("alpha of MQM", mqm_alpha(texts, weights, generator=generator, resampling=PLAN))


def _spans(
    starts: np.ndarray, severe: np.ndarray, found: float, generator: np.random.Generator
) -> list[MarkedSpan]:
    spans = []
    for start, major in zip(starts.tolist(), severe.tolist(), strict=True):
        if generator.random() < found:
            severity = "major" if major == (generator.random() < 0.8) else "minor"
            begin = start + int(generator.integers(0, 12))
            spans.append(MarkedSpan(begin, begin + int(generator.integers(8, 40)), "style", severity))
    if generator.random() < 0.3:
        begin = int(generator.integers(0, 560))
        spans.append(MarkedSpan(begin, begin + 20, "style", "minor"))
    return spans


def draw_parts(documents: int, generator: np.random.Generator) -> Found:
    """Yield the share of yes of two items a document with two to eight parts each."""
    for share in (0.3, 0.9):
        in_document = generator.beta(8 * share, 8 * (1 - share), size=documents)
        sizes = generator.integers(2, 9, size=2 * documents)
        items = np.repeat(np.arange(2 * documents), sizes)
        truth = generator.random(len(items)) < in_document[items // 2]
        wrong = generator.random((2, len(items))) < 0.05
        found = share_of_yes((truth ^ wrong).astype(float), items.tolist(), documents=items // 2)
        yield _named(f"share of yes {share:g}", found)


KINDS: dict[str, Callable[[int, np.random.Generator], Found]] = {
    "labels": draw_labels,
    "preferences": draw_preferences,
    "rankings": draw_rankings,
    "spans": draw_spans,
    "parts": draw_parts,
}


def _named(name: str, found: object) -> tuple[str, float, float | None, float | None]:
    value, interval = getattr(found, "value", None), getattr(found, "interval", None)
    if value is None:
        return name, np.nan, None, None
    return (name, value, interval.low, interval.high) if interval else (name, value, None, None)


@cache
def _find_truth(kind: str) -> dict[str, float]:
    return {name: value for name, value, _, _ in KINDS[kind](_MANY, np.random.default_rng(SEED))}


def held_questions(kind: str, documents: int, simulations: int) -> dict[str, tuple[float, float]]:
    """Return for each statistic the share of intervals that cover the value for very many documents, and the
    share of simulations with an interval.
    """
    draw, generator, truth = KINDS[kind], np.random.default_rng([SEED, documents]), _find_truth(kind)
    held: dict[str, list[bool]] = {name: [] for name in truth}
    for _ in range(simulations):
        for name, _, low, high in draw(documents, generator):
            if low is not None and high is not None:
                held[name].append(low <= truth[name] <= high)
    return {
        name: (float(np.mean(each)) if each else np.nan, len(each) / simulations)
        for name, each in held.items()
    }


def report_questions(simulations: int) -> None:
    """Print a line for each statistic: by number of documents."""
    print(f"Share of 95 % intervals that hold (nominal .95), of those that exist; {simulations:,} projects")
    for kind in KINDS:
        by_size: list[dict[str, tuple[float, float]]] = [
            held_questions(kind, documents, simulations) for documents in SIZES
        ]
        for name in by_size[0]:
            shares = "  ".join(
                f"{documents:>4}: {each[name][0]:.3f} ({each[name][1]:.2f})"
                for documents, each in zip(SIZES, by_size, strict=True)
            )
            print(f"{kind:<12}{name:<22}{shares}", flush=True)
