"""manage.py second_factor EMAIL, second_factor EMAIL --remove."""

from argparse import ArgumentParser
from typing import Any

from annotate.management.base import ConcordCommand, account_called, print_rows
from annotate.people.second_factor import has_second_factor, remove_second_factor


class Command(ConcordCommand):
    """Prints whether a person has a second factor, and removes it if the person lost app and codes."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="the address of their account")
        parser.add_argument("--remove", action="store_true", help="let them sign in by password alone")
        parser.add_argument("--note", default="", help="the reason, for the audit log of their projects")
        parser.add_argument("--json", action="store_true", help="print the same as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = account_called(options["email"])
        if options["remove"]:
            remove_second_factor(user=user, note=options["note"])
        row = {"email": user.email, "second_factor": has_second_factor(user)}
        print_rows(self.stdout, [row], as_json=options["json"], nothing="")
