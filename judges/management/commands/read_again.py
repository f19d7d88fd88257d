"""manage.py read_again PROJECT --judge NAME [--apply]."""

import json
from argparse import ArgumentParser
from typing import Any

from annotate.management.base import ConcordCommand, project_called
from judges.core.models import Judge
from judges.results.queries.pairings import judge_called
from judges.runs.commands.corrections import read_again
from judges.runs.queries.judgments import as_row, rereadings
from judges.templatetags.judging import amount

SHOWN = 20


class Command(ConcordCommand):
    """Parses the stored replies of judges by the present rules: shows the changes, or applies them.

    Values that a person set or excluded stay. The exit code is 0.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("--judge", action="append", metavar="NAME", help="once per judge; else all")
        parser.add_argument("--apply", action="store_true", help="write what would change")
        parser.add_argument("--json", action="store_true", help="print counts and all changes as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        judges = list(Judge.objects.filter(project=project).order_by("pk"))
        judges = [judge_called(judges, name) for name in options["judge"] or []] or judges
        # Before the change, after which no reply reads differently.
        found = [as_row(each) for each in rereadings(judges)]
        changed = read_again(judges=judges, by=None) if options["apply"] else 0
        if options["json"]:
            self.stdout.write(json.dumps({"would_change": len(found), "changed": changed, "changes": found}))
            return
        for each in found[:SHOWN]:
            self.stdout.write("{judgment}: {before} -> {after}   {reply}".format(**each))
        if len(found) > SHOWN:
            self.stdout.write(f"... and {len(found) - SHOWN} more")
        if not found:
            self.stdout.write("No reply reads differently.")
        elif options["apply"]:
            self.stdout.write(f"Judgments changed: {amount(changed)}.")
        else:
            self.stdout.write(
                f"Judgments that would change: {amount(len(found))}. Add --apply to change them."
            )
