"""Intervals for questions other than scales (`coverage.py questions`), marked passages (`passages`) and
strengths of systems (`strengths`).
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import permutations

import numpy as np

from agreement import (
    Coefficient,
    LabelAnswers,
    MarkedSpan,
    MarkedText,
    Rankings,
    Resampling,
    SpannedText,
    SpanWeights,
    agreement_by_label,
    best_worst_scores,
    gamma,
    label_alpha,
    label_rates,
    mean_concordance,
    mqm_alpha,
    plackett_luce,
    ranking_alpha,
    share_of_yes,
    span_f1,
    unitizing_alpha,
    word_f1,
)
from agreement.comparison import (
    PairwiseAnswers,
    Verdicts,
    preference_alpha,
    share_of_agreement,
    system_strengths,
)
from agreement.data import FloatArray
from benchmarks.simulated import Ends, covers, measure_coverage

SEED = 20_261_128
SIZES = (12, 30, 100)
PLAN = Resampling(by="documents", replicates=500)
RATERS, ITEMS = 3, 4
STRENGTHS = np.array([0.8, 0.3, 0.0, -0.3, -0.8])
RATES = np.array([0.5, 0.2, 0.05])
RARE = np.array([0.06, 0.04, 0.01])
"""Rates of labels with which nine of ten items have none."""
_MANY = 10_000
Found = Iterator[tuple[str, float, Ends | None]]
"""Name, value and interval of each statistic."""


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
            yield f"strength {system.system}", system.strength.value, system.strength
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


def _named(name: str, found: object) -> tuple[str, float, Ends | None]:
    value, interval = getattr(found, "value", None), getattr(found, "interval", None)
    return (name, np.nan, None) if value is None else (name, value, interval)


@cache
def _find_truth(kind: str) -> dict[str, float]:
    return {name: value for name, value, _ in KINDS[kind](_MANY, np.random.default_rng(SEED))}


def held_questions(kind: str, documents: int, simulations: int) -> dict[str, tuple[float, float]]:
    """Return for each statistic the share of intervals that cover the value for very many documents, and the
    share of simulations with an interval.
    """
    draw, generator, truth = KINDS[kind], np.random.default_rng([SEED, documents]), _find_truth(kind)

    def draw_intervals(generator: np.random.Generator) -> Iterator[tuple[str, Ends | None]]:
        return ((name, interval) for name, _, interval in draw(documents, generator))

    return measure_coverage(draw_intervals, truth, simulations, generator)


def report_questions(simulations: int) -> None:
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


SEED_OF_PASSAGES = 20_261_123
PASSAGE_STATISTICS: dict[str, Callable[..., Coefficient]] = {
    "unitizing alpha": unitizing_alpha,
    "gamma": gamma,
    "F1 of words": word_f1,
}


@dataclass(frozen=True)
class Marking:
    """Texts of 600 characters with some places worth marking, which raters find, miss and find elsewhere.

    found: the probability that a rater marks such a passage. items: texts of a document of one difficulty.
    """

    documents: int = 30
    items: int = 2
    raters: int = 3
    found: float = 0.7
    elsewhere: float = 0.5
    length: int = 600

    def texts(self, generator: np.random.Generator) -> list[MarkedText]:
        """Every text that two raters or more marked."""
        words = [(start, start + 5) for start in range(0, self.length, 6)]
        made = []
        for document in range(self.documents):
            found = np.clip(self.found + 0.15 * generator.normal(), 0.05, 0.95)
            for _ in range(self.items):
                passages = self._passages(float(found), generator)
                made.append(MarkedText(str(document), self.length, words, passages))
        return made

    def _passages(self, found: float, generator: np.random.Generator) -> dict[str, list[tuple[int, int]]]:
        positions = (
            generator.choice(self.length // 60, size=int(generator.integers(1, 4)), replace=False) * 60
        )
        made = {}
        for rater in range(self.raters):
            wrong = generator.choice(self.length // 60, size=generator.poisson(self.elsewhere)) * 60
            own = {int(position) for position in positions if generator.random() < found} | set(
                wrong.tolist()
            )
            begins = {position + int(generator.integers(0, 15)) for position in own}
            spans = [(begin, begin + int(generator.integers(10, 45))) for begin in sorted(begins)]
            if spans:
                made[str(rater)] = spans
        return made


def held_passages(
    kind: Marking, simulations: int, names: Sequence[str] = tuple(PASSAGE_STATISTICS), replicates: int = 500
) -> dict[str, float]:
    """Return the coverage of each statistic's interval; the truth comes from a large simulation."""
    generator = np.random.default_rng(SEED_OF_PASSAGES)
    many = Marking(2_000, kind.items, kind.raters, kind.found, kind.elsewhere).texts(generator)
    truth = {name: PASSAGE_STATISTICS[name](many).value or 0.0 for name in names}
    held = dict.fromkeys(names, 0)
    plan = Resampling(by="documents", replicates=replicates)
    for _ in range(simulations):
        texts = kind.texts(generator)
        for name in names:
            interval = PASSAGE_STATISTICS[name](texts, generator=generator, resampling=plan).interval
            held[name] += covers(interval, truth[name])
    return {name: number / simulations for name, number in held.items()}


def report_passages(simulations: int) -> None:
    print(f"Share of 95 % intervals that hold (nominal .95); {simulations:,} projects of each kind")
    for kind in (Marking(10), Marking(30), Marking(100)):
        shares = "  ".join(f"{name} {share:.3f}" for name, share in held_passages(kind, simulations).items())
        print(f"{kind.documents:>4} documents, {kind.raters} raters, found {kind.found:g}  {shares}")


SEED_OF_STRENGTHS = 20_261_123


@dataclass(frozen=True)
class Comparisons:
    """Every ordered pair of systems on every document; a text is as good in all its comparisons."""

    documents: int = 30
    strengths: tuple[float, ...] = (0.8, 0.3, 0.0, -0.3, -0.8)
    order_effect: float = 0.5
    tie: float = -0.5
    of_document: float = 0.0

    def verdicts(self, generator: np.random.Generator) -> Verdicts:
        pairs = np.array(list(permutations(range(len(self.strengths)), 2)))
        first, second = np.tile(pairs, (self.documents, 1)).T
        documents = np.repeat(np.arange(self.documents), len(pairs))
        texts = self.of_document * generator.normal(size=(self.documents, len(self.strengths)))
        texts += np.array(self.strengths)
        one, other = texts[documents, first], texts[documents, second]
        utilities = np.stack(
            [one + self.order_effect / 2, other - self.order_effect / 2, self.tie + (one + other) / 2], axis=1
        )
        chosen = (utilities + generator.gumbel(size=utilities.shape)).argmax(axis=1)
        points = np.array([1, 0, 0.5])[chosen]
        return Verdicts(first=first, second=second, documents=documents, points=points)


def held_strengths(kind: Comparisons, simulations: int) -> tuple[float, float, float]:
    """Return how often intervals of strengths, that of the first place, and all ranks at once hold.

    Where documents differ the strengths that verdicts tend to are those of very many documents.
    """
    generator = np.random.default_rng(SEED_OF_STRENGTHS)
    large = Comparisons(4_000, kind.strengths, kind.order_effect, kind.tie, kind.of_document)
    truth = system_strengths((kind if not kind.of_document else large).verdicts(generator))
    strengths = {str(index): value for index, value in enumerate(kind.strengths)}
    first = 1 / (1 + np.exp(-kind.order_effect))
    if kind.of_document:
        strengths = {each.system: each.strength.value for each in truth.systems if each.strength}
        first = truth.first_wins.value if truth.first_wins else first
    held, order = np.zeros(3), sorted(strengths, key=lambda name: -strengths[name])
    for _ in range(simulations):
        found = system_strengths(kind.verdicts(generator))
        given = [(strengths[each.system], each) for each in found.systems if each.strength]
        held[0] += np.mean([covers(each.strength, value) for value, each in given])
        held[1] += covers(found.first_wins, first)
        held[2] += all(
            (each.best or 0) <= order.index(each.system) + 1 <= (each.worst or 0) for each in found.systems
        )
    return float(held[0] / simulations), float(held[1] / simulations), float(held[2] / simulations)


def report_strengths(simulations: int) -> None:
    print(f"Share of 95 % intervals that hold; {simulations:,} judges of each kind")
    for kind in (Comparisons(10), Comparisons(30), Comparisons(30, of_document=0.8), Comparisons(100)):
        shares = held_strengths(kind, simulations)
        print(f"{kind.documents:>4} documents, SD of texts {kind.of_document:g}", end="  ")
        names = ("strengths", "first place", "all ranks")
        print("  ".join(f"{name} {share:.3f}" for name, share in zip(names, shares, strict=True)))
