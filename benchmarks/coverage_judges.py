"""How often judges are told apart that agree with people equally well (`coverage.py judges`), and how often
biases are found that a judge has or does not have (`coverage.py biases`).
"""

from collections import Counter
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from agreement.biases import (
    Bias,
    correlated_errors,
    correlation_beyond_people,
    distribution_distance,
    round_numbers,
    self_preference,
    severity,
    slope_beyond_quality,
)
from agreement.comparison import Scores, compare_two_judges, factor_effects
from agreement.data import FloatArray
from agreement.streams import Stream

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


SLOPES = (0.4, 0.6, 0.8, 1.0, 1.2)
"""Points by which a judge's value rises with a point of quality; below 1 it uses a narrow range."""
PLANTED = {
    "length": 0.3,
    "familiarity": 0.3,
    "self-preference": 0.6,
    "anchoring, errors": 0.6,
    "anchoring, beyond people": 0.6,
    "multiples of 5": 0.4,
    "multiples of 10": 0.4,
    "severity": 0.4,
    "distance": 0.8,
}
"""What the scene plants of each bias, in points; of round numbers the share of answers that are rounded."""
_FIVE, _FAMILY = np.arange(1.0, 6.0), 3


@dataclass(frozen=True)
class JudgeOfRange:
    """Texts of systems, three people with a halo of their own, and a judge with a slope on quality.

    on_points: whether values are whole points from 1 to 5 instead of any numbers. Longer texts and texts of
    later systems are better, so a judge errs by length and family if its slope is not 1.
    """

    slope: float
    documents: int = 60
    systems: int = 4
    on_points: bool = False

    def biases(self, planted: float, seed: int) -> dict[str, Bias]:
        """Every bias by its name, each planted in a judge of its own with `planted` times `PLANTED`."""
        dice = np.random.default_rng([SEED, seed, round(100 * self.slope)])
        stream = Stream(seed)
        of_document, of_system = (each.ravel() for each in np.indices((self.documents, self.systems)))
        items = len(of_document)
        length, familiar = dice.normal(size=(2, items)) + 0.5 * (of_system - 1.5)
        quality = np.stack([0.5 * (length - familiar) + 0.3 * (of_system - 1.5)] * 3)
        quality += 0.6 * dice.normal(size=self.documents)[of_document] + 0.5 * dice.normal(size=(3, items))
        halo = 0.3 * dice.normal(size=(3, 1, items))
        people = quality + halo + 0.5 * dice.normal(size=(3, 3, items))
        values = self.slope * quality + 0.4 * dice.normal(size=(3, self.documents))[:, of_document]
        values += 0.5 * dice.normal(size=(3, items))
        amounts = {name: planted * each for name, each in PLANTED.items()}
        impression = dice.normal(size=items)

        def scores(added: FloatArray | float, dimension: int = 0, on_points: bool = False) -> Scores:
            both = [people[:, dimension], values[dimension] + added]
            if on_points or self.on_points:
                both = [np.clip(np.round(each + 3), 1, 5) for each in both]
            return Scores(systems=of_system, documents=of_document, human=both[0], judge=both[1])

        def dimensions(name: str) -> list[Scores]:
            return [scores(amounts[name] * impression, each) for each in range(3)]

        def rounded(name: str, divisor: int) -> FloatArray:
            answers = np.clip(np.round(70 + 15 * values[0]), 1, 100)
            is_rounded = dice.random(items) < amounts[name]
            near = np.clip(np.round(answers / divisor) * divisor, divisor, 100)
            return np.asarray(np.where(is_rounded, near, answers)[:, None])

        own = (of_system == _FAMILY).astype(float)
        fives, tens = (
            round_numbers(rounded(f"multiples of {each}", each), of_document, 1, 100, generator=stream)
            for each in (5, 10)
        )
        return {
            "length": slope_beyond_quality(
                scores(amounts["length"] * length), length, "length", "Length", generator=stream
            ),
            "familiarity": slope_beyond_quality(
                scores(amounts["familiarity"] * familiar), familiar, "perplexity", "", generator=stream
            ),
            "self-preference": self_preference(
                scores(amounts["self-preference"] * own), own, generator=stream
            ),
            "anchoring, errors": correlated_errors(dimensions("anchoring, errors"), generator=stream),
            "anchoring, beyond people": correlation_beyond_people(
                dimensions("anchoring, beyond people"), generator=stream
            ),
            "multiples of 5": fives.fives,
            "multiples of 10": tens.tens,
            "severity": severity(scores(-amounts["severity"]), generator=stream),
            "distance": distribution_distance(
                scores(-amounts["distance"], on_points=True), _FIVE, generator=stream
            ),
        }


def found_biases(judge: JudgeOfRange, planted: float, simulations: int) -> dict[str, float]:
    found = Counter[str]()
    for seed in range(simulations):
        found.update({name: int(each.is_found) for name, each in judge.biases(planted, seed).items()})
    return {name: found[name] / simulations for name in PLANTED}


def report_biases(simulations: int) -> None:
    print(f"Share of {simulations:,} judges with a bias found, by slope on quality: not planted; planted")
    for on_points in (False, True):
        print("whole points from 1 to 5" if on_points else "any numbers")
        shares = {
            (slope, planted): found_biases(JudgeOfRange(slope, on_points=on_points), planted, simulations)
            for slope in SLOPES
            for planted in (0.0, 1.0)
        }
        for name in PLANTED:
            cells = (
                f"{slope:g}: {shares[slope, 0.0][name]:.2f} {shares[slope, 1.0][name]:.2f}"
                for slope in SLOPES
            )
            print(f"{name:<26}{'  '.join(cells)}", flush=True)
