"""A result as plain values: for the API, and for commands that print JSON."""

from dataclasses import replace
from typing import Any

from annotate.results.page import Section
from annotate.results.queries.kept import KeptPage
from annotate.results.registry import PAGES, Result, ResultsPage


def plain_page(page: ResultsPage) -> dict[str, Any]:
    return {
        "name": page.name,
        "title": str(page.title),
        "says": str(page.says),
        "parameters": [each.name for each in page.parameters],
    }


def plain_pages() -> list[dict[str, Any]]:
    return [plain_page(page) for page in PAGES.values()]


def plain_result(result: Result, kept: KeptPage, *, most_rows: int | None = None) -> dict[str, Any]:
    """Return a result with all content of its page; empty parts of a cell are omitted.

    most_rows: maximum number of rows of a table; `rows_in_all` is its total number. current: whether the
    results are from the current data; otherwise a worker computes them.
    """
    tables = {each.key: each for each in kept.tables}
    return {
        **plain_page(result.page),
        "chosen": result.chosen,
        "choices": {
            each.parameter.name: [{"value": value, "name": name} for value, name in each.options]
            for each in result.choices
        },
        "current": kept.is_current,
        "computed_at": kept.row.computed_at,
        "problem": kept.row.problem,
        "answer": result.page.arrangement.answer(tables) if tables else "",
        "warnings": kept.warnings,
        "sections": [_plain_section(section, most_rows) for section in kept.sections],
    }


def _plain_section(section: Section, most_rows: int | None) -> dict[str, Any]:
    tables = [
        {**replace(table, rows=table.rows[:most_rows]).to_dict(), "rows_in_all": len(table.rows)}
        for table in section.tables
    ]
    return {**section.heading(), "tables": tables}
