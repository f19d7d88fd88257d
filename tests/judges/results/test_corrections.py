"""Every table with p values says what they are corrected over."""

import re

import pytest

from annotate.results.commands import current_page
from annotate.results.registry import PAGES, result_of
from annotate.results.table import ColumnKind, Table
from tests.judges.results.test_doors import scene

pytestmark = [pytest.mark.once, pytest.mark.django_db]

SAYS_OVER_WHAT = re.compile(r"correct(?:ed|ion).*(over|nor over) (dimensions|\d+ dimensions?)")


def with_p_values(tables: list[Table]) -> list[Table]:
    return [table for table in tables if any(column.kind is ColumnKind.P_VALUE for column in table.columns)]


def test_tables_with_p_values_state_their_correction_family() -> None:
    project = scene().project
    found = {
        (name, table.key): table.says
        for name in PAGES
        for table in with_p_values(
            list(current_page(project=project, result=result_of(project, name)).tables)
        )
    }
    assert set(found) == {
        ("agreement", "split-units"),
        ("systems", "differences"),
        ("so-far", "order"),
        ("so-far", "pairs-so-far"),
        *(("severity", key) for key in ("raters", "fair", "fit", "drift")),
        ("reliability", "validity"),
        ("judges", "pairs-of-judges"),
        ("estimates", "corrected-pairs"),
        ("compare", "ranks"),
        ("judges", "nearer"),
        ("experiments", "pairs-of-judges"),
        ("alignment", "alignment"),
        ("alignment", "versions"),
    }
    assert [key for key, says in found.items() if not SAYS_OVER_WHAT.search(says)] == []
