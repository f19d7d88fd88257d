"""A result's table says the same on a page, in a data file and in a paper."""

import csv
import io
import json
import math
import re

import numpy as np
import pytest

from annotate.agreement import ReliabilityData, krippendorff_alpha
from annotate.results.table import Cell, Column, Kind, Table, figure, text
from annotate.results.text import comma_separated, escape_latex, latex, markdown

SYSTEM = Column("system", "System", Kind.TEXT)
VALUES = [[1, 2, 3, 4, 5] * 5, [1, 2, 3, 4, 4] * 5]


def alpha(values=VALUES):
    data = ReliabilityData(values, measurement_level="ordinal", value_domain=[1, 2, 3, 4, 5])
    return krippendorff_alpha(data, generator=np.random.default_rng(1))


def table(**changes):
    rows = [
        [text("R&D_100%"), figure(alpha()), Cell(0.756, count=25)],
        [text('a | "b", c\nd'), figure(alpha([[3] * 4, [3] * 4])), Cell(1.0, count=8)],
    ]
    columns = [SYSTEM, Column("alpha", "alpha"), Column("within_one", "within one", Kind.SHARE)]
    return Table("reliability", "Reliability of Round I", columns, rows, **changes)


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


def test_csv_reads_back_with_every_digit_and_says_why_there_is_no_value() -> None:
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
    ],
)
def test_latex_shows_every_sign_as_it_is(plain: str, tex: str) -> None:
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


def test_a_table_comes_back_from_json_as_it_was() -> None:
    made = table(says="Read it so.", parameters={"round": "I"})
    assert Table.from_dict(json.loads(json.dumps(made.as_dict()))) == made


def test_what_is_undefined_needs_a_reason_and_is_never_nan() -> None:
    with pytest.raises(ValueError, match="needs a reason"):
        Cell()
    with pytest.raises(ValueError, match="is nan"):
        Cell(math.nan)
    with pytest.raises(ValueError, match="needs 3 cells"):
        table().__class__("t", "T", table().columns, [[text("a")]])


def test_a_table_that_is_kept_is_read_back_the_same_with_empty_names_and_zeros() -> None:
    columns = [Column("name", "name", Kind.TEXT), Column("n", "n")]
    table = Table(
        "t", "T", columns, [[text(""), Cell(0.0, low=0.0, count=0)], [text("b"), Cell(reason="No.")]]
    )
    again = Table.from_dict(json.loads(json.dumps(table.as_dict())))
    assert again.rows == table.rows
