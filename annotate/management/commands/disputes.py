"""manage.py disputes PROJECT."""

from argparse import ArgumentParser
from typing import Any

from annotate.core.models import Dispute
from annotate.core.rounds import rounds_of
from annotate.disputes.queries.list import DisputeFilter, dispute_rows, disputes_of_project
from annotate.management.base import ConcordCommand
from annotate.management.printing import print_rows
from annotate.management.projects import project_called


class Command(ConcordCommand):
    """Lists a project's disputes, and whom each one waits for."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("--status", choices=Dispute.Status.values, default="", help="these only")
        parser.add_argument("--dimension", default="", metavar="KEY", help="of this dimension only")
        parser.add_argument("--json", action="store_true", help="print the same as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print a line for each dispute, by number."""
        project = project_called(options["project"])
        chosen = DisputeFilter(status=options["status"], dimension=options["dimension"])
        round_two = rounds_of(project).get(2)
        rows = [
            {
                "dispute": row.dispute.number,
                "document": row.dispute.item.document.key,
                "system": row.dispute.item.system.name,
                "dimension": row.dispute.dimension.key,
                "spread": row.dispute.spread,
                "status": row.dispute.status,
                "adjudicated_value": row.dispute.adjudicated_value,
                "waits_for": [rater.label for rater in row.waits_for],
            }
            for row in dispute_rows(list(disputes_of_project(project, chosen, round_two=round_two)))
        ]
        print_rows(self.stdout, rows, as_json=options["json"], nothing="There is no such dispute.")
