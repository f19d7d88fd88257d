"""What `import_items` and `import_ratings` have in common: arguments, progress, the report."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, OutputWrapper

from annotate.commands.imports import import_file
from annotate.errors import DomainError
from annotate.importing.mapping_json import MappingError, mapping_from_options, shipped_mapping
from annotate.importing.mappings import SHIPPED, Mapping, guess_mapping
from annotate.importing.readers import FORMATS, first_records
from annotate.importing.report import ImportReport, refusal
from annotate.importing.rows import Record, UnreadableFileError
from annotate.importing.source import Source
from annotate.management.projects import project_called
from annotate.models import Project
from annotate.queries.import_check import check_file


class FileImportCommand(BaseCommand):
    """Imports a file into a project, or says of every line that cannot be imported why."""

    items = False
    ratings = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("project", help="the project's slug, as its address has it")
        parser.add_argument("file", type=Path, help=f"a file in {FORMATS}, in UTF-8")
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--mapping", metavar="NAME", help=f"a mapping by name: {', '.join(SHIPPED)}")
        how.add_argument(
            "--map",
            action="append",
            metavar="FIELD=COLUMN",
            help="what a column means, once per column: document_key, document_title, part (or part:LABEL), "
            "system, text, rater, dimension, value, dimension:NAME; without it the file's names decide",
        )
        parser.add_argument("--dry-run", action="store_true", help="check the file and write nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Import the file; exit with 1 if a line was refused, and then nothing is written."""
        project = project_called(options["project"])
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"There is no file “{path}”.")
        mapping = self._mapping(project, path, options)
        source = Source(path, path.name, mapping, items=self.items, ratings=self.ratings)
        tell = Progress(self.stderr, options["verbosity"] > 0)
        try:
            if options["dry_run"]:
                report = check_file(project=project, source=source, tell=tell)
            else:
                report = import_file(project=project, source=source, by=None, tell=tell)
        except DomainError as error:
            raise CommandError(error.message) from error
        finally:
            tell.end()
        self._print(report, mapping, options)
        if report.is_refused:
            raise SystemExit(1)

    def _mapping(self, project: Project, path: Path, options: dict[str, Any]) -> Mapping:
        try:
            if options["mapping"]:
                mapping = shipped_mapping(options["mapping"])
            elif options["map"]:
                mapping = mapping_from_options(options["map"])
            else:
                dimensions = project.dimensions.values_list("name", flat=True)
                mapping = guess_mapping(first_records(path), list(dimensions))
        except MappingError as error:
            raise CommandError(error.reason) from error
        except UnreadableFileError as error:
            raise CommandError(error.reason) from error
        if (self.items and not mapping.gives_items) or (self.ratings and not mapping.gives_ratings):
            raise CommandError(self._missing(path))
        return mapping

    def _missing(self, path: Path) -> str:
        records = [record for record in first_records(path) if isinstance(record, Record)]
        names = ", ".join(dict.fromkeys(name for record in records for name in record.fields))
        needed = "a document, a system, a rater and values" if self.ratings else "a document and its texts"
        return (
            f"This mapping does not say which columns hold {needed}; the file has {names or 'no columns'}. "
            "Say it with --map field=column or choose a --mapping."
        )

    def _print(self, report: ImportReport, mapping: Mapping, options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
            return
        self.stdout.write(f"Mapping: {mapping.name or mapping.title}")
        for line in report_lines(report, dry_run=options["dry_run"]):
            (self.stderr if report.is_refused else self.stdout).write(line)


def report_lines(report: ImportReport, *, dry_run: bool) -> list[str]:
    """The report as lines of text."""
    if report.is_refused:
        head = f"Nothing was imported. Refused: {report.refused_count:,}."
        more = [f"and {report.unlisted:,} more."] if report.unlisted else []
        return [head, *map(refusal, report.refused), *more]
    made = str(report.made) or "nothing new"
    lines = [f"{'Would import' if dry_run else 'Imported'} {made}."]
    if report.already_there.total:
        lines.append(f"Already there: {report.already_there}.")
    if report.opens_round_one:
        lines.append(
            "Round I would be opened." if dry_run else "Round I was opened; its guideline is frozen."
        )
    return lines


class Progress:
    """Rewrites one line of a terminal with how far the import has come."""

    def __init__(self, stream: OutputWrapper, wanted: bool) -> None:
        self.stream = stream
        self.wanted = wanted and stream.isatty()

    def __call__(self, stage: str, fraction: float) -> None:
        """Tell the stage and the share of the file that it has passed."""
        if self.wanted:
            self.stream.write(f"\r{stage}: {fraction:4.0%}   ", ending="")
            self.stream.flush()

    def end(self) -> None:
        """Clear the line."""
        if self.wanted:
            self.stream.write("\r" + " " * 40 + "\r", ending="")
