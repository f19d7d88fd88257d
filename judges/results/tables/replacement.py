"""The tables of the page of replacement: a judge with its controls, by annotator, and alpha with it."""

from django.utils.translation import gettext, gettext_lazy

from agreement.reliability import AlternativeAnnotatorTest, ReplacementControl
from annotate.core.errors import NotReadyError
from annotate.core.models import Project
from annotate.results.page import Section
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, figure, text
from judges.results.queries.replacement import EPSILONS, DimensionTest, ReplacementReport, replacement_report
from judges.results.tables.columns import JUDGE, number_or_reason, yes_or_no
from judges.results.tables.corrected import with_count_of_corrected
from judges.results.tables.errors import ABOUT_ERRORS, controls_table, error_table
from judges.results.tables.gaps import with_gaps
from judges.results.tables.other_kinds import with_reason_for_scales
from judges.results.tables.parameters import Options, chosen_judge, counts_corrected

_HOW = gettext_lazy(
    "Alternative annotator test (function alternative_annotator_test); epsilon: {epsilon:g}; source: "
    "Calderon, Reichart and Dror 2025."
)


def epsilons(_project: Project) -> Options:
    """Return what a person may be worth more than a judge, for experts first."""
    return [(f"{value:g}", f"{value:g}: {who}") for value, who in EPSILONS.items()]


EPSILON = Parameter("epsilon", gettext_lazy("Epsilon"), epsilons)
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
    """Return the tests of one judge and what they rest on. Raises NotReadyError without Round I."""
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
    sections = with_reason_for_scales([section, error], project, str(_SCALES_ONLY))
    return with_count_of_corrected(with_gaps(sections, [judge], chosen), [judge], chosen)


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
    rows = [row for each in report.dimensions for row in _of_dimension(each, report.judge.name, how)]
    says = gettext(
        "ω: the share of annotators that the judge may replace. ρ: the mean share of units on which it "
        "fits at least as well. Judge beyond the control: the mean difference in wins by document, with "
        "its 95 % interval. The judge beats a control if the interval is above 0."
    )
    return Table(
        "tests", gettext("Alternative annotator test with controls"), columns, rows, heads=2, says=says
    )


def _of_dimension(each: DimensionTest, judge: str, how: str) -> list[list[Cell]]:
    test, dimension = each.test, text(each.dimension.name, key=each.dimension.key)
    rows = [
        [
            dimension,
            text(judge),
            *_rates(test, how),
            Cell(reason=str(_IS_NO_CONTROL)),
            text(test.verdict_reason),
        ]
    ]
    for name, control in test.controls.items():
        answers = "beaten" if control.is_beaten else gettext("not surely beaten")
        row = [text(control.answers, key=name), *_rates(control.test, how), _beyond(control), text(answers)]
        rows.append([dimension, *row])
    return rows


_IS_NO_CONTROL = gettext_lazy("This is the judge itself.")


def _beyond(control: ReplacementControl) -> Cell:
    low, high = control.interval or (None, None)
    missing = "" if control.interval else gettext("Too few documents, or the same difference in each.")
    return Cell(control.gain, low=low, high=high, interval_reason=missing, how=str(_HOW_BEYOND))


_HOW_BEYOND = gettext_lazy(
    "Mean difference in wins (function alternative_annotator_test); 95 % interval: paired t over documents."
)


def _rates(test: AlternativeAnnotatorTest, how: str) -> list[Cell]:
    why = test.reason or ""
    return [number_or_reason(test.winning_rate, why, how), number_or_reason(test.advantage, why, how)]


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
