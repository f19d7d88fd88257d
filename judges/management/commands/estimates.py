"""manage.py estimates PROJECT."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand

from annotate.management.projects import project_called
from judges.management.measured import chosen_judge
from judges.queries.estimates import DimensionEstimates, EstimatesReport, estimates_report
from judges.reliability import Estimate


class Command(BaseCommand):
    """Prints mean human scores by system from all judgments and the ratings there are."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="The project's short name, as in its address.")
        parser.add_argument("--judge", help="Whose values; the RTS judge with the most values without.")
        parser.add_argument(
            "--round", type=int, choices=[1, 2], help="Whose values; the last round's without."
        )
        parser.add_argument("--json", action="store_true", help="Everything, as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        """Print a line a dimension and system, or everything as JSON."""
        project = project_called(options["project"])
        judge = chosen_judge(project, options["judge"])
        report = estimates_report(project, judge, round_number=options["round"])
        if options["json"]:
            self.stdout.write(json.dumps({"project": project.slug, **report.as_dict()}, indent=1))
            return
        self.stdout.write("\n".join(lines(report)))


def lines(report: EstimatesReport) -> Iterator[str]:
    """Yield the tables as aligned lines of text."""
    yield f"Mean human scores with {report.judge}."
    yield f"People only and combined have asymptotic {report.confidence_level:.0%} intervals; the"
    yield "guaranteed ones are from people only and hold at any number of ratings."
    for each in report.dimensions:
        yield f"\n{each.dimension.name}"
        yield from _of_dimension(each)


def _of_dimension(found: DimensionEstimates) -> Iterator[str]:
    yield ROW.format("system", "rated", "people only", "judge", "combined", "worth", "guaranteed", "ranks")
    ranks = {each.system: f"{each.best} to {each.worst}" for each in found.ranks}
    for each in found.systems:
        worth = each.combined.effective_sample_size
        yield ROW.format(
            each.system,
            f"{each.humans.ratings} of {each.humans.units}",
            plain(each.humans),
            plain(each.judge),
            plain(each.combined),
            "" if worth is None else f"{worth:.0f}",
            plain(each.guaranteed),
            ranks.get(each.system, ""),
        )
    if found.no_differences:
        yield found.no_differences
    elif found.differences:
        yield from _of_pairs(found)
    if found.widths:
        yield WIDTHS.format("widths after", "people only", "combined", "guaranteed")
    for width in found.widths:
        after = f"now {width.ratings:g}" if width.is_now else f"{width.ratings:g}"
        numbers = (width.humans, width.combined, width.guaranteed)
        yield WIDTHS.format(after, *("" if each is None else f"{each:.2f}" for each in numbers))
    for each in found.systems:
        yield from (f"{each.system}: {warning}" for warning in each.warnings)


def _of_pairs(found: DimensionEstimates) -> Iterator[str]:
    yield PAIR.format("first minus second", "asymptotic", "guaranteed", "p by Holm", "differ")
    for each in found.differences:
        yield PAIR.format(
            f"{each.first} - {each.second}",
            plain(each.estimate),
            plain(each.guaranteed) if each.guaranteed else "",
            "" if each.adjusted_p_value is None else f"{each.adjusted_p_value:.3f}",
            "yes" if each.differs else "no",
        )


PAIR = "{:<33.33} {:>20} {:>20} {:>9} {:>6}"
WIDTHS = "{:<20.20} {:>12} {:>10} {:>10}"
ROW = "{:<20.20} {:>12} {:>20} {:>6} {:>20} {:>6} {:>20} {:>9}"


def plain(estimate: Estimate) -> str:
    """Return a value with its interval, or that it is undefined."""
    if estimate.value is None:
        return "undefined"
    bounds = estimate.interval
    return f"{estimate.value:.2f}" + (f" [{bounds.low:.2f}, {bounds.high:.2f}]" if bounds else "")
