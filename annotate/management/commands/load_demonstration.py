"""manage.py load_demonstration."""

from typing import Any

from django.core.management.base import BaseCommand

from annotate.commands.demonstration import PASSWORD, PEOPLE, load_demonstration


class Command(BaseCommand):
    """Makes the demonstration project and its accounts, unless they are there."""

    help = __doc__

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        """Make what is missing and say how to sign in."""
        load_demonstration()
        for person in PEOPLE:
            self.stdout.write(f"{person.email:<24} {PASSWORD}  ({person.role.label}: {person.name})")
