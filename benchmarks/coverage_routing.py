"""How often intervals hold what they claim after routing; part of benchmarks/coverage.py."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

import numpy as np

from agreement import rank_sets
from agreement.comparison import Scores
from agreement.data import FloatArray
from agreement.reliability import (
    Estimate,
    RatedSample,
    active_probabilities,
    combined_estimate,
    guaranteed_mean,
    humans_only,
    pairwise_differences,
    pooled_estimate,
    prediction_powered,
    stratified_estimate,
)
from benchmarks.simulated import on_scale

SEED = 20_261_123
NOMINAL = 0.95
SYSTEMS, SENT, WITHOUT_VALUE = 4, 1, 3
"""Systems of a project, of which the last was sent to people; units of the first that the judge left out."""


@dataclass(frozen=True)
class Batch:
    """Projects of one kind: people's means around `mean` on a scale from 1 to 5, cut at its ends.

    spread: of texts in points; raters: of whose rounded values the mean is taken; documents: of each system.
    least, share: the audit's, in each system.
    """

    name: str
    mean: float
    spread: float
    raters: int = 3
    documents: int = 100
    least: int = 0
    share: float = 0.05

    def values(self, generator: np.random.Generator, documents: int) -> tuple[FloatArray, FloatArray]:
        """(documents, systems) people's means, and the judge's values."""
        size = documents, SYSTEMS
        truth = self.mean + 0.15 * np.arange(SYSTEMS) - 0.3
        truth = truth + self.spread * (
            0.5 * generator.normal(size=(documents, 1)) + 0.85 * generator.normal(size=size)
        )
        rated = truth + 0.4 * generator.normal(size=(self.raters, *size))
        people = on_scale(rated).mean(axis=0)
        judge = on_scale(truth + 0.2 + 0.9 * generator.normal(size=size))
        return people, judge

    @property
    def audited(self) -> int:
        """How many units of a system are audited on average."""
        return max(self.least, round(self.share * self.documents))


KINDS = (
    Batch("middle of the scale", 3.2, 1.0),
    Batch("high", 4.2, 0.8),
    Batch("at the top", 4.8, 0.7),
    Batch("high, one rater", 4.2, 0.8, raters=1),
)
LEASTS = (5, 10, 15, 20, 30, 50)


def batches() -> Iterator[Batch]:
    """Every kind with every least number of audited units, and larger ones by share alone."""
    for kind in KINDS:
        yield kind
        for least in LEASTS:
            yield replace(kind, least=least)
        for documents in (400,):
            yield replace(kind, documents=documents)
            yield replace(kind, documents=documents, least=20)


@dataclass
class Reached:
    """Intervals of one kind: how many there were, held the truth, had a warning, held it without one."""

    intervals: int = 0
    held: int = 0
    warned: int = 0
    held_unwarned: int = 0

    def add(self, *, held: bool, warned: bool) -> None:
        self.intervals += 1
        self.held += held
        self.warned += warned
        self.held_unwarned += held and not warned

    @property
    def unwarned(self) -> int:
        """How many were shown without a warning."""
        return self.intervals - self.warned

    @property
    def level(self) -> float:
        """The share that held the truth of those shown without a warning; NaN without any."""
        return self.held_unwarned / self.unwarned if self.unwarned else np.nan


@dataclass
class Simulated:
    """What was counted of one kind of project, by the name of the estimate."""

    batch: Batch
    reached: dict[str, Reached] = field(default_factory=dict)

    def add(self, name: str, estimate: Estimate, truth: float, *, guaranteed: bool = False) -> None:
        found = estimate.interval
        if found is not None:
            held = found.low - 1e-9 <= truth <= found.high + 1e-9
            self.count(name, held=held, warned=bool(estimate.warnings) and not guaranteed)

    def count(self, name: str, *, held: bool, warned: bool) -> None:
        self.reached.setdefault(name, Reached()).add(held=held, warned=warned)


def simulate(batch: Batch, simulations: int) -> Simulated:
    """Route projects of one kind, audit them, and see which intervals hold the truth."""
    generator = np.random.default_rng([SEED, batch.documents, batch.least, round(100 * batch.mean)])
    everywhere = batch.values(generator, 200_000)[0].mean(axis=0)
    found = Simulated(batch)
    for _ in range(simulations):
        people, judge = batch.values(generator, batch.documents)
        drawn = [_routed(batch, people[:, one], judge[:, one], one, generator) for one in range(SYSTEMS)]
        means = people.mean(axis=0)
        _of_systems(found, drawn, means, everywhere, generator)
        _of_active_audit(found, batch, people[:, 1], judge[:, 1], generator)
        for beyond, truth in ((False, means), (True, everywhere)):
            _of_pool(found, drawn, truth, batch.documents if beyond else None)
            _of_pairs(found, drawn, people, judge, truth, beyond=beyond)
    return found


def _routed(
    batch: Batch, people: FloatArray, judge: FloatArray, system: int, generator: np.random.Generator
) -> RatedSample:
    """One system's units: the last system all sent to people, the first a few, the rest audited."""
    units = len(people)
    stays = np.full(units, system < SYSTEMS - SENT)
    values = judge.copy()
    if system == 0:
        values[:WITHOUT_VALUE], stays[:WITHOUT_VALUE] = np.nan, False
    numbers = np.where(stays, generator.random(units), 0.0)
    left = int(stays.sum())
    number = max(int((numbers[stays] < batch.share).sum()), min(batch.least, left))
    drawn = np.argsort(numbers, kind="stable")[: number + units - left]
    human = np.full(units, np.nan)
    human[drawn] = people[drawn]
    chances = np.where(stays, max(number, 1) / max(left, 1), 1.0)
    return RatedSample(
        judge=values,
        human=human,
        probabilities=chances,
        strata=np.where(chances < 1, "left to the judge", "sent to people"),
    )


def _of_systems(
    found: Simulated,
    drawn: list[RatedSample],
    means: FloatArray,
    everywhere: FloatArray,
    generator: np.random.Generator,
) -> None:
    first, second = drawn[0], drawn[1]
    found.add("people only", humans_only(second), means[1])
    found.add("regression", combined_estimate(second), means[1])
    found.add("regression, beyond", combined_estimate(second, beyond=True), everywhere[1])
    found.add("stratified", stratified_estimate(first), means[0])
    found.add("stratified, beyond", combined_estimate(first, beyond=True), everywhere[0])
    found.add("PPI++", prediction_powered(second), everywhere[1])
    for name, beyond, truth in (("guaranteed", False, means[0]), ("guaranteed, beyond", True, everywhere[0])):
        sure = guaranteed_mean(first, low=1, high=5, generator=generator, beyond_batch=beyond)
        found.add(name, sure, truth, guaranteed=True)


def _of_active_audit(
    found: Simulated, batch: Batch, people: FloatArray, judge: FloatArray, generator: np.random.Generator
) -> None:
    share = max(batch.share, batch.least / len(people))
    expected = np.abs(judge - people) + generator.random(len(people))
    chances = active_probabilities(expected, share, mix=0.75, least=0.75 * share)
    chances = np.minimum(np.round(chances / share / 0.05) * 0.05 * share, 1)
    human = np.where(generator.random(len(people)) < chances, people, np.nan)
    sample = RatedSample(judge=judge, human=human, probabilities=chances)
    found.add(
        "weighted, active audit",
        combined_estimate(
            RatedSample(judge=judge, human=human, probabilities=chances, strata=["left"] * len(people))
        ),
        people.mean(),
    )
    sure = guaranteed_mean(sample, low=1, high=5, generator=generator)
    found.add("guaranteed, active audit", sure, people.mean(), guaranteed=True)


def _of_pool(found: Simulated, drawn: list[RatedSample], truth: FloatArray, documents: int | None) -> None:
    name = "pooled" if documents is None else "pooled, beyond"
    found.add(name, pooled_estimate(drawn, documents=documents), float(truth.mean()))


def _of_pairs(
    found: Simulated,
    drawn: list[RatedSample],
    people: FloatArray,
    judge: FloatArray,
    truth: FloatArray,
    *,
    beyond: bool,
) -> None:
    documents = len(people)
    human = np.array([sample.human for sample in drawn]).T
    names = [str(index) for index in range(SYSTEMS)]
    scores = Scores(
        systems=names * documents,
        documents=np.repeat(np.arange(documents), SYSTEMS),
        human=human.reshape(1, -1),
        judge=judge.ravel(),
    )
    pairs = pairwise_differences(scores, drawn=drawn, beyond=beyond)
    ending = ", beyond" if beyond else ""
    for each in pairs:
        kind = (
            "difference, one sent"
            if str(SYSTEMS - 1) in (each.first, each.second)
            else "difference, both audited"
        )
        found.add(kind + ending, each.estimate, float(truth[int(each.first)] - truth[int(each.second)]))
    ranks = rank_sets(names, pairs)
    true_ranks = {name: 1 + int(np.sum(truth > truth[int(name)] + 1e-12)) for name in names}
    held = all(each.best <= true_ranks[each.system] <= each.worst for each in ranks)
    warned = any(each.estimate.warnings or each.estimate.interval is None for each in pairs)
    found.count("all ranks at once" + ending, held=held, warned=warned)


def report_routing(simulations: int) -> None:
    print(f"Share of {NOMINAL:.0%} intervals that hold the truth; {simulations:,} projects of each kind")
    print("least: audited units of a system at least; audited: share of them; shown: share without a warning")
    print(
        f"{'people’s means are':<21}{'estimate':<35}{'units':>6}{'least':>6}{'audited':>8}"
        f"{'nominal':>8}{'all':>7}{'shown':>7}{'held':>7}"
    )
    for batch in batches():
        for name, each in simulate(batch, simulations).reached.items():
            share = max(batch.share, batch.least / batch.documents)
            print(
                f"{batch.name:<21}{name:<35}{batch.documents:>6}{batch.least:>6}{share:>8.3f}{NOMINAL:>8.3f}"
                f"{each.held / each.intervals:>7.3f}{each.unwarned / each.intervals:>7.3f}{each.level:>7.3f}"
            )
