"""The state of a results page: computed for the current data, for earlier data, or not yet."""

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
