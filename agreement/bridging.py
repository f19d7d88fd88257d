"""Bridging items: the severity of new raters on the scale of the first raters, who rated the same items."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from agreement.coefficient import Interval
from agreement.data import FloatArray
from agreement.student import t_reach

FEWEST_DOCUMENTS = 5
_METHOD = "jackknife of documents, t with {freedom} degrees of freedom"


@dataclass(frozen=True)
class Offset:
    """The mean difference of values from the first raters' means; negative: new raters give less.

    items, documents: the numbers it rests on. interval: None with fewer than two documents.
    """

    value: float
    items: int
    documents: int
    interval: Interval | None = None


@dataclass(frozen=True)
class Bridge:
    """The severity of new raters on items that the first raters rated, too; `reason` if it is undefined.

    by_rater: an offset for each row of the values, None for raters without any. before, after: root mean
    square difference from the first raters' means, and with the rater's offset taken off. slope: of new
    values on old means within raters; errors of the old means make it smaller, so below 1 it does not show a
    narrower scale.
    """

    offset: Offset | None
    by_rater: Sequence[Offset | None] = ()
    before: float | None = None
    after: float | None = None
    slope: float | None = None
    reason: str = ""


def bridge(
    values: npt.ArrayLike,
    old: npt.ArrayLike,
    documents: npt.ArrayLike,
    *,
    confidence_level: float = 0.95,
) -> Bridge:
    """Compare new raters with the first raters on bridging items.

    values: (raters, items), NaN for a gap. old: (items,), means of the first raters. documents: (items,), any
    labels. The offset is the mean over raters of their mean difference new - old, so each rater counts alike.
    The interval treats these raters as fixed and leaves out one document in turn: variance (D - 1) / D sum
    (theta_-d - mean)^2, t with D - 1 degrees of freedom (Tukey 1958; Efron and Tibshirani 1993, section
    11.5). `after` subtracts an offset that is computed without the item's document. Undefined with fewer than
    5 documents. Raises ValueError for arrays that do not fit together.
    """
    new, first = np.asarray(values, dtype=float), np.asarray(old, dtype=float)
    labels = np.asarray(documents)
    if new.ndim != 2 or first.shape != new.shape[1:] or labels.shape != first.shape:
        raise ValueError("The values are (raters, items); the old means and documents are (items,).")
    differences = new - first
    rated = ~np.isnan(differences)
    column = np.unique(labels, return_inverse=True)[1]
    number = int(column.max(initial=-1)) + 1
    in_document = np.equal(column[:, None], np.arange(number)).astype(float)
    totals, counts = np.where(rated, differences, 0.0) @ in_document, rated.astype(float) @ in_document
    found = int((counts.sum(axis=0) > 0).sum())
    by_rater = [
        _offset(totals[[row]], counts[[row]], int(rated[row].sum()), confidence_level)
        for row in range(len(new))
    ]
    if found < FEWEST_DOCUMENTS:
        reason = (
            f"Raters have values on bridging items of {found} documents; their severity needs "
            f"{FEWEST_DOCUMENTS} or more."
        )
        return Bridge(None, by_rater, reason=reason)
    without = _means(_leave_out(totals), _leave_out(counts))
    left = differences - without[:, column]
    usable = rated & ~np.isnan(left)
    items = int(rated.any(axis=0).sum())
    return Bridge(
        offset=_offset(totals, counts, items, confidence_level),
        by_rater=by_rater,
        before=_root_mean_square(differences[usable]),
        after=_root_mean_square(left[usable]),
        slope=_slope(new, first, rated),
    )


def _offset(totals: FloatArray, counts: FloatArray, items: int, confidence_level: float) -> Offset | None:
    """totals, counts: (raters, documents), sums and numbers of differences."""
    there = counts.sum(axis=0) > 0
    totals, counts, documents = totals[:, there], counts[:, there], int(there.sum())
    if not documents:
        return None
    value = float(np.nanmean(_means(totals.sum(axis=1), counts.sum(axis=1))))
    if documents < 2:
        return Offset(value, items, documents)
    # Every document left out leaves some rater with values: another document has them.
    replicates = np.nanmean(_means(_leave_out(totals), _leave_out(counts)), axis=0)
    variance = (documents - 1) / documents * float(((replicates - replicates.mean()) ** 2).sum())
    reach = t_reach(float(np.sqrt(variance)), documents - 1, confidence_level)
    method = _METHOD.format(freedom=documents - 1)
    interval = Interval(value - reach, value + reach, method, confidence_level, documents)
    return Offset(value, items, documents, interval)


def _leave_out(by_document: FloatArray) -> FloatArray:
    """(raters, documents): the sums without each document."""
    return np.asarray(by_document.sum(axis=1, keepdims=True) - by_document)


def _means(totals: FloatArray, counts: FloatArray) -> FloatArray:
    empty = counts < 0.5
    return np.where(empty, np.nan, totals / np.where(empty, 1.0, counts))


def _root_mean_square(differences: FloatArray) -> float | None:
    return float(np.sqrt((differences**2).mean())) if differences.size else None


def _slope(new: FloatArray, first: FloatArray, rated: npt.NDArray[np.bool_]) -> float | None:
    """Least squares within raters; None if the old means do not vary."""
    own = np.where(rated, np.broadcast_to(first, new.shape), np.nan)
    rows = rated.any(axis=1)
    old = own[rows] - np.nanmean(own[rows], axis=1, keepdims=True)
    given = new[rows] - np.nanmean(np.where(rated, new, np.nan)[rows], axis=1, keepdims=True)
    variation = float(np.nansum(old**2))
    return float(np.nansum(old * given)) / variation if variation > 1e-12 else None
