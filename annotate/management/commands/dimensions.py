"""manage.py dimensions PROJECT [--file FILE]."""

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from annotate.core.errors import DomainError
from annotate.core.models import Project
from annotate.management.base import ConcordCommand
from annotate.management.printing import print_rows
from annotate.management.projects import project_called
from annotate.questions import kind_of
from annotate.setup.api import DimensionInput, spec_of_input
from annotate.setup.commands import add_dimension, update_dimension


class Command(ConcordCommand):
    """Lists a project's dimensions, and makes them those of a file before Round I opens."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument(
            "--file",
            type=Path,
            metavar="FILE",
            help="a JSON list of dimensions, each with the fields of the API; one that is there by name "
            "is changed, a new one added, none removed",
        )
        parser.add_argument("--json", action="store_true", help="print the dimensions as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print a line for each dimension, in their order."""
        project = project_called(options["project"])
        if options["file"]:
            _configure(project, options["file"])
        rows = [
            {
                "key": each.key,
                "name": each.name,
                "kind": kind_of(each).key,
                "lowest": each.scale_minimum,
                "highest": each.scale_maximum,
                "step": each.scale_step,
                "measurement_level": each.measurement_level,
                "definition": each.definition,
            }
            for each in project.dimensions.order_by("position")
        ]
        print_rows(self.stdout, rows, as_json=options["json"], nothing="The project has no dimensions yet.")


@transaction.atomic
def _configure(project: Project, file: Path) -> None:
    """Add or change the dimensions of a file, or none of them where one is refused."""
    for number, described in enumerate(_read(file), start=1):
        sent = DimensionInput(data=described)
        if not sent.is_valid():
            field, (reason, *_) = next(iter(sent.errors.items()))
            raise CommandError(f"Dimension {number} of the file, {field}: {reason}")
        try:
            spec = spec_of_input(sent.validated_data)
            if there := project.dimensions.filter(name=spec.name).first():
                update_dimension(dimension=there, to=spec)
            else:
                add_dimension(project=project, dimension=spec)
        except DomainError as error:
            raise CommandError(f"Dimension {number} of the file: {error.message}") from error


def _read(file: Path) -> list[Any]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"“{file}” cannot be read as JSON: {error}.") from error
    if not isinstance(found, list):
        raise CommandError(f"“{file}” holds no list of dimensions.")
    return found
