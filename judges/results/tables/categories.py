"""Tables of judges and people for categorical dimensions, without means and correlations."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.utils.translation import gettext, gettext_lazy

from agreement.comparison import CategoryAgreement
from annotate.core.guideline import FrozenDimension
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text
from judges.results.tables.columns import JUDGE
from judges.results.tables.compared import Scored

_SAYS = gettext_lazy(
    "Categories have no order and no distance, so there is no correlation and no bias. Accuracy: the share "
    "of people’s ratings that equal the judge’s category. F1 compares how frequently both give a category "
    "with how frequently either does; macro-F1 is its mean over categories. An item counts once, divided "
    "among its raters. Intervals resample documents; the intervals of one category’s F1 are Wilson’s."
)
_COUNTED = gettext_lazy(
    "Items with a value of the judge and of a person; people’s are divided among an item’s raters."
)


@dataclass(frozen=True)
class JudgeCategories:
    names: Sequence[Cell]
    dimension: FrozenDimension
    found: CategoryAgreement


def category_tables(scored: Sequence[Scored]) -> list[Table]:
    named = [JudgeCategories(each.names, each.dimension, each.categories) for each in scored]
    alphas = [[figure(each.alpha.among_people), figure(each.alpha.with_judge)] for each in scored]
    table = accuracy_table(named, [JUDGE, DIMENSION])
    beside = [
        Column("among_people", gettext("alpha among people")),
        Column("with_judge", gettext("alpha with the judge as one more rater")),
    ]
    rows = [[*row, *own] for row, own in zip(table.rows, alphas, strict=True)]
    limit = gettext("No judge reaches 1 if people differ: compare it with alpha among people.")
    says = f"{_SAYS} {limit}"
    together = replace(table, columns=[*table.columns, *beside], rows=rows, says=says)
    return [together, f1_table(named, [JUDGE, DIMENSION])]


def accuracy_table(named: Sequence[JudgeCategories], heads: Sequence[Column]) -> Table:
    rows = [
        [
            *each.names,
            Cell(each.found.accuracy.counts.pairable_units),
            figure(each.found.accuracy),
            figure(each.found.macro_f1),
        ]
        for each in named
    ]
    columns = [
        *heads,
        Column("items", gettext("items with both"), ColumnKind.COUNT),
        Column("accuracy", gettext("accuracy"), ColumnKind.SHARE),
        Column("macro_f1", gettext("macro-F1")),
    ]
    title = gettext("Judges and people on named categories")
    return Table("categories", title, columns, rows, heads=len(heads), says=str(_SAYS))


def f1_table(named: Sequence[JudgeCategories], heads: Sequence[Column]) -> Table:
    rows = [
        [
            *each.names,
            text(each.dimension.name_of(category), key=str(category)),
            figure(f1),
            Cell(judged, how=str(_COUNTED)),
            Cell(people, how=str(_COUNTED)),
        ]
        for each in named
        for category, f1, judged, people in zip(
            each.dimension.whole_values, each.found.f1, each.found.judged, each.found.people, strict=True
        )
    ]
    columns = [
        *heads,
        Column("category", gettext("Category"), ColumnKind.TEXT),
        Column("f1", "F1"),
        Column("judged", gettext("items by the judge"), ColumnKind.COUNT),
        Column("people", gettext("items by people"), decimals=1),
    ]
    return Table("category-f1", gettext("F1 of each category"), columns, rows, heads=len(heads) + 1)
