"""manage.py replacement PROJECT."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand

from annotate.management.projects import project_called
from judges.management.measured import chosen_judge
from judges.queries.replacement import EPSILONS, ReplacementReport, replacement_report
from judges.reliability import AlternativeAnnotatorTest


class Command(BaseCommand):
    """Prints whether a judge may replace an annotator, by the alternative annotator test."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="The project's short name, as in its address.")
        parser.add_argument("--judge", help="Whose values; the RTS judge with the most values without.")
        parser.add_argument(
            "--epsilon",
            type=float,
            choices=EPSILONS,
            default=0.2,
            help="What a person may be worth more: 0.2 for experts, 0.15 for the skilled, 0.1 for a crowd.",
        )
        parser.add_argument("--json", action="store_true", help="Everything, as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        """Print a few lines a dimension, or everything as JSON."""
        project = project_called(options["project"])
        judge = chosen_judge(project, options["judge"])
        report = replacement_report(project, judge, epsilon=options["epsilon"])
        if options["json"]:
            self.stdout.write(json.dumps({"project": project.slug, **report.as_dict()}, indent=1))
            return
        self.stdout.write("\n".join(lines(report)))


def lines(report: ReplacementReport) -> Iterator[str]:
    """Yield what the test says on each dimension."""
    yield f"May {report.judge} replace an annotator? Epsilon {report.epsilon:g}."
    for each in report.dimensions:
        test = each.test
        yield f"\n{each.dimension.name}. {test.verdict_reason}"
        if test.reason is None:
            yield ROW.format("", "winning rate", "advantage")
            yield _row("the judge", test)
            yield _row(f"always {test.constant_value:g}", test.constant)
            yield _row("shuffled", test.shuffled)


ROW = "{:<16} {:>12} {:>10}"


def _row(name: str, test: AlternativeAnnotatorTest | None) -> str:
    if test is None or test.winning_rate is None or test.advantage is None:
        return ROW.format(name, "undefined", "")
    return ROW.format(name, f"{test.winning_rate:.3f}", f"{test.advantage:.3f}")
