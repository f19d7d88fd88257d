"""The tables of one judge: its values against people's, system by system, and head to head."""

from collections.abc import Sequence

from django.utils.translation import gettext

from agreement import Coefficient
from agreement.comparison import CORRELATIONS
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text
from judges.results.tables.columns import SYSTEM
from judges.results.tables.compared import Scored, Versus
from judges.results.tables.strengths import strengths_table
from judges.results.tables.values import confusion, named_confusion, scatter


def tables_of_scores(key: str, name: str, scored: Sequence[Scored]) -> list[Table]:
    """Return the tables of a judge that gives scores, none without any."""
    if not scored:
        return []
    amounts = [each for each in scored if not each.dimension.is_named]
    named = [each for each in scored if each.dimension.is_named]
    pairs = [(each.dimension, each.scores) for each in amounts]
    tables = (
        [scatter(key, name, pairs), confusion(key, name, pairs), _quality(key, name, amounts)]
        if pairs
        else []
    )
    tables += [named_confusion(key, name, [(each.dimension, each.scores) for each in named])] if named else []
    repeated = [each for each in scored if each.samples.shape[1] > 1]
    return [*tables, _self_consistency(key, name, repeated)] if repeated else tables


def tables_of_verdicts(key: str, name: str, versus: Sequence[Versus]) -> list[Table]:
    """Return the tables of a judge that compares two texts, none without verdicts."""
    return [strengths_table(key, name, versus), _pairs(key, name, versus)] if versus else []


def _quality(key: str, name: str, scored: Sequence[Scored]) -> Table:
    """Return every system's scores beside the judge's agreement with people on it."""
    rows = [row for each in scored for row in _systems(each)]
    by_dimension = "; ".join(
        f"{each.dimension.name} {_format_coefficient(each.meta_correlations['spearman'])}" for each in scored
    )
    columns = [
        DIMENSION,
        SYSTEM,
        Column("quality", gettext("mean human score"), decimals=2),
        *(
            Column(key, gettext("{coefficient} with people").format(coefficient=one.estimator.label))
            for key, one in CORRELATIONS.items()
        ),
        Column("items", gettext("items"), ColumnKind.COUNT),
        Column("human_deviation", gettext("SD of human scores"), decimals=2),
        Column("human_spread", gettext("SD among people"), decimals=2),
        Column("judge_mean", gettext("judge’s mean"), decimals=2),
        Column("judge_deviation", gettext("judge’s SD"), decimals=2),
    ]
    says = gettext(
        "If agreement falls as quality rises, do not use the judge to compare good systems. "
        "M (Spearman): {by_dimension}. "
        "SD of human scores: of the items’ means; among people: within an item, mean over items."
    ).format(by_dimension=by_dimension)
    title = gettext("Quality of systems against agreement with people ({name})").format(name=name)
    return Table(f"{key}-quality", title, columns, rows, heads=2, says=says, plot="quality")


def _systems(each: Scored) -> list[list[Cell]]:
    agreements = zip(*each.by_system.values(), strict=True)
    return [
        [
            text(each.dimension.name, key=each.dimension.key),
            text(one.system),
            _summary(one.human_mean),
            *(figure(of.coefficient) for of in agreement),
            Cell(one.items),
            _summary(one.human_deviation),
            _summary(one.human_spread),
            _summary(one.judge_mean),
            _summary(one.judge_deviation),
        ]
        for one, agreement in zip(each.systems, agreements, strict=True)
    ]


def _summary(found: Coefficient) -> Cell:
    """Return a mean or a deviation as a cell; its count is of items."""
    return figure(found, count=found.counts.ratings)


def _self_consistency(key: str, name: str, scored: Sequence[Scored]) -> Table:
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            Cell(each.samples.shape[1]),
            figure(each.self_consistency),
        ]
        for each in scored
    ]
    columns = [
        DIMENSION,
        Column("samples", gettext("samples"), ColumnKind.COUNT),
        Column("alpha", gettext("alpha over samples")),
    ]
    says = gettext("1: the judge repeats itself on every item. 0: its answers to an item differ by chance.")
    return Table(
        f"{key}-self-consistency",
        gettext("Self-consistency ({name})").format(name=name),
        columns,
        rows,
        says=says,
    )


def _pairs(key: str, name: str, versus: Sequence[Versus]) -> Table:
    columns = [
        DIMENSION,
        Column("first", gettext("first"), ColumnKind.TEXT),
        Column("second", gettext("second"), ColumnKind.TEXT),
        Column("points", gettext("points of the first")),
        Column("documents", gettext("documents"), ColumnKind.COUNT),
        Column("left_out", gettext("left out"), ColumnKind.COUNT),
        Column("consistency", gettext("same after swapping"), ColumnKind.SHARE),
        Column("human_points", gettext("points by people")),
        Column("human_documents", gettext("documents with both"), ColumnKind.COUNT),
    ]
    rows = [row for each in versus for row in _points(each)]
    says = gettext(
        "The winner gets one point; after a tie, both get half a point. Documents without a readable verdict "
        "in both orders are excluded."
    )
    return Table(
        f"{key}-pairs", gettext("Head to head ({name})").format(name=name), columns, rows, heads=3, says=says
    )


def _points(each: Versus) -> list[list[Cell]]:
    why = gettext("Judge and people have compared these systems on no document.")
    how = gettext("Points of the first system by mean human scores (function correct_verdicts).")
    return [
        [
            text(each.dimension.name, key=each.dimension.key),
            text(pair.first),
            text(pair.second),
            figure(pair.points, count=pair.documents),
            Cell(pair.documents),
            Cell(pair.left_out),
            figure(pair.consistency.share),
            Cell(
                people.human_points,
                count=people.documents,
                reason=why if people.human_points is None else "",
                how=how,
            ),
            Cell(people.documents),
        ]
        for pair, people in zip(each.points, each.correct.pairs, strict=True)
    ]


def _format_coefficient(coefficient: Coefficient) -> str:
    return "undefined" if coefficient.value is None else f"{coefficient.value:.2f}".replace("-", "−")
