"""The tables of the page of replacement: the judge beside those that know nothing, and by annotator."""

from annotate.core.errors import NotReadyError
from annotate.core.models import Project
from annotate.results.page import Section
from annotate.results.registry import Chosen, Parameter
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from judges.reliability import AlternativeAnnotatorTest
from judges.results.queries.replacement import EPSILONS, DimensionTest, ReplacementReport, replacement_report
from judges.results.tables.columns import JUDGE, number_or_reason, yes_or_no
from judges.results.tables.corrected import with_count_of_corrected
from judges.results.tables.gaps import with_gaps
from judges.results.tables.parameters import Options, chosen_judge, counts_corrected

_HOW = (
    "Alternative annotator test (function alternative_annotator_test); epsilon: {epsilon:g}; source: "
    "Calderon, Reichart and Dror 2025."
)


def epsilons(_project: Project) -> Options:
    """Return what a person may be worth more than a judge, for experts first."""
    return [(f"{value:g}", f"{value:g}: {who}") for value, who in EPSILONS.items()]


EPSILON = Parameter("epsilon", "Epsilon", epsilons)
_INTRODUCTION = (
    "The alternative annotator test leaves each annotator out in turn and asks whether the judge fits the "
    "other annotators about as well. A judge that always gives one value can pass it on a skewed scale, so "
    "that judge and a shuffled one are tested too, and there is no verdict for a judge that does not surely "
    "beat the constant one. Only Round I ratings count: nobody saw another’s value there. Each document’s "
    "units are averaged first; Benjamini and Yekutieli’s correction over annotators at 0.05. Fit is minus "
    "the root mean squared error to the other annotators, on a nominal scale the share of equal values."
)


def replacement_sections(project: Project, chosen: Chosen) -> list[Section]:
    """Return the tests of one judge and what they rest on. Raises NotReadyError without Round I."""
    judge = chosen_judge(project, chosen)
    report = replacement_report(
        project, judge, epsilon=float(chosen["epsilon"]), with_corrected=counts_corrected(chosen)
    )
    if report.round is None:
        raise NotReadyError(_NOBODY)
    still = " Round I is still open: these are its ratings so far." if report.round.is_open else ""
    tables = [_tests(report), _annotators(report)]
    says = f"{_INTRODUCTION}{still}"
    section = Section("May this judge replace an annotator?", says, [each for each in tables if each.rows])
    return with_count_of_corrected(with_gaps([section], [judge], chosen), [judge], chosen)


_NOBODY = "Nobody has rated yet: the test needs the Round I ratings of three annotators or more."


def _tests(report: ReplacementReport) -> Table:
    columns = [
        DIMENSION,
        JUDGE,
        Column("winning_rate", "winning rate ω"),
        Column("advantage", "advantage ρ"),
        Column("beyond_low", "beyond the constant judge, from"),
        Column("beyond_high", "to"),
        Column("verdict", "Verdict", ColumnKind.TEXT),
    ]
    how = _HOW.format(epsilon=report.epsilon)
    rows = [row for each in report.dimensions for row in _of_dimension(each, report.judge.name, how)]
    says = (
        "ω: the share of annotators that the judge may replace. ρ: the mean share of units on which it fits "
        "at least as well. The constant and the shuffled judge know nothing. Beyond the constant judge: 95 % "
        "interval of the mean difference in wins."
    )
    return Table("tests", "Whether the judge may replace an annotator", columns, rows, heads=2, says=says)


def _of_dimension(each: DimensionTest, judge: str, how: str) -> list[list[Cell]]:
    test, dimension = each.test, each.dimension.name
    low, high = test.beyond_constant or (None, None)
    why = test.reason or "It cannot be said of so few annotators or documents."
    own = [
        *_rates(test, how),
        number_or_reason(low, why),
        number_or_reason(high, why),
        text(test.verdict_reason),
    ]
    rows = [[text(dimension, key=each.dimension.key), text(judge), *own]]
    controls = ((f"always {test.constant_value}", test.constant), ("shuffled", test.shuffled))
    for name, control in controls:
        if control is not None and not test.reason:
            none = [text(""), text(""), text("")]
            rows.append([text(dimension, key=each.dimension.key), text(name), *_rates(control, how), *none])
    return rows


def _rates(test: AlternativeAnnotatorTest, how: str) -> list[Cell]:
    why = test.reason or ""
    return [number_or_reason(test.winning_rate, why, how), number_or_reason(test.advantage, why, how)]


def _annotators(report: ReplacementReport) -> Table:
    columns = [
        DIMENSION,
        Column("annotator", "Annotator", ColumnKind.TEXT),
        Column("units", "units", ColumnKind.COUNT),
        Column("judge_wins", "judge fits as well", ColumnKind.SHARE),
        Column("annotator_wins", "annotator fits as well", ColumnKind.SHARE),
        Column("p_value", "p", ColumnKind.P_VALUE),
        Column("replaced", "may be replaced", ColumnKind.TEXT),
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
    says = (
        "p is as computed; “may be replaced” is corrected over the annotators of a dimension (Benjamini and "
        "Yekutieli), not over dimensions."
    )
    if left_out:
        says += f" Left out, with fewer than 30 compared units: {', '.join(sorted(left_out))}."
    return Table("annotators", "The judge against each annotator", columns, rows, heads=2, says=says)
