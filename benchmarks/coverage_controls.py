"""Share of judges that beat a control with the same knowledge (`coverage.py controls`)."""

from collections import Counter
from dataclasses import dataclass

import numpy as np

from agreement.data import FloatArray
from agreement.reliability import Verdict, alternative_annotator_test

SEED = 20_261_127
EPSILON = 0.2
KNOWING = ("system", "length", "item")


@dataclass(frozen=True)
class Rated:
    """Ratings from 1 to 5 by three raters; deviations in points are near to those of SummEval-OP.

    of_length: the correlation of an item's true value with the logarithm of its length.
    """

    documents: int
    systems: int = 6
    of_length: float = 0.5

    def project(self, generator: np.random.Generator) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return people's values (raters, units), lengths and true values (units,), document by document."""
        units = self.documents * self.systems
        better = 0.6 * generator.normal(size=self.systems)
        truth = 3.7 + np.tile(better, self.documents) + 0.5 * generator.normal(size=units)
        other = np.sqrt(1 - self.of_length**2) * generator.normal(size=units)
        lengths = 5 + 0.4 * (self.of_length * (truth - 3.7) / 0.8 + other)
        return _points(truth + 0.6 * generator.normal(size=(3, units))), lengths, truth

    def judge(self, knows: str, people: FloatArray, lengths: FloatArray, truth: FloatArray) -> FloatArray:
        """(units,): of its system or length what other documents say, rounded; or the item's true value."""
        if knows == "item":
            return _points(truth)
        means = people.mean(axis=0).reshape(self.documents, self.systems)
        others = [np.arange(self.documents) != document for document in range(self.documents)]
        if knows == "system":
            return _points(np.concatenate([means[each].mean(axis=0) for each in others]))
        sizes = lengths.reshape(means.shape)
        lines = [np.polyfit(sizes[each].ravel(), means[each].ravel(), 1) for each in others]
        return _points(np.concatenate([np.polyval(*each) for each in zip(lines, sizes, strict=True)]))


def beaten_controls(kind: Rated, knows: str, simulations: int) -> dict[str, float]:
    """Return the share of judges that beat each control, and the share that pass."""
    generator, beaten = np.random.default_rng([SEED, kind.documents]), Counter[str]()
    for _ in range(simulations):
        people, lengths, truth = kind.project(generator)
        found = alternative_annotator_test(
            people,
            kind.judge(knows, people, lengths, truth),
            epsilon=EPSILON,
            generator=generator,
            documents=np.repeat(np.arange(kind.documents), kind.systems),
            systems=np.tile(np.arange(kind.systems), kind.documents),
            lengths=lengths,
        )
        beaten.update(name for name, control in found.controls.items() if control.is_beaten)
        beaten["passes"] += found.verdict is Verdict.PASSES
    return {
        name: beaten[name] / simulations for name in ("constant", "system", "length", "shuffled", "passes")
    }


def report_controls(simulations: int) -> None:
    """Print a line for each number of documents and each judge, a column for each control."""
    print(f"Share of judges that beat a control; {simulations:,} projects of each kind")
    for documents in (12, 40, 100):
        for knows in KNOWING:
            shares = beaten_controls(Rated(documents), knows, simulations)
            print(f"{documents:>4} documents, knows the {knows:<7}", end="")
            print("".join(f"  {name} {share:.3f}" for name, share in shares.items()), flush=True)


def _points(values: FloatArray) -> FloatArray:
    return np.clip(np.round(values), 1, 5)
