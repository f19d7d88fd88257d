"""manage.py import_metrics PROJECT FILE."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.core.models import Project
from annotate.management.file_import import ReportedImport
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.readers import first_records
from annotate.material.reading.report import FileReport
from annotate.material.reading.rows import Record, UnreadableFileError
from annotate.material.reading.source import Source
from judges.metrics.commands import import_metrics
from judges.metrics.queries import check_metrics
from judges.metrics.reading import MetricMapping, guess_metric_mapping


class Command(ReportedImport):
    """Imports metrics of outputs, or prints the reason for each invalid line.

    The exit code is 1 when a line is invalid; then nothing is imported.
    """

    def add_columns(self, parser: ArgumentParser) -> None:
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

    def take(
        self, project: Project, path: Path, on_progress: OnProgress, options: dict[str, Any]
    ) -> FileReport:
        try:
            records = [record for record in first_records(path) if isinstance(record, Record)]
        except UnreadableFileError as error:
            raise CommandError(str(error)) from error
        guess = guess_metric_mapping(records, project.dimensions.values_list("name", flat=True))
        said = {name: options[name] for name in ("document", "number", "system") if options[name] is not None}
        # A column that an option assigns is no metric, even if the guess took it for one.
        metrics = tuple(options["metric"] or (name for name in guess.metrics if name not in said.values()))
        mapping = MetricMapping(**{**vars(guess), **said, "metrics": metrics})
        if mapping.problem:
            raise CommandError(f"{mapping.problem} Say it with --document, --number, --system and --metric.")
        source = Source(path, path.name, mapping)
        act = check_metrics if options["dry_run"] else import_metrics
        return act(project=project, source=source, on_progress=on_progress)
