"""Tests of a risk in a fixed sequence: the largest set of units that may stay with a judge."""

from dataclasses import dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray, IntArray
from agreement.reliability import bounds
from agreement.reliability.bounds import log_capital, mean_capital, risk_p_value, risk_upper
from agreement.student import sum_by_document


class RiskTest(StrEnum):
    """How a risk is tested; chosen before looking.

    EXACT: losses of 0 and 1, by the hypergeometric distribution within a closed batch, by the binomial
    otherwise. HOEFFDING_BENTKUS: any losses between 0 and 1. Without a batch and with several ratings of a
    document, both bet on whole documents instead (`risk_p_value`).
    """

    EXACT = "exact"
    HOEFFDING_BENTKUS = "hoeffding_bentkus"


@dataclass(frozen=True)
class Guarantee:
    """With confidence 1 - significance_level, the mean loss of the accepted units does not exceed `risk`.

    least_accepted: testing starts at this number of calibration ratings among the accepted units. Raises
    ValueError for a risk or level outside 0..1.
    """

    risk: float
    significance_level: float = 0.1
    least_accepted: int = 30
    test: RiskTest = RiskTest.EXACT

    def __post_init__(self) -> None:
        if not 0 < self.risk < 1 or not 0 < self.significance_level < 1:
            raise ValueError("The risk and the significance level must lie between 0 and 1.")
        if self.least_accepted < 1:
            raise ValueError("At least one accepted rating is needed.")

    def divide(self, certificates: int) -> "Guarantee":
        """The same for each of several certificates that shall all hold together (Bonferroni).

        Count every judge, dimension and system, and every later look at more ratings.
        """
        if certificates < 1:
            raise ValueError("There must be at least one certificate.")
        return replace(self, significance_level=self.significance_level / certificates)


@dataclass(frozen=True)
class ThresholdTest:
    """One tested threshold: units with a confidence at or above it are accepted.

    accepted: calibration ratings among them; lost: the sum of their losses (the errors). bound: the upper
    bound on their mean loss by this test alone. units: accepted units of the whole batch, None without one.
    """

    threshold: float
    accepted: int
    lost: float
    bound: float
    p_value: float
    units: int | None


@dataclass(frozen=True)
class RiskCertificate:
    """A threshold that holds the guarantee, or None with the reason why all units go to humans.

    step: the last that passed, or None. steps: all tested thresholds, the strictest first; unless the grid
    ended, the last one failed. rated: calibration ratings with a loss and a confidence or not; without_loss:
    the ratings excluded because the judge or people gave no value. units: of the closed batch, None without
    one. more_ratings: after an abstention, the number of additional calibration ratings that would pass the
    first test at the same share of errors; None if no number would, see `more_reason`.
    """

    guarantee: Guarantee
    threshold: float | None
    reason: str | None
    step: ThresholdTest | None
    steps: tuple[ThresholdTest, ...] = field(repr=False)
    rated: int
    without_loss: int
    units: int | None
    more_ratings: int | None = None
    more_reason: str | None = None

    @property
    def kept_share(self) -> float:
        """The share of the batch (of the calibration ratings, without one) that stays with the judge."""
        if self.step is None:
            return 0.0
        if self.units is not None and self.step.units is not None:
            return self.step.units / self.units
        return self.step.accepted / self.rated

    @property
    def risk_of_unrated(self) -> float | None:
        """The guaranteed risk of the unrated accepted units, with the same confidence.

        (floor(risk N) - k) / (N - n) over the accepted units of a closed batch: if few errors were among the
        rated ones, more may be among the others. None without a certificate, a batch, or such units.
        """
        # Only with losses of 0 and 1 is the allowed loss a number of units that others can be short of.
        if self.step is None or self.step.units is None or self.guarantee.test is not RiskTest.EXACT:
            return None
        unrated = self.step.units - self.step.accepted
        if not unrated:
            return None
        allowed = bounds.largest_allowed(self.step.units, self.guarantee.risk) - self.step.lost
        return min(float(allowed / unrated), 1.0)


@dataclass(frozen=True, eq=False)
class DocumentCounts:
    """(documents, steps): accepted units of each, and their losses. most: the units of the largest."""

    accepted: FloatArray
    lost: FloatArray
    most: int

    def __getitem__(self, chosen: slice) -> "DocumentCounts":
        return DocumentCounts(self.accepted[:, chosen], self.lost[:, chosen], self.most)

    def p_values(self, risk: float) -> FloatArray:
        """(steps,): p values of `risk_p_value`."""
        return risk_p_value(self.lost, self.accepted, risk, most=self.most)

    def bounds(self, significance_level: float) -> FloatArray:
        """(steps,): the upper bounds of `risk_upper`."""
        columns = zip(self.lost.T, self.accepted.T, strict=True)
        return np.array(
            [risk_upper(*column, significance_level, most=self.most) for column in columns], dtype=float
        )

    def times_to_pass(self, guarantee: Guarantee) -> float:
        """The factor on the number of documents like these that passes the first test."""
        logs = log_capital(self.lost[:, 0], self.accepted[:, 0], guarantee.risk, most=self.most)[:, -1]
        times = np.geomspace(1, _LARGEST_SAMPLE, 4_000)
        # If all documents occur several times, the log of a stake's capital grows in proportion.
        capitals = mean_capital(np.where(np.isneginf(logs), -np.inf, np.outer(times, logs)).T)
        passes = np.flatnonzero(capitals >= 1 / guarantee.significance_level)
        return float(times[passes[0]]) if len(passes) else np.inf


@dataclass(frozen=True, eq=False)
class StepCounts:
    """What each step accepts, (steps,), the strictest first.

    thresholds: the names of the steps. accepted: rated units; lost: their losses. units: accepted units of
    the closed batch, None without one or where unknown. largest: the most that these can be, where the batch
    is closed and `units` is unknown. documents: the same by document, if the test bets on documents.
    """

    thresholds: FloatArray
    accepted: IntArray
    lost: FloatArray
    units: IntArray | None = None
    largest: IntArray | None = None
    documents: DocumentCounts | None = None

    def __getitem__(self, chosen: slice) -> "StepCounts":
        given = (getattr(self, each.name) for each in fields(self))
        parts: list[Any] = [None if part is None else part[chosen] for part in given]
        return StepCounts(*parts)


def count_steps(
    thresholds: FloatArray,
    accepted: npt.NDArray[np.bool_],
    losses: FloatArray,
    documents: IntArray | None,
    units: IntArray | None = None,
    largest: IntArray | None = None,
) -> StepCounts:
    """Return the counts of steps, from what each accepts of the rated units (steps, rated).

    losses: (rated,), or (steps, rated) if they depend on the step. documents: (rated,), numbers from 0, if
    the test bets on documents.
    """
    lost, by_document = np.where(accepted, losses, 0.0), None
    if documents is not None:
        most = int(np.bincount(documents).max(initial=1))
        of_accepted, of_lost = (sum_by_document(each.T.astype(float), documents) for each in (accepted, lost))
        by_document = DocumentCounts(of_accepted, of_lost, most)
    return StepCounts(thresholds, accepted.sum(axis=1), lost.sum(axis=1), units, largest, by_document)


def certify_steps(
    counts: StepCounts,
    guarantee: Guarantee,
    *,
    start: int,
    rated: int,
    without_loss: int = 0,
    batch: int | None = None,
) -> RiskCertificate:
    """Return the certificate of the last step before the first failure.

    counts: of all steps; their order is fixed before any loss was seen. start: the first step to be tested,
    the number of steps if there is none. rated, without_loss, batch: see `RiskCertificate`.
    Source: Bauer 1991 and Angelopoulos and others 2021, Learn then Test, section 3.2.
    """
    # The first failure ends the sequence: a later p value below delta would be a second chance, and the
    # whole delta could then no longer be spent on every test.
    # The steps from the start to the first that fails, with it.
    below = counts[slice(start, None)]
    p_values = _p_values(below, guarantee)
    failed = np.flatnonzero(p_values > guarantee.significance_level)
    tested = below[slice(0, int(failed[0]) + 1 if len(failed) else len(p_values))]
    upper = _bounds(tested, guarantee)
    steps = tuple(
        ThresholdTest(
            threshold=float(tested.thresholds[index]),
            accepted=int(tested.accepted[index]),
            lost=float(tested.lost[index]),
            bound=float(upper[index]),
            p_value=float(p_values[index]),
            units=None if tested.units is None else int(tested.units[index]),
        )
        for index in range(len(tested.thresholds))
    )
    passed = [step for step in steps if step.p_value <= guarantee.significance_level]
    certificate = RiskCertificate(
        guarantee=guarantee,
        threshold=passed[-1].threshold if passed else None,
        reason=None,
        step=passed[-1] if passed else None,
        steps=steps,
        rated=rated,
        without_loss=without_loss,
        units=batch,
    )
    if passed:
        return certificate
    if steps:
        first = steps[0]
        reason = (
            f"Among the surest units, {first.lost:g} of {first.accepted} ratings count against the judge; "
            f"the risk may be up to {first.bound:.3f}, above {guarantee.risk:g}. All units go to humans."
        )
        more, why = _suggest_more_ratings(first, guarantee, rated, below.documents)
    else:
        reason = (
            f"None of the thresholds accepts {guarantee.least_accepted} of {rated} calibration ratings, "
            "too few to test. All units go to humans."
        )
        # The last step accepts the most, and the slice also serves a grid without steps.
        more, why = _suggest_first_ratings(guarantee, rated, int(counts.accepted[-1:].sum()))
    return replace(certificate, reason=reason, more_ratings=more, more_reason=why)


def first_with_enough(found: npt.NDArray[np.number], least: int) -> int:
    """The first of (steps,) numbers of ratings that is at least `least`; the number of steps if none is."""
    # An expected number such as 29.999999999999996 counts as 30.
    enough = np.flatnonzero(np.round(np.asarray(found, dtype=float), 9) >= least)
    return int(enough[0]) if len(enough) else len(found)


def numbers_of_shared_documents(
    documents: npt.ArrayLike | None, has_loss: npt.NDArray[np.bool_]
) -> IntArray | None:
    """(rated,): the number of each unit's document; None if no two units with a loss share one.

    has_loss: (drawn,), mask of the rated units. Raises ValueError for documents of another length.
    """
    if documents is None:
        return None
    given = np.asarray(documents)
    if given.shape != has_loss.shape:
        raise ValueError(f"Documents and losses differ in shape: {given.shape} and {has_loss.shape}.")
    found, numbers = np.unique(given[has_loss], return_inverse=True)
    return np.asarray(numbers, dtype=np.intp) if len(found) < len(numbers) else None


def _p_values(counted: StepCounts, guarantee: Guarantee) -> FloatArray:
    if counted.documents is not None:
        return counted.documents.p_values(guarantee.risk)
    if guarantee.test is RiskTest.HOEFFDING_BENTKUS:
        means = counted.lost / np.maximum(counted.accepted, 1)
        return bounds.hoeffding_bentkus_p_value(means, counted.accepted, guarantee.risk)
    # Of a batch of which only the size is known, the least favourable accepted part decides.
    if counted.units is None and counted.largest is not None:
        return bounds.p_value_of_unknown_batch(
            counted.lost, counted.accepted, counted.largest, guarantee.risk
        )
    return bounds.exact_p_value(counted.lost, counted.accepted, counted.units, guarantee.risk)


def _bounds(counted: StepCounts, guarantee: Guarantee) -> FloatArray:
    delta = guarantee.significance_level
    if counted.documents is not None:
        return counted.documents.bounds(delta)
    if guarantee.test is RiskTest.HOEFFDING_BENTKUS:
        pairs = zip(counted.lost, counted.accepted, strict=True)
        upper = [bounds.hoeffding_bentkus_upper(lost / max(n, 1), int(n), delta) for lost, n in pairs]
        return np.array(upper, dtype=float)
    if counted.units is None:
        return bounds.clopper_pearson_upper(counted.lost, counted.accepted, delta)
    wrong = bounds.hypergeometric_upper(counted.lost, counted.accepted, counted.units, delta)
    return np.asarray(wrong / np.maximum(counted.units, 1))


def _suggest_first_ratings(guarantee: Guarantee, rated: int, most_accepted: int) -> tuple[int | None, str]:
    """The number of additional ratings until a step has enough for a test, and its reason."""
    if rated and not most_accepted:
        return None, "No threshold accepts any of the rated units; widen the grid."
    share = most_accepted / rated if rated else 1.0
    more = max(int(np.ceil(np.round(guarantee.least_accepted / share, 9))) - rated, 1)
    return more, f"Testing starts with about {more} more ratings of units drawn at random."


def _suggest_more_ratings(
    first: ThresholdTest, guarantee: Guarantee, rated: int, documents: DocumentCounts | None
) -> tuple[int | None, str]:
    """The number of additional ratings for the first test at the same share of errors, and its reason."""
    share_of_errors = first.lost / max(first.accepted, 1)
    if share_of_errors >= guarantee.risk:
        return None, (
            f"No number of ratings will change this while {share_of_errors:.1%} of the surest units count "
            f"against the judge: the risk asked for is {guarantee.risk:.1%}."
        )

    def passes(accepted: IntArray) -> npt.NDArray[np.bool_]:
        lost = np.asarray(accepted * share_of_errors, dtype=float)
        if guarantee.test is RiskTest.EXACT:
            lost = np.ceil(np.round(lost, 9))  # whole errors, and rather one too many
        units = None if first.units is None else np.full(len(accepted), first.units, dtype=np.intp)
        tried = StepCounts(np.zeros(len(accepted)), accepted, lost, units)
        return np.asarray(_p_values(tried, guarantee) <= guarantee.significance_level)

    if documents is None:
        largest = min(_LARGEST_SAMPLE, first.units or _LARGEST_SAMPLE)
        enough = bounds.first_that_passes(passes, first.accepted + 1, largest)
    else:
        times = documents.times_to_pass(guarantee)
        enough = None if np.isinf(times) else max(int(np.ceil(first.accepted * times)), first.accepted + 1)
    if enough is None:
        return None, "Rating every accepted unit would not be enough."
    # Units are sampled before it is known whether they are accepted, so more of them are needed.
    share_accepted = max(first.accepted, 1) / max(rated, 1)
    more = int(np.ceil(np.round((enough - first.accepted) / share_accepted, 9)))
    return more, f"About {more} more ratings, if the share of errors stays at {share_of_errors:.1%}."


_LARGEST_SAMPLE = 100_000


def calibrate(
    confidences: npt.ArrayLike,
    losses: npt.ArrayLike,
    grid: npt.ArrayLike,
    guarantee: Guarantee,
    *,
    documents: npt.ArrayLike | None,
    batch: npt.ArrayLike | None = None,
) -> RiskCertificate:
    """The smallest threshold of the grid at which, and above which, the risk is rejected at delta.

    confidences, losses: (rated,), of a simple random sample of units; losses of 0 and 1, or within 0..1 for
    Hoeffding-Bentkus, NaN if the unit has no value. A NaN confidence is never accepted. grid: the thresholds
    to be tested, fixed before any loss was known. documents: (rated,), the document of each unit. Warning:
    None states that units were sampled individually, not documents with several units each. If documents were
    sampled, the guarantee broke in up to .31 of samples at a delta of .1. batch: (units,), confidences of the
    whole closed batch, with the sample; then the guarantee is about these units, and bounds are
    hypergeometric. Without it, it is about the population of the documents.

    In a closed batch documents change nothing: units are sampled individually, which fixes the distribution
    of the errors in the sample. Without one, documents are the sample. If any has several rated units, the
    test is `risk_p_value`, and the plan must fix the largest number of rated units in a document.

    Testing goes from the strictest threshold down and ends at the first p value above delta, so each test may
    use the whole delta, and the risk need not grow with the set. It starts where `least_accepted` ratings are
    expected among the accepted units of the batch, which uses no rating; without a batch at this number of
    actual ratings, as in Jung and others. Source: Bauer 1991 and Angelopoulos and others 2021, Learn then
    Test, section 3.2 (fixed sequence); Jung, Brahman and Choi 2025, Trust or Escalate, section 3;
    hypergeometric: see `bounds`; documents: see `log_capital`. Raises ValueError for losses that the test
    cannot take, an empty grid, or lengths that do not fit.
    """
    sure, lost = np.asarray(confidences, dtype=float), np.asarray(losses, dtype=float)
    if sure.ndim != 1 or sure.shape != lost.shape:
        raise ValueError(f"Confidences and losses differ in shape: {sure.shape} and {lost.shape}.")
    has_loss = ~np.isnan(lost)
    if ((lost[has_loss] < 0) | (lost[has_loss] > 1)).any():
        raise ValueError("Losses must lie between 0 and 1.")
    if guarantee.test is RiskTest.EXACT and not np.isin(lost[has_loss], (0, 1)).all():
        raise ValueError("An exact test needs losses of 0 and 1; choose Hoeffding-Bentkus for others.")
    thresholds = np.unique(np.asarray(grid, dtype=float))[::-1]  # the strictest first
    if not len(thresholds) or not np.isfinite(thresholds).all():
        raise ValueError("The grid needs at least one threshold, all finite.")
    rated, size = int(has_loss.sum()), None
    units: IntArray | None = None
    # In a closed batch units are sampled one by one, so documents change nothing.
    shared = None if batch is not None else numbers_of_shared_documents(documents, has_loss)
    accepted = sure[has_loss] >= thresholds[:, None]
    if batch is not None:
        everything = np.asarray(batch, dtype=float)
        size, units = len(everything), (everything >= thresholds[:, None]).sum(axis=1)
        if (accepted.sum(axis=1) > units).any():
            raise ValueError("The calibration sample must be part of the batch.")
    counts = count_steps(thresholds, accepted, lost[has_loss], shared, units)
    # The actual number of ratings above a threshold may depend on their losses. The expected number follows
    # from the confidences of the batch alone, so the start is fixed before any loss is known.
    found: npt.NDArray[np.number] = counts.accepted
    if units is not None:
        found = rated * units / max(size or 0, 1)
    return certify_steps(
        counts,
        guarantee,
        start=first_with_enough(found, guarantee.least_accepted),
        rated=rated,
        without_loss=int(np.sum(~has_loss)),
        batch=size,
    )


def grid_between(smallest: float, largest: float, step: float) -> FloatArray:
    """(thresholds,): smallest, smallest + step, ..., largest, fixed beforehand and without rounding drift."""
    number = round((largest - smallest) / step)
    return np.asarray(np.round(smallest + step * np.arange(number + 1), 9))


def grid_of(batch: npt.ArrayLike, *, thresholds: int = 50) -> FloatArray:
    """Quantiles of the batch's confidences (units,) as a grid; fixed, since it uses no rating.

    Raises ValueError if no unit has a confidence.
    """
    values = np.asarray(batch, dtype=float)
    given = values[~np.isnan(values)]
    if not len(given):
        raise ValueError("No unit of the batch has a confidence.")
    return np.unique(np.quantile(given, np.linspace(0, 1, thresholds), method="lower"))
