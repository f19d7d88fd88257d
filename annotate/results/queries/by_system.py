"""Shared parts of the tables of systems: values by document and system, and a difference as a cell."""

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
from django.utils.translation import gettext

from agreement.data import FloatArray
from agreement.groups import mean_values
from agreement.summary import UNEQUAL
from agreement.system_differences import SystemDifference
from annotate.core.guideline import FrozenDimension
from annotate.results.queries.material import ItemOrigins, RatedRound
from annotate.results.table import Cell


def values_by_document(
    rated: RatedRound,
    items: ItemOrigins,
    dimension: FrozenDimension,
    names: Sequence[str],
    category: int | None = None,
) -> FloatArray:
    """Return (raters, documents, systems): every rater's values, NaN without a value.

    category: if given, 1 for this value and 0 for the others.
    """
    own = rated.rated[dimension.key]
    values = own.data.values
    if category is not None:
        values = np.where(np.isnan(values), np.nan, values == category)
    documents = np.unique(items.documents_of(own), return_inverse=True)[1]
    table = np.full((len(values), int(documents.max(initial=-1)) + 1, len(names)), np.nan)
    table[:, documents, np.searchsorted(names, items.systems_of(own))] = values
    return table


def mean_over_raters(values: FloatArray) -> FloatArray:
    """(documents, systems): an item's score, the mean of its raters' values; NaN without values."""
    raters, documents, systems = values.shape
    return mean_values(values.reshape(raters, documents * systems)).reshape(documents, systems)


def warn_if(cell: Cell, unequal: bool) -> Cell:
    """Return a value, with a warning if its units had unequal probabilities."""
    return replace(cell, warning=f"{UNEQUAL} {gettext('The page Estimates has it.')}") if unequal else cell


def difference_cell(each: SystemDifference, how: str, unequal: Collection[str]) -> Cell:
    """Return a difference with its interval and its number of documents.

    unequal: the systems with unequal probabilities.
    """
    cell = Cell(
        each.value,
        each.low,
        each.high,
        interval_reason=each.reason if each.value is not None else "",
        count=each.documents,
        reason=each.reason if each.value is None else "",
        how=how,
    )
    return warn_if(cell, each.first in unequal or each.second in unequal)
