"""The tables of the page of reliability: R, P, what R tells, quality, and spread over systems."""

from collections.abc import Sequence

from annotate.results.table import Cell, Column, Kind, Table, figure, text
from judges.queries.reliability import DimensionFigures, ReliabilityReport
from judges.queries.results.columns import DIMENSION, SYSTEM, known
from judges.reliability import Spread

_QUARTILES = {
    "smallest": "least",
    "first_quartile": "first quartile",
    "median": "median",
    "third_quartile": "third quartile",
    "largest": "largest",
}


def reliability_tables(report: ReliabilityReport) -> list[Table]:
    """Return every table of a report; those that need people only where they rated."""
    agreement = [_agreement(report), _quality(report)] if report.rated else []
    return [_indicator(report), *agreement, _readings(report), _spreads(report)]


def _indicator(report: ReliabilityReport) -> Table:
    pairing = report.pairing
    says = (
        f"{report.label} of {pairing.rts.name} with {pairing.mcq.name} over each system’s items: where the "
        f"model agrees with itself, not how right it is. {pairing.warning}"
    ).strip()
    cells = [[figure(one.indicator, count=one.items) for one in row] for _, row in report.rows]
    return _by_system(report, "indicator", "Reliability indicator R", says, cells)


def _agreement(report: ReliabilityReport) -> Table:
    left_out = " Units that settled what is trusted of these judges are left out." if report.fresh else ""
    says = (
        f"{report.label} of {report.beside_people.name} with mean human scores at the end of {report.round}, "
        f"over each system’s items.{left_out}"
    )
    cells = [[figure(one.agreement, count=one.rated) for one in row] for _, row in report.rows]
    return _by_system(report, "agreement", "Agreement with people P", says, cells)


def _by_system(
    report: ReliabilityReport, key: str, title: str, says: str, cells: Sequence[Sequence[Cell]]
) -> Table:
    columns = [Column(one.dimension.key, one.dimension.name) for one in report.dimensions]
    rows = [[text(system), *row] for (system, _), row in zip(report.rows, cells, strict=True)]
    return Table(key, title, [SYSTEM, *columns], rows, says=says)


def _quality(report: ReliabilityReport) -> Table:
    rows = [
        [
            text(one.dimension.name),
            text(each.system),
            figure(each.quality),
            figure(each.agreement, count=each.rated),
            figure(each.indicator, count=each.items),
        ]
        for one in report.dimensions
        for each in one.figures.systems
    ]
    columns = [
        DIMENSION,
        SYSTEM,
        Column("quality", "quality"),
        Column("agreement", "P"),
        Column("indicator", "R"),
    ]
    title = "Quality of systems, agreement with people P and reliability indicator R"
    return Table("quality", title, columns, rows, heads=2, says="Quality: the mean human score.")


def _readings(report: ReliabilityReport) -> Table:
    columns = [
        DIMENSION,
        Column("reading", "May R be used?", Kind.TEXT),
        Column("validity", "R with P"),
        Column("p_value", "p", Kind.P_VALUE),
        Column("adjusted_p_value", "p by Holm", Kind.P_VALUE),
        Column("systems", "systems", Kind.COUNT),
        Column("meta_correlation", "M"),
    ]
    says = (
        f"R with P, and M of P with the mean human score: {report.label} over systems. Holm’s correction is "
        f"over dimensions: {len(report.dimensions)}."
    )
    rows = [_reading(one) for one in report.dimensions]
    return Table("validity", "Whether R tells where the judge agrees with people", columns, rows, says=says)


def _reading(one: DimensionFigures) -> list[Cell]:
    found = one.figures.validity
    why = found.p_value_reason or found.correlation.reason or ""
    return [
        text(one.dimension.name),
        text(one.reading),
        figure(found.correlation, count=found.systems),
        known(found.p_value, why),
        known(one.adjusted_p_value, why),
        Cell(found.systems),
        figure(one.figures.meta_correlation),
    ]


def _spreads(report: ReliabilityReport) -> Table:
    rows = [
        [text(one.dimension.name), text(name), *_numbers(spread)]
        for one in report.dimensions
        for name, spread in (("R", one.figures.indicator_spread), ("P", one.figures.agreement_spread))
        if name == "R" or report.rated
    ]
    columns = [Column(key, name) for key, name in _QUARTILES.items()]
    heads = [DIMENSION, Column("coefficient", "Coefficient", Kind.TEXT)]
    return Table("spread", "How far R and P differ between systems", [*heads, *columns], rows, heads=2)


def _numbers(spread: Spread | None) -> list[Cell]:
    if spread is None:
        return [Cell(reason="It is undefined for every system.") for _ in _QUARTILES]
    return [Cell(getattr(spread, key), count=spread.systems) for key in _QUARTILES]
