"""The number of documents that the alternative annotator test needs to pass a judge, with its controls."""

from dataclasses import dataclass

import numpy as np
import scipy

from agreement.data import FloatArray
from agreement.power import MOST_DOCUMENTS
from agreement.reliability.alternative_annotator import AlternativeAnnotatorTest
from agreement.streams import Randomness, generator_of

LEAST_DOCUMENTS = 5
_DRAWS = 4_000


@dataclass(frozen=True)
class ReplacementPlan:
    """documents: the fewest at which a judge like this passes with the requested power; None with a reason.

    today: the number of documents in the test. power_today: the probability that a judge like this passes
    with that number.
    """

    documents: int | None
    today: int
    power_today: float | None
    reason: str = ""


def plan_replacement(
    test: AlternativeAnnotatorTest,
    *,
    epsilon: float,
    generator: Randomness,
    power: float = 0.8,
    false_discovery_rate: float = 0.05,
    confidence_level: float = 0.95,
) -> ReplacementPlan:
    """Plan the test from the document means and covariances that it has found.

    test: as `alternative_annotator_test` returns it. For n documents it simulates 4,000 studies: normal means
    of wins and of gains over the controls with these covariances / n, and standard deviations from chi
    squared with n - 1 degrees of freedom. Power is the share of studies in which t tests reject for half of
    the annotators or more (Benjamini and Yekutieli) and every control is beaten. It takes the values found as
    the true ones. Undefined with fewer than three annotators or five documents, and for a
    judge that does not pass with any number of documents.
    """
    rows = [*(each.by_document for each in test.annotators)]
    rows += [each.by_document for each in test.controls.values()]
    today = int(np.sum(~np.isnan(np.array(rows)).any(axis=0))) if rows else 0
    if test.verdict is None:
        return ReplacementPlan(None, today, None, test.reason or test.verdict_reason)
    if today < LEAST_DOCUMENTS:
        few = f"{today} documents have values of all annotators; {LEAST_DOCUMENTS} are needed."
        return ReplacementPlan(None, today, None, few)
    setting = _Setting(rows, len(test.annotators), epsilon, false_discovery_rate, confidence_level, generator)
    power_today = setting.power(today)
    if reason := _explain_no_power(test, setting):
        return ReplacementPlan(None, today, power_today, reason)
    low, high = LEAST_DOCUMENTS - 1, LEAST_DOCUMENTS
    while setting.power(high) < power:
        low, high = high, 2 * high
        if low >= MOST_DOCUMENTS:
            most = f"More than {MOST_DOCUMENTS:,} documents."
            return ReplacementPlan(None, today, power_today, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if setting.power(middle) < power else (low, middle)
    return ReplacementPlan(high, today, power_today)


class _Setting:
    """Means and covariances of complete documents, and the normal numbers that serve every n."""

    def __init__(
        self,
        rows: list[FloatArray],
        annotators: int,
        epsilon: float,
        false_discovery_rate: float,
        confidence_level: float,
        generator: Randomness,
    ) -> None:
        table = np.array(rows)
        complete = table[:, ~np.isnan(table).any(axis=0)]
        self.means = complete.mean(axis=1)
        self.deviations = complete.std(axis=1, ddof=1)
        self.annotators, self.epsilon = annotators, epsilon
        ranks = np.arange(1, annotators + 1)
        self.bars = ranks / annotators * false_discovery_rate / np.sum(1 / ranks)
        self.confidence_level = confidence_level
        values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(complete)))
        root = vectors * np.sqrt(np.maximum(values, 0))
        normal = generator_of(generator, "plan_replacement").normal(size=(2, _DRAWS, len(table)))
        self.errors, self.spreads = normal[0] @ root.T, normal[1]

    def power(self, documents: int) -> float:
        """Return the share of simulated studies of this size in which the judge passes."""
        freedom = documents - 1
        means = self.means + self.errors / np.sqrt(documents)
        # Wilson and Hilferty's transformation: chi squared / freedom from a normal number.
        share = 2 / (9 * freedom)
        ratios = np.maximum(1 - share + self.spreads * np.sqrt(share), 0.05) ** 3
        deviations = np.maximum(self.deviations * np.sqrt(ratios), 1e-12)
        errors, people = deviations / np.sqrt(documents), slice(None, self.annotators)
        t = (means[:, people] - self.epsilon) / errors[:, people]
        p_values = np.sort(scipy.special.stdtr(freedom, t), axis=1)
        passes = p_values <= self.bars
        rejected = np.where(passes.any(axis=1), self.annotators - passes[:, ::-1].argmax(axis=1), 0)
        critical = scipy.special.stdtrit(freedom, (1 + self.confidence_level) / 2)
        gains = means[:, self.annotators :] - critical * errors[:, self.annotators :]
        return float(np.mean((rejected >= self.annotators / 2) & (gains > 0).all(axis=1)))


def _explain_no_power(test: AlternativeAnnotatorTest, setting: _Setting) -> str:
    """Return the reason why no number of documents would pass a judge with these true values; empty if one
    would.
    """
    lost = int(np.sum(setting.means[: setting.annotators] >= setting.epsilon))
    if lost > setting.annotators / 2:
        return (
            f"The judge as it is loses to {lost} of {setting.annotators} annotators by epsilon or more, so "
            "more documents do not help."
        )
    gains = setting.means[setting.annotators :]
    ahead = [
        each.answers for each, gain in zip(test.controls.values(), gains.tolist(), strict=True) if gain <= 0
    ]
    if ahead:
        return f"The judge as it is does not beat {', '.join(ahead)}, so more documents do not help."
    return ""
