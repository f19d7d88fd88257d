"""manage.py block EMAIL, block EMAIL --undo."""

from argparse import ArgumentParser
from typing import Any

from annotate.management.base import ConcordCommand, account_called, print_rows
from annotate.people.installation import access_of, block_person, unblock_person


class Command(ConcordCommand):
    """Blocks a person: signs them out everywhere, revokes their tokens, and lets them sign in no more."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="the address of their account")
        parser.add_argument("--undo", action="store_true", help="let them sign in again")
        parser.add_argument("--note", default="", help="the reason, for the audit log of their projects")
        parser.add_argument("--json", action="store_true", help="print the same as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = account_called(options["email"])
        change = unblock_person if options["undo"] else block_person
        person = change(user=user, note=options["note"])
        access = access_of(person)
        row = {
            "email": person.email,
            "name": person.name,
            "blocked": not person.is_active,
            "sessions": access.sessions,
            "tokens": access.tokens,
            "projects": sorted({membership.project.slug for membership in access.memberships}),
        }
        print_rows(self.stdout, [row], as_json=options["json"], nothing="")
