"""Shares of judges with known truth that are granted each use (`coverage.py errors`)."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.comparison import Scores
from agreement.data import FloatArray
from agreement.reliability import JudgeUse, Shown, correction_gain, find_uses, judge_error
from agreement.reliability.judge_error import ACCEPTED_LOSS
from benchmarks.simulated import on_scale

SEED = 20_261_128
NOISE, SEVERITY, RATER_BY_SYSTEM = 0.55, 0.3, 0.2
SINGLE_RATING = NOISE**2 + SEVERITY**2 + RATER_BY_SYSTEM**2
"""Variance of one person's value of a text around its true value, in squared points."""
RANK, SCORE, MEANS = JudgeUse
NOISES = {
    "good": 0.2**2,
    "biased": 0.2**2,
    "like a person": SINGLE_RATING,
    "at the limit": 1.4 * SINGLE_RATING,
}
NOISES["noisy"] = 1.2**2
BIASES = {"biased": 0.9}
WRONG = {
    "good": (),
    "biased": (SCORE,),
    "like a person": (),
    "at the limit": (SCORE,),
    "noisy": (SCORE,),
    "value per system": (SCORE, MEANS),
    "length": (RANK, SCORE),
    "random": (RANK, SCORE, MEANS),
    "constant": (RANK, SCORE, MEANS),
}
"""The uses that the truth about new raters does not allow: each granted one is an error."""


@dataclass(frozen=True)
class Project:
    """raters: (raters, systems), how much higher each rates. Other arrays: (documents, systems)."""

    people: FloatArray
    lengths: FloatArray
    truth: FloatArray
    raters: FloatArray

    def is_wrong_for_panel(self, judge: str, use: JudgeUse) -> bool:
        """Whether these raters' own truth does not allow a use."""
        if use is not SCORE or judge not in NOISES:
            return use in WRONG[judge]
        pairs = (self.raters[:, None] - self.raters) ** 2
        number = len(self.raters)
        of_people = pairs.mean(axis=2).sum() / (number * (number - 1)) + 2 * NOISE**2
        of_judge = ((BIASES.get(judge, 0.0) - self.raters) ** 2).mean() + NOISES[judge] + NOISE**2
        return bool((1 + ACCEPTED_LOSS) * of_people <= of_judge)


@dataclass(frozen=True)
class Rated:
    """A kind of project; deviations in points, those of people near to those of SummEval-OP.

    Lengths go with the true value within a system (r = .3), and differ between systems at random.
    """

    documents: int
    raters: int
    systems: int = 6

    def project(self, generator: np.random.Generator) -> Project:
        size = self.documents, self.systems
        within = 0.3 * generator.normal(size=(self.documents, 1)) + 0.65 * generator.normal(size=size)
        truth = 3.4 + 0.35 * generator.normal(size=self.systems) + within
        raters = SEVERITY * generator.normal(size=(self.raters, 1))
        raters = raters + RATER_BY_SYSTEM * generator.normal(size=(self.raters, self.systems))
        people = truth + raters[:, None] + NOISE * generator.normal(size=(self.raters, *size))
        lengths = 0.5 * generator.normal(size=self.systems) + 0.3 * within / within.std()
        lengths = lengths + np.sqrt(1 - 0.3**2) * generator.normal(size=size)
        return Project(on_scale(people), lengths, truth, raters)

    def judges(self, project: Project, generator: np.random.Generator) -> dict[str, FloatArray]:
        """(documents, systems): the values of each judge."""
        truth, mean = project.truth, project.people.mean(axis=0)
        values: dict[str, npt.NDArray[np.floating]] = {
            name: truth + BIASES.get(name, 0.0) + np.sqrt(variance) * generator.normal(size=truth.shape)
            for name, variance in NOISES.items()
        }
        others = [np.arange(self.documents) != document for document in range(self.documents)]
        lines = [np.polyfit(project.lengths[each].ravel(), mean[each].ravel(), 1) for each in others]
        values |= {
            "value per system": (mean.sum(axis=0) - mean) / (self.documents - 1),
            "length": np.array([np.polyval(*each) for each in zip(lines, project.lengths, strict=True)]),
            "random": np.round(3.4 + 0.7 * generator.normal(size=truth.shape)),
            "constant": np.full(truth.shape, 4.0),
        }
        return {name: values[name].astype(float) for name in WRONG}


def granted_uses(kind: Rated, simulations: int) -> dict[tuple[str, JudgeUse], Counter[str]]:
    """Return for each judge and use how often it is shown, for these raters too, and wrongly for them."""
    generator = np.random.default_rng([SEED, kind.documents, kind.raters])
    counts = {(name, use): Counter[str]() for name in WRONG for use in JudgeUse}
    systems = np.tile(np.arange(kind.systems), kind.documents)
    documents = np.repeat(np.arange(kind.documents), kind.systems)
    for _ in range(simulations):
        project = kind.project(generator)
        people = project.people.reshape(kind.raters, -1)
        for name, judge in kind.judges(project, generator).items():
            scores = Scores(systems=systems, documents=documents, human=people, judge=judge.ravel())
            error = judge_error(scores, generator=generator, lengths=project.lengths.ravel(), replicates=400)
            gain = correction_gain(project.people.mean(axis=0), judge, share=0.2)
            for found in find_uses(error, gain):
                of_use = counts[name, found.use]
                of_use["shown"] += found.shown is Shown.SURELY
                of_use["granted"] += found.is_granted
                wrong = found.is_granted and project.is_wrong_for_panel(name, found.use)
                of_use["wrong for panel"] += wrong
    return counts


def report_errors(simulations: int) -> None:
    print(f"Share of judges granted each use; {simulations:,} projects of each kind")
    print(
        "shown: for raters like these. granted: also for these raters alone. *: the truth does not allow it."
    )
    for documents in (12, 40, 100):
        for raters in (3, 5):
            counts = granted_uses(Rated(documents, raters), simulations)
            for name in WRONG:
                parts = []
                for use in JudgeUse:
                    shown, granted, wrong = (
                        counts[name, use][each] / simulations
                        for each in ("shown", "granted", "wrong for panel")
                    )
                    mark = "*" if use in WRONG[name] else " "
                    parts.append(f"{use.name.lower()}{mark} {shown:.3f} ({granted:.3f}, wrong {wrong:.3f})")
                print(f"{documents:>4} documents, {raters} raters, {name:<17}{'  '.join(parts)}", flush=True)
