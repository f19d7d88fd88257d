"""manage.py compare_judges PROJECT."""

from argparse import ArgumentParser
from collections.abc import Collection
from dataclasses import replace
from typing import Any

from django.core.management.base import CommandError

from annotate.management.results import ResultsCommand
from annotate.results.queries.kept import KeptPage
from annotate.results.table import Table


class Command(ResultsCommand):
    """Prints the values of a project's judges compared with people's."""

    page = "judges"
    brief = ("scoring", "most", "comparing")

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--judge", action="append", help="Only this judge; repeatable.")

    def narrow(self, kept: KeptPage, options: dict[str, Any]) -> KeptPage:
        """Return the rows and sections of these judges only, all if none is specified."""
        wanted = options["judge"]
        if not wanted:
            return kept
        together, *of_each = kept.sections
        own = [section for section in of_each if section.title in wanted]
        if not own:
            known = ", ".join(section.title for section in of_each)
            raise CommandError(f"The project has no such judge; there are: {known}.")
        tables = [_select_judges(table, wanted) for table in together.tables]
        return replace(kept, sections=[replace(together, tables=tables), *own])


def _select_judges(table: Table, wanted: Collection[str]) -> Table:
    """Return a table without the rows of other judges; a table that is not by judge is unchanged."""
    positions = [
        index for index, column in enumerate(table.columns) if column.key in ("judge", "other_judge")
    ]
    # A row about two judges stays if one of them is wanted.
    rows = [
        row for row in table.rows if not positions or any(row[index].value in wanted for index in positions)
    ]
    return replace(table, rows=rows)
