"""The largest set of units that may stay with a judge, with a guarantee: tests in a fixed sequence."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray, IntArray
from agreement.reliability import bounds
from agreement.reliability.risk_capital import log_capital, mean_capital, risk_p_value, risk_upper


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
    """With confidence 1 - significance_level, the mean loss of the accepted units is at most `risk`.

    least_accepted: testing starts where so many calibration ratings fall among the accepted units.
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
    """One threshold as it was tested: units with a confidence at or above it are accepted.

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

    step: the last that passed, or None. steps: all that were tested, the strictest first; unless the grid
    ended, the last one failed. rated: calibration ratings with a loss and a confidence or not; without_loss:
    those left out because the judge or people gave no value. units: of the closed batch, None without one.
    more_ratings: after an abstention, how many more calibration ratings would pass the first test if the
    share of errors stayed as it is; None where no number would, as `more_reason` says.
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
        """What the guarantee leaves for the accepted units that nobody rated, with the same confidence.

        (floor(risk N) - k) / (N - n) over the accepted units of a closed batch: where few errors were among
        the rated ones, more may be among the others. None without a certificate, a batch, or such units.
        """
        # Only with losses of 0 and 1 is the allowed loss a number of units that others can be short of.
        if self.step is None or self.step.units is None or self.guarantee.test is not RiskTest.EXACT:
            return None
        unrated = self.step.units - self.step.accepted
        if not unrated:
            return None
        allowed = bounds.largest_allowed(self.step.units, self.guarantee.risk) - self.step.lost
        return min(float(allowed / unrated), 1.0)


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
    Hoeffding-Bentkus, NaN where the unit has no value. A NaN confidence is never accepted. grid: the
    thresholds to be tested, fixed before any loss was seen. documents: (rated,), the document of each unit.
    Warning: None states that units were sampled individually, not documents with several units each. If
    documents were sampled, the guarantee broke in up to .31 of samples at a delta of .1. batch: (units,),
    confidences of the whole closed batch, with the sample; then the guarantee is about these units, and
    bounds are hypergeometric. Without it, it is about the population of the documents.

    In a closed batch documents change nothing: units are sampled individually, which fixes the distribution
    of the errors in the sample. Without one, documents are the sample. If any has several rated units, the
    test is `risk_p_value`, and the plan must fix the largest number of rated units in a document.

    Testing goes from the strictest threshold down and ends at the first p value above delta, so each test may
    use the whole delta, and the risk need not grow with the set. It starts where `least_accepted` ratings are
    expected among the accepted units of the batch, which looks at no rating; without a batch where so many
    were found, as Jung and others do.
    Source: Bauer 1991 and Angelopoulos and others 2021, Learn then Test, section 3.2 (fixed sequence); Jung,
    Brahman and Choi 2025, Trust or Escalate, section 3; hypergeometric: see `bounds`; documents: see
    `log_capital`.
    ValueError for losses that the test cannot take, an empty grid, or lengths that do not fit.
    """
    sure, lost = _check_input(confidences, losses, guarantee)
    thresholds = np.unique(np.asarray(grid, dtype=float))[::-1]  # the strictest first
    if not len(thresholds) or not np.isfinite(thresholds).all():
        raise ValueError("The grid needs at least one threshold, all finite.")
    everything = None if batch is None else np.asarray(batch, dtype=float)
    has_loss = ~np.isnan(lost)
    shared = None if batch is not None else _shared_documents(documents, has_loss)
    counted = _Counted.at(thresholds, sure[has_loss], lost[has_loss], everything, shared)
    start = _start(counted, guarantee, int(has_loss.sum()), everything)
    # The first failure ends the sequence: a later p value below delta would be a second chance, and the
    # whole delta could then no longer be spent on every test.
    steps = _test_steps(counted, guarantee, start)
    passed = [step for step in steps if step.p_value <= guarantee.significance_level]
    certificate = RiskCertificate(
        guarantee=guarantee,
        threshold=passed[-1].threshold if passed else None,
        reason=None if passed else _why_abstained(steps, guarantee, int(has_loss.sum())),
        step=passed[-1] if passed else None,
        steps=steps,
        rated=int(has_loss.sum()),
        without_loss=int(np.sum(~has_loss)),
        units=None if everything is None else len(everything),
    )
    if passed:
        return certificate
    return _with_more_ratings(certificate, int(counted.accepted[-1]), counted[slice(start, None)].documents)


def grid_between(smallest: float, largest: float, step: float) -> FloatArray:
    """(thresholds,): smallest, smallest + step, ..., largest, fixed beforehand and without rounding drift."""
    number = round((largest - smallest) / step)
    return np.asarray(np.round(smallest + step * np.arange(number + 1), 9))


def grid_of(batch: npt.ArrayLike, *, thresholds: int = 50) -> FloatArray:
    """Quantiles of the batch's confidences (units,) as a grid; fixed, since it looks at no rating.

    ValueError where no unit has a confidence.
    """
    values = np.asarray(batch, dtype=float)
    given = values[~np.isnan(values)]
    if not len(given):
        raise ValueError("No unit of the batch has a confidence.")
    return np.unique(np.quantile(given, np.linspace(0, 1, thresholds), method="lower"))


@dataclass(frozen=True, eq=False)
class _Documents:
    """(documents, thresholds): units at or above each, and their losses. most: the units of the largest."""

    accepted: FloatArray
    lost: FloatArray
    most: int

    @classmethod
    def at(
        cls, thresholds: FloatArray, sure: FloatArray, lost: FloatArray, documents: IntArray
    ) -> "_Documents":
        counts = np.bincount(documents)
        shape = len(counts), len(thresholds) + 1  # the last column: units below every threshold
        accepted, losses = np.zeros(shape), np.zeros(shape)
        first = np.where(np.isnan(sure), len(thresholds), np.searchsorted(-thresholds, -sure, side="left"))
        np.add.at(accepted, (documents, first), 1)
        np.add.at(losses, (documents, first), lost)
        accepted, losses = (np.cumsum(each[:, :-1], axis=1) for each in (accepted, losses))
        return cls(accepted, losses, int(counts.max(initial=1)))

    def __getitem__(self, chosen: slice) -> "_Documents":
        return _Documents(self.accepted[:, chosen], self.lost[:, chosen], self.most)

    def p_values(self, risk: float) -> FloatArray:
        return risk_p_value(self.lost, self.accepted, risk, most=self.most)

    def bounds(self, significance_level: float) -> FloatArray:
        columns = zip(self.lost.T, self.accepted.T, strict=True)
        return np.array(
            [risk_upper(*column, significance_level, most=self.most) for column in columns], dtype=float
        )

    def times_to_pass(self, guarantee: Guarantee) -> float:
        """How many times as many documents like these pass the test of the first threshold."""
        logs = log_capital(self.lost[:, 0], self.accepted[:, 0], guarantee.risk, most=self.most)[:, -1]
        times = np.geomspace(1, _LARGEST_SAMPLE, 4_000)
        capitals = mean_capital(np.where(np.isneginf(logs), -np.inf, np.outer(times, logs)).T)
        passes = np.flatnonzero(capitals >= 1 / guarantee.significance_level)
        return float(times[passes[0]]) if len(passes) else np.inf


@dataclass(frozen=True, eq=False)
class _Counted:
    """(thresholds,): what lies at or above each; units is None without a batch.

    documents: the same by document, if the test bets on documents.
    """

    thresholds: FloatArray
    accepted: IntArray
    lost: FloatArray
    units: IntArray | None
    documents: _Documents | None = None

    @classmethod
    def at(
        cls,
        thresholds: FloatArray,
        sure: FloatArray,
        lost: FloatArray,
        batch: FloatArray | None,
        documents: IntArray | None,
    ) -> "_Counted":
        order = np.argsort(-sure)  # NaN last
        # Signs are turned, since searchsorted needs rising numbers: -sure <= -threshold is at or above it.
        falling, given = -sure[order], int(np.sum(~np.isnan(sure)))
        accepted = np.searchsorted(falling[:given], -thresholds, side="right")
        cumulated = np.concatenate([[0.0], np.cumsum(lost[order])])
        units = None
        if batch is not None:
            everything = np.sort(-batch[~np.isnan(batch)])
            units = np.searchsorted(everything, -thresholds, side="right").astype(np.intp)
            if (accepted > units).any():
                raise ValueError("The calibration sample must be part of the batch.")
        by_document = None if documents is None else _Documents.at(thresholds, sure, lost, documents)
        return cls(thresholds, accepted.astype(np.intp), cumulated[accepted], units, by_document)

    def __getitem__(self, chosen: slice) -> "_Counted":
        units = None if self.units is None else self.units[chosen]
        documents = None if self.documents is None else self.documents[chosen]
        return _Counted(self.thresholds[chosen], self.accepted[chosen], self.lost[chosen], units, documents)


def _shared_documents(documents: npt.ArrayLike | None, has_loss: npt.NDArray[np.bool_]) -> IntArray | None:
    """(rated,): the number of each unit's document; None if no two units with a loss share one."""
    if documents is None:
        return None
    given = np.asarray(documents)
    if given.shape != has_loss.shape:
        raise ValueError(f"Documents and losses differ in shape: {given.shape} and {has_loss.shape}.")
    found, numbers = np.unique(given[has_loss], return_inverse=True)
    return np.asarray(numbers, dtype=np.intp) if len(found) < len(numbers) else None


def _check_input(
    confidences: npt.ArrayLike, losses: npt.ArrayLike, guarantee: Guarantee
) -> tuple[FloatArray, FloatArray]:
    sure, lost = np.asarray(confidences, dtype=float), np.asarray(losses, dtype=float)
    if sure.ndim != 1 or sure.shape != lost.shape:
        raise ValueError(f"Confidences and losses differ in shape: {sure.shape} and {lost.shape}.")
    given = lost[~np.isnan(lost)]
    if ((given < 0) | (given > 1)).any():
        raise ValueError("Losses must lie between 0 and 1.")
    if guarantee.test is RiskTest.EXACT and not np.isin(given, (0, 1)).all():
        raise ValueError("An exact test needs losses of 0 and 1; choose Hoeffding-Bentkus for others.")
    return sure, lost


def _start(counted: _Counted, guarantee: Guarantee, rated: int, batch: FloatArray | None) -> int:
    """The first threshold to test; the length of the grid where there is none."""
    # How many ratings happen to lie above a threshold may depend on their losses; how many are expected there
    # follows from the confidences of the batch alone, so that the start is fixed before any loss is seen.
    found: npt.NDArray[np.number] = counted.accepted
    if batch is not None and counted.units is not None:
        found = np.round(rated * counted.units / max(len(batch), 1), 9)
    enough = np.flatnonzero(found >= guarantee.least_accepted)
    return int(enough[0]) if len(enough) else len(counted.thresholds)


def _test_steps(counted: _Counted, guarantee: Guarantee, start: int) -> tuple[ThresholdTest, ...]:
    """The steps from the start to the first that fails, with it."""
    below = counted[slice(start, None)]
    p_values = _p_values(below, guarantee)
    failed = np.flatnonzero(p_values > guarantee.significance_level)
    tested = below[slice(0, int(failed[0]) + 1 if len(failed) else len(p_values))]
    upper = _bounds(tested, guarantee)
    return tuple(
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


def _p_values(counted: _Counted, guarantee: Guarantee) -> FloatArray:
    if counted.documents is not None:
        return counted.documents.p_values(guarantee.risk)
    if guarantee.test is RiskTest.HOEFFDING_BENTKUS:
        means = counted.lost / np.maximum(counted.accepted, 1)
        return bounds.hoeffding_bentkus_p_value(means, counted.accepted, guarantee.risk)
    if counted.units is None:
        return bounds.binomial_p_value(counted.lost, counted.accepted, guarantee.risk)
    return bounds.hypergeometric_p_value(counted.lost, counted.accepted, counted.units, guarantee.risk)


def _bounds(counted: _Counted, guarantee: Guarantee) -> FloatArray:
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


def _why_abstained(steps: Sequence[ThresholdTest], guarantee: Guarantee, rated: int) -> str:
    if not steps:
        return (
            f"None of the thresholds accepts {guarantee.least_accepted} of {rated} calibration ratings, "
            "too few to test. All units go to humans."
        )
    first = steps[0]
    return (
        f"Among the surest units, {first.lost:g} of {first.accepted} ratings count against the judge; "
        f"the risk may be up to {first.bound:.3f}, above {guarantee.risk:g}. All units go to humans."
    )


def _with_more_ratings(
    certificate: RiskCertificate, most_accepted: int, documents: _Documents | None
) -> RiskCertificate:
    """The certificate, with how many more ratings the first test would need at the same share of errors."""
    guarantee, first = certificate.guarantee, certificate.steps[0] if certificate.steps else None
    if first is None:
        return _with_enough_to_test(certificate, most_accepted)
    share_of_errors = first.lost / max(first.accepted, 1)
    if share_of_errors >= guarantee.risk:
        reason = (
            f"No number of ratings will change this while {share_of_errors:.1%} of the surest units count "
            f"against the judge: the risk asked for is {guarantee.risk:.1%}."
        )
        return replace(certificate, more_reason=reason)
    enough = (
        _enough_accepted(first, guarantee)
        if documents is None
        else _enough_in_documents(first, guarantee, documents)
    )
    if enough is None:
        return replace(certificate, more_reason="Rating every accepted unit would not be enough.")
    share_accepted = max(first.accepted, 1) / max(certificate.rated, 1)
    more = int(np.ceil(np.round((enough - first.accepted) / share_accepted, 9)))
    reason = f"About {more} more ratings, if the share of errors stays at {share_of_errors:.1%}."
    return replace(certificate, more_ratings=more, more_reason=reason)


def _with_enough_to_test(certificate: RiskCertificate, most_accepted: int) -> RiskCertificate:
    least, rated = certificate.guarantee.least_accepted, certificate.rated
    if rated and not most_accepted:
        return replace(
            certificate, more_reason="No threshold accepts any of the rated units; widen the grid."
        )
    share = most_accepted / rated if rated else 1.0
    more = max(int(np.ceil(np.round(least / share, 9))) - rated, 1)
    reason = f"Testing starts with about {more} more ratings of units drawn at random."
    return replace(certificate, more_ratings=more, more_reason=reason)


_LARGEST_SAMPLE = 100_000
_FIRST_BLOCK = 256  # sizes tried at a time; most answers are small


def _enough_accepted(step: ThresholdTest, guarantee: Guarantee) -> int | None:
    """The least number of accepted ratings that passes at the share of errors of this step."""
    largest = min(_LARGEST_SAMPLE, step.units or _LARGEST_SAMPLE)
    start, block = step.accepted + 1, _FIRST_BLOCK
    while start <= largest:
        accepted = np.arange(start, min(start + block, largest + 1))
        passes = np.flatnonzero(_would_pass(accepted, step, guarantee))
        if len(passes):
            return int(accepted[passes[0]])
        start, block = start + block, 4 * block
    return None


def _enough_in_documents(step: ThresholdTest, guarantee: Guarantee, documents: _Documents) -> int | None:
    """The same for documents like those of the sample."""
    times = documents.times_to_pass(guarantee)
    return None if np.isinf(times) else max(int(np.ceil(step.accepted * times)), step.accepted + 1)


def _would_pass(accepted: IntArray, step: ThresholdTest, guarantee: Guarantee) -> npt.NDArray[np.bool_]:
    lost = np.asarray(accepted * (step.lost / max(step.accepted, 1)), dtype=float)
    if guarantee.test is RiskTest.EXACT:
        lost = np.ceil(np.round(lost, 9))  # whole errors, and rather one too many
    units = None if step.units is None else np.full(len(accepted), step.units, dtype=np.intp)
    tried = _Counted(np.zeros(len(accepted)), accepted, lost, units)
    return np.asarray(_p_values(tried, guarantee) <= guarantee.significance_level)
