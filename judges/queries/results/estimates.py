"""The tables of the page of estimates: mean scores, differences of systems, and widths after more ratings."""

from annotate.results.table import Cell, Column, Kind, Table, text
from judges.queries.estimates import DimensionEstimates, EstimatesReport, SystemEstimates, Width
from judges.queries.results.columns import DIMENSION, SYSTEM, estimated, known, yes_or_no
from judges.reliability import Difference

_NO_P = "There is no p value without a standard error of the difference."
_NO_WIDTH = "No width can be told for so many ratings."
_NOT_WORTH = "There is no combined estimate that is worth more or fewer ratings."
_NOT_GUARANTEED = "A guaranteed difference was not computed."


def estimates_tables(report: EstimatesReport) -> list[Table]:
    """Return every table of a report; differences and widths where there are any."""
    tables = [_means(report), _differences(report), _widths(report)]
    return [table for table in tables if table.rows]


def _means(report: EstimatesReport) -> Table:
    columns = [
        DIMENSION,
        SYSTEM,
        Column("rated", "rated", Kind.COUNT),
        Column("items", "items", Kind.COUNT),
        Column("humans", "people only, asymptotic"),
        Column("judge", "judge only"),
        Column("combined", "combined, asymptotic"),
        Column("worth", "worth", decimals=0),
        Column("prediction_powered", "PPI++, asymptotic"),
        Column("guaranteed", "guaranteed"),
        Column("ranks", "ranks", Kind.TEXT),
    ]
    rows = [_mean(one, each) for one in report.dimensions for each in one.systems]
    says = (
        f"Judge: {report.judge.name}. Worth: with how many ratings people only would be as precise. "
        "The judge’s own mean says nothing of how far it is from people’s."
    )
    return Table("means", "Mean scores from people and a judge", columns, rows, heads=2, says=says)


def _mean(one: DimensionEstimates, each: SystemEstimates) -> list[Cell]:
    return [
        text(one.dimension.name),
        text(each.system),
        Cell(each.humans.ratings),
        Cell(each.humans.units),
        estimated(each.humans),
        estimated(each.judge),
        estimated(each.combined),
        known(each.combined.effective_sample_size, each.combined.reason or _NOT_WORTH),
        estimated(each.prediction_powered),
        estimated(each.guaranteed),
        text(_ranks(one, each.system)),
    ]


def _ranks(one: DimensionEstimates, system: str) -> str:
    found = next((each for each in one.ranks if each.system == system), None)
    if found is None:
        return ""
    return str(found.best) if found.best == found.worst else f"{found.best} to {found.worst}"


def _differences(report: EstimatesReport) -> Table:
    columns = [
        DIMENSION,
        Column("first", "first", Kind.TEXT),
        Column("second", "second", Kind.TEXT),
        Column("difference", "first minus second, asymptotic"),
        Column("guaranteed", "guaranteed, people only"),
        Column("p_value", "p", Kind.P_VALUE),
        Column("adjusted_p_value", "p by Holm", Kind.P_VALUE),
        Column("differ", "differ", Kind.TEXT),
        Column("paired", "on the same documents", Kind.TEXT),
    ]
    rows = [_difference(one, each) for one in report.dimensions for each in one.differences]
    says = "Each interval is for its pair alone; p by Holm and “differ” allow for all pairs of a dimension."
    return Table("differences", "Differences of systems", columns, rows, heads=3, says=says)


def _difference(one: DimensionEstimates, each: Difference) -> list[Cell]:
    return [
        text(one.dimension.name),
        text(each.first),
        text(each.second),
        estimated(each.estimate),
        estimated(each.guaranteed) if each.guaranteed else Cell(reason=_NOT_GUARANTEED),
        known(each.p_value, each.estimate.reason or _NO_P),
        known(each.adjusted_p_value, each.estimate.reason or _NO_P),
        yes_or_no(each.differs),
        yes_or_no(each.paired),
    ]


def _widths(report: EstimatesReport) -> Table:
    columns = [
        DIMENSION,
        Column("ratings", "ratings", decimals=1),
        Column("now", "now", Kind.TEXT),
        Column("humans", "people only"),
        Column("combined", "combined"),
        Column("guaranteed", "guaranteed"),
    ]
    rows = [_width(one, each) for one in report.dimensions for each in one.widths]
    title = "How wide intervals are after more ratings"
    return Table("widths", title, columns, rows, says="On average over systems; ratings of each system.")


def _width(one: DimensionEstimates, each: Width) -> list[Cell]:
    widths = (each.humans, each.combined, each.guaranteed)
    names = [text(one.dimension.name), Cell(each.ratings), yes_or_no(each.is_now)]
    return [*names, *(known(width, _NO_WIDTH) for width in widths)]
