"""The largest set of units that may stay with a judge, with a guarantee."""

import numpy as np
import numpy.typing as npt

from agreement.data import FloatArray, IntArray
from agreement.reliability.fixed_sequence import (
    DocumentCounts,
    Guarantee,
    RiskCertificate,
    RiskTest,
    StepCounts,
    certify_steps,
    first_with_enough,
    numbers_of_shared_documents,
)


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
    sure, lost = _check_input(confidences, losses, guarantee)
    thresholds = np.unique(np.asarray(grid, dtype=float))[::-1]  # the strictest first
    if not len(thresholds) or not np.isfinite(thresholds).all():
        raise ValueError("The grid needs at least one threshold, all finite.")
    everything = None if batch is None else np.asarray(batch, dtype=float)
    has_loss = ~np.isnan(lost)
    rated = int(has_loss.sum())
    shared = None if batch is not None else numbers_of_shared_documents(documents, has_loss)
    counts = _count_at(thresholds, sure[has_loss], lost[has_loss], everything, shared)
    # The actual number of ratings above a threshold may depend on their losses. The expected number follows
    # from the confidences of the batch alone, so the start is fixed before any loss is known.
    found: npt.NDArray[np.number] = counts.accepted
    if everything is not None and counts.units is not None:
        found = rated * counts.units / max(len(everything), 1)
    return certify_steps(
        counts,
        guarantee,
        start=first_with_enough(found, guarantee.least_accepted),
        rated=rated,
        without_loss=int(np.sum(~has_loss)),
        batch=None if everything is None else len(everything),
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


def _count_at(
    thresholds: FloatArray,
    sure: FloatArray,
    lost: FloatArray,
    batch: FloatArray | None,
    documents: IntArray | None,
) -> StepCounts:
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
    by_document = None if documents is None else _count_in_documents(thresholds, sure, lost, documents)
    return StepCounts(thresholds, accepted.astype(np.intp), cumulated[accepted], units, documents=by_document)


def _count_in_documents(
    thresholds: FloatArray, sure: FloatArray, lost: FloatArray, documents: IntArray
) -> DocumentCounts:
    sizes = np.bincount(documents)
    shape = len(sizes), len(thresholds) + 1  # the last column: units below every threshold
    accepted, losses = np.zeros(shape), np.zeros(shape)
    first = np.where(np.isnan(sure), len(thresholds), np.searchsorted(-thresholds, -sure, side="left"))
    np.add.at(accepted, (documents, first), 1)
    np.add.at(losses, (documents, first), lost)
    accepted, losses = (np.cumsum(each[:, :-1], axis=1) for each in (accepted, losses))
    return DocumentCounts(accepted, losses, int(sizes.max(initial=1)))


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
