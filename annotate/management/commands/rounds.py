"""manage.py rounds PROJECT [open-1|close-1|open-2|close-2]."""

from argparse import ArgumentParser
from typing import Any

from annotate.core.models import Project, Rating
from annotate.core.rounds import rounds_of
from annotate.disputes.queries.counts import dispute_counts
from annotate.management.base import ConcordCommand
from annotate.management.printing import print_rows
from annotate.management.projects import project_called
from annotate.rating.steps import STEPS


class Command(ConcordCommand):
    """Opens or closes a round, and shows the rounds; a step that was taken already changes nothing."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("step", nargs="?", choices=list(STEPS), help="without it nothing is changed")
        parser.add_argument("--json", action="store_true", help="print the rounds as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Take the step and print a line for each round."""
        project = project_called(options["project"])
        if options["step"]:
            take, _ = STEPS[options["step"]]
            take(project=project, by=None)
            if options["step"] == "close-2":
                self._tell_unresolved(project)
        rows = [
            {
                "round": number,
                "status": round.status,
                "opened_at": round.opened_at,
                "closed_at": round.closed_at,
                "guideline_version": round.guideline.version,
                "ratings": Rating.objects.filter(assignment__round=round, value__isnull=False).count(),
            }
            for number, round in sorted(rounds_of(project).items())
        ]
        print_rows(self.stdout, rows, as_json=options["json"], nothing="No round was opened yet.")

    def _tell_unresolved(self, project: Project) -> None:
        disputes = dispute_counts(project)
        if disputes.unresolved:
            self.stderr.write(
                f"{disputes.unresolved:,} of {disputes.total:,} disputes are unresolved "
                f"({disputes.breakdown}): their values stay apart, and agreement after discussion counts "
                "them as they are."
            )
