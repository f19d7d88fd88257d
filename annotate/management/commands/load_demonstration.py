"""manage.py load_demonstration."""

import json
from argparse import ArgumentParser
from typing import Any

from annotate.management.base import ConcordCommand
from annotate.management.demonstration import PASSWORD, PEOPLE, load_demonstration


class Command(ConcordCommand):
    """Creates the demonstration project and its accounts, unless they exist."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--json", action="store_true", help="print project and accounts as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = load_demonstration()
        if options["json"]:
            accounts = [
                {"email": person.email, "role": person.role, "name": person.name} for person in PEOPLE
            ]
            summary = {"project": project.slug, "password": PASSWORD, "accounts": accounts}
            self.stdout.write(json.dumps(summary, indent=1))
            return
        for person in PEOPLE:
            self.stdout.write(f"{person.email:<24} {PASSWORD}  ({person.role.label}: {person.name})")
