"""manage.py evaluation_steps PROJECT --judge NAME."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import ConcordCommand, project_called
from judges.core.models import Judge
from judges.endpoints.evaluation_steps import write_steps
from judges.results.queries.pairings import judge_called


class Command(ConcordCommand):
    """Lets a judge's model write the evaluation steps of its prompt, once for each dimension (G-Eval).

    For a prompt of SummEQuAL, the model proposes the schema in one call, for the first three documents. The
    steps become wordings of the prompt, of its next version if this one has judgments. Dimensions with their
    own wording are skipped, so a stopped command can resume. The exit code is 1 if a dimension has no steps.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("--json", action="store_true", help="print what was written as JSON")
        parser.add_argument("--judge", required=True, metavar="NAME", help="whose prompt, model and endpoint")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        judges = Judge.objects.filter(project=project).select_related("endpoint", "template__project")
        problems, rows = 0, []
        judge = judge_called(list(judges), options["judge"])
        if judge.template is None:
            raise CommandError(f"{judge.name} was imported and has no prompt.")
        for written in write_steps(template=judge.template, judge=judge, by=None):
            problems += bool(written.problem)
            cost = None if written.cost is None else f"{written.cost:f}"
            rows.append(
                {
                    "dimension": written.dimension,
                    "steps": written.steps,
                    "problem": written.problem,
                    "cost": cost,
                    "prompt": written.template.name,
                    "version": written.template.version,
                }
            )
            if not options["json"]:
                self.stdout.write(f"{written.dimension}: {written.problem or written.template}")
                self.stdout.write("\n".join(f"  {step}" for step in written.steps))
        if options["json"]:
            self.stdout.write(json.dumps(rows, ensure_ascii=False))
        if problems:
            raise CommandError(f"{problems} dimensions have no steps; run the command again.")
