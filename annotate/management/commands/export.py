"""manage.py export PROJECT."""

import os
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.exporting import FORMATS, export_everything, export_table
from annotate.management.projects import project_called
from annotate.queries.export import TABLES


class Command(BaseCommand):
    """Writes a project's tables to a zip file, or one of them to a file of its own."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="The project's short name, as in its address.")
        parser.add_argument("--format", choices=list(FORMATS), default="jsonl")
        parser.add_argument("--table", choices=list(TABLES), help="This table alone.")
        parser.add_argument("--to", type=Path, help="The file to write; named after the project without it.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        """Write beside the target and put it in place when it is complete."""
        project = project_called(options["project"])
        format, table = options["format"], options["table"]
        name = f"{project.slug}-{table}.{format}" if table else f"{project.slug}-{format}.zip"
        target: Path = options["to"] or Path(name)
        stream = export_table(project, TABLES[table], format) if table else export_everything(project, format)
        unfinished = target.with_name(target.name + ".part")
        try:
            with unfinished.open("wb") as file:
                file.writelines(stream)
            os.replace(unfinished, target)
        except OSError as error:
            raise CommandError(f"The export cannot be written to {target}: {error.strerror}.") from error
        finally:
            unfinished.unlink(missing_ok=True)
        self.stdout.write(f"Wrote {target} ({target.stat().st_size:,} bytes).")
