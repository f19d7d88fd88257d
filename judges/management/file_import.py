"""What `import_judgments` and `import_metrics` have in common: arguments, progress, the report."""

import json
from abc import abstractmethod
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.core.models import Project
from annotate.management.base import ConcordCommand
from annotate.management.file_import import ProgressLine
from annotate.management.projects import project_called
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.readers import FORMATS
from judges.interchange.reading.report import FileReport, report_lines


class ReportedImport(ConcordCommand):
    """Imports a file into a project, or says of all lines that cannot be imported why."""

    @abstractmethod
    def add_columns(self, parser: ArgumentParser) -> None:
        """Declare how it is said what the columns mean."""

    @abstractmethod
    def take(
        self, project: Project, path: Path, on_progress: OnProgress, options: dict[str, Any]
    ) -> FileReport:
        """Import the file, or check it for a dry run."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("project", help="the project's slug, as its address has it")
        parser.add_argument("file", type=Path, help=f"a file in {FORMATS}, in UTF-8")
        self.add_columns(parser)
        parser.add_argument("--dry-run", action="store_true", help="check the file and write nothing")
        parser.add_argument("--json", action="store_true", help="print the report as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Import the file and print what came of it; exit with 1 if a line was refused."""
        project = project_called(options["project"])
        path: Path = options["file"]
        if not path.is_file():
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
