"""manage.py imports PROJECT [--undo NUMBER]."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.core.models import DataImport, Project
from annotate.management.base import ConcordCommand
from annotate.management.printing import print_rows
from annotate.management.projects import project_called
from annotate.material.commands.undo import undo_import


class Command(ConcordCommand):
    """Lists a project's imports, and takes one back as long as nothing depends on it."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("--undo", type=int, metavar="NUMBER", help="take this import back")
        parser.add_argument("--json", action="store_true", help="print the imports as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print a line for each import, the newest first."""
        project = project_called(options["project"])
        if options["undo"] is not None:
            undo_import(data_import=_import_of(project, options["undo"]), by=None)
        rows = [
            {
                "number": each.pk,
                "kind": each.kind,
                "name": each.name,
                "status": each.status,
                "created_at": each.created_at,
                "undone_at": each.undone_at,
            }
            for each in DataImport.objects.filter(project=project)
        ]
        print_rows(self.stdout, rows, as_json=options["json"], nothing="Nothing was imported yet.")


def _import_of(project: Project, number: int) -> DataImport:
    found = DataImport.objects.filter(project=project, pk=number).first()
    if found is None:
        raise CommandError(f"The project has no import {number}; without --undo this lists them.")
    return found
