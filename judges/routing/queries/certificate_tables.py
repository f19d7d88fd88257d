"""The tables of a calibration's page: its certificates, and the thresholds that were tested."""

from typing import Any

from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from judges.core.models import Certificate
from judges.results.tables.columns import number_or_reason
from judges.routing.queries.certificates import CalibrationState, DimensionState

_HOW = (
    "Fixed-sequence testing with exact hypergeometric bounds (function certify); sources: Bauer 1991; "
    "Angelopoulos and others 2021, Learn then Test; Jung, Brahman and Choi 2025, Trust or Escalate."
)

Found = list[tuple[DimensionState, Certificate]]


def certificates_tables(state: CalibrationState) -> list[Table]:
    """Return what was found on each dimension and what was tested, nothing before it is computed."""
    found = [(each, each.certificate) for each in state.dimensions if each.certificate]
    tables = [_certificates(state, found), _steps(found)]
    return [table for table in tables if table.rows]


def _certificates(state: CalibrationState, found: Found) -> Table:
    columns = [
        DIMENSION,
        Column("status", "Certificate", ColumnKind.TEXT),
        Column("threshold", "confidence at least"),
        Column("kept_share", "stays", ColumnKind.SHARE),
        Column("kept", "units that stay", ColumnKind.COUNT),
        Column("units", "units", ColumnKind.COUNT),
        Column("errors", "wrong", ColumnKind.COUNT),
        Column("accepted", "of rated", ColumnKind.COUNT),
        Column("upper_bound", "at most"),
        Column("ceiling", "one person", ColumnKind.SHARE),
        Column("constant", "constant judge", ColumnKind.TEXT),
        Column("shuffled", "shuffled judge", ColumnKind.TEXT),
    ]
    of = state.calibration
    says = " ".join(
        [f"Wrong: {of.get_loss_display()}. At most {100 * of.risk:.4g} % was asked for.", *state.lapses]
    )
    rows = [_row(*each) for each in found]
    return Table("certificates", f"Certificates ({of.name})", columns, rows, says=says)


def _row(each: DimensionState, found: Certificate) -> list[Cell]:
    none = found.reason or "It was not computed."
    return [
        text(each.dimension.name),
        text(_status(each, found)),
        number_or_reason(found.threshold, none, _HOW),
        Cell(found.kept_share, count=found.units),
        Cell(found.kept),
        Cell(found.units),
        number_or_reason(found.errors, none),
        number_or_reason(found.accepted, none),
        number_or_reason(found.upper_bound, none, _HOW),
        number_or_reason(found.ceiling, found.ceiling_reason or none),
        text(_control(found.controls["constant"])),
        text(_control(found.controls["shuffled"])),
    ]


def _status(each: DimensionState, found: Certificate) -> str:
    if each.lapses:
        return "lapsed"
    return "all units go to people" if found.threshold is None else "certified"


def _control(control: dict[str, Any]) -> str:
    if control["threshold"] is None:
        return "not certified"
    return f"certified, {100 * control['kept_share']:.0f} % stay"


def _steps(found: Found) -> Table:
    columns = [
        DIMENSION,
        Column("threshold", "threshold"),
        Column("units", "units", ColumnKind.COUNT),
        Column("rated", "rated", ColumnKind.COUNT),
        Column("wrong", "wrong", decimals=0),
        Column("bound", "at most"),
        Column("p_value", "p", ColumnKind.P_VALUE),
    ]
    rows = [
        [
            text(each.dimension.name),
            Cell(step["threshold"]),
            number_or_reason(step["units"], "The batch was not counted."),
            Cell(step["accepted"]),
            Cell(step["lost"]),
            Cell(step["bound"], how=_HOW),
            Cell(step["p_value"]),
        ]
        for each, certificate in found
        for step in certificate.steps
    ]
    says = (
        "Tested in a fixed sequence, the strictest first, up to the first failure: so p values need not be "
        "corrected within a dimension; they are not corrected over dimensions either."
    )
    return Table("thresholds", "The thresholds that were tested", columns, rows, says=says)
