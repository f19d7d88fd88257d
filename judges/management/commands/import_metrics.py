"""manage.py import_metrics PROJECT FILE."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.core.models import Project
from annotate.management.file_import import ProgressLine
from annotate.management.projects import project_called
from annotate.material.reading.readers import FORMATS, first_records
from annotate.material.reading.rows import Record, UnreadableFileError
from judges.interchange.reading.report import report_lines
from judges.metrics.commands import import_metrics
from judges.metrics.queries import MetricSource, check_metrics
from judges.metrics.reading import MetricMapping, guess_metric_mapping


class Command(BaseCommand):
    """Imports metrics of texts, or says of all lines that cannot be imported why.

    The exit code is 1 when a line was refused; then nothing is imported.
    """

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("project", help="the project's slug, as its address has it")
        parser.add_argument("file", type=Path, help=f"a file in {FORMATS}, in UTF-8")
        parser.add_argument("--document", metavar="COLUMN", help="the column with the document's key")
        parser.add_argument(
            "--number", metavar="COLUMN", help="the column with its number, from 1 as imported"
        )
        parser.add_argument("--system", metavar="COLUMN", help="the column with the system's name")
        parser.add_argument(
            "--metric",
            action="append",
            metavar="COLUMN",
            help="a metric, once per column; without it all others",
        )
        parser.add_argument("--dry-run", action="store_true", help="check the file and write nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Import the file and print what came of it."""
        project = project_called(options["project"])
        path: Path = options["file"]
        if not path.is_file():
            raise CommandError(f"There is no file “{path}”.")
        source = MetricSource(path, path.name, _mapping(project, path, options))
        on_progress = ProgressLine(self.stderr, options["verbosity"] > 0)
        act = check_metrics if options["dry_run"] else import_metrics
        try:
            report = act(project=project, source=source, on_progress=on_progress)
        finally:
            on_progress.end()
        if options["json"]:
            self.stdout.write(json.dumps(report.to_json(), ensure_ascii=False, indent=2))
        else:
            for line in report_lines(report, dry_run=options["dry_run"]):
                (self.stderr if report.is_refused else self.stdout).write(line)
        if report.is_refused:
            raise SystemExit(1)


def _mapping(project: Project, path: Path, options: dict[str, Any]) -> MetricMapping:
    try:
        records = [record for record in first_records(path) if isinstance(record, Record)]
    except UnreadableFileError as error:
        raise CommandError(str(error)) from error
    guess = guess_metric_mapping(records, project.dimensions.values_list("name", flat=True))
    said = {name: options[name] for name in ("document", "number", "system") if options[name] is not None}
    metrics = tuple(options["metric"] or (name for name in guess.metrics if name not in said.values()))
    mapping = MetricMapping(**{**vars(guess), **said, "metrics": metrics})
    if mapping.problem:
        raise CommandError(f"{mapping.problem} Say it with --document, --number, --system and --metric.")
    return mapping
