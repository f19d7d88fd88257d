"""manage.py load_finished_demonstration."""

import json
from argparse import ArgumentParser
from typing import Any

from annotate.management.base import ConcordCommand
from judges.management.demonstration.finished import load_finished_demonstration


class Command(ConcordCommand):
    """Creates the finished demonstration, with both rounds and two judges, unless it exists."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print the project as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = load_finished_demonstration()
        made = {"project": project.slug, "name": project.name}
        self.stdout.write(json.dumps(made, indent=1) if options["json"] else project.name)
