"""manage.py erase EMAIL --yes."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import ConcordCommand, account_called, print_rows
from annotate.people.installation import erase_person


class Command(ConcordCommand):
    """Erases a person: name, e-mail, sign-in methods and mails; ratings remain under a pseudonym."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("email", help="the address of their account")
        parser.add_argument("--yes", action="store_true", help="do it: nothing brings the person back")
        parser.add_argument("--note", default="", help="the reason, for the audit log of their projects")
        parser.add_argument("--json", action="store_true", help="print the same as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        user = account_called(options["email"])
        if not options["yes"]:
            raise CommandError("Nothing brings an erased person back: say --yes to erase this one.")
        person = erase_person(user=user, note=options["note"])
        memberships = person.memberships.select_related("project").order_by("project__slug", "pk")
        rows = [
            {"project": membership.project.slug, "pseudonym": membership.pseudonym}
            for membership in memberships
        ]
        print_rows(self.stdout, rows, as_json=options["json"], nothing="Erased; they were in no project.")
