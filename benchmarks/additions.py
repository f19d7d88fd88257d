"""What do a judge and an audit save when systems are added to a finished benchmark, and what do they lose?

python benchmarks/additions.py [--repetitions 200]

Two benchmarks, of which documents are resampled: SummEval-OP (32 documents, 13 systems, 7 dimensions) and
SummEval (100 documents, 12 systems, 4 dimensions). The first systems, all rated, calibrate the judge: at most
a share of .2 of the units that it decides may be off by more than a point, at a confidence of .9. The last
four systems are added one by one. The judge decides units at or above the threshold; people rate the others,
and an audit of 20 units of each system and dimension (5 % if that is more). The raters of an addition are new
and lower by .4 points. They also rate 20 old items each time, and the difference corrects their ratings.

SummEval's judge is ChatGPT (its recorded RTS and MCQ replies). No replies are published for SummEval-OP: its
judge is simulated, with errors of .3 points on half of the units and of 1.2 on the others.
"""

import argparse
import json
import multiprocessing
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

import numpy as np
import scipy

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agreement.data import FloatArray
from agreement.reliability import (
    Guarantee,
    RatedSample,
    calibrate,
    check_audit,
    combined_estimate,
    grid_between,
    more_than_one_point,
    share_with_least,
)
from agreement.severity import bridge
from agreement.student import satterthwaite_freedom, t_reach
from tests.reference import reference_data

SEED = 20_261_128
RISK, DELTA = 0.2, 0.1
ADDED = 4
LEAST, SHARE = 20, 0.05
BRIDGING, SEVERITY = 20, 0.4
GRID = grid_between(-4, 0, 0.5)
SHIFTS = (0.0, 0.5, 1.0, 1.5)


@dataclass(frozen=True)
class Benchmark:
    """ratings: (dimensions, documents, systems, raters); judge, confidences: without raters."""

    name: str
    ratings: FloatArray
    judge: FloatArray
    confidences: FloatArray

    @property
    def old(self) -> int:
        """The number of systems of version 1.0."""
        return int(self.ratings.shape[2]) - ADDED

    def resample(self, generator: np.random.Generator) -> "Benchmark":
        drawn = generator.integers(self.judge.shape[1], size=self.judge.shape[1])
        return Benchmark(self.name, self.ratings[:, drawn], self.judge[:, drawn], self.confidences[:, drawn])


@cache
def load_summeval_op() -> Benchmark:
    """Read the ratings and simulate two judges with half of their errors in common."""
    lines = (reference_data() / "summeval_op" / "summeval-op-detailed.jsonl").read_text().splitlines()
    names = ("fl", "co", "re", "fa", "ac", "sc", "sp")
    ratings = np.array([[json.loads(line)[name] for line in lines] for name in names], dtype=float)
    generator, panel = np.random.default_rng(SEED), ratings.mean(axis=3)
    error = np.where(generator.random(panel.shape) < 0.5, 0.3, 1.2)
    common, *own = np.sqrt(0.5) * error * generator.normal(size=(3, *panel.shape))
    rts, mcq = (np.clip(np.round(panel + common + each), 1, 5) for each in own)
    return Benchmark("SummEval-OP", ratings, rts, -np.abs(rts - mcq))


@cache
def load_news() -> Benchmark:
    """Read SummEval's ratings and ChatGPT's replies as Concord's methods read them."""
    from tests.published.news_summeval import DIMENSIONS, scores  # Django, which SummEval-OP does not need

    panels, values = [], []
    for dimension in DIMENSIONS:
        rts, mcq = scores("rts", dimension), scores("mcq", dimension)
        panels.append(np.array([rts.by_document(each) for each in rts.human]))
        values.append([rts.by_document(rts.judge), mcq.by_document(mcq.judge)])
    tables = np.array(values)
    ratings = np.moveaxis(np.array(panels), 1, -1)
    return Benchmark("SummEval", ratings, tables[:, 0], -np.abs(tables[:, 0] - tables[:, 1]))


BENCHMARKS = {"SummEval-OP": load_summeval_op, "SummEval": load_news}


def rate_anew(ratings: FloatArray, generator: np.random.Generator) -> FloatArray:
    """Return (..., raters) of a new panel: each copies an old rater, and is lower by .4 points on average.

    ratings: (..., raters). Ratings stay whole points; those at the lower end of the scale cannot fall.
    """
    copied = generator.integers(ratings.shape[-1], size=ratings.shape)
    found = np.take_along_axis(ratings, copied, axis=-1)
    return np.asarray(np.maximum(found - (generator.random(found.shape) < SEVERITY), 1))


@dataclass(frozen=True)
class Added:
    """An addition's mean on one dimension, minus that of the first panel on all texts.

    reach, wider: half the width of its interval about these texts, and about texts like these. people: the
    same difference if the new raters rate everything. ratings: units that people rated, without bridging
    items.
    """

    difference: float
    reach: float
    wider: float
    people: float
    ratings: int
    certified: bool


def add_system(
    benchmark: Benchmark, dimension: int, system: int, threshold: float, generator: np.random.Generator
) -> Added:
    """Rate one new system and compare its mean with that of the full first panel."""
    judge, sure = benchmark.judge[dimension, :, system], benchmark.confidences[dimension, :, system]
    everybody = benchmark.ratings[dimension, :, system].mean(axis=1)
    kept = sure >= threshold
    chance = share_with_least(int(kept.sum()), share=SHARE, least=LEAST) if kept.any() else 1.0
    order = generator.permutation(np.flatnonzero(kept))
    drawn = ~kept
    drawn[order[: max(LEAST, generator.binomial(len(order), SHARE))]] = True
    severity, error, freedom = estimate_severity(benchmark, dimension, generator)
    rated = rate_anew(benchmark.ratings[dimension, :, system], generator).mean(axis=1) - severity
    sample = RatedSample(
        judge=judge,
        human=np.where(drawn, rated, np.nan),
        probabilities=np.where(kept, chance, 1.0),
        assigned=drawn,
    )
    reaches = []
    for beyond in (False, True):
        found = combined_estimate(sample, beyond=beyond)
        parts = [(error**2, freedom)]
        if found.standard_error and found.degrees_of_freedom:
            parts.append((found.standard_error**2, found.degrees_of_freedom))
        total = float(np.sqrt(sum(variance for variance, _ in parts)))
        reaches.append(t_reach(total, satterthwaite_freedom(parts) or freedom, 0.95))
    difference = float((found.value or np.nan) - everybody.mean())
    alone = float(rated.mean() - everybody.mean())
    return Added(difference, reaches[0], reaches[1], alone, int(drawn.sum()), threshold < np.inf)


def estimate_severity(
    benchmark: Benchmark, dimension: int, generator: np.random.Generator
) -> tuple[float, float, float]:
    """Return new - old on 20 old items of different documents, its standard error and degrees of freedom."""
    documents = generator.choice(benchmark.judge.shape[1], BRIDGING, replace=False)
    old = benchmark.ratings[dimension, documents, generator.integers(benchmark.old, size=BRIDGING)]
    found = bridge(rate_anew(old, generator).T, old.mean(axis=1), documents).offset
    assert found is not None
    assert found.interval is not None
    freedom = BRIDGING - 1.0
    return found.value, (found.interval.high - found.value) / t_reach(1.0, freedom, 0.95), freedom


def find_thresholds(benchmark: Benchmark) -> list[float]:
    """Return each dimension's threshold from the old systems, infinite without a certificate."""
    old, found = slice(benchmark.old), []
    guarantee = Guarantee(RISK, DELTA)
    for people, judge, sure in zip(benchmark.ratings, benchmark.judge, benchmark.confidences, strict=True):
        confidences = sure[:, old].ravel()
        losses = more_than_one_point(judge[:, old].ravel(), people[:, old].mean(axis=2).ravel())
        certificate = calibrate(confidences, losses, GRID, guarantee, documents=None, batch=confidences)
        found.append(np.inf if certificate.threshold is None else certificate.threshold)
    return found


@dataclass(frozen=True)
class Repetition:
    """What came of one resample, as means over dimensions and new systems; ratings and calls are of all."""

    difference: float
    covered: float
    covered_beyond: float
    width: float
    tau: float
    moved: float
    people_difference: float
    people_tau: float
    people_moved: float
    certified: float
    ratings: float
    bridging: float
    everything: float
    calls: float


def add_systems(name: str, seed: int) -> Repetition:
    """Resample documents, add four systems and compare with the full panel."""
    generator = np.random.default_rng([SEED, seed])
    benchmark = BENCHMARKS[name]().resample(generator)
    dimensions, documents, systems, raters = benchmark.ratings.shape
    added: list[Added] = []
    compared = []
    for dimension, threshold in enumerate(find_thresholds(benchmark)):
        means = benchmark.ratings[dimension].mean(axis=(0, 2))
        own = [
            add_system(benchmark, dimension, system, threshold, generator)
            for system in range(benchmark.old, systems)
        ]
        added += own
        row = []
        for moves in ([each.difference for each in own], [each.people for each in own]):
            found = means + np.append(np.zeros(benchmark.old), moves)
            ranks = [scipy.stats.rankdata(-each) for each in (means, found)]
            row += [scipy.stats.kendalltau(means, found).statistic, (np.abs(ranks[0] - ranks[1]) >= 1).sum()]
        compared.append(row)
    tau, moved, people_tau, people_moved = np.mean(compared, axis=0).tolist()
    return Repetition(
        difference=float(np.mean([abs(each.difference) for each in added])),
        covered=float(np.mean([abs(each.difference) <= each.reach for each in added])),
        covered_beyond=float(np.mean([abs(each.difference) <= each.wider for each in added])),
        width=float(np.mean([2 * each.reach for each in added])),
        tau=tau,
        moved=moved,
        people_difference=float(np.mean([abs(each.people) for each in added])),
        people_tau=people_tau,
        people_moved=people_moved,
        certified=float(np.mean([each.certified for each in added])),
        ratings=float(raters * sum(each.ratings for each in added)),
        bridging=float(raters * BRIDGING * ADDED * dimensions),
        everything=float(raters * documents * ADDED * dimensions),
        calls=float(2 * documents * ADDED * dimensions),
    )


@dataclass(frozen=True)
class Favoured:
    """A new system on one dimension. after: ratings until the alarm, infinite without one.

    is_wrong: whether the judge then errs by more than a point on more than the accepted share of its units.
    """

    shift: float
    is_wrong: bool
    after: float


def favour_system(name: str, seed: int) -> list[Favoured]:
    """Audit judges whose values for the new system are higher by a shift.

    The audit goes on until all units that the judge decides are rated.
    """
    generator = np.random.default_rng([SEED, seed])
    benchmark = BENCHMARKS[name]().resample(generator)
    found = []
    for dimension, threshold in enumerate(find_thresholds(benchmark)):
        for system in range(benchmark.old, benchmark.judge.shape[2]):
            sure = benchmark.confidences[dimension, :, system]
            kept = generator.permutation(np.flatnonzero(sure >= threshold))
            if len(kept) < LEAST:
                continue
            people = benchmark.ratings[dimension, kept, system].mean(axis=1)
            for shift in SHIFTS:
                judge = np.minimum(benchmark.judge[dimension, kept, system] + shift, 5)
                losses = more_than_one_point(judge, people)
                alarm = check_audit(losses, RISK, documents=None, units=len(kept)).alarm_after
                after = np.inf if alarm is None else float(alarm)
                found.append(Favoured(shift, bool(losses.mean() > RISK), after))
    return found


def report(name: str, repetitions: int, pool: "multiprocessing.pool.Pool | None" = None) -> list[Repetition]:
    run = pool.starmap if pool else lambda work, jobs: [work(*job) for job in jobs]
    found: list[Repetition] = run(add_systems, [(name, seed) for seed in range(repetitions)])
    print(f"\n{name}: {repetitions} resamples of the documents; mean (standard error of the mean)")
    for label, field in (
        ("dimensions with a certificate", "certified"),
        ("mean: difference from the full panel", "difference"),
        ("  if the new raters rate everything", "people_difference"),
        ("95 % intervals that cover it, about these texts", "covered"),
        ("  about texts like these", "covered_beyond"),
        ("width of the interval about these texts", "width"),
        ("ranks: Kendall's tau with the full panel's", "tau"),
        ("  if the new raters rate everything", "people_tau"),
        ("ranks: systems with another rank", "moved"),
        ("  if the new raters rate everything", "people_moved"),
        ("ratings of the new systems", "ratings"),
        ("ratings of bridging items", "bridging"),
        ("ratings, if everything is rated", "everything"),
        ("calls of judges", "calls"),
    ):
        values = np.array([getattr(each, field) for each in found])
        digits = 0 if values.mean() > 50 else 3
        error = values.std(ddof=1) / np.sqrt(len(values))
        print(f"{label:<50}{values.mean():>10.{digits}f} ({error:.{digits}f})")
    print(
        f"{'a judge that favours a system by':<34}{'cells':>6}{'alarm':>8}{'by 20':>8}{'median':>8}"
        f"{'90 %':>6}"
    )
    audited: Sequence[list[Favoured]] = run(favour_system, [(name, seed) for seed in range(repetitions)])
    for shift in SHIFTS:
        for is_wrong in (False, True):
            after = np.array(
                [
                    each.after
                    for every in audited
                    for each in every
                    if each.shift == shift and each.is_wrong == is_wrong
                ]
            )
            if not len(after):
                continue
            label = f"{shift:g}, errs on {'more' if is_wrong else 'at most'} than .2"
            median, most = np.quantile(after, [0.5, 0.9], method="higher")
            print(
                f"{label.replace('most than', 'most'):<34}{len(after):>6}{np.isfinite(after).mean():>8.3f}"
                f"{(after <= LEAST).mean():>8.3f}{median:>8.0f}{most:>6.0f}"
            )
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=200)
    repetitions = parser.parse_args().repetitions
    started = time.perf_counter()
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        for name in BENCHMARKS:
            report(name, repetitions, pool)
    print(f"\n{time.perf_counter() - started:.0f} s on two cores")


if __name__ == "__main__":
    main()
