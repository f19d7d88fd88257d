"""Shares of judges with known truth that are granted each use (`coverage.py errors`)."""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.comparison import Scores
from agreement.data import FloatArray
from agreement.reliability import JudgeUse, Shown, correction_gain, find_uses, judge_error

SEED = 20_261_128
SINGLE_RATING = 0.55**2 + 0.3**2 + 0.2**2
"""Variance of one person's value of a text around its true value, in squared points."""
WRONG = {
    "good": "",
    "biased": "score",
    "like a person": "score",
    "at the limit": "score",
    "noisy": "score",
    "value per system": "score, means",
    "length": "rank, score",
    "random": "rank, score, means",
    "constant": "rank, score, means",
}
"""The uses that the truth does not allow: each granted one is an error."""


@dataclass(frozen=True)
class Rated:
    """A project with a new panel; deviations in points, those of people near to those of SummEval-OP.

    Lengths go with the true value within a system (r = .5), and differ between systems at random.
    """

    documents: int
    raters: int
    systems: int = 6

    def project(self, generator: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
        """People's values (raters, documents, systems), lengths and true values (documents, systems)."""
        size = self.documents, self.systems
        within = 0.3 * generator.normal(size=(self.documents, 1)) + 0.65 * generator.normal(size=size)
        truth = 3.4 + 0.35 * generator.normal(size=self.systems) + within
        people = truth + 0.3 * generator.normal(size=(self.raters, 1, 1))
        people = people + 0.2 * generator.normal(size=(self.raters, 1, self.systems))
        people = people + 0.55 * generator.normal(size=(self.raters, *size))
        lengths = 0.5 * generator.normal(size=self.systems) + 0.5 * within / within.std()
        lengths = lengths + np.sqrt(0.75) * generator.normal(size=size)
        return _points(people), lengths, truth

    def judges(
        self, people: FloatArray, lengths: FloatArray, truth: FloatArray, generator: np.random.Generator
    ) -> dict[str, FloatArray]:
        """(documents, systems): the values of each judge."""

        def noise(deviation: float) -> FloatArray:
            return deviation * generator.normal(size=truth.shape)

        mean = people.mean(axis=0)
        line = np.polyfit(lengths.ravel(), mean.ravel(), 1)
        values: dict[str, npt.NDArray[np.floating]] = {
            "good": _points(truth + noise(0.2)),
            "biased": _points(truth + 0.8 + noise(0.2)),
            "like a person": truth + noise(np.sqrt(SINGLE_RATING)),
            "at the limit": truth + noise(np.sqrt(1.4 * SINGLE_RATING)),
            "noisy": _points(truth + noise(1.2)),
            "value per system": (mean.sum(axis=0) - mean) / (self.documents - 1),
            "length": _points(np.polyval(line, lengths)),
            "random": _points(3.4 + noise(0.7)),
            "constant": np.full(truth.shape, 4.0),
        }
        return {name: each.astype(float) for name, each in values.items()}


def granted_uses(kind: Rated, simulations: int) -> dict[str, Counter[str]]:
    """Return for each judge how often each use is granted: surely, and also for these raters alone."""
    generator = np.random.default_rng([SEED, kind.documents, kind.raters])
    counts: dict[str, Counter[str]] = {name: Counter() for name in WRONG}
    systems = np.tile(np.arange(kind.systems), kind.documents)
    documents = np.repeat(np.arange(kind.documents), kind.systems)
    for _ in range(simulations):
        people, lengths, truth = kind.project(generator)
        for name, judge in kind.judges(people, lengths, truth, generator).items():
            scores = Scores(
                systems=systems,
                documents=documents,
                human=people.reshape(kind.raters, -1),
                judge=judge.ravel(),
            )
            error = judge_error(scores, generator=generator, lengths=lengths.ravel(), replicates=400)
            for found in find_uses(error, correction_gain(people.mean(axis=0), judge, share=0.2)):
                counts[name][found.use.name] += found.shown is Shown.SURELY
                counts[name][f"{found.use.name} panel"] += found.is_granted
    return counts


def report_errors(simulations: int) -> None:
    """Print a line for each panel and judge; columns: granted for raters like these, and for these alone."""
    print(f"Share of judges granted each use; {simulations:,} projects of each kind")
    print(f"{'':34}" + "".join(f"{use.name.lower():>16}" for use in JudgeUse) + "  wrong if granted")
    for documents in (12, 40, 100):
        for raters in (3, 5):
            for name, counts in granted_uses(Rated(documents, raters), simulations).items():
                shares = "".join(
                    f"{counts[use.name] / simulations:>8.3f} ({counts[f'{use.name} panel'] / simulations:.3f})"
                    for use in JudgeUse
                )
                print(
                    f"{documents:>4} documents, {raters} raters, {name:<16}{shares}  {WRONG[name]}",
                    flush=True,
                )


def _points(values: npt.NDArray[np.floating]) -> FloatArray:
    return np.clip(np.round(values), 1, 5).astype(float)
