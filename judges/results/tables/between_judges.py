"""Ranking of judges by agreement with people, its certainty, and differences of every two judges."""

from collections.abc import Sequence

from django.utils.translation import gettext, gettext_lazy

from agreement import PairedDifference
from agreement.comparison import (
    JudgesCompared,
    compare_two_judges,
    highest_judges,
    holm_over_pairs,
)
from agreement.comparison.between_judges import AMOUNTS, NAMED
from annotate.core.guideline import FrozenDimension
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from judges.results.queries.scores import stream_of_pair
from judges.results.tables.columns import JUDGE, difference_cell, number_or_reason, yes_or_no
from judges.results.tables.compared import ComparedJudges

_FIGURES = {
    "spearman": gettext_lazy("Spearman"),
    "alpha": gettext_lazy("alpha with mean"),
    "preferences": gettext_lazy("pairs as people"),
    "systems": gettext_lazy("Pearson, systems"),
    "accuracy": gettext_lazy("accuracy"),
}
_MOST = gettext_lazy(
    "Highest: no other judge has a higher value on the items that both judges and people rated. May be "
    "highest: no other judge is significantly better (p below 0.05, corrected by Holm over the pairs of "
    "judges of a dimension, not over dimensions or statistics). A single name there is significantly the "
    "best."
)
_SAYS = gettext_lazy(
    "The first judge’s statistic minus the second’s, on the items for which both and people have values. "
    "Each resample of documents serves both judges; between systems’ means it is Williams’ test. p is "
    "corrected by Holm over the pairs of judges of a dimension, not over dimensions or statistics. The p "
    "of “pairs as people” is cautious: the share moves in steps. The page Compare shows how far two "
    "judges agree with each other."
)
_NO_ITEM = gettext_lazy("No item has a value of both judges and one of people.")

Pairs = Sequence[tuple[FrozenDimension, Sequence[JudgesCompared]]]


def tables_between_judges(found: ComparedJudges) -> list[Table]:
    """Return the ranking by agreement with people, and every pair of judges; empty without a pair."""
    pairs = []
    for dimension, judges in found.pairs_by_dimension:
        differences = []
        for first, second in judges:
            stream = stream_of_pair(found.project, first.judge, second.judge, dimension)
            of_pair = compare_two_judges(
                first.scores,
                second.scores,
                measurement_level=dimension.measurement_level,
                generator=stream,
            )
            differences.append((first.judge.name, second.judge.name, *of_pair))
        pairs.append((dimension, holm_over_pairs(differences)))
    if not pairs:
        return []
    amounts = [each for each in pairs if not each[0].is_named]
    named = [each for each in pairs if each[0].is_named]
    tables = [_most(pairs)]
    if amounts:
        tables.append(
            _differences("pairs-of-judges", gettext("Differences between judges"), amounts, AMOUNTS)
        )
    if named:
        title = gettext("Differences between judges on named categories")
        tables.append(_differences("pairs-of-judges-named", title, named, NAMED))
    return tables


def _most(pairs: Pairs) -> Table:
    rows = [
        [
            text(dimension.name, key=dimension.key),
            text(str(_FIGURES[figure]), key=figure),
            text(", ".join(each.highest) or gettext("none: each is below another")),
            yes_or_no(each.is_sure),
            text(", ".join(each.may_be_highest)),
        ]
        for dimension, compared in pairs
        for figure in (NAMED if dimension.is_named else AMOUNTS)
        if (each := highest_judges(compared, figure))
    ]
    columns = [
        DIMENSION,
        Column("figure", gettext("By"), ColumnKind.TEXT),
        Column("highest", gettext("highest"), ColumnKind.TEXT),
        Column("sure", gettext("sure"), ColumnKind.TEXT),
        Column("may_be_highest", gettext("may be highest"), ColumnKind.TEXT),
    ]
    return Table(
        "most", gettext("Which judge agrees most with people"), columns, rows, heads=2, says=str(_MOST)
    )


def _differences(key: str, title: str, pairs: Pairs, figures: Sequence[str]) -> Table:
    rows = []
    for dimension, compared in pairs:
        for each in compared:
            row = [text(each.first), text(each.second), text(dimension.name, key=dimension.key)]
            row.append(Cell(each.items))
            for figure in figures:
                found = each.figures.get(figure) or PairedDifference(None, 0, reason=str(_NO_ITEM))
                what = gettext("Difference of two judges: {statistic} (function compare_two_judges)")
                row.append(difference_cell(found, what.format(statistic=_FIGURES[figure])))
                row.append(number_or_reason(each.adjusted.get(figure), found.reason))
            rows.append(row)
    columns = [
        JUDGE,
        Column("other_judge", gettext("Other judge"), ColumnKind.TEXT),
        DIMENSION,
        Column("items", gettext("items"), ColumnKind.COUNT),
        *(
            column
            for figure in figures
            for column in (
                Column(figure, str(_FIGURES[figure])),
                Column(
                    f"{figure}_p",
                    gettext("p, {statistic}").format(statistic=_FIGURES[figure]),
                    ColumnKind.P_VALUE,
                ),
            )
        ),
    ]
    return Table(key, title, columns, rows, heads=3, says=str(_SAYS))
