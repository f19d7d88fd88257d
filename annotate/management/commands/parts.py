"""manage.py parts PROJECT [--file FILE] [--split] [--json]."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import ConcordCommand, print_rows, project_called
from annotate.material.commands.parts import import_parts, read_parts, split_items


class Command(ConcordCommand):
    """Gives outputs parts before Round I opens: the parts in a file, and sentences for the others."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument(
            "--file",
            type=Path,
            metavar="FILE",
            help="a CSV file with the columns document, system and part, or parts with a JSON list",
        )
        parser.add_argument("--split", action="store_true", help="split the other outputs into sentences")
        parser.add_argument("--json", action="store_true", help="print the same as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        rows: list[dict[str, object]] = []
        if options["file"]:
            try:
                content = options["file"].read_bytes()
            except OSError as error:
                raise CommandError(f"“{options['file']}” cannot be read: {error}.") from error
            count = import_parts(project=project, parts=read_parts(content))
            rows.append({"parts": "of the file", "outputs": count})
        if options["split"]:
            rows.append({"parts": "sentences", "outputs": split_items(project=project)})
        print_rows(self.stdout, rows, as_json=options["json"], nothing="Name a file, or use --split.")
