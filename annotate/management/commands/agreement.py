"""manage.py agreement PROJECT."""

import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.agreement import Coefficient
from annotate.management.projects import project_called
from annotate.queries.agreement import AgreementTable, agreement_table, dimension_details
from annotate.queries.rounds import rounds_of


class Command(BaseCommand):
    """Prints the agreement of a project's raters, per round and dimension."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="The project's short name, as in its address.")
        parser.add_argument("--json", action="store_true", help="Everything, as JSON.")
        parser.add_argument(
            "--drawn",
            choices=["units", "documents"],
            default="units",
            help="What the bootstrap draws; documents where the items of one are not independent.",
        )

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        """Print the table, or everything as JSON."""
        project = project_called(options["project"])
        if options["json"]:
            details = [
                detail.as_dict()
                for _, round in sorted(rounds_of(project).items())
                for detail in dimension_details(round, drawn=options["drawn"])
            ]
            self.stdout.write(json.dumps({"project": project.slug, "dimensions": details}, indent=2))
            return
        table = agreement_table(project, drawn=options["drawn"])
        if table is None:
            raise CommandError("Round I has not been opened, so there is nothing to measure yet.")
        self.stdout.write("\n".join(lines(table)))


def lines(table: AgreementTable) -> list[str]:
    """Return the table as aligned lines of text."""
    width = max(len(each.dimension.name) for each in table.dimensions)
    wide = max(len(shown(each.round_one.alpha)) for each in table.dimensions)
    head = f"{'':<{width}}  {'Round I reliability':<{wide}}  {'disputes':>8}  agreement after discussion"
    rows = [
        f"{each.dimension.name:<{width}}  {shown(each.round_one.alpha):<{wide}}  {each.disputes.opened:>8}  "
        f"{shown(each.round_two.alpha) if each.round_two else 'Round II was not opened'}"
        for each in table.dimensions
    ]
    return [head, *rows, *reasons(table)]


def reasons(table: AgreementTable) -> list[str]:
    """Return why each figure that is undefined is so."""
    figures = [
        (f"{row.dimension.name}, {name}", round.alpha.reason)
        for row in table.dimensions
        for name, round in (("Round I", row.round_one), ("Round II", row.round_two))
        if round and round.alpha.reason
    ]
    return [f"{where}: {reason}" for where, reason in figures]


def shown(alpha: Coefficient) -> str:
    """Return alpha with its interval and what it was computed from in one short text."""
    value = "undefined" if alpha.value is None else f"{alpha.value:.3f}"
    interval = f" [{alpha.interval.low:.3f}, {alpha.interval.high:.3f}]" if alpha.interval else ""
    units, raters, values = alpha.counts.pairable_units, alpha.counts.raters, alpha.counts.pairable_values
    return f"{value}{interval} {units} units, {raters} raters, {values} values"
