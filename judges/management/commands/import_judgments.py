"""manage.py import_judgments PROJECT FILE."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.management.file_import import ProgressLine
from annotate.management.projects import project_called
from annotate.material.reading.mapping_json import MappingError
from annotate.material.reading.readers import FORMATS, first_records
from annotate.material.reading.rows import Record, UnreadableFileError
from judges.interchange.commands import import_judgments
from judges.interchange.queries.imports import JudgmentSource, check_judgments
from judges.interchange.reading.mapping import (
    GIVEN,
    WORDS,
    JudgmentMapping,
    guess_judgment_mapping,
    judgment_mapping_from_options,
)
from judges.interchange.reading.report import JudgmentReport, report_lines
from judges.methods import METHODS

METAVARS = {"judge": "NAME", "model": "NAME", "method": "KEY", "dimension": "KEY"}


class Command(BaseCommand):
    """Imports judgments made elsewhere, or says of all lines that cannot be imported why.

    The exit code is 1 when a line was refused; then nothing is imported.
    """

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("project", help="the project's slug, as its address has it")
        parser.add_argument("file", type=Path, help=f"a file in {FORMATS}, in UTF-8")
        for field in GIVEN:
            more = f"; one of {', '.join(METHODS)}" if field == "method" else ""
            parser.add_argument(
                f"--{field}", metavar=METAVARS[field], default="", help=f"the {field} of all rows{more}"
            )
        parser.add_argument(
            "--map",
            action="append",
            metavar="FIELD=COLUMN",
            help=f"what a column means, once per column: {', '.join(WORDS)}; without it the names decide",
        )
        parser.add_argument(
            "--only-good", action="store_true", help="leave refused lines out instead of importing nothing"
        )
        parser.add_argument("--dry-run", action="store_true", help="check the file and write nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Import the file and print what came of it."""
        project = project_called(options["project"])
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"There is no file “{path}”.")
        source = JudgmentSource(path, path.name, _mapping(path, options))
        on_progress = ProgressLine(self.stderr, options["verbosity"] > 0)
        act = check_judgments if options["dry_run"] else import_judgments
        try:
            report = act(
                project=project, source=source, on_progress=on_progress, only_good=options["only_good"]
            )
        finally:
            on_progress.end()
        self._print(report, options)
        if report.is_refused:
            raise SystemExit(1)

    def _print(self, report: JudgmentReport, options: dict[str, Any]) -> None:
        if options["json"]:
            self.stdout.write(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
            return
        for line in report_lines(report, dry_run=options["dry_run"]):
            (self.stderr if report.is_refused else self.stdout).write(line)


def _mapping(path: Path, options: dict[str, Any]) -> JudgmentMapping:
    given = {field: options[field] for field in GIVEN}
    try:
        columns = _columns(path)
        if options["map"]:
            mapping = judgment_mapping_from_options(options["map"], given)
        else:
            mapping = guess_judgment_mapping(columns, given)
    except MappingError as error:
        raise CommandError(error.reason) from error
    except UnreadableFileError as error:
        raise CommandError(str(error)) from error
    if mapping.problem:
        raise CommandError(
            f"{mapping.problem} The file has {', '.join(columns) or 'no columns'}. "
            "Say it with --map field=column, or for all rows with --judge, --method or --dimension."
        )
    return mapping


def _columns(path: Path) -> list[str]:
    records = [record for record in first_records(path) if isinstance(record, Record)]
    return list(dict.fromkeys(name for record in records for name in record.fields))
