"""manage.py parts PROJECT [--file FILE] [--split]."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import ConcordCommand
from annotate.management.projects import project_called
from annotate.material.commands.parts import import_parts, split_items
from annotate.material.parts_file import read_parts


class Command(ConcordCommand):
    """Gives outputs parts before Round I opens: those of a file, and sentences to the others."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument(
            "--file",
            type=Path,
            metavar="FILE",
            help="a CSV file with the columns document, system and part, or parts with a JSON list",
        )
        parser.add_argument("--split", action="store_true", help="split the other outputs into sentences")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Import, split, and print how many outputs got parts."""
        project = project_called(options["project"])
        if options["file"]:
            try:
                content = options["file"].read_bytes()
            except OSError as error:
                raise CommandError(f"“{options['file']}” cannot be read: {error}.") from error
            count = import_parts(project=project, parts=read_parts(content))
            self.stdout.write(f"{count:,} outputs have the parts of the file.")
        if options["split"]:
            self.stdout.write(f"{split_items(project=project):,} outputs are split into sentences.")
