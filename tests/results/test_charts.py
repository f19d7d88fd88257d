"""Charts as data: the values of the tables, with a note, an interval and a URL for each point."""

from typing import Any

import pytest

from annotate.results.answers import group_systems
from annotate.results.charts import chart_of, differences_chart
from annotate.results.registry import Chart
from annotate.results.table import DIMENSION, Cell, Column, ColumnKind, Table, text
from tests.results.test_plots import TABLES, plotted

SYSTEM = Column("system", "System", ColumnKind.TEXT)
JUDGE = Column("judge", "Judge", ColumnKind.TEXT)


def value(number: float, *, count: int = 9, link: str = "") -> Cell:
    how = "Alpha (function krippendorff_alpha); source: a book."
    return Cell(number, number - 0.1, number + 0.1, count=count, how=how, link=link)


def chart(table: Table, wanted: Chart | None = None) -> Any:
    found = chart_of(table, wanted, "/units/")
    assert found is not None
    return found


ALPHA = Table(
    "alpha",
    "Alpha",
    [DIMENSION, Column("round_1", "Round I"), Column("round_2", "Round II")],
    [[text("Fluency"), value(0.7, link="dimension=fluency"), Cell(reason="Round II is closed.")]],
)


@pytest.mark.parametrize("kind", TABLES)
def test_every_kind_of_plot_has_a_chart_with_notes(kind: str) -> None:
    found = chart(plotted(kind))
    assert found["points"]
    assert all(each["note"] for each in found["points"])


def test_a_point_has_value_interval_note_and_url() -> None:
    (point,) = chart(ALPHA)["points"]
    assert (point["value"], point["low"], point["high"]) == (0.7, 0.6, pytest.approx(0.8))
    assert point["note"] == "Fluency, Round I: 0.700 [0.600, 0.800] · n = 9 · Alpha"
    assert point["url"] == "/units/?dimension=fluency"


def test_missing_values_are_no_points_and_none_means_no_chart() -> None:
    assert [each["value"] for each in chart(ALPHA)["points"]] == [0.7]
    nothing = Table("x", "X", ALPHA.columns, [[text("Fluency"), *[Cell(reason="None.")] * 2]])
    assert chart_of(nothing) is None


def test_marked_lines_match_the_arrangement() -> None:
    assert chart(ALPHA, Chart("alpha", lines=(0.667, 0.8)))["lines"] == [0.667, 0.8]


def test_judges_are_series_with_the_interval_of_people_as_band() -> None:
    columns = [JUDGE, DIMENSION, Column("people", "among people"), Column("with_judge", "with judge")]
    rows = [[text(name), text("Fluency"), value(0.8), value(0.6)] for name in ("One", "Two")]
    found = chart(
        Table("alphas", "A", columns, rows, heads=2), Chart("alphas", ("with_judge",), band="people")
    )
    assert [(each["row"], each["series"]) for each in found["points"]] == [
        ("Fluency", "One"),
        ("Fluency", "Two"),
    ]
    (band,) = found["bands"]
    assert (band["row"], band["low"], band["high"]) == ("Fluency", pytest.approx(0.7), pytest.approx(0.9))


def test_many_judges_are_rows_of_a_panel_for_each_dimension() -> None:
    columns = [JUDGE, DIMENSION, Column("alpha", "alpha")]
    rows = [[text(f"Judge {index}"), text("Fluency"), value(0.5)] for index in range(5)]
    points = chart(Table("alphas", "A", columns, rows, heads=2))["points"]
    assert {each["panel"] for each in points} == {"Fluency"}
    assert [each["row"] for each in points] == [f"Judge {index}" for index in range(5)]


def test_systems_are_sorted_by_mean_in_two_groups() -> None:
    names = [Column(key, key, decimals=2) for key in ("fluency",)]
    means = [("a", 2.0), ("b", 4.0), ("c", 3.9)]
    table = Table("means", "M", [SYSTEM, *names], [[text(name), value(mean)] for name, mean in means])
    columns = [
        DIMENSION,
        *(Column(key, key, ColumnKind.TEXT) for key in ("first", "second")),
        *(Column(key, key) for key in ("difference", "p", "p_adjusted")),
    ]
    rows = [
        [text("fluency"), text("a"), text("b"), Cell(-2.0), Cell(0.001), Cell(0.003)],
        [text("fluency"), text("b"), text("c"), Cell(0.1), Cell(0.6), Cell(0.9)],
    ]
    tables = {"differences": Table("differences", "D", columns, rows, heads=3)}
    chart = chart_of(table, Chart("means"))
    assert chart is not None
    for each in chart["points"]:
        each["panel"] = "fluency"
    found = group_systems(chart, tables)
    assert [each["row"] for each in found["points"]] == ["b", "c", "a"]
    best, other = found["series"]
    assert [each["series"] for each in found["points"]] == [best, best, other]


def test_units_by_difference_are_shares_of_each_dimension() -> None:
    columns = [DIMENSION, Column("apart", "apart", ColumnKind.COUNT), Column("units", "u", ColumnKind.COUNT)]
    rows = [
        [text("fluency", key="7"), Cell(0), Cell(3)],
        [text("fluency", key="7"), Cell(2), Cell(1)],
    ]
    found = differences_chart(Table("units", "Units", columns, rows, heads=2))
    assert found is not None
    assert [(each["series"], each["value"]) for each in found["points"]] == [("0", 0.75), ("2", 0.25)]
    assert found["points"][1]["url"] == "?dimension=fluency&apart=2"
    assert differences_chart(Table("units", "Units", columns, [], heads=2)) is None
