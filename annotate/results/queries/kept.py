"""Where a page of results is: computed for the data as they are, for earlier data, or not yet."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.utils import timezone

from annotate.core.models import ComputedResult, Project
from annotate.results.page import Section
from annotate.results.registry import Result
from annotate.results.table import Table, Value

WORKER_SHOULD_TAKE = timedelta(seconds=30)
MOST_WITHOUT_CONTENTS = 5  # tables of a page
RESTS = timedelta(seconds=30)  # between two computings while the data change all the time
RESTS_OF_TIME = 40  # an open round's figures rest so many times as long as they take to compute
LONGEST_REST = timedelta(minutes=30)
LEAST_PAUSE, MOST_PAUSE = 2, 30  # seconds between two looks of an open page


@dataclass(frozen=True)
class KeptPage:
    """A page's figures as they were computed last, for which version of the data."""

    row: ComputedResult
    version: str
    sections: Sequence[Section]

    @property
    def is_current(self) -> bool:
        """Whether the figures are those of the data as they are now."""
        return self.is_there and self.row.version == self.version

    @property
    def was_undefined(self) -> bool:
        """Whether the worker that tried last had nothing to compute; `row.problem` is the reason."""
        return bool(self.row.version and self.row.problem) and not self.is_there

    @property
    def is_undefined(self) -> bool:
        """Whether that holds for the data as they are now."""
        return self.was_undefined and self.row.version == self.version

    @property
    def is_there(self) -> bool:
        """Whether there are figures at all."""
        return bool(self.row.version and self.row.content)

    @property
    def waits_for_worker(self) -> bool:
        """Whether no worker has computed it although a task was enqueued a while ago."""
        asked = self.row.asked_at
        return asked is not None and timezone.now() - asked > WORKER_SHOULD_TAKE

    @property
    def pause(self) -> int:
        """The seconds after which an open page looks again: the longer, the longer computing takes."""
        return round(min(max(self.row.seconds / 4, LEAST_PAUSE), MOST_PAUSE))

    @property
    def tables(self) -> list[Table]:
        """Every table of the page."""
        return [table for section in self.sections for table in section.tables]

    @property
    def is_long(self) -> bool:
        """Whether it needs a table of contents."""
        return len(self.tables) > MOST_WITHOUT_CONTENTS

    @property
    def warnings(self) -> list[str]:
        """Why figures of the page should not be used as they are."""
        return list(dict.fromkeys(warning for table in self.tables for warning in table.warnings))

    def table(self, key: str) -> Table | None:
        """Return the table with this key, if the page has one."""
        return next((table for table in self.tables if table.key == key), None)

    def rows(self, key: str) -> list[Mapping[str, Value]]:
        """Return the values of a table by column, no rows where the page does not have it."""
        if (table := self.table(key)) is None:
            return []
        columns = [column.key for column in table.columns]
        return [dict(zip(columns, (cell.value for cell in row), strict=True)) for row in table.rows]


def rest_of(row: ComputedResult, *, is_changing: bool) -> timedelta:
    """Return how long figures rest before they are computed again.

    Where a round is open they are never current for long, and a page that stays open asks again and again:
    one with a million ratings would keep a worker busy for as long as it is shown.
    """
    if not is_changing:
        return RESTS
    return min(max(RESTS, timedelta(seconds=RESTS_OF_TIME * row.seconds)), LONGEST_REST)


def kept_page(project: Project, result: Result, version: str) -> KeptPage:
    """Return what is kept of a result, without figures where nothing is. One query."""
    row = ComputedResult.objects.filter(project=project, name=result.name).first()
    row = row or ComputedResult(project=project, name=result.name)
    return KeptPage(row, version, sections_from(row.content))


def kept_plot(project: Project, name: str, version: str) -> str:
    """Return a plot that was drawn for this version of the data, or nothing. One query."""
    found = ComputedResult.objects.filter(project=project, name=name, version=version).first()
    return found.content if found else ""


def sections_from(content: str) -> list[Section]:
    """Return the sections that `sections_to` gave."""
    return [Section.from_dict(plain) for plain in json.loads(content)] if content else []


def sections_to(sections: Sequence[Section]) -> str:
    """Return sections as they are kept."""
    return json.dumps([section.as_kept() for section in sections], ensure_ascii=False)
