"""manage.py compare_judges PROJECT."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.agreement import Coefficient
from annotate.management.projects import project_called
from judges.comparison import Level
from judges.models import Judge
from judges.queries.comparison import Comparison, comparison


class Command(BaseCommand):
    """Prints what a project's judges say beside what people say."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="The project's short name, as in its address.")
        parser.add_argument("--judge", action="append", help="This judge; may be given several times.")
        parser.add_argument(
            "--round", type=int, choices=[1, 2], help="Whose values; the last round's without."
        )
        parser.add_argument("--intervals", action="store_true", help="Compute intervals too.")
        parser.add_argument("--json", action="store_true", help="Everything, as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        """Print one line a judge and dimension, or everything as JSON."""
        project = project_called(options["project"])
        judges = list(Judge.objects.filter(project=project).order_by("name"))
        if wanted := options["judge"]:
            judges = [judge for judge in judges if judge.name in wanted]
        if not judges:
            raise CommandError("The project has no such judge; add one, or import judgments.")
        seed = project.seed if options["intervals"] else None
        found = comparison(project, judges, round_number=options["round"], seed=seed)
        if options["json"]:
            everything = [each.as_dict() for each in found.judges]
            self.stdout.write(json.dumps({"project": project.slug, "judges": everything}, indent=1))
            return
        self.stdout.write("\n".join(lines(found)))


def lines(found: Comparison) -> Iterator[str]:
    """Yield the table as aligned lines of text."""
    yield ROW.format("judge", "dimension", "items", "Spearman", "alpha with mean", "among people")
    for judge in found.judges:
        for each in judge.scoring:
            yield ROW.format(
                judge.judge.name,
                each.dimension.name,
                each.judged,
                shown(each.correlations[Level.DATASET]["spearman"]),
                shown(each.alpha.with_mean),
                shown(each.alpha.among_people),
            )
        for versus in judge.comparing:
            name, dimension = f"{judge.judge.name:<24.24}", f"{versus.dimension.name:<22.22}"
            yield (
                f"{name} {dimension} {versus.correct.correct} of {versus.correct.compared} pairs as people "
                f"prefer, {shown(versus.consistency.share)} consistent after swapping"
            )


ROW = "{:<24.24} {:<22.22} {:>6} {:>9} {:>16} {:>13}"


def shown(coefficient: Coefficient) -> str:
    """Return a value with three decimals, or that it is undefined."""
    return "undefined" if coefficient.value is None else f"{coefficient.value:.3f}"
