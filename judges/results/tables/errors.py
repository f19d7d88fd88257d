"""The tables of a judge's error: next to a second person's, and next to controls."""

from django.utils.translation import gettext, gettext_noop

from agreement.reliability import ErrorStatistic, JudgeError
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from judges.results.queries.replacement import ReplacementReport
from judges.results.tables.columns import JUDGE, number_or_reason

ABOUT_ERRORS = gettext_noop(
    "Each rater of Round I is left out in turn, and the judge and the other raters are compared with this "
    "rater. Error: root mean squared difference, on a nominal scale the root of the share of other values. "
    "Bias: judge minus people. Order of systems: Kendall’s tau with people. Order within systems: Pearson’s "
    "r with people among the texts of a system. Saving: the share of ratings that the judge saves if people "
    "rate a fifth of the documents and the judge corrects the means. Intervals count documents and raters as "
    "samples; below three raters, documents only."
)
_CONTROLS = {
    "constant": gettext_noop("one value for all texts"),
    "system": gettext_noop("one value for each system"),
    "length": gettext_noop("the length alone"),
    "shuffled": gettext_noop("the judge’s values shuffled within systems"),
}
_HOW = gettext_noop(
    "Error of a judge (function judge_error); 95 % interval: Student’s t, documents resampled, raters left "
    "out in turn."
)
_HOW_GAIN = gettext_noop(
    "Gain of a correction (function correction_gain); 95 % interval: jackknife of documents."
)


def error_table(report: ReplacementReport) -> Table:
    """Return the judge's error on each dimension."""
    columns = [
        DIMENSION,
        JUDGE,
        Column("uses", gettext("Uses"), ColumnKind.TEXT),
        Column("error", gettext("error")),
        Column("person_error", gettext("second person’s error")),
        Column("bias", gettext("bias")),
        Column("order", gettext("order of systems")),
        Column("separated", gettext("separated pairs in order"), ColumnKind.TEXT),
        Column("within", gettext("order within systems")),
        Column("saving", gettext("saving"), ColumnKind.SHARE),
    ]
    rows = []
    for each in report.dimensions:
        error, gain = each.error, each.gain.means
        granted = "; ".join(str(found.use) for found in each.uses if found.is_granted)
        saving = Cell(reason=each.gain.reason or gettext("Nothing varies between documents."))
        if gain is not None:
            low, high = gain.saving_interval or (None, None)
            saving = Cell(gain.saving, low=low, high=high, how=gettext(_HOW_GAIN))
        rows.append(
            [
                text(each.dimension.name, key=each.dimension.key),
                text(report.judge.name),
                text(granted or gettext("none")),
                number_or_reason(error.error, error.advantage.reason, gettext(_HOW)),
                number_or_reason(error.person_error, error.advantage.reason, gettext(_HOW)),
                _cell(error.bias),
                _cell(error.order_of_systems),
                _separated_cell(error),
                _cell(error.order_within_systems),
                saving,
            ]
        )
    says = gettext(
        "Separated pairs: pairs of systems that people separate significantly (crossed model, Holm), and on "
        "how many of them the judge has the same order."
    )
    return Table("error", gettext("Error and uses"), columns, rows, heads=2, says=says)


def controls_table(report: ReplacementReport) -> Table:
    """Return the error of each control, and the judge's lead on it."""
    columns = [
        DIMENSION,
        Column("control", gettext("Control"), ColumnKind.TEXT),
        Column("error", gettext("error")),
        Column("beyond", gettext("judge’s lead")),
        Column("order", gettext("order of systems")),
        Column("order_beyond", gettext("judge’s lead in order")),
        Column("within", gettext("order within systems")),
    ]
    no_order = gettext("The values are category names, which have no order.")
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            text(gettext(_CONTROLS[name]), key=name),
            number_or_reason(control.error, control.beyond.reason, gettext(_HOW)),
            _cell(control.beyond),
            number_or_reason(control.order_of_systems, no_order, gettext(_HOW)),
            _cell(control.order_beyond),
            number_or_reason(control.order_within_systems, no_order, gettext(_HOW)),
        ]
        for each in report.dimensions
        for name, control in each.error.controls.items()
    ]
    says = gettext(
        "Judge’s lead: the control’s mean squared difference to people minus the judge’s; above 0 the judge "
        "is closer. A judge is fit for single texts if every lead is surely above 0. Controls are fitted on "
        "other documents and other raters."
    )
    return Table("error-controls", gettext("Controls of the error"), columns, rows, heads=2, says=says)


def _cell(found: ErrorStatistic) -> Cell:
    if found.value is None:
        return Cell(reason=found.reason)
    low, high = found.interval or (None, None)
    missing = "" if found.interval else found.reason
    return Cell(found.value, low=low, high=high, interval_reason=missing, how=gettext(_HOW))


def _separated_cell(error: JudgeError) -> Cell:
    found = error.separated
    if found is None:
        return Cell(reason=gettext("Not every rater rated every text."))
    if not found.pairs:
        return Cell(reason=gettext("People separate no pair of systems."))
    return text(gettext("{same} of {pairs}").format(same=found.same, pairs=found.pairs))
