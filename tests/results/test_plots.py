"""Plots are the same bytes each time, describe what they show, and name their points."""

import subprocess
import sys
from xml.etree import ElementTree

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from annotate.results.plots import CONTENT_TYPES, draw
from annotate.results.plots.kinds import KINDS, drawing_style
from annotate.results.table import Cell, Column, ColumnKind, Table, text

DIMENSION, SYSTEM = (
    Column("dimension", "Dimension", ColumnKind.TEXT),
    Column("system", "System", ColumnKind.TEXT),
)
SVG = "{http://www.w3.org/2000/svg}"


def figures(*values: float | None) -> list[Cell]:
    return [
        Cell(reason="There are no ratings yet.")
        if value is None
        else Cell(value, value - 0.1, value + 0.1, count=9)
        for value in values
    ]


def counts(*values: int) -> list[Cell]:
    return [Cell(value) for value in values]


def columns(*names: str, kind: ColumnKind = ColumnKind.NUMBER) -> list[Column]:
    return [Column(name, name, kind) for name in names]


TABLES = {
    "intervals": Table(
        "alpha",
        "Alpha <of> R&D",
        [DIMENSION, *columns("Round I", "Round II")],
        [[text("Fluency"), *figures(0.4, None)], [text("$x_1$ & <b>"), *figures(-0.1, 0.9)]],
        says="At its own level.",
    ),
    "distribution": Table(
        "often",
        "How often",
        [DIMENSION, Column("rater", "Rater", ColumnKind.TEXT), *columns("1", "2", kind=ColumnKind.COUNT)],
        [[text("Fluency"), text("all"), *counts(3, 5)], [text("Other"), text("all"), *counts(0, 0)]],
        heads=2,
    ),
    "heat": Table(
        "pairs", "Pairs", [DIMENSION, *columns("Fluency", "Other")], [[text("A – B"), *figures(0.7, None)]]
    ),
    "box": Table(
        "quartiles",
        "Quartiles",
        [DIMENSION, SYSTEM, *columns("least", "first", "median", "third", "largest")],
        [
            [text("Fluency"), text("a"), *figures(1, 2, 3, 4, 5)],
            [text("Fluency"), text("b"), *figures(*[None] * 5)],
        ],
        heads=2,
    ),
    "movement": Table(
        "movement",
        "Movement",
        [
            DIMENSION,
            Column("before", "before", ColumnKind.TEXT),
            *columns("0", "1", "2", kind=ColumnKind.COUNT),
        ],
        [[text("all"), text("2"), *counts(4, 0, 1)]],
        heads=2,
    ),
    "scatter": Table(
        "scatter",
        "Scatter",
        [DIMENSION, *columns("people", "judge"), Column("items", "items", ColumnKind.COUNT)],
        [[text("Fluency"), Cell(3.5), Cell(4.0), Cell(12)], [text("Other"), Cell(1.0), Cell(1.0), Cell(1)]],
    ),
    "curve": Table(
        "curve",
        "Curve",
        [DIMENSION, Column("raters", "raters", ColumnKind.COUNT), *columns("reliability")],
        [[text("Fluency"), Cell(1), *figures(0.3)], [text("Fluency"), Cell(2), *figures(0.5)]],
        heads=2,
    ),
    "curves": Table(
        "curves",
        "Curves",
        [DIMENSION, Column("temperature", "temperature"), *columns("with", "without")],
        [[text("Fluency"), Cell(0.0), *figures(0.3, 0.2)], [text("Fluency"), Cell(0.7), *figures(0.5, None)]],
        heads=2,
    ),
    "calibration": Table(
        "calibration",
        "Calibration",
        [DIMENSION, *columns("confidence", "accuracy")],
        [[text("Fluency"), Cell(0.4), *figures(0.3)], [text("Fluency"), Cell(0.9), *figures(0.5)]],
        heads=2,
    ),
    "quality": Table(
        "quality",
        "Quality",
        [DIMENSION, SYSTEM, *columns("Q", "P")],
        [[text("Fluency"), text("a"), *figures(3.0, 0.2)], [text("Fluency"), text("b"), *figures(4.0, None)]],
        heads=2,
    ),
}


def plotted(kind: str) -> Table:
    made = TABLES[kind]
    return Table(**{**vars(made), "plot": kind})


@pytest.mark.parametrize("kind", TABLES)
def test_a_plot_is_well_formed_named_and_the_same_bytes_each_time(kind: str) -> None:
    table = plotted(kind)
    svg = draw(table, "svg")
    assert svg == draw(table, "svg")
    root = ElementTree.fromstring(svg)
    assert root.get("role") == ("group" if b"plot-point" in svg else "img")
    named = {each.get("id"): each.text for each in root if each.tag in (f"{SVG}title", f"{SVG}desc")}
    assert list(named) == [root.get("aria-labelledby"), root.get("aria-describedby")]
    assert named[f"plot-{table.key}"] == table.title
    assert "as in its table" in (named[f"plot-{table.key}-says"] or "")
    assert b"<metadata>" not in svg


@pytest.mark.parametrize("format", ["pdf", "png"])
def test_files_for_papers_have_no_date_and_are_the_same_bytes_each_time(format: str) -> None:
    content = draw(plotted("intervals"), format)
    assert content == draw(plotted("intervals"), format)
    assert content.startswith({"pdf": b"%PDF", "png": b"\x89PNG"}[format])
    assert b"CreationDate" not in content
    assert set(CONTENT_TYPES) == {"svg", "pdf", "png"}


def test_description_lists_the_values_and_undefined_ones() -> None:
    said = " ".join(ElementTree.fromstring(draw(plotted("intervals"), "svg")).itertext())
    assert "Fluency: Round I 0.400 [0.300, 0.500]; Round II undefined." in said
    assert "$x_1$ & <b>" in said


@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (
            "intervals",
            [
                "Fluency: Round I 0.400 [0.300, 0.500]",
                "$x_1$ & <b>: Round I \N{MINUS SIGN}0.100 [\N{MINUS SIGN}0.200, 0.000]",
                "$x_1$ & <b>: Round II 0.900 [0.800, 1.000]",
            ],
        ),
        ("quality", ["Fluency, a: Q 3.000 [2.900, 3.100]; P 0.200 [0.100, 0.300]."]),
    ],
)
def test_each_point_has_a_name_and_one_is_a_stop_of_the_tab_key(kind: str, names: list[str]) -> None:
    root = ElementTree.fromstring(draw(plotted(kind), "svg"))
    points = [each for each in root.iter(f"{SVG}g") if each.get("class") == "plot-point"]
    assert [each.get("aria-label") for each in points] == names
    assert [each.get("tabindex") for each in points] == ["0"] + ["-1"] * (len(names) - 1)


def test_matplotlib_is_loaded_with_the_first_plot_only() -> None:
    asked = "import sys, annotate.results.plots, annotate.results.text; sys.exit('matplotlib' in sys.modules)"
    subprocess.run([sys.executable, "-c", asked], check=True)


LONG = "a system of a laboratory whose members like long names, in its second version of November"


def means(*rows: list[Cell], system: str = "a") -> Table:
    """Return means on four dimensions, which stand side by side."""
    names = ("Fluency", "Aspect coverage of what reviewers say", "Coherence", "Relevance")
    return Table("means", "Means", [SYSTEM, *columns(*names)], [[text(system), *row] for row in rows])


def draw_figure(kind: str, table: Table) -> Figure:
    with drawing_style():
        figure = KINDS[kind](table)
        FigureCanvasAgg(figure).draw()
    return figure


@pytest.mark.parametrize("kind", ["intervals", "heat"])
def test_names_are_complete_and_do_not_overlap(kind: str) -> None:
    figure = draw_figure(kind, means(figures(0.1, 0.2, 0.3, 0.4), figures(0.1, 0.2, 0.3, 0.4), system=LONG))
    labels = figure.axes[0].get_yticklabels()
    assert [" ".join(each.get_text().split()) for each in labels] == [LONG] * 2
    upper, lower = (each.get_window_extent() for each in labels)
    assert lower.y1 <= upper.y0
    assert min(upper.x0, lower.x0) >= 0
    named = [each for axes in figure.axes for each in (axes.title, *axes.get_xticklabels())]
    words = {word for each in named for word in each.get_text().split()}
    assert {"Aspect", "coverage", "reviewers", "say"} <= words


@pytest.mark.parametrize(
    ("values", "ranges"),
    [((1.2, 4.8, 3.0, 4.9), 1), ((0.1, 0.9, -0.2, 0.8), 1), ((1.2, 4.8, 3.0, 88.0), 4)],
    ids=["one scale", "correlations", "another scale"],
)
def test_panels_of_one_scale_have_one_range(values: tuple[float, ...], ranges: int) -> None:
    figure = draw_figure("intervals", means(figures(*values)))
    limits = [axes.get_xlim() for axes in figure.axes]
    assert len(set(limits)) == ranges
    for value, (low, high) in zip(values, limits, strict=True):
        assert low < value < high


def test_panel_without_values_changes_no_range() -> None:
    figure = draw_figure("intervals", means(figures(3.0, 4.0, 3.5, None)))
    assert figure.axes[0].get_xlim()[0] > 2.5


@pytest.mark.parametrize("kind", sorted(TABLES))
def test_both_axes_have_a_title(kind: str) -> None:
    figure = draw_figure(kind, plotted(kind))
    across = {axes.get_xlabel() for axes in figure.axes if axes.get_visible()} | {figure.get_supxlabel()}
    up = {axes.get_ylabel() for axes in figure.axes if axes.get_visible()} | {figure.get_supylabel()}
    assert across - {""}
    assert up - {""}
