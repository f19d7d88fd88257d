"""manage.py projects."""

from argparse import ArgumentParser
from typing import Any

from django.db.models import Count, Prefetch, Q

from annotate.core.models import Project, Round
from annotate.management.base import ConcordCommand
from annotate.management.printing import print_rows


class Command(ConcordCommand):
    """Lists the projects of this installation."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("--json", action="store_true", help="print the same as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Print a line for each project, by short name."""
        rounds = Prefetch("rounds", Round.objects.order_by("number"))
        projects = Project.objects.annotate(
            items=Count("documents__items", filter=Q(documents__items__kind="output"))
        ).prefetch_related(rounds)
        rows = [
            {
                "project": project.slug,
                "name": project.name,
                "items": project.items,
                "rounds": [f"{round.number} {round.status}" for round in project.rounds.all()],
                "created_at": project.created_at,
            }
            for project in projects.order_by("slug")
        ]
        print_rows(self.stdout, rows, as_json=options["json"], nothing="There is no project.")
