"""manage.py reliability PROJECT."""

import json
from argparse import ArgumentParser
from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotate.agreement import Coefficient
from annotate.management.projects import project_called
from annotate.models import Project
from judges.comparison import CORRELATIONS
from judges.errors import NoJudgesError
from judges.queries.pairings import Pairing, judge_called, measured_judges, usual_pairing
from judges.queries.reliability import ReliabilityReport, reliability_report


class Command(BaseCommand):
    """Prints where a model agrees with itself (R) and with people (P), and whether R tells P."""

    help = __doc__

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be asked for."""
        parser.add_argument("project", help="The project's short name, as in its address.")
        parser.add_argument("--rts", help="The judge that reasons, then scores; a usual pair without.")
        parser.add_argument("--mcq", help="The judge that chooses an option.")
        parser.add_argument("--coefficient", choices=CORRELATIONS, default="spearman")
        parser.add_argument(
            "--beside-people", choices=["rts", "mcq"], default="rts", help="Whose agreement with people is P."
        )
        parser.add_argument(
            "--round", type=int, choices=[1, 2], help="Whose values; the last round's without."
        )
        parser.add_argument(
            "--fresh",
            action="store_true",
            help="P without units whose ratings settled a policy's r or a certificate of these judges.",
        )
        parser.add_argument("--json", action="store_true", help="Everything, as JSON.")

    def handle(self, *args: Any, **options: Any) -> None:  # noqa: ARG002
        """Print a line a dimension and system, or everything as JSON."""
        project = project_called(options["project"])
        pairing = chosen_pairing(project, options["rts"], options["mcq"])
        report = reliability_report(
            project,
            pairing,
            coefficient=options["coefficient"],
            beside_people=getattr(pairing, options["beside_people"]),
            round_number=options["round"],
            fresh=options["fresh"],
        )
        if options["json"]:
            self.stdout.write(json.dumps({"project": project.slug, **report.as_dict()}, indent=1))
            return
        self.stdout.write("\n".join(lines(report)))


def chosen_pairing(project: Project, rts: str | None, mcq: str | None) -> Pairing:
    """Return the judges of these names, those of the usual pair where none is given, or CommandError."""
    judges = measured_judges(project)
    try:
        usual = usual_pairing(judges)
        return Pairing(
            rts=judge_called(judges, rts, "rts") if rts else usual.rts,
            mcq=judge_called(judges, mcq, "mcq") if mcq else usual.mcq,
        )
    except NoJudgesError as error:
        raise CommandError(error.message) from error


def lines(report: ReliabilityReport) -> Iterator[str]:
    """Yield the tables as aligned lines of text."""
    yield f"R of {report.pairing.rts} with {report.pairing.mcq}, P of {report.beside_people}; {report.label}."
    if report.pairing.warning:
        yield report.pairing.warning
    if report.settling:
        yield (
            f"Of {report.rated_units} rated units {report.settling} settled a policy or a certificate of "
            f"these judges; P {'leaves them out' if report.fresh else 'is over all'}."
        )
    for each in report.dimensions:
        found = each.figures.validity
        yield f"\n{each.dimension.name}. Does R mean anything here? {each.reading}"
        adjusted = each.adjusted_p_value
        p_value = "" if adjusted is None else f", p {found.p_value:.3f}, by Holm {adjusted:.3f}"
        yield f"R with P {plain(found.correlation)} over {found.systems} systems{p_value}."
        yield f"P with quality, M: {plain(each.figures.meta_correlation)}."
        yield ROW.format("system", "items", "R", "rated", "P")
        for one in each.figures.systems:
            yield ROW.format(one.system, one.items, plain(one.indicator), one.rated, plain(one.agreement))


ROW = "{:<24.24} {:>6} {:>24} {:>6} {:>24}"


def plain(coefficient: Coefficient) -> str:
    """Return a value with its interval, or that it is undefined."""
    if coefficient.value is None:
        return "undefined"
    bounds = coefficient.interval
    return f"{coefficient.value:.3f}" + (f" [{bounds.low:.3f}, {bounds.high:.3f}]" if bounds else "")
