"""manage.py people PROJECT."""

from argparse import ArgumentParser
from typing import Any

from annotate.management.base import ConcordCommand
from annotate.management.printing import print_rows
from annotate.management.projects import project_called
from annotate.people.queries import MemberPlace, people_of


class Command(ConcordCommand):
    """Lists a project's people, and how far annotators are with Round I."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("--json", action="store_true", help="print the same as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print a line for each place, active ones first."""
        places = people_of(project_called(options["project"])).places
        rows = [_row(place) for place in places]
        print_rows(self.stdout, rows, as_json=options["json"], nothing="Nobody is in this project.")


def _row(place: MemberPlace) -> dict[str, Any]:
    member = place.membership
    return {
        "label": member.label,
        "role": member.role,
        "alias": member.alias or None,
        "pseudonym": member.pseudonym,
        "account": member.user.email if member.user else None,
        "active": member.active,
        "counted": member.counted,
        "items_done": place.load.done if place.load else None,
        "items_begun": place.load.begun if place.load else None,
        "items_waiting": place.load.waiting if place.load else None,
    }
