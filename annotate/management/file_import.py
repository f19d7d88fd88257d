"""Shared by commands that import a file: arguments, progress, the report."""

import json
import shlex
from abc import abstractmethod
from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from django.core.management.base import CommandError

from annotate.core.models import Project
from annotate.management.base import ConcordCommand, ProgressLine, project_called
from annotate.material.commands.imports import Writing, import_file
from annotate.material.queries.check import FileCheck
from annotate.material.reading.columns import ColumnMapping
from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.mapping_json import (
    MappingError,
    mapping_from_options,
    mapping_to_options,
    shipped_mapping,
)
from annotate.material.reading.mappings import SHIPPED, Mapping, misfit
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.readers import FORMATS, first_records
from annotate.material.reading.refused import refused_csv, refused_jsonl
from annotate.material.reading.report import FileReport, report_lines
from annotate.material.reading.rows import Record, UnreadableFileError
from annotate.material.reading.source import Source
from annotate.material.reading.tables import SheetChoice


class ReportedImport(ConcordCommand):
    """Imports a file into a project, or lists the rejected lines with the reasons."""

    @abstractmethod
    def add_columns(self, parser: ArgumentParser) -> None:
        """Declare the arguments for the meaning of columns."""

    @abstractmethod
    def take(
        self, project: Project, path: Path, on_progress: OnProgress, options: dict[str, Any]
    ) -> FileReport: ...

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's slug, as its address has it")
        parser.add_argument("file", type=Path, help=f"{FORMATS}, texts in UTF-8, or a data set's folder")
        self.add_columns(parser)
        parser.add_argument("--dry-run", action="store_true", help="check the file and write nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Import the file and print the report; exit with 1 if a line was rejected."""
        project = project_called(options["project"])
        path: Path = options["file"]
        if not path.exists():
            raise CommandError(f"There is no file “{path}”.")
        on_progress = ProgressLine(self.stderr, options["verbosity"] > 0)
        try:
            report = self.take(project, path, on_progress, options)
        finally:
            on_progress.end()
        if options["json"]:
            self.stdout.write(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
        else:
            for line in report_lines(report, dry_run=options["dry_run"]):
                (self.stderr if report.is_refused else self.stdout).write(line)
        if report.is_refused:
            raise SystemExit(1)


class FileImportCommand(ReportedImport):
    items = False
    ratings = False
    checking = FileCheck
    writing = Writing

    def add_columns(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--part",
            default="",
            metavar="CONFIG/SPLIT",
            help="which configuration and split of a data set's folder; without it all of the first one",
        )
        parser.add_argument(
            "--sheet",
            action="append",
            default=[],
            metavar="NAME",
            help="a worksheet to read, once per sheet; with --header-row alone all visible ones",
        )
        parser.add_argument(
            "--header-row", type=int, metavar="N", help="the row with the columns' names in every sheet"
        )
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--mapping", metavar="NAME", help=f"a mapping by name: {', '.join(SHIPPED)}")
        how.add_argument(
            "--map",
            action="append",
            metavar="FIELD=COLUMN",
            help="the meaning of a column, once per column: document_key, document_title, part (or "
            "part:LABEL), system, text, rater, dimension, value, round, dimension:NAME, metadata; without "
            "it the file's names decide",
        )
        parser.add_argument(
            "--only-good", action="store_true", help="skip invalid lines instead of importing nothing"
        )
        parser.add_argument(
            "--refused",
            type=Path,
            metavar="FILE",
            help="write the invalid lines with the reasons to this .jsonl or .csv file",
        )

    def take(
        self, project: Project, path: Path, on_progress: OnProgress, options: dict[str, Any]
    ) -> FileReport:
        """Import the file, or check it for a dry run; write the rejected lines to `--refused`."""
        if options["sheet"] or options["header_row"]:
            options["part"] = SheetChoice(options["header_row"] or 1, tuple(options["sheet"])).part
        mapping = self._mapping(project, path, options)
        source = Source(
            path, path.name, mapping, items=self.items, ratings=self.ratings, part=options["part"]
        )
        with TemporaryDirectory(prefix="concord-import-") as folder:
            kept = Path(folder, "refused")
            if options["dry_run"]:
                report = self.checking(project, source, refused_to=kept).check(None, on_progress)
            else:
                report = import_file(
                    project=project,
                    source=source,
                    by=None,
                    on_progress=on_progress,
                    only_good=options["only_good"],
                    refused_to=kept,
                    checking=self.checking,
                    writing=self.writing,
                )
            if options["refused"] and kept.exists():
                write = refused_csv if options["refused"].suffix == ".csv" else refused_jsonl
                options["refused"].write_text("".join(write(lambda: kept.open("rb"))), encoding="utf-8")
        return report

    def _mapping(self, project: Project, path: Path, options: dict[str, Any]) -> Mapping:
        try:
            records = first_records(path, part=options["part"])
            if options["mapping"]:
                mapping = shipped_mapping(options["mapping"])
            elif options["map"]:
                mapping = mapping_from_options(options["map"])
            else:
                mapping = guess_mapping(records, list(project.dimensions.values_list("name", flat=True)))
        except MappingError as error:
            raise CommandError(error.reason) from error
        except UnreadableFileError as error:
            raise CommandError(str(error)) from error
        readable = [record for record in records if isinstance(record, Record)]
        columns = list(dict.fromkeys(name for record in readable for name in record.fields))
        # Without a readable record there are no columns to compare; the check of the file states why.
        if readable and (reason := misfit(mapping, columns)):
            raise CommandError(reason)
        if (self.items and not mapping.gives_items) or (self.ratings and not mapping.gives_ratings):
            needed = (
                "a document, a system, a rater and values" if self.ratings else "a document and its texts"
            )
            raise CommandError(
                f"This mapping does not say which columns hold {needed}; the file has "
                f"{', '.join(columns) or 'no columns'}. Say it with --map field=column or choose a --mapping."
            )
        # The mapping would be a line before the JSON, which programs could not parse.
        if not options["json"]:
            self._say(mapping, columns)
        return mapping

    def _say(self, mapping: Mapping, columns: list[str]) -> None:
        """Print the mapping as options, and the columns that it does not use."""
        if not isinstance(mapping, ColumnMapping):
            self.stdout.write(f"Mapping: {mapping.name}")
            return
        self.stdout.write(f"Mapping: {shlex.join(mapping_to_options(mapping))}")
        used = {*mapping.needed_columns, mapping.document_title, *mapping.metadata}
        used.update(each.column for each in mapping.value_columns)
        if unused := [name for name in columns if name not in used]:
            self.stdout.write(f"Columns that are not used: {', '.join(unused)}.")
