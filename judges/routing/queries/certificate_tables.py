from typing import Any

from django.utils.translation import gettext, gettext_noop

from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from judges.core.models import Certificate
from judges.results.tables.columns import number_or_reason
from judges.routing.queries.calibration_state import CalibrationState, DimensionState

_HOW = gettext_noop(
    "Fixed-sequence testing with exact hypergeometric bounds (function certify); sources: Bauer 1991; "
    "Angelopoulos and others 2021, Learn then Test; Jung, Brahman and Choi 2025, Trust or Escalate."
)

Found = list[tuple[DimensionState, Certificate]]


def certificates_tables(state: CalibrationState) -> list[Table]:
    """Return the results of each dimension and the tested thresholds, empty before the computation."""
    found = [(each, each.certificate) for each in state.dimensions if each.certificate]
    tables = [_certificates(state, found), _steps(found)]
    return [table for table in tables if table.rows]


def _certificates(state: CalibrationState, found: Found) -> Table:
    columns = [
        DIMENSION,
        Column("status", gettext("Certificate"), ColumnKind.TEXT),
        Column("threshold", gettext("Minimum confidence")),
        Column("kept_share", gettext("Judge share"), ColumnKind.SHARE),
        Column("kept", gettext("Judge units"), ColumnKind.COUNT),
        Column("units", gettext("Units"), ColumnKind.COUNT),
        Column("errors", gettext("Wrong"), ColumnKind.COUNT),
        Column("accepted", gettext("Of rated"), ColumnKind.COUNT),
        Column("upper_bound", gettext("Upper bound")),
        Column("ceiling", gettext("One person"), ColumnKind.SHARE),
        Column("constant", gettext("Constant judge"), ColumnKind.TEXT),
        Column("shuffled", gettext("Shuffled judge"), ColumnKind.TEXT),
    ]
    of = state.calibration
    wrong = gettext("Wrong: {loss}. Limit: {risk:.4g} %.").format(
        loss=of.get_loss_display(), risk=100 * of.risk
    )
    scope = gettext(
        "A certificate covers the texts, the model and the raters of its calibration. If any of them "
        "changes, it promises nothing; the audit of a routing policy detects higher error rates."
    )
    says = " ".join([wrong, *state.lapses, scope])
    rows = [_row(*each) for each in found]
    return Table(
        "certificates", gettext("Certificates ({name})").format(name=of.name), columns, rows, says=says
    )


def _row(each: DimensionState, found: Certificate) -> list[Cell]:
    none = found.reason or gettext("Not computed.")
    return [
        text(each.dimension.name),
        text(_status(each, found)),
        number_or_reason(found.threshold, none, gettext(_HOW)),
        Cell(found.kept_share, count=found.units),
        Cell(found.kept),
        Cell(found.units),
        number_or_reason(found.errors, none),
        number_or_reason(found.accepted, none),
        number_or_reason(found.upper_bound, none, gettext(_HOW)),
        number_or_reason(found.ceiling, found.ceiling_reason or none),
        text(_control(found.controls["constant"])),
        text(_control(found.controls["shuffled"])),
    ]


def _status(each: DimensionState, found: Certificate) -> str:
    if each.lapses:
        return gettext("lapsed")
    return gettext("all units go to people") if found.threshold is None else gettext("certified")


def _control(control: dict[str, Any]) -> str:
    if control["threshold"] is None:
        return gettext("not certified")
    return gettext("certified, for {share:.0f} % of the units").format(share=100 * control["kept_share"])


def _steps(found: Found) -> Table:
    columns = [
        DIMENSION,
        Column("threshold", gettext("Threshold")),
        Column("units", gettext("Units"), ColumnKind.COUNT),
        Column("rated", gettext("Rated"), ColumnKind.COUNT),
        Column("wrong", gettext("Wrong"), decimals=0),
        Column("bound", gettext("Upper bound")),
        Column("p_value", "p", ColumnKind.P_VALUE),
    ]
    rows = [
        [
            text(each.dimension.name),
            Cell(step["threshold"]),
            number_or_reason(step["units"], gettext("The batch size is unknown.")),
            Cell(step["accepted"]),
            Cell(step["lost"]),
            Cell(step["bound"], how=gettext(_HOW)),
            Cell(step["p_value"]),
        ]
        for each, certificate in found
        for step in certificate.steps
    ]
    says = gettext(
        "Concord tests thresholds from the strictest to the first failure, so the p values of a dimension "
        "need no correction. Dimensions share delta."
    )
    return Table("thresholds", gettext("Tested thresholds"), columns, rows, says=says)
