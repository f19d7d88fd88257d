"""manage.py adjudicate PROJECT DISPUTE [VALUE] [--data JSON] --note WHY --by EMAIL."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.core.models import Dispute
from annotate.disputes.commands.disputes import adjudicate
from annotate.management.base import ConcordCommand
from annotate.management.people import account_called
from annotate.management.printing import print_rows
from annotate.management.projects import project_called


class Command(ConcordCommand):
    """Gives a disputed unit its final value, with the reason; the raters' own values stay."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what is decided."""
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("dispute", type=int, help="its number, as `disputes` lists it")
        parser.add_argument("value", type=float, nargs="?", help="the final value, on the dimension's scale")
        parser.add_argument(
            "--data", type=json.loads, help="the final answer as JSON, for questions of several pieces"
        )
        parser.add_argument("--note", required=True, help="the reason for the decision")
        parser.add_argument("--by", required=True, metavar="EMAIL", help="who decides")
        parser.add_argument("--json", action="store_true", help="print the dispute as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Decide and print the dispute."""
        project, number = project_called(options["project"]), options["dispute"]
        dispute = Dispute.objects.filter(round__project=project, number=number).first()
        if dispute is None:
            raise CommandError(f"The project has no dispute {number}.")
        decided = adjudicate(
            dispute=dispute,
            value=options["value"],
            data=options["data"],
            note=options["note"],
            by=account_called(options["by"]),
        )
        row = {
            "dispute": decided.number,
            "status": decided.status,
            "adjudicated_value": decided.adjudicated_value,
            **({"adjudicated_data": decided.adjudicated_data} if decided.adjudicated_data else {}),
        }
        print_rows(self.stdout, [row], as_json=options["json"], nothing="")
