"""Named categories by system: how often each was chosen, and whether systems differ in that."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from annotate.agreement import Resampling, mean
from annotate.agreement.data import FloatArray
from annotate.agreement.pairs import mean_values
from annotate.agreement.ranks import holm
from annotate.agreement.system_differences import SystemDifference, system_differences
from annotate.core.guideline import FrozenDimension
from annotate.results.page import Section
from annotate.results.queries.material import Items, RatedRound
from annotate.results.table import Cell, Column, Kind, Table, figure, text

_SAYS = (
    "Categories have no order and no distance, so there is no mean score. The share of a category on an item "
    "is that of its raters who chose it, and a system’s the mean over its items. Intervals: over documents."
)
_PAIRED = (
    "Paired differences of shares by document (function system_differences), t with n - 1 degrees of "
    "freedom. The p values of all categories and pairs of a dimension are corrected together: Holm 1979."
)
_SYSTEM, _SHARE = Column("system", "System", Kind.TEXT), Column("share", "share", Kind.SHARE)
_DIMENSION = Column("dimension", "Dimension", Kind.TEXT)
_CATEGORY = Column("category", "Category", Kind.TEXT)


def shares_section(
    rated: RatedRound, items: Items, dimensions: Sequence[FrozenDimension], names: Sequence[str]
) -> Section:
    """Return the tables of dimensions with named categories."""
    tables = [_shares(rated, items, dimensions, names), _compared(rated, items, dimensions, names)]
    return Section("Shares of categories", _SAYS, tables)


def scores_by_document(
    rated: RatedRound,
    items: Items,
    dimension: FrozenDimension,
    names: Sequence[str],
    category: int | None = None,
) -> FloatArray:
    """Return (documents, systems): the mean of an item's values, NaN where nobody gave one.

    category: the share of raters who gave this value instead.
    """
    own = rated.rated[dimension.key]
    values = own.data.values
    if category is not None:
        values = np.where(np.isnan(values), np.nan, values == category)
    documents = np.unique(items.documents_of(own), return_inverse=True)[1]
    table = np.full((int(documents.max(initial=-1)) + 1, len(names)), np.nan)
    table[documents, np.searchsorted(names, items.systems_of(own))] = mean_values(values)
    return table


def _shares(
    rated: RatedRound, items: Items, dimensions: Sequence[FrozenDimension], names: Sequence[str]
) -> Table:
    rows = []
    for dimension in dimensions:
        for category in dimension.values:
            table = scores_by_document(rated, items, dimension, names, category)
            for index, name in enumerate(names):
                stream = rated.stream(dimension, name, "share", dimension.name_of(category))
                found = mean(table[:, index], generator=stream, resampling=Resampling())
                share = figure(found, count=found.counts.ratings)
                rows.append([*_named(dimension, category), text(name), share])
    columns = [_DIMENSION, _CATEGORY, _SYSTEM, _SHARE]
    return Table("shares", "Share of each category by system", columns, rows, heads=3)


def _named(dimension: FrozenDimension, category: int) -> list[Cell]:
    name = dimension.name_of(category)
    return [text(dimension.name, key=dimension.key), text(name, key=str(category))]


def _compared(
    rated: RatedRound, items: Items, dimensions: Sequence[FrozenDimension], names: Sequence[str]
) -> Table:
    rows = []
    for dimension in dimensions:
        shares = {each: scores_by_document(rated, items, dimension, names, each) for each in dimension.values}
        found = [
            (category, each)
            for category in dimension.values
            for each in system_differences(shares[category], names)
        ]
        for category, each in _corrected(found):
            known = each.adjusted_p_value is not None
            rows.append(
                [
                    *_named(dimension, category),
                    text(each.first),
                    text(each.second),
                    Cell(
                        each.value,
                        each.low,
                        each.high,
                        interval_reason="" if each.value is None else each.reason,
                        count=each.documents,
                        reason=each.reason if each.value is None else "",
                        how=_PAIRED,
                    ),
                    Cell(each.adjusted_p_value, reason="" if known else each.reason, how=_PAIRED),
                ]
            )
    columns = [
        _DIMENSION,
        _CATEGORY,
        Column("first", "First", Kind.TEXT),
        Column("second", "Second", Kind.TEXT),
        Column("difference", "first minus second", decimals=3),
        Column("p_adjusted", "p, adjusted", Kind.P_VALUE, decimals=4),
    ]
    return Table("share-differences", "Differences of shares", columns, rows, heads=4)


def _corrected(found: Sequence[tuple[int, SystemDifference]]) -> list[tuple[int, SystemDifference]]:
    """Return the differences with p values corrected over all of them."""
    p_values = {index: each.p_value for index, (_, each) in enumerate(found) if each.p_value is not None}
    corrected = dict(zip(p_values, holm(list(p_values.values())).tolist(), strict=True))
    return [
        (category, replace(each, adjusted_p_value=corrected.get(index)))
        for index, (category, each) in enumerate(found)
    ]
