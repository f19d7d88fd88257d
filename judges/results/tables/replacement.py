"""Tables of the page of replacement: a judge with its controls, by annotator, and alpha with it."""

from django.utils.translation import gettext, gettext_lazy, gettext_noop

from agreement.reliability import AlternativeAnnotatorTest, ErrorStatistic
from annotate.core.errors import NotReadyError
from annotate.core.models import Project
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Section, Table, figure, text
from judges.results.queries.reliability import EPSILONS, DimensionTest, ReplacementReport, replacement_report
from judges.results.tables.columns import JUDGE, add_caveats, number_or_reason, yes_or_no
from judges.results.tables.parameters import chosen_judge, counts_corrected

_HOW = gettext_lazy(
    "Alternative annotator test (function alternative_annotator_test); epsilon: {epsilon:g}; source: "
    "Calderon, Reichart and Dror 2025."
)


# The advantage of a person over a judge, for experts first.
EPSILON = Parameter(
    "epsilon",
    gettext_lazy("Epsilon"),
    lambda _: [(f"{value:g}", f"{value:g}: {who}") for value, who in EPSILONS.items()],
)
_INTRODUCTION = gettext_lazy(
    "The alternative annotator test leaves out each annotator in turn. It asks whether the judge fits the "
    "other annotators about as well. A judge that knows little can pass, so the same test has controls. "
    "They are one value for all units, one value for each system, a value by the length of the output, and "
    "the judge’s own values shuffled. Values for systems and lengths are fitted on other documents. The "
    "verdict needs a judge that beats every control. Only Round I ratings count: no rater saw another’s "
    "value there. Units of a document are averaged first. The correction over annotators is Benjamini and "
    "Yekutieli’s at 0.05. Fit is minus the root mean squared error to the other annotators, on a nominal "
    "scale the share of equal values."
)


def replacement_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return the tests of one judge and their inputs. Raises NotReadyError without Round I."""
    judge = chosen_judge(project, chosen)
    report = replacement_report(
        project, judge, epsilon=float(chosen["epsilon"]), with_corrected=counts_corrected(chosen)
    )
    if report.round is None:
        raise NotReadyError(str(_NOBODY))
    still = gettext("Round I is still open: these are its ratings until now.") if report.round.is_open else ""
    tables = [_tests(report), _annotators(report), _alphas(report), _plans(report)]
    says = f"{_INTRODUCTION} {still}".strip()
    section = Section(
        gettext("May this judge replace an annotator?"), says, [each for each in tables if each.rows]
    )
    errors = [each for each in (error_table(report), controls_table(report)) if each.rows]
    error = Section(gettext("Its error next to a second person’s"), gettext(ABOUT_ERRORS), errors)
    return add_caveats([section, error], project, [judge], chosen, scales_only=str(_SCALES_ONLY))


_SCALES_ONLY = gettext_lazy(
    "The test is about scales: its controls need a mean or a category for each item, which answers to other "
    "questions do not have."
)


_NOBODY = gettext_lazy(
    "There are no ratings yet: the test needs the Round I ratings of three annotators or more."
)


def _tests(report: ReplacementReport) -> Table:
    columns = [
        DIMENSION,
        JUDGE,
        Column("winning_rate", gettext("winning rate ω")),
        Column("advantage", gettext("advantage ρ")),
        Column("beyond", gettext("judge beyond the control")),
        Column("verdict", gettext("Verdict"), ColumnKind.TEXT),
    ]
    how = _HOW.format(epsilon=report.epsilon)

    def row(each: DimensionTest, name: Cell, test: AlternativeAnnotatorTest, *cells: Cell) -> list[Cell]:
        why = test.reason or ""
        rates = [number_or_reason(rate, why, how) for rate in (test.winning_rate, test.advantage)]
        return [text(each.dimension.name, key=each.dimension.key), name, *rates, *cells]

    rows = []
    for each in report.dimensions:
        # The judge's row, then one for each control with the judge's lead on it.
        beyond, verdict = Cell(reason=str(_IS_NO_CONTROL)), text(each.test.verdict_reason)
        rows.append(row(each, text(report.judge.name), each.test, beyond, verdict))
        for name, control in each.test.controls.items():
            low, high = control.interval or (None, None)
            missing = (
                "" if control.interval else gettext("Too few documents, or the same difference in each.")
            )
            beyond = Cell(control.gain, low=low, high=high, interval_reason=missing, how=str(_HOW_BEYOND))
            beaten = text(gettext("beaten") if control.is_beaten else gettext("not surely beaten"))
            rows.append(row(each, text(control.answers, key=name), control.test, beyond, beaten))
    says = gettext(
        "ω: the share of annotators that the judge may replace. ρ: the mean share of units on which it "
        "fits at least as well. Judge beyond the control: the mean difference in wins by document, with "
        "its 95 % interval. The judge beats a control if the interval is above 0."
    )
    return Table(
        "tests", gettext("Alternative annotator test with controls"), columns, rows, heads=2, says=says
    )


_IS_NO_CONTROL = gettext_lazy("This is the judge itself.")


_HOW_BEYOND = gettext_lazy(
    "Mean difference in wins (function alternative_annotator_test); 95 % interval: paired t over documents."
)


def _annotators(report: ReplacementReport) -> Table:
    columns = [
        DIMENSION,
        Column("annotator", gettext("Annotator"), ColumnKind.TEXT),
        Column("units", gettext("units"), ColumnKind.COUNT),
        Column("judge_wins", gettext("judge fits as well"), ColumnKind.SHARE),
        Column("annotator_wins", gettext("annotator fits as well"), ColumnKind.SHARE),
        Column("p_value", "p", ColumnKind.P_VALUE),
        Column("replaced", gettext("may be replaced"), ColumnKind.TEXT),
    ]
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            text(one.annotator),
            Cell(one.units),
            Cell(one.judge_wins, count=one.units),
            Cell(one.annotator_wins, count=one.units),
            Cell(one.p_value),
            yes_or_no(one.judge_replaces),
        ]
        for each in report.dimensions
        for one in each.test.annotators
    ]
    # A set, because an annotator can have too few units on several dimensions.
    left_out = {name for each in report.dimensions for name in each.test.left_out}
    says = gettext(
        "p is as computed; “may be replaced” is corrected over the annotators of a dimension (Benjamini and "
        "Yekutieli), not over dimensions."
    )
    if left_out:
        names = ", ".join(sorted(left_out))
        excluded = gettext("Left out, with fewer than 30 compared units: {names}.").format(names=names)
        says = f"{says} {excluded}"
    return Table("annotators", gettext("The judge against each annotator"), columns, rows, heads=2, says=says)


def _alphas(report: ReplacementReport) -> Table:
    columns = [
        DIMENSION,
        Column("among_people", gettext("alpha among people")),
        Column("with_judge", gettext("alpha with the judge")),
        Column("difference", gettext("difference")),
        Column("effect", gettext("The judge"), ColumnKind.TEXT),
    ]
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            figure(each.one_more_rater.among_people),
            figure(each.one_more_rater.with_judge),
            figure(each.one_more_rater.difference),
            text(each.one_more_rater.effect or ""),
        ]
        for each in report.dimensions
    ]
    says = gettext(
        "Krippendorff’s alpha of Round I, over items that two people and the judge rated. The judge joins "
        "as one more rater. It lowers agreement if the interval of the difference is below 0, and does not "
        "lower it if the interval is above 0. A judge as noisy as a person has a difference of 0: cannot "
        "tell."
    )
    return Table("one-more-rater", gettext("The judge as one more rater"), columns, rows, says=says)


def _plans(report: ReplacementReport) -> Table:
    columns = [
        DIMENSION,
        Column("documents", gettext("documents today"), ColumnKind.COUNT),
        Column("power_today", gettext("power today"), ColumnKind.SHARE),
        Column("needed", gettext("documents needed"), ColumnKind.COUNT),
    ]
    rows = [
        [
            text(each.dimension.name, key=each.dimension.key),
            Cell(each.plan.today),
            number_or_reason(each.plan.power_today, each.plan.reason, str(_HOW_PLAN)),
            number_or_reason(each.plan.documents, each.plan.reason, str(_HOW_PLAN)),
        ]
        for each in report.dimensions
    ]
    says = gettext(
        "Power: the probability that a judge like this passes the test and beats every control. Needed: "
        "documents for a power of 80 %. Both take today’s differences as the true ones, so treat them as a "
        "guide for the next study."
    )
    return Table("power-of-test", gettext("Documents that the test needs"), columns, rows, says=says)


_HOW_PLAN = gettext_lazy(
    "Normal means with today’s covariances between documents, 4,000 draws (function plan_replacement)."
)


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
_HOW_ERROR = gettext_noop(
    "Error of a judge (function judge_error); 95 % interval: Student’s t, documents resampled, raters left "
    "out in turn."
)
_HOW_GAIN = gettext_noop(
    "Gain of a correction (function correction_gain); 95 % interval: jackknife of documents."
)


def error_table(report: ReplacementReport) -> Table:
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
        # `None` without complete ratings: the crossed model needs every rater on every text.
        pairs = error.separated
        separated = Cell(reason=gettext("Not every rater rated every text."))
        if pairs and pairs.pairs:
            separated = text(gettext("{same} of {pairs}").format(same=pairs.same, pairs=pairs.pairs))
        elif pairs:
            separated = Cell(reason=gettext("People separate no pair of systems."))
        rows.append(
            [
                text(each.dimension.name, key=each.dimension.key),
                text(report.judge.name),
                text(granted or gettext("none")),
                number_or_reason(error.error, error.advantage.reason, gettext(_HOW_ERROR)),
                number_or_reason(error.person_error, error.advantage.reason, gettext(_HOW_ERROR)),
                _cell(error.bias),
                _cell(error.order_of_systems),
                separated,
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
            number_or_reason(control.error, control.beyond.reason, gettext(_HOW_ERROR)),
            _cell(control.beyond),
            number_or_reason(control.order_of_systems, no_order, gettext(_HOW_ERROR)),
            _cell(control.order_beyond),
            number_or_reason(control.order_within_systems, no_order, gettext(_HOW_ERROR)),
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
    return Cell(found.value, low=low, high=high, interval_reason=missing, how=gettext(_HOW_ERROR))
