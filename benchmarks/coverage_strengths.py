"""How often intervals and ranks of strengths hold (`coverage.py strengths`)."""

from dataclasses import dataclass
from itertools import permutations

import numpy as np

from agreement.comparison import Verdicts, system_strengths

SEED = 20_261_123


@dataclass(frozen=True)
class Comparisons:
    """Every ordered pair of systems on every document; a text is as good in all its comparisons."""

    documents: int = 30
    strengths: tuple[float, ...] = (0.8, 0.3, 0.0, -0.3, -0.8)
    order_effect: float = 0.5
    tie: float = -0.5
    of_document: float = 0.0

    def verdicts(self, generator: np.random.Generator) -> Verdicts:
        """One judge's verdicts."""
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
    generator = np.random.default_rng(SEED)
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
        held[0] += np.mean([_holds(each.strength, value) for value, each in given])
        held[1] += _holds(found.first_wins, first)
        held[2] += all(
            (each.best or 0) <= order.index(each.system) + 1 <= (each.worst or 0) for each in found.systems
        )
    return float(held[0] / simulations), float(held[1] / simulations), float(held[2] / simulations)


def _holds(found: object, value: float) -> bool:
    low, high = getattr(found, "low", None), getattr(found, "high", None)
    return low is not None and high is not None and low <= value <= high


def report_strengths(simulations: int) -> None:
    """Print a line for each kind of material."""
    print(f"Share of 95 % intervals that hold; {simulations:,} judges of each kind")
    for kind in (Comparisons(10), Comparisons(30), Comparisons(30, of_document=0.8), Comparisons(100)):
        shares = held_strengths(kind, simulations)
        print(f"{kind.documents:>4} documents, SD of texts {kind.of_document:g}", end="  ")
        names = ("strengths", "first place", "all ranks")
        print("  ".join(f"{name} {share:.3f}" for name, share in zip(names, shares, strict=True)))
