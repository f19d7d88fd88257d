"""How often two judges that agree with people equally well are told apart (`coverage.py judges`)."""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from agreement.comparison import Scores, compare_two_judges, factor_effects
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
    noise: tuple[float, ...] = (0.8, 0.8)

    def scores(self, generator: np.random.Generator) -> tuple[Scores, ...]:
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
        return tuple(
            Scores(systems=systems, documents=documents, human=people.reshape(3, -1), judge=each.ravel())
            for each in map(_on_the_scale, judges)
        )


def _on_the_scale(values: FloatArray) -> FloatArray:
    return np.asarray(np.clip(np.round(3.5 + values), 1, 5))


def rejected_between_judges(kind: TwoJudges, simulations: int, *, replicates: int = 2000) -> dict[str, float]:
    """Return by figure in which share of samples the two judges differ at the 5 % level."""
    generator, rejected = np.random.default_rng(SEED), Counter[str]()
    for _ in range(simulations):
        first, second = kind.scores(generator)
        _, found = compare_two_judges(
            first, second, measurement_level="ordinal", generator=generator, replicates=replicates
        )
        rejected.update(
            {name: each.p_value is not None and each.p_value <= LEVEL for name, each in found.items()}
        )
    return {name: number / simulations for name, number in rejected.items()}


def rejected_effects(kind: TwoJudges, simulations: int, *, replicates: int = 2000) -> dict[str, float]:
    """Return in which share of samples effects of two factors on four judges are found at the 5 % level."""
    generator, rejected = np.random.default_rng(SEED), Counter[str]()
    for _ in range(simulations):
        variants = dict(zip(product((0, 1), repeat=2), kind.scores(generator), strict=True))
        found = factor_effects(
            variants, (2, 2), measurement_level="ordinal", generator=generator, replicates=replicates
        )
        for name, effect in zip(("first", "second", "interaction"), found, strict=True):
            rejected.update(
                {
                    f"{name} {key}": each.p_value is not None and each.p_value <= LEVEL
                    for key, each in effect.differences.items()
                }
            )
    return {name: number / simulations for name, number in rejected.items()}


def report_judges(simulations: int) -> None:
    """Print a line for each kind of material, for pairs of judges and for two crossed factors."""
    print(f"Share of true nulls rejected at {LEVEL:g}; {simulations:,} pairs of judges of each kind")
    for kind in (TwoJudges(15), TwoJudges(32), TwoJudges(100, 12)):
        shares = rejected_between_judges(kind, simulations, replicates=600)
        print(f"{kind.documents:>4} documents, {kind.systems:>2} systems", end="")
        print("".join(f"  {name} {share:.3f}" for name, share in shares.items()))
    print("Effects of two factors on four judges that are equally good")
    for kind in (TwoJudges(15), TwoJudges(32), TwoJudges(100, 12)):
        shares = rejected_effects(replace(kind, noise=4 * kind.noise[:1]), simulations, replicates=600)
        print(f"{kind.documents:>4} documents, {kind.systems:>2} systems", end="")
        print("".join(f"  {name} {share:.3f}" for name, share in shares.items()))
