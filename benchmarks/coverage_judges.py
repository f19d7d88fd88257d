"""How often two judges that agree with people equally well are told apart (`coverage.py judges`)."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from agreement.comparison import Scores, compare_two_judges
from agreement.data import FloatArray

SEED = 20_261_123
LEVEL = 0.05


@dataclass(frozen=True)
class TwoJudges:
    """Documents that each system has a text for, three people, and judges that take a document amiss.

    noise: the standard deviation of each judge's own error, in points of a scale from 1 to 5.
    """

    documents: int = 32
    systems: int = 8
    noise: tuple[float, float] = (0.8, 0.8)

    def scores(self, generator: np.random.Generator) -> tuple[Scores, Scores]:
        """The same items and people beside each judge."""
        size = self.documents, self.systems
        quality = 0.8 * generator.normal(size=size) + 0.5 * generator.normal(size=(1, self.systems))
        quality += 0.5 * generator.normal(size=(self.documents, 1))
        people = _on_the_scale(quality + 0.5 * generator.normal(size=(3, *size)))
        judges = [
            quality + 0.4 * generator.normal(size=(self.documents, 1)) + each * generator.normal(size=size)
            for each in self.noise
        ]
        systems = np.tile(np.arange(self.systems), self.documents)
        documents = np.repeat(np.arange(self.documents), self.systems)
        first, second = (
            Scores(systems=systems, documents=documents, human=people.reshape(3, -1), judge=each.ravel())
            for each in map(_on_the_scale, judges)
        )
        return first, second


def _on_the_scale(values: FloatArray) -> FloatArray:
    return np.asarray(np.clip(np.round(3.5 + values), 1, 5))


def rejected_between_judges(kind: TwoJudges, simulations: int, *, replicates: int = 2000) -> dict[str, float]:
    """Return by figure in which share of samples the two judges differ at the 5 % level."""
    generator, rejected = np.random.default_rng(SEED), Counter[str]()
    for _ in range(simulations):
        pair = kind.scores(generator)
        _, found = compare_two_judges(
            *pair, measurement_level="ordinal", generator=generator, replicates=replicates
        )
        rejected.update(
            {name: each.p_value is not None and each.p_value <= LEVEL for name, each in found.items()}
        )
    return {name: number / simulations for name, number in rejected.items()}


def report_judges(simulations: int) -> None:
    """Print a line for each kind of material."""
    print(f"Share of true nulls rejected at {LEVEL:g}; {simulations:,} pairs of judges of each kind")
    for kind in (TwoJudges(15), TwoJudges(32), TwoJudges(100, 12)):
        shares = rejected_between_judges(kind, simulations, replicates=600)
        print(f"{kind.documents:>4} documents, {kind.systems:>2} systems", end="")
        print("".join(f"  {name} {share:.3f}" for name, share in shares.items()))
