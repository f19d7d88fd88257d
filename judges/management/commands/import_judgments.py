"""manage.py import_judgments PROJECT FILE."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.core.models import Project
from annotate.management.file_import import ReportedImport
from annotate.material.reading.mapping_json import MappingError
from annotate.material.reading.progress import OnProgress
from annotate.material.reading.readers import first_records
from annotate.material.reading.report import FileReport
from annotate.material.reading.rows import Record, UnreadableFileError
from annotate.material.reading.source import Source
from judges.interchange.commands import import_judgments
from judges.interchange.queries.imports import check_judgments
from judges.interchange.reading import GIVEN, WORDS, judgment_mapping_from_options
from judges.methods import METHODS

METAVARS = {"judge": "NAME", "model": "NAME", "method": "KEY", "dimension": "KEY"}


class Command(ReportedImport):
    """Imports judgments made elsewhere, or prints the reason for each invalid line.

    The exit code is 1 when a line is invalid; then nothing is imported.
    """

    def add_columns(self, parser: ArgumentParser) -> None:
        for field in GIVEN:
            more = f"; one of {', '.join(METHODS)}" if field == "method" else ""
            parser.add_argument(
                f"--{field}", metavar=METAVARS[field], default="", help=f"the {field} of all rows{more}"
            )
        parser.add_argument(
            "--map",
            action="append",
            metavar="FIELD=COLUMN",
            help=f"the meaning of a column with another name, once per column: {', '.join(WORDS)}; "
            "FIELD= for no column",
        )
        parser.add_argument(
            "--only-good", action="store_true", help="skip invalid lines instead of importing nothing"
        )

    def take(
        self, project: Project, path: Path, on_progress: OnProgress, options: dict[str, Any]
    ) -> FileReport:
        given = {field: options[field] for field in GIVEN}
        try:
            records = [record for record in first_records(path) if isinstance(record, Record)]
            columns = list(dict.fromkeys(name for record in records for name in record.fields))
            mapping = judgment_mapping_from_options(options["map"] or (), columns, given)
        except MappingError as error:
            raise CommandError(error.reason) from error
        except UnreadableFileError as error:
            raise CommandError(str(error)) from error
        if mapping.problem:
            raise CommandError(
                f"{mapping.problem} The file has {', '.join(columns) or 'no columns'}. "
                "Say it with --map field=column, or for all rows with --judge, --method or --dimension."
            )
        source = Source(path, path.name, mapping)
        act = check_judgments if options["dry_run"] else import_judgments
        return act(project=project, source=source, on_progress=on_progress, only_good=options["only_good"])
