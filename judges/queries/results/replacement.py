"""The tables of the page of replacement: the judge beside those that know nothing, and by annotator."""

from annotate.results.table import Cell, Column, Kind, Table, text
from judges.queries.replacement import DimensionTest, ReplacementReport
from judges.queries.results.columns import DIMENSION, JUDGE, known, yes_or_no
from judges.reliability import AlternativeAnnotatorTest

_HOW = (
    "Alternative annotator test (function alternative_annotator_test); epsilon: {epsilon:g}; source: "
    "Calderon, Reichart and Dror 2025."
)


def replacement_tables(report: ReplacementReport) -> list[Table]:
    """Return the tests and what they rest on, none without Round I."""
    if report.round is None:
        return []
    tables = [_tests(report), _annotators(report)]
    return [table for table in tables if table.rows]


def _tests(report: ReplacementReport) -> Table:
    columns = [
        DIMENSION,
        JUDGE,
        Column("winning_rate", "winning rate ω"),
        Column("advantage", "advantage ρ"),
        Column("beyond_low", "beyond the constant judge, from"),
        Column("beyond_high", "to"),
        Column("verdict", "Verdict", Kind.TEXT),
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
    why = test.reason or "It cannot be told from so few annotators or documents."
    own = [*_rates(test, how), known(low, why), known(high, why), text(test.verdict_reason)]
    rows = [[text(dimension), text(judge), *own]]
    controls = ((f"always {test.constant_value}", test.constant), ("shuffled", test.shuffled))
    for name, control in controls:
        if control is not None and not test.reason:
            none = [text(""), text(""), text("")]
            rows.append([text(dimension), text(name), *_rates(control, how), *none])
    return rows


def _rates(test: AlternativeAnnotatorTest, how: str) -> list[Cell]:
    why = test.reason or ""
    return [known(test.winning_rate, why, how), known(test.advantage, why, how)]


def _annotators(report: ReplacementReport) -> Table:
    columns = [
        DIMENSION,
        Column("annotator", "Annotator", Kind.TEXT),
        Column("units", "units", Kind.COUNT),
        Column("judge_wins", "judge fits as well", Kind.SHARE),
        Column("annotator_wins", "annotator fits as well", Kind.SHARE),
        Column("p_value", "p", Kind.P_VALUE),
        Column("replaced", "may be replaced", Kind.TEXT),
    ]
    rows = [
        [
            text(each.dimension.name),
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
    says = f"Left out, with fewer than 30 compared units: {', '.join(sorted(left_out))}." if left_out else ""
    return Table("annotators", "The judge against each annotator", columns, rows, heads=2, says=says)
