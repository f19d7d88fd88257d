"""Whether planned power and widths are reached (`coverage.py power`)."""

from dataclasses import dataclass

import numpy as np
import scipy

from agreement.data import FloatArray
from agreement.power import documents_needed
from agreement.reliability import (
    Verdict,
    alternative_annotator_test,
    minus_root_mean_squared_error,
    plan_replacement,
)
from agreement.reliability.alternative_annotator import AlternativeAnnotatorTest

SEED = 20_261_128
LEVEL = 0.05
POWER = 0.8
TEXTS = 4
EPSILON = 0.2


@dataclass(frozen=True)
class Judged:
    """Documents of four texts of four systems that three raters and two judges rate from 1 to 5.

    errors: the judges' error deviations in points; raters' are .7. ceiling: shifts all texts up.
    """

    errors: tuple[float, float]
    ceiling: float = 0.0

    def draw(self, documents: int, generator: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return values of people (3, documents, texts) and of judges (2, documents, texts)."""
        truth = 3.0 + self.ceiling + np.array([-0.3, -0.1, 0.1, 0.3])
        truth = truth + 0.4 * generator.normal(size=(documents, 1))
        truth = truth + 0.8 * generator.normal(size=(documents, TEXTS))
        people = truth + 0.7 * generator.normal(size=(3, documents, TEXTS))
        spread = np.array(self.errors)[:, None, None]
        judges = truth + spread * generator.normal(size=(2, documents, TEXTS))
        return np.clip(np.round(people), 1, 5), np.clip(np.round(judges), 1, 5)


def _error_differences(judged: Judged, documents: int, generator: np.random.Generator) -> FloatArray:
    """(documents,): the first judge's mean squared error minus the second's."""
    people, judges = judged.draw(documents, generator)
    errors = (judges - people.mean(axis=0)) ** 2
    return np.asarray((errors[0] - errors[1]).mean(axis=1))


def power_of_judges(judged: Judged, simulations: int) -> tuple[int, float]:
    """Return the documents planned from the true spread for a power of .8, and the power reached."""
    generator = np.random.default_rng(SEED)
    truth = _error_differences(judged, 100_000, generator)
    documents = documents_needed(float(truth.mean()), float(truth.std()), significance_level=LEVEL)
    assert documents is not None
    drawn = np.array([_error_differences(judged, documents, generator) for _ in range(simulations)])
    found = scipy.stats.ttest_1samp(drawn, 0, axis=1)
    right = np.sign(found.statistic) == np.sign(truth.mean())
    return documents, float(np.mean((found.pvalue < LEVEL) & right))


def _test(judged: Judged, documents: int, generator: np.random.Generator) -> AlternativeAnnotatorTest:
    people, judges = judged.draw(documents, generator)
    return alternative_annotator_test(
        people.reshape(3, -1),
        judges[0].ravel(),
        epsilon=EPSILON,
        generator=generator,
        documents=np.repeat(np.arange(documents), TEXTS),
        systems=np.tile(np.arange(TEXTS), documents),
        alignment=minus_root_mean_squared_error,
        least_units=1,
    )


def power_of_replacement(judged: Judged, simulations: int, *, pilot: int = 2_000) -> tuple[int, float]:
    """Return the documents planned from a pilot for the replacement test, and the share of tests passed."""
    generator = np.random.default_rng(SEED)
    found = plan_replacement(_test(judged, pilot, generator), epsilon=EPSILON, generator=generator)
    assert found.documents is not None, found.reason
    passed = [_test(judged, found.documents, generator).verdict == Verdict.PASSES for _ in range(simulations)]
    return found.documents, float(np.mean(passed))
