"""Answers of yes or no to the parts of items, such as the facts that a summary should contain."""

from collections.abc import Hashable, Sequence

import numpy as np
import numpy.typing as npt

from agreement.coefficient import Coefficient, Counts
from agreement.data import FloatArray, IntArray, divide_where, index_documents
from agreement.ratios import RatioName, ratio_coefficient, sum_by_document

_NAMED = RatioName(
    "share_of_yes",
    "Share of yes",
    "Korn and Graubard 1998, Survey Methodology 24, 193-201",
    "No part has an answer yet.",
)


def shares_by_item(
    answers: npt.ArrayLike, items: Sequence[Hashable]
) -> tuple[tuple[Hashable, ...], FloatArray]:
    """The items in the order in which they first occur, and (raters, items): a rater's share of yes.

    answers: (raters, parts), 1 for yes, 0 for no, NaN for a gap. items: (parts,), the item of each part. The
    share is over the parts that the rater answered, NaN without any. It is a number on an interval scale, so
    alpha, differences of systems and all functions for scales apply to it.
    ValueError for other answers, or another number of items.
    """
    names, of_part, table = _read(answers, items)
    given = ~np.isnan(table)
    yes, parts = (_sum_by_item(each, of_part, len(names)) for each in (np.where(given, table, 0), given))
    return names, divide_where(parts > 0, yes, parts)


def share_of_yes(
    answers: npt.ArrayLike,
    items: Sequence[Hashable],
    *,
    documents: npt.ArrayLike | None = None,
    confidence_level: float = 0.95,
) -> Coefficient:
    """The mean over items of the share of yes, itself the mean over raters of `shares_by_item`.

    answers, items: as for `shares_by_item`, of one system or of all. documents: (parts,), any labels; an item
    without one is its own. An item counts once, however many parts it has. The interval is `ratio_interval`'s
    over documents, with all items and parts in them. Counts are of parts.
    Undefined without answers. ValueError also for an item in two documents.
    """
    names, shares = shares_by_item(answers, items)
    _, of_part, table = _read(answers, items)
    number = (~np.isnan(shares)).sum(axis=0)
    known = number > 0
    values = divide_where(known, np.nansum(shares, axis=0), number)[known]
    of_item = np.unique(_documents_of_items(documents, of_part, len(names))[known], return_inverse=True)[1]
    hits, sizes = (sum_by_document(each, of_item)[:, None] for each in (values, np.ones(len(values))))
    columns = slice(None) if known.any() else slice(0)
    return ratio_coefficient(_NAMED, hits[:, columns], sizes[:, columns], _counts(table), confidence_level)


def _read(
    answers: npt.ArrayLike, items: Sequence[Hashable]
) -> tuple[tuple[Hashable, ...], IntArray, FloatArray]:
    """The items, (parts,) the index of each part's, and the answers (raters, parts)."""
    table = np.array(answers, dtype=float)
    if table.ndim != 2 or table.shape[1] != len(items):
        raise ValueError(f"Answers must be a table, raters by {len(items)} parts.")
    if not np.isin(table[~np.isnan(table)], (0, 1)).all():
        raise ValueError("Answers must be 1 for yes or 0 for no, with NaN for a gap.")
    index_of: dict[Hashable, int] = {}
    of_part = np.array([index_of.setdefault(item, len(index_of)) for item in items], dtype=np.intp)
    return tuple(index_of), of_part, table


def _sum_by_item(values: npt.NDArray[np.number | np.bool_], of_part: IntArray, items: int) -> FloatArray:
    """(raters, items): sums over the parts of each item; values: (raters, parts)."""
    return np.array([np.bincount(of_part, row, items) for row in values]).reshape(len(values), items)


def _documents_of_items(documents: npt.ArrayLike | None, of_part: IntArray, items: int) -> IntArray:
    if documents is None:
        return np.arange(items)
    labels = index_documents(documents, len(of_part))
    of_item = np.zeros(items, dtype=np.intp)
    of_item[of_part] = labels
    if (of_item[of_part] != labels).any():
        raise ValueError("The parts of an item must be in one document.")
    return of_item


def _counts(table: FloatArray) -> Counts:
    answers = (~np.isnan(table)).sum(axis=0)
    return Counts(
        units=table.shape[1],
        pairable_units=int((answers >= 2).sum()),
        raters=int((~np.isnan(table)).any(axis=1).sum()),
        ratings=int(answers.sum()),
        pairable_values=int(answers[answers >= 2].sum()),
    )
