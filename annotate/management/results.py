"""Shared by every command that prints a result."""

import json
import sys
from argparse import ArgumentParser
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from django.core.management.base import CommandError
from django.core.serializers.json import DjangoJSONEncoder

from annotate.core.models import Project
from annotate.management.base import ConcordCommand, project_called
from annotate.results.commands import current_page
from annotate.results.latex import CONTENT_TYPES, Environment, Intervals, writer_of
from annotate.results.queries.kept import KeptPage, plain_result
from annotate.results.registry import PAGES, Parameter, Result, result_of
from annotate.results.table import Table


class ResultsCommand(ConcordCommand):
    """Prints a result: the tables of its page, with the same values to the last digit.

    page: its name. brief: the keys of the tables to print by default, without options for one table or all.
    Exits with 1 if a value has a warning, such as a failed cross-check.
    """

    page: ClassVar[str]
    brief: ClassVar[tuple[str, ...]] = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Add the project, the page's parameters, and the content and format of the output."""
        parser.add_argument("project", help="The project's short name, as in its address.")
        for parameter in PAGES[self.page].parameters:
            parser.add_argument(
                _option(parameter), dest=parameter.name, help=f"{parameter.label}, as on the page."
            )
        parser.add_argument("--table", help="Only the table with this key; “all” for every table.")
        parser.add_argument("--format", choices=sorted(CONTENT_TYPES), default="md", help="Of the tables.")
        add_latex_arguments(parser)
        parser.add_argument("--json", action="store_true", help="Everything, as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        project = project_called(options["project"])
        result, kept = current_result(project, self.page, options)
        kept = self.narrow(kept, options)
        if options["json"]:
            everything = {"project": project.slug, **plain_result(result, kept)}
            self.stdout.write(json.dumps(everything, indent=1, cls=DjangoJSONEncoder))
        else:
            write = writer_of(options["format"], project, options)
            self.stdout.write("\n\n".join(write(table) for table in self.tables(kept, options["table"])))
        for warning in kept.warnings:
            self.stderr.write(warning)
        if any(table.is_doubtful for table in kept.tables):
            sys.exit(1)

    def narrow(self, kept: KeptPage, options: dict[str, Any]) -> KeptPage:  # noqa: ARG002
        """Return the requested part of a page; a command may have options for parts of it."""
        return kept

    def tables(self, kept: KeptPage, key: str | None) -> list[Table]:
        """Return the requested tables. Raises CommandError if none has this key."""
        if key is None and self.brief:
            # Some tables depend on the data, so the brief ones may all be missing.
            return [table for table in kept.tables if table.key in self.brief] or kept.tables
        chosen = [table for table in kept.tables if key in (None, "all", table.key)]
        if not chosen:
            known = ", ".join(table.key for table in kept.tables)
            raise CommandError(f"There is no table {key!r}; there are: {known or 'none yet'}.")
        return chosen


def add_latex_arguments(parser: ArgumentParser) -> None:
    parser.add_argument("--intervals", choices=list(Intervals), help="LaTeX: position of intervals.")
    parser.add_argument("--environment", choices=list(Environment), help="LaTeX: what holds the table.")
    parser.add_argument("--transposed", action="store_true", help="LaTeX: rows as columns.")
    parser.add_argument("--digits", type=int, help="LaTeX: decimals of values.")
    parser.add_argument(
        "--width", type=int, help="LaTeX: points of a line: 345 in article, 219 in a column for the ACL."
    )


def current_result(project: Project, page: str, options: Mapping[str, Any]) -> tuple[Result, KeptPage]:
    """Return a current result. Raises CommandError if there are no data for it."""
    asked = dict(_parameters_of(project, page, options))
    result = result_of(project, page, asked)
    kept = current_page(project=project, result=result)
    if not kept.tables:
        raise CommandError("There is nothing to measure yet.")
    return result, kept


def _parameters_of(project: Project, page: str, options: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """Yield the value of each parameter: the option itself, or a display name, such as a judge's."""
    for parameter in PAGES[page].parameters:
        given = options.get(parameter.name)
        if given is not None:
            values = {name: value for value, name in parameter.choices(project)}
            if not values:
                raise CommandError(f"In this project there is nothing to choose for {_option(parameter)}.")
            yield parameter.name, values.get(str(given), str(given))


def _option(parameter: Parameter) -> str:
    return "--" + parameter.name.replace("_", "-")
