"""The tables of the agreement page and of its dimensions' pages, to be taken away."""

from collections.abc import Sequence

from annotate.models import Round
from annotate.queries.agreement import AgreementTable, DimensionDetail, DimensionFigures, RoundFigures
from annotate.results.table import Cell, Column, Kind, Table, figure, text

_DISPUTES = ("opened", "settled", "adjudicated", "left_open")
_NOT_OPENED = "Round II has not been opened."


def agreement_tables(table: AgreementTable | None) -> list[Table]:
    """Return Round I beside its disputes and what followed discussion, nothing before Round I."""
    if table is None:
        return []
    columns = [
        Column("dimension", "Dimension", Kind.TEXT),
        Column("level", "level", Kind.TEXT),
        *_of_round("round_1", "Round I, reliability"),
        *(Column(name, name.replace("_", " "), Kind.COUNT) for name in _DISPUTES),
        *_of_round("round_2", "Round II, agreement after discussion"),
    ]
    title = "Reliability, disputes and agreement after discussion"
    return [Table("rounds", title, columns, [_row(each) for each in table.dimensions])]


def dimension_tables(details: Sequence[DimensionDetail]) -> list[Table]:
    """Return for each round of a dimension its coefficients, its pairs of raters, and its distributions."""
    tables = [make(each) for each in details for make in (_coefficients, _pairs, _distributions)]
    return [table for table in tables if table.rows]


def _of_round(key: str, name: str) -> list[Column]:
    return [
        Column(f"{key}_alpha", f"{name}: alpha"),
        Column(f"{key}_within_one", "within one", Kind.SHARE),
        Column(f"{key}_raters", "raters", Kind.COUNT),
        Column(f"{key}_values", "values", Kind.COUNT),
    ]


def _row(each: DimensionFigures) -> list[Cell]:
    return [
        text(each.dimension.name),
        text(each.dimension.measurement_level),
        *_figures(each.round_one),
        *(Cell(getattr(each.disputes, name)) for name in _DISPUTES),
        *(_figures(each.round_two) if each.round_two else [Cell(reason=_NOT_OPENED)] * 4),
    ]


def _figures(found: RoundFigures) -> list[Cell]:
    counts = found.alpha.counts
    return [
        figure(found.alpha),
        figure(found.within_one),
        Cell(counts.raters),
        Cell(counts.pairable_values),
    ]


def _titled(what: str, detail: DimensionDetail) -> str:
    return f"{what} ({detail.dimension.name}, {_measured(detail.round)})"


def _measured(round: Round) -> str:
    return f"{round}: {'reliability' if round.is_independent else 'agreement after discussion'}"


def _coefficients(detail: DimensionDetail) -> Table:
    found = [(f"Krippendorff’s alpha, {level}", alpha) for level, alpha in detail.levels.items()]
    found += [(each.label, each) for each in detail.coefficients]
    rows = [[text(name), figure(coefficient)] for name, coefficient in found]
    columns = [Column("coefficient", "Coefficient", Kind.TEXT), Column("value", "value")]
    return Table(f"round-{detail.round.number}-coefficients", _titled("Coefficients", detail), columns, rows)


def _pairs(detail: DimensionDetail) -> Table:
    columns = [
        Column("first", "first", Kind.TEXT),
        Column("second", "second", Kind.TEXT),
        Column("rmse", "RMSE, in points of the scale"),
        Column("spearman", "Spearman, mean within documents"),
        Column("kendall", "Kendall’s tau-b, mean within documents"),
    ]
    measures = (detail.rmse, detail.spearman, detail.kendall)
    rows = [
        [text(pairs[0].first), text(pairs[0].second), *(figure(each.coefficient) for each in pairs)]
        for pairs in zip(*measures, strict=True)
    ]
    title = _titled("Pairs of raters", detail)
    return Table(f"round-{detail.round.number}-pairs", title, columns, rows, heads=2)


def _distributions(detail: DimensionDetail) -> Table:
    values = [int(value) for value in detail.dimension.values]
    columns = [
        Column("rater", "Rater", Kind.TEXT),
        *(Column(f"value_{value}", detail.dimension.name_of(value), Kind.COUNT) for value in values),
        Column("mean", "mean"),
        Column("ratings", "ratings", Kind.COUNT),
    ]
    rows = [
        [
            text(each.rater or "all"),
            *(Cell(count) for count in each.counts),
            Cell(each.mean, reason="" if each.ratings else "There are no ratings yet."),
            Cell(each.ratings),
        ]
        for each in detail.distributions
    ]
    title = _titled("How often each value was given", detail)
    return Table(f"round-{detail.round.number}-values", title, columns, rows)
