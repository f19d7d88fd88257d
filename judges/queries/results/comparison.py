"""The tables of judges side by side beside people, and of one judge: agreement, systems, head to head."""

from collections.abc import Iterator, Sequence

from annotate.agreement import Coefficient
from annotate.results.table import Cell, Column, Kind, Table, figure, text
from judges.queries.comparison import ComparingFigures, Comparison, JudgeFigures, ScoringFigures
from judges.queries.results.columns import DIMENSION, JUDGE, SYSTEM


def comparison_tables(comparison: Comparison) -> list[Table]:
    """Return all judges in one table for those that give scores and one for those that compare two texts."""
    return _with_rows([_scoring(comparison.judges), _comparing(comparison.judges)])


def judge_tables(figures: JudgeFigures) -> list[Table]:
    """Return every table of one judge's page, those that its method has."""
    return _with_rows([_agreement(figures), _systems(figures), _pairs(figures)])


def _with_rows(tables: Sequence[Table]) -> list[Table]:
    return [table for table in tables if table.rows]


def _scoring(judges: Sequence[JudgeFigures]) -> Table:
    columns = [
        JUDGE,
        DIMENSION,
        Column("items", "items", Kind.COUNT),
        Column("spearman", "Spearman"),
        Column("with_mean", "alpha with mean"),
        Column("among_people", "alpha among people"),
        Column("correct", "pairs as people", Kind.COUNT),
        Column("compared", "pairs", Kind.COUNT),
    ]
    rows = [
        [
            text(judge.judge.name),
            text(each.dimension.name),
            Cell(each.judged),
            figure(each.correlations["dataset"]["spearman"]),
            figure(each.alpha.with_mean),
            figure(each.alpha.among_people),
            Cell(each.all_pairs.correct),
            Cell(each.all_pairs.compared),
        ]
        for judge in judges
        for each in judge.scoring
    ]
    says = "Alpha between a judge and the mean of people is read beside alpha among people themselves."
    return Table("scoring", "Judges beside people", columns, rows, heads=2, says=says)


def _comparing(judges: Sequence[JudgeFigures]) -> Table:
    columns = [
        JUDGE,
        DIMENSION,
        Column("consistency", "same after swapping", Kind.SHARE),
        Column("correct", "pairs as people", Kind.COUNT),
        Column("compared", "pairs", Kind.COUNT),
    ]
    rows = [
        [
            text(judge.judge.name),
            text(each.dimension.name),
            figure(each.consistency.share),
            Cell(each.correct.correct),
            Cell(each.correct.compared),
        ]
        for judge in judges
        for each in judge.comparing
    ]
    return Table("comparing", "Judges that compare two texts", columns, rows, heads=2)


def _agreement(figures: JudgeFigures) -> Table:
    columns = [DIMENSION, Column("coefficient", "Coefficient", Kind.TEXT), Column("value", "value")]
    rows = [
        [text(each.dimension.name), text(name), figure(coefficient)]
        for each in figures.scoring
        for name, coefficient in _coefficients(each)
    ]
    title = f"Agreement with people ({figures.judge.name})"
    return Table("agreement", title, columns, rows, heads=2)


def _coefficients(each: ScoringFigures) -> Iterator[tuple[str, Coefficient]]:
    """Yield every coefficient of a dimension under its name, in the order of the page."""
    alpha = each.alpha
    found = [found for measures in each.correlations.values() for found in measures.values()]
    found += [*each.meta_correlations.values(), alpha.among_people, alpha.with_judge, alpha.with_mean]
    if each.self_consistency:
        found.append(each.self_consistency)
    yield from ((coefficient.label, coefficient) for coefficient in found)
    yield "Correct preferences, all pairs", each.all_pairs.share
    yield "Correct preferences, neighbours in people’s ranking", each.neighbours.share


def _systems(figures: JudgeFigures) -> Table:
    columns = [
        DIMENSION,
        SYSTEM,
        Column("items", "items", Kind.COUNT),
        Column("human_mean", "people’s mean"),
        Column("judge_mean", "judge’s mean"),
    ]
    rows = [
        [
            text(each.dimension.name),
            text(system.system),
            Cell(system.items),
            figure(system.human_mean),
            figure(system.judge_mean),
        ]
        for each in figures.scoring
        for system in each.systems
    ]
    return Table("systems", f"Mean scores by system ({figures.judge.name})", columns, rows, heads=2)


def _pairs(figures: JudgeFigures) -> Table:
    columns = [
        DIMENSION,
        Column("first", "first", Kind.TEXT),
        Column("second", "second", Kind.TEXT),
        Column("points", "points of the first"),
        Column("documents", "documents", Kind.COUNT),
        Column("consistency", "same after swapping", Kind.SHARE),
    ]
    rows = [row for each in figures.comparing for row in _of_pairs(each)]
    title = f"Head to head ({figures.judge.name})"
    says = "A point for the winner, half a point each for a tie; the second has the other points."
    return Table("pairs", title, columns, rows, heads=3, says=says)


def _of_pairs(each: ComparingFigures) -> list[list[Cell]]:
    return [
        [
            text(each.dimension.name),
            text(pair.first),
            text(pair.second),
            figure(pair.points, count=pair.documents),
            Cell(pair.documents),
            figure(pair.consistency.share),
        ]
        for pair in each.pairs
    ]
