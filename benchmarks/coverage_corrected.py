"""Coverage of means, differences and ranks that a judge corrects; part of benchmarks/coverage.py."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import product

import numpy as np
import scipy

from agreement.data import FloatArray
from agreement.reliability import CorrectedSystems, correct_systems

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


@dataclass(frozen=True)
class Study:
    """Projects of one kind, each with a new panel, new documents and a judge with a new bias by system.

    spacing: between the means of neighbouring systems; 0 for equal ones. rater, rater_by_system: standard
    deviations in points. skip: the share of ratings that are missing. unequal: whether the texts of the first
    system vary twice as much. rounded: to the points of a scale from 1 to 5.
    """

    judge: str
    raters: int
    documents: int
    rated: int
    spacing: float = 0.0
    rater: float = RATER
    rater_by_system: float = RATER_BY_SYSTEM
    skip: float = 0.0
    unequal: bool = False
    rounded: bool = True
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
    def truth(self) -> FloatArray:
        """(systems,): the expected rating."""
        if not self.rounded:
            return self.qualities
        variances = (
            DOCUMENT**2 + self.spreads**2 + self.rater**2 + self.rater_by_system**2
        ) + RATER_BY_DOCUMENT**2 + RATING**2
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
        ratings += self.rater_by_system * normal(size=(self.raters, 1, SYSTEMS))
        ratings += RATER_BY_DOCUMENT * normal(size=(self.raters, self.documents, 1))
        seen, noise = JUDGES[self.judge]
        judge = self.mean + seen * quality + noise * normal(size=size[1:]) + BIAS * normal(size=SYSTEMS)
        if self.rounded:
            ratings, judge = (np.clip(np.round(each), 1, 5) for each in (ratings, judge))
        ratings[:, self.rated :] = np.nan
        ratings[generator.random(size) < self.skip] = np.nan
        return ratings, judge


@dataclass
class Counted:
    """Shares of intervals that cover, and of projects with all ranks in their sets or a false group."""

    means: float
    pairs: float
    ranks: float
    false_groups: float
    largest_loss: float


def simulate(study: Study, simulations: int) -> Counted:
    """Correct so many projects, and count what covers the truth."""
    generator = np.random.default_rng([SEED, study.raters, study.documents, study.rated])
    truth, counts = study.truth, np.zeros((simulations, 5))
    covered = np.zeros((simulations, SYSTEMS))
    for index in range(simulations):
        found = correct_systems(*study.draw(generator), NAMES)
        held = _count(found, truth)
        counts[index], covered[index] = held[0], held[1]
    means, pairs, ranks, false_groups, _ = counts.mean(axis=0)
    return Counted(means, pairs, ranks, false_groups, float(covered.mean(axis=0).min()))


def _count(found: CorrectedSystems, truth: FloatArray) -> tuple[list[float], FloatArray]:
    own = np.array([each.low <= value <= each.high for each, value in zip(found.means, truth, strict=True)])  # type: ignore[operator]
    held = own.mean()
    pairs, false = [], False
    for each in found.differences:
        difference = truth[int(each.first)] - truth[int(each.second)]
        pairs.append(each.low <= difference <= each.high)  # type: ignore[operator]
        false |= bool(abs(difference) < 1e-9 and each.adjusted_p_value <= 0.05)  # type: ignore[operator]
    ranks = [1 + int((truth > value + 1e-9).sum()) for value in truth]
    inside = all(each.best <= rank <= each.worst for each, rank in zip(found.means, ranks, strict=True))  # type: ignore[operator]
    return [float(held), float(np.mean(pairs)), float(inside), float(false), 0.0], own.astype(float)
