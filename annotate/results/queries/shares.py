"""Named categories by system: frequency of each, and differences between systems."""

from collections.abc import Mapping, Sequence

from django.utils.translation import gettext, gettext_lazy

from agreement import mean_score
from agreement.data import FloatArray, IntArray
from annotate.core.guideline import FrozenDimension
from annotate.results.page import Section
from annotate.results.queries.by_system import difference_cell, mean_over_raters, values_by_document, warn_if
from annotate.results.queries.compared_systems import (
    ComparedSystems,
    adjust_together,
    compare_systems,
    describe_reach,
    is_about_these_texts,
    is_across_dimensions,
)
from annotate.results.queries.drawn import Unequal
from annotate.results.queries.material import ItemOrigins, RatedRound
from annotate.results.registry import Chosen
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text

_SAYS = gettext_lazy(
    "Categories have no order and no distance, so there is no mean score. An item’s share of a category is "
    "the share of its raters who chose it; a system’s share is the mean over its items. Intervals of "
    "shares are over documents like these, by these raters."
)
_TOGETHER = gettext_lazy(
    "The p values of all categories and pairs of a dimension are corrected together: Holm 1979."
)
_ACROSS = gettext_lazy("The p values of all pairs of all dimensions are corrected together: Holm 1979.")
_SYSTEM, _SHARE = (
    Column("system", lambda: gettext("System"), ColumnKind.TEXT),
    Column("share", lambda: gettext("share"), ColumnKind.SHARE),
)
_CATEGORY = Column("category", lambda: gettext("Category"), ColumnKind.TEXT)
Category = tuple[str, int]
"""The key of a dimension and one of its values."""


def compare_shares(
    rated: RatedRound,
    items: ItemOrigins,
    dimensions: Sequence[FrozenDimension],
    names: Sequence[str],
    chosen: Chosen,
    tables: int,
) -> tuple[dict[Category, FloatArray], dict[Category, ComparedSystems]]:
    """Return shares (documents, systems) and comparisons of each category, p adjusted within a dimension.

    tables: as in `compare_systems`.
    """
    shares: dict[Category, FloatArray] = {}
    compared: dict[Category, ComparedSystems] = {}
    texts = items.shared_texts(names)
    for each in dimensions:
        own = {}
        for category in each.whole_values:
            values = values_by_document(rated, items, each, names, category)
            shares[each.key, category] = mean_over_raters(values)
            own[each.key, category] = compare_systems(values, names, chosen, texts, tables)
        compared |= adjust_together(own)
    return shares, compared


def shares_section(
    rated: RatedRound,
    items: ItemOrigins,
    dimensions: Sequence[FrozenDimension],
    names: Sequence[str],
    chosen: Chosen,
    unequal: Unequal,
    shares: Mapping[Category, FloatArray],
    compared: Mapping[Category, ComparedSystems],
) -> Section:
    """Return the tables of dimensions with named categories, from what `compare_shares` returns."""
    texts = items.shared_texts(names)
    by_name = {
        f"{each.name} ({each.name_of(category)})": compared[each.key, category]
        for each in dimensions
        for category in each.whole_values
    }
    about = describe_reach(by_name, chosen, independent=rated.round.is_independent)
    all_there_are = texts.diagonal() if is_about_these_texts(chosen) else None
    tables = [
        _shares(shares, dimensions, names, all_there_are, unequal),
        _comparing_table(compared, dimensions, unequal, across=is_across_dimensions(chosen)),
    ]
    return Section(gettext("Shares of categories"), f"{_SAYS} {about}", tables)


def _shares(
    shares: Mapping[Category, FloatArray],
    dimensions: Sequence[FrozenDimension],
    names: Sequence[str],
    all_there_are: IntArray | None,
    unequal: Unequal,
) -> Table:
    rows = []
    for dimension in dimensions:
        for category in dimension.whole_values:
            table = shares[dimension.key, category]
            for index, name in enumerate(names):
                texts = None if all_there_are is None else int(all_there_are[index])
                found = mean_score(table[:, index], (0, 1), texts=texts)
                share = figure(found, count=found.counts.ratings)
                share = warn_if(share, name in unequal[dimension.key])
                rows.append([*_category_cells(dimension, category), text(name), share])
    columns = [DIMENSION, _CATEGORY, _SYSTEM, _SHARE]
    return Table("shares", gettext("Share of each category by system"), columns, rows, heads=3)


def _category_cells(dimension: FrozenDimension, category: int) -> list[Cell]:
    name = dimension.name_of(category)
    return [text(dimension.name, key=dimension.key), text(name, key=str(category))]


def _comparing_table(
    compared: Mapping[Category, ComparedSystems],
    dimensions: Sequence[FrozenDimension],
    unequal: Unequal,
    *,
    across: bool,
) -> Table:
    rows = []
    for dimension in dimensions:
        for category in dimension.whole_values:
            own = compared[dimension.key, category]
            how = f"{own.how} {_ACROSS if across else _TOGETHER}"
            for each in own.differences:
                reason = each.reason if each.adjusted_p_value is None else ""
                rows.append(
                    [
                        *_category_cells(dimension, category),
                        text(each.first),
                        text(each.second),
                        difference_cell(each, how, unequal[dimension.key]),
                        Cell(each.adjusted_p_value, reason=reason, how=how),
                    ]
                )
    columns = [
        DIMENSION,
        _CATEGORY,
        Column("first", gettext("First"), ColumnKind.TEXT),
        Column("second", gettext("Second"), ColumnKind.TEXT),
        Column("difference", gettext("first minus second"), decimals=3),
        Column("p_adjusted", gettext("p, adjusted"), ColumnKind.P_VALUE, decimals=4),
    ]
    says = gettext(
        "Intervals are per pair. p values are corrected over all categories and pairs of a dimension (Holm), "
        "not over dimensions."
    )
    if across:
        says = gettext(
            "Intervals are per pair. p values are corrected over all categories and pairs of all dimensions "
            "(Holm)."
        )
    return Table("share-differences", gettext("Differences of shares"), columns, rows, heads=4, says=says)
