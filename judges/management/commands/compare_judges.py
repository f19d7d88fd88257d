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
    """Prints what a project's judges say beside what people say."""

    page = "judges"
    brief = ("scoring", "most", "comparing")

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        super().add_arguments(parser)
        parser.add_argument("--judge", action="append", help="Only this judge; repeatable.")

    def narrow(self, kept: KeptPage, options: dict[str, Any]) -> KeptPage:
        """Return the rows and sections of these judges only, all where none is named."""
        wanted = options["judge"]
        if not wanted:
            return kept
        together, *of_each = kept.sections
        own = [section for section in of_each if section.title in wanted]
        if not own:
            known = ", ".join(section.title for section in of_each)
            raise CommandError(f"The project has no such judge; there are: {known}.")
        tables = [_of_judges(table, wanted) for table in together.tables]
        return replace(kept, sections=[replace(together, tables=tables), *own])


def _of_judges(table: Table, wanted: Collection[str]) -> Table:
    """Return a table without the rows of other judges; one that is not by judge as it is."""
    places = [place for place, column in enumerate(table.columns) if column.key in ("judge", "other_judge")]
    rows = [row for row in table.rows if not places or any(row[place].value in wanted for place in places)]
    return replace(table, rows=rows)
