"""Tables as a real LaTeX sets them: none stands out of the line, however wide it is."""

import shutil
from pathlib import Path

import pytest

from annotate.results.latex import LatexChoices, latex
from annotate.results.table import Table
from tests.results.test_tables import table, wide_table
from tests.results.typesetting import overfull

pytestmark = [
    pytest.mark.once,
    pytest.mark.skipif(not shutil.which("pdflatex"), reason="There is no pdflatex here; CI installs it."),
]


@pytest.mark.parametrize("choices", [{}, {"transposed": "1"}, {"environment": "longtable"}])
def test_tables_of_any_width_stay_in_the_line(choices: dict[str, str], tmp_path: Path) -> None:
    made: list[Table] = [table(), *(wide_table(columns) for columns in (1, 2, 3, 5, 8, 13, 21))]
    assert overfull([latex(each, LatexChoices.read(choices)) for each in made], tmp_path) == []


def test_a_table_that_is_too_wide_is_noticed(tmp_path: Path) -> None:
    unbroken = r"\noindent\begin{tabular}{l}" + "a" * 100 + r"\end{tabular}"
    assert overfull([unbroken], tmp_path)
