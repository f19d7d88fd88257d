"""A result's table says the same on a page, in a data file and in a paper."""

import ast
import csv
import io
import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
from django.template.loader import render_to_string

import annotate
import judges
from agreement import ReliabilityData, krippendorff_alpha
from annotate.results.latex import LatexChoices, escape_latex, latex
from annotate.results.table import Cell, Column, ColumnKind, Table, figure, mark_best, text
from annotate.results.text import comma_separated, markdown
from annotate.templatetags.results import latex_choices, rows_of

APPS = (Path(annotate.__file__).parent, Path(judges.__file__).parent)
CODE = re.compile(r"[a-z][A-Z]|[A-Za-z]_|[a-z]\(\w|\w\.[a-z]")
SYSTEM = Column("system", "System", ColumnKind.TEXT)
VALUES = [[1, 2, 3, 4, 5] * 5, [1, 2, 3, 4, 4] * 5]


def alpha(values=VALUES):
    data = ReliabilityData(values, measurement_level="ordinal", value_domain=[1, 2, 3, 4, 5])
    return krippendorff_alpha(data, generator=np.random.default_rng(1))


def table(**changes):
    rows = [
        [text("R&D_100%"), figure(alpha()), Cell(0.756, count=25)],
        [text('a | "b", c\nd'), figure(alpha([[3] * 4, [3] * 4])), Cell(1.0, count=8)],
    ]
    columns = [SYSTEM, Column("alpha", "alpha"), Column("within_one", "within one", ColumnKind.SHARE)]
    return Table("reliability", "Reliability of Round I", columns, rows, **changes)


def heads_of_columns() -> list[str]:
    """Return the words for people in every `Column(key, name, ...)` of the source."""
    sources = [module.read_text(encoding="utf-8") for app in APPS for module in app.rglob("*.py")]
    calls = [
        call
        for source in sources
        if "Column(" in source
        for call in ast.walk(ast.parse(source))
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "Column"
    ]
    names = [name for call in calls for name in call.args[1:2]]
    parts = [part.value for name in names for part in ast.walk(name) if isinstance(part, ast.Constant)]
    return [part for part in parts if isinstance(part, str)]


def test_no_head_of_a_column_is_a_name_of_code() -> None:
    heads = heads_of_columns()
    assert {"System", "people only, asymptotic"} <= set(heads)
    assert [each for each in heads if CODE.search(each)] == []
    assert [bool(CODE.search(each)) for each in ("ColumnKind", "p_value", "mean(x)")] == [True] * 3


def test_a_coefficient_keeps_its_interval_count_and_how_it_was_computed() -> None:
    found = alpha()
    cell = figure(found)
    assert (cell.value, cell.count) == (found.value, 25)
    assert found.interval
    assert (cell.low, cell.high) == (found.interval.low, found.interval.high)
    assert cell.how == (
        "Krippendorff's alpha (function krippendorff_alpha); measurement level: ordinal; source: "
        "Krippendorff 2011, Computing Krippendorff's alpha-reliability; "
        "95 % interval: percentile bootstrap of units, 1000 replicates."
    )


def test_csv_keeps_every_digit_and_gives_reasons_for_missing_values() -> None:
    first, second = csv.DictReader(io.StringIO(comma_separated(table()), newline=""))
    found = alpha()
    assert found.interval
    assert float(first["alpha"]) == found.value
    assert (float(first["alpha_low"]), float(first["alpha_high"])) == (
        found.interval.low,
        found.interval.high,
    )
    assert first["system"] == "R&D_100%"
    assert second["system"] == 'a | "b", c\nd'
    assert second["alpha"] == ""
    assert second["alpha_reason"].startswith("Every value is 3")
    assert second["within_one_count"] == "8"


@pytest.mark.parametrize(
    ("plain", "tex"),
    [
        ("R&D_100%", r"R\&D\_100\%"),
        (r"$a$ {b} c\d", r"\$a\$ \{b\} c\textbackslash{}d"),
        ("~^#<|>", r"\textasciitilde{}\textasciicircum{}\#\textless{}\textbar{}\textgreater{}"),
        ("a\nb\tc", "a b c"),
        ("−0.5", "$-$0.5"),
        ("Müller ’s", "Müller ’s"),
        ("ω ≤ α", r"$\omega$ $\leq$ $\alpha$"),
    ],
)
def test_latex_escapes_every_character(plain: str, tex: str) -> None:
    assert escape_latex(plain) == tex


def test_latex_is_a_booktabs_table_with_as_many_cells_in_every_row() -> None:
    tex = latex(table())
    assert r"\label{tab:reliability}" in tex
    assert r"\begin{tabular}{lrr}" in tex
    body = tex[tex.index(r"\toprule") : tex.index(r"\bottomrule")]
    rows = [line for line in body.splitlines() if line.endswith(r"\\")]
    assert [len(re.findall(r"(?<!\\)&", row)) for row in rows] == [2, 2, 2]
    assert rows[2].startswith("a \\textbar{} ''b'', c d & undefined (a) & 100 \\%")
    assert "(a) Every value is 3" in tex


def test_markdown_keeps_its_columns_whatever_names_hold() -> None:
    lines = [line for line in markdown(table()).splitlines() if line.startswith("|")]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in lines] == [4, 4, 4, 4]
    assert lines[1] == "| --- | ---: | ---: |"
    assert lines[2].startswith(r"| R&D\_100% | ")
    assert "function krippendorff\\_alpha" in markdown(table())


def test_table_survives_json_unchanged() -> None:
    made = table(says="Read it so.", parameters={"round": "I"})
    assert Table.from_dict(json.loads(json.dumps(made.to_dict()))) == made


def test_undefined_value_needs_a_reason_and_is_never_nan() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Cell()
    with pytest.raises(ValueError, match="is nan"):
        Cell(math.nan)
    with pytest.raises(ValueError, match="needs 3 cells"):
        table().__class__("t", "T", table().columns, [[text("a")]])


def test_stored_table_is_read_back_equal_with_empty_names_and_zeros() -> None:
    columns = [Column("name", "name", ColumnKind.TEXT), Column("n", "n")]
    table = Table(
        "t", "T", columns, [[text(""), Cell(0.0, low=0.0, count=0)], [text("b"), Cell(reason="No.")]]
    )
    again = Table.from_dict(json.loads(json.dumps(table.to_dict())))
    assert again.rows == table.rows


def wide_table(columns: int, rows: int = 3) -> Table:
    """Figures with intervals, each column named by three words, each row by a long text."""
    names = [Column(f"c{n}", f"correlation with people{n}") for n in range(columns)]
    name = "a system whose name is a sentence of its own, which nobody would expect in a table"
    cells = [Cell(0.5, low=0.41, high=0.6, count=12, how="by hand")] * columns
    return Table("wide", "Wide", [SYSTEM, *names], [[text(f"{name} {n}"), *cells] for n in range(rows)])


@pytest.mark.parametrize(
    ("columns", "choices", "expected"),
    [
        (1, {}, [r"\normalsize", "0.500 [0.410, 0.600]"]),
        (9, {}, [r"\footnotesize", r"\scriptsize [0.410, 0.600]", r"\par\medskip"]),
        (2, {"intervals": "off", "digits": "1"}, ["& 0.5 & 0.5"]),
        (2, {"transposed": "1", "digits": "wrong"}, ["correlation with people1 & 0.500"]),
        (1, {"environment": "table*"}, [r"\begin{table*}", r"\end{table*}"]),
        (1, {"environment": "longtable"}, [r"\begin{longtable}", r"\endhead"]),
    ],
)
def test_latex_is_set_as_asked_or_so_that_it_fits(columns, choices, expected) -> None:
    tex = latex(wide_table(columns), LatexChoices.read(choices), project="A & B")
    assert r"\caption{A \& B. Wide}" in tex
    assert [each for each in expected if each not in tex] == []
    if choices.get("intervals") == "off":
        assert "0.4" not in tex.split(r"\bottomrule")[0]


def test_table_longer_than_a_page_continues_over_pages() -> None:
    assert r"\begin{longtable}" in latex(wide_table(1, rows=60))


def test_latex_form_keeps_the_choices_of_the_page() -> None:
    html = render_to_string(
        "results/_latex_choices.html", latex_choices("/here/", table(), "of=a%26b&round=2")
    )
    assert 'action="/here/reliability.tex"' in html
    assert '<input type="hidden" name="of" value="a&amp;b">' in html
    assert re.findall(r"<option>([^<]+)", html) == ["table", "table*", "longtable"]


def test_zero_decimals_are_a_choice_in_a_url_and_in_a_command() -> None:
    read = [LatexChoices.read({"digits": given}).digits for given in ("0", 0, None, "", "many", "9" * 5000)]
    assert read == [0, 0, None, None, None, None]


def scored(*means: float | None) -> Table:
    columns = [SYSTEM, Column("fluency", "Fluency", decimals=2)]
    rows = [
        [
            text(f"s{number}"),
            Cell(reason="Nobody rated it.") if mean is None else Cell(mean, mean - 1, mean + 1),
        ]
        for number, mean in enumerate(means)
    ]
    return Table("means", "Means", columns, mark_best(rows, columns))


def ranks_of(table: Table) -> list[int | None]:
    return [row[1].rank for row in table.rows]


def test_best_and_second_best_match_the_printed_values() -> None:
    assert ranks_of(scored(3.0, 4.251, 4.249, 4.1)) == [None, 1, 1, 2]
    assert ranks_of(scored(3.0, None)) == [None, None]
    assert ranks_of(scored(2.0, 2.001)) == [None, None]


def test_marks_are_emphasis_in_every_format_and_leave_data_alone() -> None:
    table = scored(3.0, 4.25, 4.0)
    assert "| s1 | **4.25** \\[3.25, 5.25\\] |" in markdown(table)
    assert "| s2 | _4.00_ \\[3.00, 5.00\\] |" in markdown(table)
    assert r"s1 & \textbf{4.25} [3.25, 5.25] \\" in latex(table)
    assert r"s2 & \underline{4.00} [3.00, 5.00] \\" in latex(table)
    html = rows_of(table, "")
    assert "<strong>4.25</strong>" in html
    assert "<u>4.00</u>" in html
    assert comma_separated(table) == comma_separated(
        Table(
            "",
            "",
            table.columns,
            [[row[0], Cell(row[1].value, row[1].low, row[1].high)] for row in table.rows],
        )
    )


def test_stored_rows_are_equal_and_only_requested_ones_are_read() -> None:
    columns = [Column("name", "Name", ColumnKind.TEXT), Column("figure", "Figure")]
    rows = [
        [text(f"row {n}"), Cell(n / 7, how=f"way {n % 2}", warning="few" if n == 119 else "")]
        for n in range(120)
    ]
    table = Table("many", "Many", columns, rows)
    plain = json.loads(json.dumps(table.to_kept()))
    kept = Table.from_dict(plain)
    assert kept.to_dict() == table.to_dict()
    assert [list(row) for row in kept.rows[40:60]] == rows[40:60]
    assert kept.rows[-1] == rows[-1]
    assert (len(kept.rows), kept.how, kept.warnings) == (120, ["way 0", "way 1"], ["few"])
    plain["rows"]["texts"][1] = "no JSON"
    assert list(Table.from_dict(plain).rows[:50]) == rows[:50]
