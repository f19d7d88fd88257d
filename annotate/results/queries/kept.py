"""Stored results pages: their state, the version of their data, and their content as plain values."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from django.db.models import Max, Sum
from django.utils import timezone

from annotate.core.models import AuditEntry, ChangeCount, ComputedResult, Project, Rating
from annotate.results.registry import PAGES, Result, ResultsPage
from annotate.results.table import Section, Table, Value

WORKER_SHOULD_TAKE = timedelta(seconds=30)
MOST_WITHOUT_CONTENTS = 5  # tables of a page
RESTS = timedelta(seconds=30)  # between two computings while the data change all the time
RESTS_OF_TIME = 40  # the pause of an open round's results, as a multiple of their computing time
LONGEST_REST = timedelta(minutes=30)
LEAST_PAUSE, MOST_PAUSE = 2, 30  # seconds between two looks of an open page


@dataclass(frozen=True)
class KeptPage:
    row: ComputedResult
    version: str
    sections: Sequence[Section]

    @property
    def is_current(self) -> bool:
        """Whether the results are from the current data."""
        return self.is_there and self.row.version == self.version

    @property
    def was_undefined(self) -> bool:
        """Whether the worker that tried last had nothing to compute; `row.problem` is the reason."""
        return bool(self.row.version and self.row.problem) and not self.is_there

    @property
    def is_undefined(self) -> bool:
        return self.was_undefined and self.row.version == self.version

    @property
    def is_there(self) -> bool:
        # A row without content is a task, or the reason for which nothing could be computed.
        return bool(self.row.version and self.row.content)

    @property
    def waits_for_worker(self) -> bool:
        """Whether no worker has computed it although a task was enqueued a while ago."""
        asked = self.row.asked_at
        return asked is not None and timezone.now() - asked > WORKER_SHOULD_TAKE

    @property
    def pause(self) -> int:
        """The seconds until an open page polls again: longer for a longer computation."""
        return round(min(max(self.row.seconds / 4, LEAST_PAUSE), MOST_PAUSE))

    @property
    def tables(self) -> list[Table]:
        return [table for section in self.sections for table in section.tables]

    @property
    def is_long(self) -> bool:
        return len(self.tables) > MOST_WITHOUT_CONTENTS

    @property
    def warnings(self) -> list[str]:
        return list(dict.fromkeys(warning for table in self.tables for warning in table.warnings))

    def table(self, key: str) -> Table | None:
        return next((table for table in self.tables if table.key == key), None)

    def rows(self, key: str) -> list[Mapping[str, Value]]:
        """Return the values of a table by column, no rows if the page does not have it."""
        if (table := self.table(key)) is None:
            return []
        columns = [column.key for column in table.columns]
        return [dict(zip(columns, (cell.value for cell in row), strict=True)) for row in table.rows]


def rest_of(row: ComputedResult, *, is_changing: bool) -> timedelta:
    """Return the pause before results are computed again.

    In an open round results are soon outdated, and an open page polls repeatedly. A page with a million
    ratings would occupy a worker while it is open.
    """
    if not is_changing:
        return RESTS
    return min(max(RESTS, timedelta(seconds=RESTS_OF_TIME * row.seconds)), LONGEST_REST)


def load_kept_page(project: Project, result: Result, version: str) -> KeptPage:
    """Return the stored result, without content if none is stored. One query."""
    row = ComputedResult.objects.filter(project=project, name=result.name).first()
    row = row or ComputedResult(project=project, name=result.name)
    return KeptPage(row, version, sections_from(row.content))


def load_kept_plot(project: Project, name: str, version: str) -> str:
    """Return the stored plot for this version of the data, or an empty string. One query."""
    found = ComputedResult.objects.filter(project=project, name=name, version=version).first()
    return found.content if found else ""


def sections_from(content: str) -> list[Section]:
    return [Section.from_dict(plain) for plain in json.loads(content)] if content else []


def sections_to(sections: Sequence[Section]) -> str:
    return json.dumps([section.to_kept() for section in sections], ensure_ascii=False)


MOST_COUNTED = 1_000  # more than are computed at once; to count a million takes a third of a second


def version_of_ratings(project: Project) -> Sequence[object]:
    """Return a value that changes with every change of ratings, disputes or configuration. Two queries.

    The database counts every statement that writes ratings or disputes. Excluding raters from the statistics,
    and changing names and scales, are administrative acts. Downloading data changes nothing.
    """
    counts = ChangeCount.objects.filter(
        round__project=project, source__in=(ChangeCount.Source.RATINGS, ChangeCount.Source.DISPUTES)
    )
    changes = counts.values_list("round", "source").annotate(Sum("number")).order_by("round", "source")
    return [_last_act(project), *changes]


def version_of_round_one(project: Project) -> Sequence[object]:
    """Return a value that changes with Round I's values and with the set of counted raters. Two queries."""
    changes = ChangeCount.objects.filter(
        round__project=project, round__number=1, source=ChangeCount.Source.RATINGS
    )
    return [_last_act(project), changes.aggregate(number=Sum("number"))["number"]]


def _last_act(project: Project) -> int | None:
    # An export changes no result. With its entries, each download would make all results outdated.
    acts = AuditEntry.objects.filter(project=project).exclude(act__startswith="export.")
    last: int | None = acts.aggregate(last=Max("pk"))["last"]
    return last


def ratings_of(project: Project) -> int:
    """Return the number of ratings of a project, counted up to MOST_COUNTED. One query."""
    return Rating.objects.filter(assignment__round__project=project)[:MOST_COUNTED].count()


def plain_page(page: ResultsPage) -> dict[str, Any]:
    parameters = [each.name for each in page.parameters]
    return {"name": page.name, "title": str(page.title), "says": str(page.says), "parameters": parameters}


def plain_pages() -> list[dict[str, Any]]:
    return [plain_page(page) for page in PAGES.values()]


def plain_result(result: Result, kept: KeptPage, *, most_rows: int | None = None) -> dict[str, Any]:
    """Return a result with all content of its page; empty parts of a cell are omitted.

    most_rows: maximum number of rows of a table; `rows_in_all` is its total number. current: whether the
    results are from the current data; otherwise a worker computes them.
    """
    tables = {each.key: each for each in kept.tables}
    sections = []
    for section in kept.sections:
        # Of a long table only the first rows, with the number of all.
        cut = (
            {**replace(table, rows=table.rows[:most_rows]).to_dict(), "rows_in_all": len(table.rows)}
            for table in section.tables
        )
        sections.append({**section.heading(), "tables": list(cut)})
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
        "sections": sections,
    }
