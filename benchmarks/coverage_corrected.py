"""Coverage of means, differences and ranks that a judge corrects; part of benchmarks/coverage.py."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import combinations, product

import numpy as np
import scipy

from agreement.data import FloatArray
from agreement.groups import mean_values
from agreement.reliability import correct_systems, correction_gain
from agreement.reliability.correction_gain import center_scores, fit_slopes, judge_gaps
from benchmarks.simulated import covers, on_scale

SEED = 20_261_128
SYSTEMS = 6
NAMES = [str(index) for index in range(SYSTEMS)]
JUDGES = {
    "good": (1.0, np.full(SYSTEMS, 0.3)),
    "noisy": (1.0, np.full(SYSTEMS, 1.5)),
    "by system": (1.0, np.where(np.arange(SYSTEMS) % 2, 0.3, 1.5)),
    "unrelated": (0.0, np.full(SYSTEMS, 0.6)),
}
"""How much of a text's quality the judge sees, and the standard deviation of its noise on each system."""
DOCUMENT, TEXT, RATER, RATER_BY_DOCUMENT, RATING = 0.35, 0.4, 0.3, 0.25, 0.5
RATER_BY_SYSTEM = 0.15
BIAS = 0.4
SPACING = 0.15


@dataclass(frozen=True)
class Study:
    """Projects of one kind, each with a new panel, new documents and a judge with a new bias by system.

    spacing: between the means of neighbouring systems; 0 for equal ones. rater, rater_by_system: standard
    deviations in points. missing: the share of ratings that are missing. of_document: so many random raters
    rate a document, 0 for all. unequal: whether the texts of the first system vary twice as much. split: the
    standard deviation of raters on the first system, 0 for the same as on others. Ratings and scores are
    rounded to the points of a scale from 1 to 5.
    """

    judge: str
    raters: int
    documents: int
    rated: int
    spacing: float = 0.0
    rater: float = RATER
    rater_by_system: float = RATER_BY_SYSTEM
    missing: float = 0.0
    of_document: int = 0
    unequal: bool = False
    split: float = 0.0
    mean: float = 3.4

    @property
    def spreads(self) -> FloatArray:
        """(systems,): standard deviation of texts."""
        return TEXT * np.where(self.unequal & (np.arange(SYSTEMS) == 0), 2.0, 1.0)

    @property
    def qualities(self) -> FloatArray:
        """(systems,): means before rounding."""
        return np.asarray(self.mean + self.spacing * (np.arange(SYSTEMS) - (SYSTEMS - 1) / 2))

    @property
    def rater_spreads(self) -> FloatArray:
        """(systems,): standard deviation of raters on each system."""
        own = np.full(SYSTEMS, self.rater_by_system)
        own[0] = self.split or own[0]
        return own

    @property
    def truth(self) -> FloatArray:
        """(systems,): the expected rating, as raters round to the points of the scale."""
        variances = DOCUMENT**2 + self.spreads**2 + RATER_BY_DOCUMENT**2 + RATING**2
        variances += self.rater**2 + self.rater_spreads**2
        cuts = np.arange(1.5, 5)[:, None]
        above = scipy.special.ndtr((self.qualities - cuts) / np.sqrt(variances))
        return np.asarray(1 + above.sum(axis=0))

    def draw(self, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return ratings (raters, documents, systems), and the judge's scores (documents, systems)."""
        size = self.raters, self.documents, SYSTEMS
        normal = generator.normal
        quality = DOCUMENT * normal(size=(self.documents, 1)) + self.spreads * normal(size=size[1:])
        ratings = self.qualities + quality + RATING * normal(size=size)
        ratings += self.rater * normal(size=(self.raters, 1, 1))
        ratings += self.rater_spreads * normal(size=(self.raters, 1, SYSTEMS))
        ratings += RATER_BY_DOCUMENT * normal(size=(self.raters, self.documents, 1))
        seen, noise = JUDGES[self.judge]
        judge = self.mean + seen * quality + noise * normal(size=size[1:]) + BIAS * normal(size=SYSTEMS)
        ratings, judge = (on_scale(each) for each in (ratings, judge))
        ratings[:, self.rated :] = np.nan
        ratings[generator.random(size) < self.missing] = np.nan
        if self.of_document:
            order = generator.random((self.raters, self.documents)).argsort(axis=0).argsort(axis=0)
            ratings[order >= self.of_document] = np.nan
        return ratings, judge


@dataclass(frozen=True)
class Counted:
    """Shares of intervals that cover, of projects with all ranks in their sets, and with a false group.

    least: the share of the system whose mean is covered least often. A group is false if it splits equal
    systems.
    """

    means: float
    least: float
    pairs: float
    ranks: float
    false_groups: float


def simulate(study: Study, simulations: int) -> Counted:
    """Correct so many projects, and count what covers the truth."""
    key = (SEED, study.raters, study.documents, study.rated, round(100 * study.spacing))
    generator = np.random.default_rng(key)
    truth = study.truth
    ranks = 1 + (truth[:, None] < truth - _ROUNDING).sum(axis=1)
    equal = {
        (NAMES[one], NAMES[other])
        for one, other in combinations(range(SYSTEMS), 2)
        if abs(truth[one] - truth[other]) < _ROUNDING
    }
    means, pairs = np.zeros((simulations, SYSTEMS)), np.zeros(simulations)
    inside, false = np.zeros(simulations), np.zeros(simulations)
    for index in range(simulations):
        found = correct_systems(*study.draw(generator), NAMES)
        means[index] = [covers(each, value) for each, value in zip(found.means, truth, strict=True)]
        differences = [truth[int(each.first)] - truth[int(each.second)] for each in found.differences]
        covered = [covers(each, value) for each, value in zip(found.differences, differences, strict=True)]
        pairs[index] = np.mean(covered)
        inside[index] = all(
            (each.best or 0) <= rank <= (each.worst or 0)
            for each, rank in zip(found.means, ranks, strict=True)
        )
        letters = {each.system: set(each.letters) for each in found.means}
        false[index] = any(not letters[one] & letters[other] for one, other in equal)
    by_system = means.mean(axis=0)
    return Counted(
        float(by_system.mean()),
        float(by_system.min()),
        float(pairs.mean()),
        float(inside.mean()),
        float(false.mean()),
    )


_ROUNDING = 1e-9


def studies() -> Iterator[tuple[str, Study]]:
    sizes = ((40, 10), (40, 20), (100, 10), (100, 20), (100, 40))
    for raters, (documents, rated), judge in product((3, 5), sizes, JUDGES):
        yield "as usual", Study(judge, raters, documents, rated)
    others = {
        "raters alike": {"rater": 0.1, "rater_by_system": 0.05},
        "raters differ by system": {"rater_by_system": 0.3},
        "a fifth of ratings missing": {"missing": 0.2},
        "one system varies more": {"unequal": True},
        "near the top of the scale": {"mean": 4.4},
        "raters split on one system": {"split": 0.5},
    }
    for (name, changes), raters, size in product(others.items(), (3, 5), ((40, 20), (100, 40))):
        yield name, replace(Study("good", raters, *size), **changes)  # type: ignore[arg-type]
    for raters, size in product((6, 10), ((40, 20), (100, 40))):
        yield "three raters a document", Study("good", raters, *size, of_document=3)


@dataclass(frozen=True)
class CountedGain:
    """The true gain by the errors of many projects, the median estimate, and shares of intervals.

    covered: contain the true gain; above: have a lower end above it, so they promise too much.
    """

    truth: float
    estimate: float
    covered: float
    above: float


def simulate_gain(study: Study, simulations: int) -> CountedGain:
    """Compare gains with the errors of people's and corrected means; raters are alike, as they cancel.

    Errors are those of five times as many projects.
    """
    study = replace(study, rater=0.0, rater_by_system=0.0)
    generator = np.random.default_rng((SEED, study.documents, study.rated, len(study.judge)))
    errors, intervals = np.zeros(2), np.full((simulations, 3), np.nan)
    for index in range(5 * simulations):
        ratings, judge = study.draw(generator)
        people = mean_values(ratings.reshape(study.raters, -1)).reshape(judge.shape)
        scores = center_scores(people, judge)
        alone = np.nanmean(people, axis=0)
        corrected = alone + fit_slopes(scores) @ judge_gaps(scores)
        errors += [np.sum((each - study.truth) ** 2) for each in (alone, corrected)]
        gain = correction_gain(people, judge).means if index < simulations else None
        if gain:
            intervals[index] = gain.value, gain.low or np.nan, gain.high or np.nan
    truth = float(errors[0] / errors[1])
    value, low, high = intervals.T
    covered = float(np.mean((low <= truth) & (truth <= high)))
    return CountedGain(truth, float(np.median(value)), covered, float(np.mean(low > truth)))


def _report_gains(simulations: int) -> None:
    print("\nGain of the judge in means; above: 95 % intervals with a lower end above the true gain")
    print(f"{'judge':<11}{'documents':>10}{'rated':>6}{'gain':>7}{'median':>8}{'covered':>9}{'above':>7}")
    for judge, (documents, rated) in product(JUDGES, ((40, 20), (100, 20), (100, 40))):
        found = simulate_gain(Study(judge, 3, documents, rated), simulations)
        print(
            f"{judge:<11}{documents:>10}{rated:>6}{found.truth:>7.2f}{found.estimate:>8.2f}"
            f"{found.covered:>9.3f}{found.above:>7.3f}",
            flush=True,
        )


def report_corrected(simulations: int) -> None:
    """Print a line for each kind of project: equal systems for groups, spaced ones for ranks."""
    print(f"Shares of 95 % intervals that cover; {simulations:,} projects of each kind and spacing")
    print("false: groups that split equal systems; ranks: all sets of a project contain the true ranks")
    print(
        f"{'kind':<28}{'judge':<11}{'raters':>6}{'documents':>10}{'rated':>6}"
        f"{'means':>7}{'least':>7}{'pairs':>7}{'false':>7}{'ranks':>7}"
    )
    for name, study in studies():
        equal = simulate(study, simulations)
        spaced = simulate(replace(study, spacing=SPACING), simulations)
        means, pairs = (equal.means + spaced.means) / 2, (equal.pairs + spaced.pairs) / 2
        print(
            f"{name:<28}{study.judge:<11}{study.raters:>6}{study.documents:>10}{study.rated:>6}"
            f"{means:>7.3f}{min(equal.least, spaced.least):>7.3f}{pairs:>7.3f}"
            f"{equal.false_groups:>7.3f}{spaced.ranks:>7.3f}",
            flush=True,
        )
    _report_gains(simulations)
