"""The number of ratings for a guarantee, and of documents for the alternative annotator test."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import scipy

from agreement.data import FloatArray, IntArray
from agreement.design import MOST_PAIRED_DOCUMENTS, fewest_reaching
from agreement.reliability import bounds
from agreement.reliability.alternative_annotator import AlternativeAnnotatorTest
from agreement.reliability.fixed_sequence import Guarantee
from agreement.streams import Randomness, generator_of

_LARGEST_SAMPLE = 20_000


@dataclass(frozen=True)
class CalibrationPlan:
    """A sample size, or None with a reason.

    ratings: units to sample at random and rate. accepted: the expected number of them among the units that
    the judge keeps. errors_allowed: the number of these that may count against it. power: the chance to pass
    at the assumed error rate. least_ratings: below this number even a judge without an error does not pass.
    """

    ratings: int | None
    accepted: int | None
    errors_allowed: int | None
    power: float | None
    least_ratings: int | None
    reason: str | None = None


def least_accepted_ratings(guarantee: Guarantee, *, errors: int = 0, units: int | None = None) -> int | None:
    """The fewest accepted calibration ratings that pass with `errors` errors among them.

    Without errors and without a batch ceil(ln delta / ln(1 - risk)): 22 at risk .1 and delta .1. units: the
    accepted units of a closed batch. None if even rating them all would not suffice. Source: Jung, Brahman
    and Choi 2025; Hahn and Meeker 1991, Statistical Intervals, chapter 9.
    """

    def passes(accepted: IntArray) -> npt.NDArray[np.bool_]:
        p_values = bounds.exact_p_value(np.full(len(accepted), errors), accepted, units, guarantee.risk)
        return np.asarray(p_values <= guarantee.significance_level)

    return bounds.first_that_passes(passes, max(errors, 1), _LARGEST_SAMPLE if units is None else units)


def plan_calibration(
    guarantee: Guarantee,
    *,
    expected_error: float,
    accepted_share: float = 1,
    power: float = 0.8,
    units: int | None = None,
) -> CalibrationPlan:
    """The smallest sample at which a judge with this error rate passes with this power.

    For units of a closed batch, or one unit of each document: with more units of a document and without a
    batch, the test of `calibrate` needs more.

    expected_error: the error rate supposed among the units that shall stay, from a pilot or from other
    projects. accepted_share: the share of all units that shall stay with the judge. units: of the closed
    batch, all of them; then bounds are hypergeometric. Power is the power of one exact test; since errors are
    whole numbers, power rises in a sawtooth. The returned size keeps it at every larger size up to twice its
    number. Raises ValueError for shares and rates outside 0..1.
    """
    if not 0 <= expected_error < 1:
        raise ValueError(f"The expected error must be at least 0 and below 1, but is {expected_error}.")
    if not 0 < accepted_share <= 1:
        raise ValueError(f"The accepted share must be above 0 and at most 1, but is {accepted_share}.")
    if not 0 < power < 1:
        raise ValueError(f"Power must lie between 0 and 1, but is {power}.")
    kept = None if units is None else round(units * accepted_share)
    least = least_accepted_ratings(guarantee, units=kept)
    if least is None:
        reason = "Even rating every unit that the judge keeps would not allow this guarantee."
        return CalibrationPlan(None, None, None, None, None, reason)
    least_ratings = _ratings_to_draw(max(least, guarantee.least_accepted), accepted_share)
    if expected_error >= guarantee.risk:
        reason = (
            "A judge that errs as often as the risk allows passes no sample; allow more, or keep fewer units."
        )
        return CalibrationPlan(None, None, None, None, least_ratings, reason)
    tried = _first_with_power(max(least, guarantee.least_accepted), kept, guarantee, expected_error, power)
    if tried is None:
        reason = "No sample is large enough: the expected error lies too near the risk."
        return CalibrationPlan(None, None, None, None, least_ratings, reason)
    accepted, allowed, reached = tried
    return CalibrationPlan(
        ratings=_ratings_to_draw(accepted, accepted_share),
        accepted=accepted,
        errors_allowed=allowed,
        power=reached,
        least_ratings=least_ratings,
    )


def errors_allowed(accepted: IntArray, guarantee: Guarantee, *, units: int | None = None) -> IntArray:
    """Return (sizes,): the most errors that still pass the test of `guarantee`; -1 where not even 0 pass.

    accepted: (sizes,), numbers of accepted ratings. units: the size of a finite batch
    (hypergeometric distribution); None for an endless one (binomial).
    """
    low, high = np.full(len(accepted), -1), accepted.copy()
    while (low < high).any():
        # Rounded down, the middle of two neighbours would be `low` and the search would not end.
        middle = (low + high + 1) // 2
        p_values = bounds.exact_p_value(np.maximum(middle, 0), accepted, units, guarantee.risk)
        passes = p_values <= guarantee.significance_level
        low, high = np.where(passes, middle, low), np.where(passes, high, middle - 1)
    return np.asarray(low, dtype=np.intp)


def _power(accepted: IntArray, allowed: IntArray, error: float, units: int | None) -> FloatArray:
    """(sizes,): P(number of errors <= `allowed`) at this error rate."""
    # -1 means that even 0 errors do not pass; the power of such a size is 0.
    some = np.maximum(allowed, 0)
    if units is None:
        reached = bounds.binomial_p_value(some, accepted, error) if error > 0 else np.ones(len(accepted))
    else:
        # A part of a wrong unit counts as a whole one, which makes the power rather too small.
        wrong = int(np.ceil(np.round(units * error, 9)))
        reached = bounds.hypergeometric_cdf(some, units, wrong, accepted)
    return np.where(allowed >= 0, reached, 0.0)


def _first_with_power(
    least: int, kept: int | None, guarantee: Guarantee, error: float, power: float
) -> tuple[int, int, float] | None:
    """The smallest size that keeps the power up to twice its size, its errors allowed, its power; or None.

    Sizes are tried up to a limit that grows until it is twice the size found: most answers are small.
    """
    largest = 2 * _LARGEST_SAMPLE if kept is None else kept
    limit = min(4 * least, largest)
    while True:
        sizes = np.arange(min(least, largest), limit + 1)
        allowed = errors_allowed(sizes, guarantee, units=kept)
        reached = _power(sizes, allowed, error, kept)
        chosen = _first_lasting(sizes, reached >= power)
        # A size is final only if the tried sizes reach twice its number.
        if limit == largest or (chosen is not None and 2 * sizes[chosen] <= limit):
            break
        limit = min(4 * limit, largest)
    if chosen is None:
        return None
    return int(sizes[chosen]), int(allowed[chosen]), float(reached[chosen])


def _first_lasting(sizes: IntArray, enough: np.ndarray) -> int | None:
    """The first index from which on `enough` holds up to twice the size; None if there is none."""
    gaps = np.flatnonzero(~enough)
    for index in np.flatnonzero(enough):
        following = gaps[gaps > index]
        if not len(following) or sizes[following[0]] > 2 * sizes[index]:
            return int(index)
    return None


def _ratings_to_draw(accepted: int, accepted_share: float) -> int:
    # Rounded before, because a quotient such as 300.00000000000006 must not become 301.
    return int(np.ceil(np.round(accepted / accepted_share, 9)))


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
    # Covariances need documents with a value for every annotator and control.
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
    needed = fewest_reaching(
        lambda documents: setting.power(documents) >= power,
        least=LEAST_DOCUMENTS,
        most=MOST_PAIRED_DOCUMENTS,
    )
    most = f"More than {MOST_PAIRED_DOCUMENTS:,} documents." if needed is None else ""
    return ReplacementPlan(needed, today, power_today, most)


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
        # Benjamini and Yekutieli: (i / m) q / (1 + 1/2 + ... + 1/m).
        self.bars = ranks / annotators * false_discovery_rate / np.sum(1 / ranks)
        self.confidence_level = confidence_level
        values, vectors = np.linalg.eigh(np.atleast_2d(np.cov(complete)))
        # A root of the covariance matrix, whose eigenvalues of 0 may be negative by rounding.
        root = vectors * np.sqrt(np.maximum(values, 0))
        # The same numbers for every n, so two sizes differ by their size and not by chance.
        normal = generator_of(generator, "plan_replacement").normal(size=(2, _DRAWS, len(table)))
        self.errors, self.spreads = normal[0] @ root.T, normal[1]

    def power(self, documents: int) -> float:
        """Return the share of simulated studies of this size in which the judge passes."""
        freedom = documents - 1
        # Means and standard deviations of the simulated studies.
        means = self.means + self.errors / np.sqrt(documents)
        # Wilson and Hilferty's transformation: chi squared / freedom from a normal number.
        share = 2 / (9 * freedom)
        # With few documents the base of the cube may be below 0, where no variance is.
        ratios = np.maximum(1 - share + self.spreads * np.sqrt(share), 0.05) ** 3
        deviations = np.maximum(self.deviations * np.sqrt(ratios), 1e-12)
        errors, people = deviations / np.sqrt(documents), slice(None, self.annotators)
        # The test against each annotator, then the gain over each control.
        t = (means[:, people] - self.epsilon) / errors[:, people]
        p_values = np.sort(scipy.special.stdtr(freedom, t), axis=1)
        passes = p_values <= self.bars
        # A step-up test: all hypotheses up to the last p value below its bar are rejected.
        rejected = np.where(passes.any(axis=1), self.annotators - passes[:, ::-1].argmax(axis=1), 0)
        critical = scipy.special.stdtrit(freedom, (1 + self.confidence_level) / 2)
        gains = means[:, self.annotators :] - critical * errors[:, self.annotators :]
        return float(np.mean((rejected >= self.annotators / 2) & (gains > 0).all(axis=1)))


def _explain_no_power(test: AlternativeAnnotatorTest, setting: _Setting) -> str:
    """Return the reason why no number of documents would pass a judge with these true values; empty if one
    would.
    """
    # If the true mean is epsilon or more, no number of documents rejects that hypothesis reliably.
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
