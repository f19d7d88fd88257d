"""Intervals after every few documents (`coverage.py stopping`), and control charts (`coverage.py drift`)."""

from bisect import bisect_left
from dataclasses import dataclass
from itertools import combinations

import numpy as np
import scipy

from agreement import Resampling, krippendorff_alpha
from agreement.always_valid import always_valid_alpha, always_valid_differences
from agreement.data import FloatArray, MeasurementLevel, ReliabilityData
from agreement.design import documents_needed
from agreement.drift import control_chart
from benchmarks.simulated import covers, on_scale

SEED = 20_261_123
LEVEL = MeasurementLevel.INTERVAL
POINTS = (1, 2, 3, 4, 5)


@dataclass(frozen=True)
class Material:
    """Documents of four texts that three raters rate from 1 to 5; ceiling: how far texts lie to the top."""

    error: float = 0.6
    ceiling: float = 0.0

    def documents(self, number: int, generator: np.random.Generator) -> FloatArray:
        """(documents, raters, texts)."""
        texts = 3.2 + self.ceiling + 0.4 * generator.normal(size=(number, 1, 1))
        texts = texts + 0.8 * generator.normal(size=(number, 1, 4))
        return on_scale(texts + self.error * generator.normal(size=(number, 3, 4)))


def held_at_every_look(
    material: Material, documents: int, simulations: int, *, every: int = 20
) -> tuple[float, float, float]:
    """Return how often always-valid intervals hold at all looks, how often usual ones do, and the mean width.

    Looks come after every so many documents; the width is that of the always-valid one at the end.
    """
    generator = np.random.default_rng(SEED)
    truth = always_valid_alpha(material.documents(20_000, generator), level=LEVEL, value_domain=POINTS).value
    assert truth is not None
    plan, valid, usual, widths = Resampling(by="documents", replicates=200), 0, 0, []
    for _ in range(simulations):
        drawn = material.documents(documents, generator)
        looks = [drawn[:number] for number in range(every, documents + 1, every)]
        found = [always_valid_alpha(each, level=LEVEL, value_domain=POINTS) for each in looks]
        intervals = [krippendorff_alpha(_data(each), generator=generator, resampling=plan) for each in looks]
        valid += all(each.low <= truth <= each.high for each in found)
        usual += all(covers(each.interval, truth) for each in intervals)
        widths.append(found[-1].width)
    return valid / simulations, usual / simulations, float(np.mean(widths))


def _data(documents: FloatArray) -> ReliabilityData:
    number, raters, texts = documents.shape
    return ReliabilityData(
        documents.transpose(1, 0, 2).reshape(raters, -1),
        measurement_level=LEVEL,
        value_domain=list(POINTS),
        documents=np.repeat(np.arange(number), texts),
    )


@dataclass(frozen=True)
class Contest:
    """Systems whose outputs three raters rate from 1 to 5, with these differences in quality, in points."""

    name: str
    quality: tuple[float, ...]
    ceiling: float = 0.0

    def scores(self, documents: int, generator: np.random.Generator) -> FloatArray:
        """(documents, systems): means of three raters, who stay the same people in all documents."""
        systems = len(self.quality)
        values = 3.0 + self.ceiling + np.array(self.quality) + 0.3 * generator.normal(size=(documents, 1, 1))
        values = values + 0.3 * generator.normal(size=(documents, 1, systems))
        values = values + 0.6 * generator.normal(size=(documents, 3, systems))
        return np.asarray(on_scale(values).mean(axis=1))


@dataclass(frozen=True)
class Judges:
    """Two judges with these error deviations in points, on four texts of each document."""

    name: str
    errors: tuple[float, float]

    def nearness(self, documents: int, generator: np.random.Generator) -> FloatArray:
        """(documents,): as `nearness_by_document` computes it."""
        truth = 3.2 + 0.8 * generator.normal(size=(documents, 4))
        people = on_scale(truth[..., None] + 0.6 * generator.normal(size=(documents, 4, 3)))
        judged = [on_scale(truth + error * generator.normal(size=truth.shape)) for error in self.errors]
        distances = [np.abs(each - people.mean(axis=2)) for each in judged]
        return np.asarray(np.sign(np.round(distances[1] - distances[0], 9)).mean(axis=1))


CONTESTS = (
    Contest("four equal systems", (0.0,) * 4),
    Contest("four systems, .2 to .8 between them", (0.0, 0.2, 0.5, 0.8)),
    Contest("four equal systems at the ceiling", (0.0,) * 4, ceiling=1.6),
)
BENCHES = (Judges("equal judges", (0.6, 0.6)), Judges("errors .6 and .9", (0.6, 0.9)))


def excluded_at_any_look(contest: Contest | Judges, documents: int, simulations: int) -> tuple[float, float]:
    """Return in which share of projects any look at any pair excludes its true difference.

    First of always-valid intervals, looked at after every document; then of usual t intervals with the same
    Bonferroni correction, looked at after every document from the tenth on.
    """
    generator = np.random.default_rng(SEED)
    truths = _differences(contest, 200_000, generator).mean(axis=1)
    reach, number = (1.0 if isinstance(contest, Judges) else 4.0), len(truths)
    valid = usual = 0
    for _ in range(simulations):
        drawn = _differences(contest, documents, generator)
        pairs = [(str(index), "other", each) for index, each in enumerate(drawn)]
        found = always_valid_differences(pairs, reach=reach)
        valid += any(
            each.low is None or each.high is None or not each.low <= truth <= each.high
            for each, truth in zip(found, truths, strict=True)
        )
        sizes = np.arange(1, documents + 1)
        means = np.cumsum(drawn, axis=1) / sizes
        variances = np.maximum(np.cumsum(drawn**2, axis=1) / sizes - means**2, 0) * sizes
        errors = np.sqrt(variances / np.maximum(sizes - 1, 1) / sizes)
        reaches = scipy.special.stdtrit(np.maximum(sizes - 1, 1), 1 - 0.025 / number) * errors
        usual += bool((np.abs(means - truths[:, None]) > reaches)[:, 9:].any())
    return valid / simulations, usual / simulations


def documents_until_sure(difference: float, simulations: int) -> tuple[int, float, float, float]:
    """Return what a pair of systems with this difference costs, by a fixed plan and by looking every time.

    The documents of a plan that finds a difference of .25 points with a power of .8; the mean number until
    the difference is sure (at most 400); the share of projects that are sure by the plan's end; and the
    median ratio of documents needed to those forecast after half of them.
    """
    generator = np.random.default_rng(SEED)
    deviation = float(_differences(Contest("", (0.0, 0.25)), 200_000, generator).std())
    plan = documents_needed(0.25, deviation, significance_level=0.05)
    assert plan is not None
    needed: list[int] = []
    ratios = []
    for _ in range(simulations):
        (drawn,) = _differences(Contest("", (0.0, difference)), 400, generator)
        needed.append(_first_sure(drawn))
        half = drawn[: needed[-1] // 2]
        (forecast,) = always_valid_differences([("", "", half)], reach=4)
        if forecast.more_documents:
            ratios.append(needed[-1] / (len(half) + forecast.more_documents))
    by_plan = float(np.mean(np.array(needed) <= plan))
    return plan, float(np.mean(needed)), by_plan, float(np.median(ratios))


def _first_sure(drawn: FloatArray) -> int:
    """Return the documents after which a pair is sure, by halving: once sure it stays so."""
    return 1 + bisect_left(range(1, len(drawn)), True, key=lambda size: _is_sure(drawn[:size]))


def _is_sure(drawn: FloatArray) -> bool:
    (found,) = always_valid_differences([("", "", drawn)], reach=4)
    return found.is_sure


def _differences(contest: Contest | Judges, documents: int, generator: np.random.Generator) -> FloatArray:
    """(pairs, documents)."""
    if isinstance(contest, Judges):
        return contest.nearness(documents, generator)[None]
    scores = contest.scores(documents, generator)
    return np.array(
        [scores[:, other] - scores[:, one] for one, other in combinations(range(len(contest.quality)), 2)]
    )


def report_stopping(simulations: int) -> None:
    print(f"Share of projects whose interval holds at every look (nominal .95); {simulations:,} of each kind")
    for material in (Material(), Material(ceiling=1.0), Material(error=1.2)):
        for documents in (100, 400):
            valid, usual, width = held_at_every_look(material, documents, simulations)
            print(
                f"error {material.error:g}, ceiling {material.ceiling:g}, {documents} documents: "
                f"always valid {valid:.3f} (width {width:.2f}), usual {usual:.3f}"
            )
    print("Share of projects in which any look excludes a true difference (nominal .05)")
    for contest in (*CONTESTS, *BENCHES):
        valid, usual = excluded_at_any_look(contest, 200, simulations)
        print(f"{contest.name}, 200 documents: always valid {valid:.3f}, usual {usual:.3f}", flush=True)
    print("Documents until a pair of systems is sure, looking after every document")
    for difference in (0.25, 0.5, 0.75, 1.0):
        plan, mean, by_plan, ratio = documents_until_sure(difference, simulations)
        print(
            f"difference {difference:g}: fixed plan for .25 {plan}, always valid {mean:.0f} on average, "
            f"sure by the plan's end {by_plan:.2f}; needed / forecast at half {ratio:.2f}",
            flush=True,
        )


SEED_OF_WATCHES = 20_261_128
CHECKS = 50
LOOKED_FOR = 20
"""The checks in which a change is looked for."""


@dataclass(frozen=True)
class Watched:
    """A judge that is asked again about items, one of each document, and answers from 1 to 5.

    noise: standard deviation of an answer to the same question; 0: it always answers the same. started: the
    first check after the change; 1: it changed before the first check.
    """

    name: str
    noise: float
    items: int = 20
    dimensions: int = 4
    shift: float = 0.0
    started: int = 1

    def values(self, checks: int, generator: np.random.Generator) -> FloatArray:
        """(dimensions, 1 + checks, items)."""
        shape = self.dimensions, checks + 1, self.items
        usual = 3.0 + 0.8 * generator.normal(size=(self.dimensions, 1, self.items))
        later = np.arange(checks + 1)[:, None] >= self.started
        found = usual + self.noise * generator.normal(size=shape)
        return on_scale(found + self.shift * later)


STEADY = (
    Watched("never varies", 0.0),
    Watched("noise .3", 0.3),
    Watched("noise .7", 0.7),
    Watched("noise .7, one dimension", 0.7, dimensions=1),
)
CHANGED = tuple(
    Watched(f"{name}, {shift} points, {when}", noise, shift=shift, started=started)
    for name, noise in (("never varies", 0.0), ("noise .3", 0.3), ("noise .7", 0.7))
    for shift in (0.3, 0.5, 1.0)
    for when, started in (("before check 1", 1), ("before check 6", 6))
)


def find_alarms(judge: Watched, checks: int, simulations: int) -> list[int | None]:
    """Return the check of the first alarm of each watch; None without one."""
    generator, found = np.random.default_rng([SEED_OF_WATCHES, judge.items, judge.dimensions]), []
    for _ in range(simulations):
        drawn = judge.values(checks, generator)
        owners = np.arange(judge.items)
        charts = control_chart(dict(enumerate(drawn)), dict.fromkeys(range(len(drawn)), owners))
        alarms = [point.check for chart in charts.values() for point in chart if point.is_alarm]
        found.append(min(alarms, default=None))
    return found


def count_covered(judge: Watched, simulations: int) -> float:
    """Return the share of 95 % intervals of one check that hold the shift's mean."""
    generator = np.random.default_rng(SEED_OF_WATCHES)
    held: list[bool] = []
    many = [judge.values(1, generator) for _ in range(5_000)]
    large = np.mean([each[:, 1] - each[:, 0] for each in many])
    for _ in range(simulations):
        drawn = judge.values(1, generator)
        charts = control_chart(dict(enumerate(drawn)), dict.fromkeys(range(len(drawn)), range(judge.items)))
        for (point,) in charts.values():
            assert point.low is not None
            assert point.high is not None
            held.append(bool(point.low <= large <= point.high))
    return float(np.mean(held))


def report_drift(simulations: int) -> None:
    print(f"20 items in 20 documents, 4 dimensions; {simulations} watches, level .05\n")
    print(f"{'nothing changes':<38}{'alarm in 50 checks':>20}")
    for judge in STEADY:
        false = [each is not None for each in find_alarms(judge, CHECKS, simulations)]
        print(f"{judge.name:<38}{np.mean(false):>20.3f}", flush=True)
    print(f"\n{'a change':<38}{'alarm in 20 checks':>20}{'checks: median':>16}{'90 %':>8}")
    for judge in CHANGED:
        alarms = find_alarms(judge, LOOKED_FOR, simulations)
        after = [np.inf if each is None else each - judge.started + 1 for each in alarms]
        caught = float(np.mean([each is not None for each in alarms]))
        median, most = np.quantile(after, [0.5, 0.9], method="higher")
        print(f"{judge.name:<38}{caught:>20.3f}{median:>16.0f}{most:>8.0f}", flush=True)
    covered = count_covered(Watched("", 0.7, shift=0.5), simulations)
    print(f"\n95 % intervals of one check that cover a shift of .5 with noise .7: {covered:.3f}")
