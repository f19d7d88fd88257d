"""What `make screenshots` finds wrong with a page."""

import sys
from pathlib import Path
from typing import Any

import pytest

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture
def budgets(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(DOCS))
    import screenshots

    yield screenshots
    for name in ("screenshots", "demonstration_server"):
        sys.modules.pop(name, None)


GOOD: dict[str, object] = {
    **{"height": 1_900, "words": 300, "without_cue": 0, "main_buttons": 1, "next": "Save"},
    **{"charts": 1, "empty": 0, "wider": 0},
}


def list_violations(budgets: Any, path: str, width: int = 1280, **facts: object) -> list[str]:
    return list(budgets.PageShot(path, width, {**GOOD, **facts}, Path("image.png")).over_budget)


def test_a_page_within_its_budgets_has_no_findings(budgets: Any) -> None:
    assert list_violations(budgets, "/projects/p/results/agreement/") == []


@pytest.mark.parametrize(
    ("width", "facts", "finding"),
    [
        (1280, {"height": 1_951}, "1951 px high, at most 1950"),
        (390, {"height": 4_201}, "4201 px high, at most 4200"),
        (1280, {"words": 601}, "601 words, at most 600"),
        (1280, {"without_cue": 2}, "2 tables hide columns without a cue"),
        (1280, {"main_buttons": 2, "next": "Save / Send"}, "2 primary buttons: Save / Send"),
        (1280, {"charts": 0}, "no chart"),
        (390, {"wider": 8}, "8 px wider than the window"),
    ],
)
def test_each_budget_has_its_own_finding(
    budgets: Any, width: int, facts: dict[str, object], finding: str
) -> None:
    assert list_violations(budgets, "/projects/p/results/agreement/", width, **facts) == [finding]


def test_empty_pages_and_other_pages_need_no_chart(budgets: Any) -> None:
    assert list_violations(budgets, "/projects/p/results/alignment/", charts=0, empty=1) == []
    assert list_violations(budgets, "/projects/p/items/", charts=0) == []


def test_other_pages_than_results_may_be_higher(budgets: Any) -> None:
    assert list_violations(budgets, "/projects/p/items/", height=2_400) == []
    assert list_violations(budgets, "/projects/p/items/", height=2_401) == ["2401 px high, at most 2400"]


def test_whole_tables_have_no_budget(budgets: Any) -> None:
    assert list_violations(budgets, "/projects/p/results/agreement/rounds/", height=9_000) == []
