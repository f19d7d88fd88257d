"""manage.py perplexity PROJECT --judge NAME."""

import json
from argparse import ArgumentParser
from decimal import Decimal
from typing import Any

from django.core.management.base import CommandError

from annotate.management.base import ConcordCommand, project_called
from judges.core.models import Judge
from judges.endpoints.failures import RequestFailed
from judges.metrics.commands import measure_perplexities, metric_name
from judges.results.queries.pairings import judge_called


class Command(ConcordCommand):
    """Measures the perplexity of a project's outputs under a judge's model, for the bias of familiarity.

    Each value is stored immediately, so a stopped command can resume. The exit code is 1 if an output has
    none.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("--json", action="store_true", help="print what was measured as JSON")
        parser.add_argument("--judge", required=True, metavar="NAME", help="whose model and endpoint")
        parser.add_argument(
            "--documents", action="store_true", help="measure the documents instead of the outputs"
        )

    def handle(self, *_args: Any, **options: Any) -> None:
        judges = Judge.objects.filter(project=project_called(options["project"])).select_related("endpoint")
        values, costs, problems = 0, list[Decimal | None](), []
        try:
            judge = judge_called(list(judges), options["judge"])
            of_documents = options["documents"]
            name = metric_name(judge, of_documents=of_documents)
            for new, cost, problem in measure_perplexities(judge=judge, of_documents=of_documents):
                values += new
                costs.append(cost)
                if problem:
                    problems.append(problem)
        except RequestFailed as error:
            raise CommandError(f"{error.sentence} Kept: {values:,} new values; run it again.") from error
        if options["json"]:
            # One unknown cost makes the sum unknown, not smaller.
            known = [cost for cost in costs if cost is not None]
            total = f"{sum(known, Decimal(0)):f}" if len(known) == len(costs) else None
            said = {"metric": name, "values": values, "problems": problems, "cost": total}
            self.stdout.write(json.dumps(said, ensure_ascii=False))
        else:
            self.stdout.write(f"{name}: {values:,} new value{'' if values == 1 else 's'}.")
        if problems:
            raise CommandError("\n".join(problems))
