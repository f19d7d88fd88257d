"""Judges that replace an annotator (`coverage.py replacement`), beat controls (`controls`), and rate beside
people (`one_more_rater`).
"""

from collections import Counter
from dataclasses import dataclass

import numpy as np
import scipy

from agreement import Resampling
from agreement.comparison import Effect, Scores, judge_as_one_more_rater
from agreement.data import FloatArray
from agreement.reliability import Verdict, alternative_annotator_test
from agreement.reliability.alternative_annotator import p_value_below
from benchmarks.simulated import on_scale

SEED = 20_261_124
LEVEL = 0.05
EPSILON = 0.2


@dataclass(frozen=True)
class LosingJudge:
    """A judge whom an annotator beats in the share `wins` of items, and who beats the annotator in `losses`.

    items: of a document, alike by a correlation of .36 of what decides.
    """

    documents: int
    items: int
    wins: float
    losses: float

    def differences(self, generator: np.random.Generator) -> FloatArray:
        """(documents,): mean of annotator's minus judge's wins; its expectation is wins - losses."""
        shape = self.documents, self.items
        decides = 0.6 * generator.normal(size=(self.documents, 1)) + 0.8 * generator.normal(size=shape)
        rank = scipy.special.ndtr(decides)
        return np.asarray(((rank > 1 - self.wins).astype(float) - (rank < self.losses)).mean(axis=1))


KINDS = ((0.3, 0.1), (0.25, 0.05), (0.5, 0.3), (0.2, 0.0), (0.4, 0.2))
SIZES = ((12, 1), (12, 4), (12, 12), (20, 1), (20, 4), (20, 12), (29, 1), (29, 4), (100, 4))


def rejected_true_nulls(kind: LosingJudge, simulations: int) -> float:
    """Return the share of samples in which "loses by epsilon or more" is rejected, though it is just true."""
    generator = np.random.default_rng(SEED)
    rejected = [p_value_below(kind.differences(generator), EPSILON) <= LEVEL for _ in range(simulations)]
    return float(np.mean(rejected))


def report_replacement(simulations: int) -> None:
    print(f"Share of true nulls rejected at {LEVEL:g}; {simulations:,} samples of each kind")
    print(f"{'documents, items':<18}" + "".join(f"{f'{wins:g}, {losses:g}':>12}" for wins, losses in KINDS))
    for documents, items in SIZES:
        shares = [rejected_true_nulls(LosingJudge(documents, items, *kind), simulations) for kind in KINDS]
        print(f"{f'{documents}, {items}':<18}" + "".join(f"{share:>12.3f}" for share in shares), flush=True)


SEED_OF_CONTROLS = 20_261_127
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
        return on_scale(truth + 0.6 * generator.normal(size=(3, units))), lengths, truth

    def judge(self, knows: str, people: FloatArray, lengths: FloatArray, truth: FloatArray) -> FloatArray:
        """(units,): of its system or length what other documents say, rounded; or the item's true value."""
        if knows == "item":
            return on_scale(truth)
        means = people.mean(axis=0).reshape(self.documents, self.systems)
        others = [np.arange(self.documents) != document for document in range(self.documents)]
        if knows == "system":
            return on_scale(np.concatenate([means[each].mean(axis=0) for each in others]))
        sizes = lengths.reshape(means.shape)
        lines = [np.polyfit(sizes[each].ravel(), means[each].ravel(), 1) for each in others]
        return on_scale(np.concatenate([np.polyval(*each) for each in zip(lines, sizes, strict=True)]))


def beaten_controls(kind: Rated, knows: str, simulations: int) -> dict[str, float]:
    """Return the share of judges that beat each control, and the share that pass."""
    generator, beaten = np.random.default_rng([SEED_OF_CONTROLS, kind.documents]), Counter[str]()
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
    print(f"Share of judges that beat a control; {simulations:,} projects of each kind")
    for documents in (12, 40, 100):
        for knows in KNOWING:
            shares = beaten_controls(Rated(documents), knows, simulations)
            print(f"{documents:>4} documents, knows the {knows:<7}", end="")
            print("".join(f"  {name} {share:.3f}" for name, share in shares.items()), flush=True)


SEED_OF_PANELS = 20_261_127
ITEMS = 4


@dataclass(frozen=True)
class NoisyJudge:
    """A judge with `noise` times the error variance of a person, beside people; values from 1 to 5.

    centre: of the true values; near 5 most values are a 5. Errors share .3 of their deviation in a document.
    """

    noise: float
    raters: int = 3
    documents: int = 32
    centre: float = 3

    def scores(self, generator: np.random.Generator) -> Scores:
        """One project, four items of each document."""
        of_document = np.repeat(np.arange(self.documents), ITEMS)
        truth = self.centre + 0.8 * generator.normal(size=len(of_document))

        def values(deviation: float) -> FloatArray:
            own = generator.normal(size=len(truth))
            shared = generator.normal(size=self.documents)[of_document]
            errors = deviation * (np.sqrt(1 - 0.3**2) * own + 0.3 * shared)
            return on_scale(truth + errors)

        return Scores(
            systems=np.tile(np.arange(ITEMS), self.documents),
            documents=of_document,
            human=np.stack([values(0.8) for _ in range(self.raters)]),
            judge=values(0.8 * np.sqrt(self.noise)),
        )


def effects(kind: NoisyJudge, simulations: int, replicates: int = 300) -> dict[Effect, float]:
    """Return the share of each effect."""
    generator, plan = np.random.default_rng(SEED_OF_PANELS), Resampling(by="documents", replicates=replicates)
    found = Counter(
        judge_as_one_more_rater(kind.scores(generator), generator=generator, resampling=plan).effect
        for _ in range(simulations)
    )
    return {effect: found[effect] / simulations for effect in Effect}


def report_one_more_rater(simulations: int) -> None:
    print(f"Share of each effect; {simulations:,} projects of each kind")
    for centre, raters in ((3, 3), (3, 5), (5.3, 3)):
        for documents in (12, 32, 100):
            for noise in (0.5, 1, 1.5, 2):
                shares = effects(NoisyJudge(noise, raters, documents, centre), simulations)
                print(f"values around {centre:g}, {raters} raters, {documents:>3} documents", end="")
                print(f", noise {noise:g}", end="")
                print("".join(f"  {effect} {share:.3f}" for effect, share in shares.items()), flush=True)
