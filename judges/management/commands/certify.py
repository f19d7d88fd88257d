"""manage.py certify PROJECT plan|draw|ask|compute|show|withdraw."""

import json
import sys
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from annotate.core.models import Project
from annotate.management.base import ConcordCommand
from annotate.management.projects import project_called
from judges.core.access import OF_JUDGES
from judges.core.material import scales_of
from judges.core.models import Calibration, CertifiedStage, Judge
from judges.core.specification import CalibrationSpec
from judges.results.queries.pairings import first_judge, judge_called, measured_judges
from judges.routing.commands.asking import ask_waiting_judges
from judges.routing.commands.certificates import compute_certificates, draw_calibration, withdraw_calibration
from judges.routing.queries.calibration_plans import DrawPlan, draw_plan
from judges.routing.queries.certificates import CalibrationState, calibration_state
from judges.templatetags.judging import amount, duration

Kind, Loss = Calibration.Confidence, Calibration.Loss


class Command(ConcordCommand):
    """Certifies which units may stay with a judge: plan and draw a sample, then compute from its ratings.

    The exit code is 0, or 1 where something was refused or a certificate that is shown has lapsed.
    """

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the step and, for plan and draw, the test."""
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("step", choices=["plan", "draw", "ask", "compute", "show", "withdraw"])
        parser.add_argument("--name", help="of the calibration; default: the newest, or a new number")
        parser.add_argument("--judge", metavar="NAME", help="whose values may stay; else an RTS judge")
        parser.add_argument("--other", metavar="NAME", help="the MCQ judge for comparison")
        parser.add_argument(
            "--then",
            metavar="NAME",
            nargs="+",
            action="append",
            default=[],
            help="a judge for the rest, and the judge to compare it with; repeatable",
        )
        parser.add_argument(
            "--dimension", action="append", metavar="KEY", help="once per dimension; else all"
        )
        parser.add_argument("--loss", choices=Loss.values, default=Loss.MORE_THAN_ONE_POINT.value)
        parser.add_argument("--cut", type=float, help="for other_side: from where values are good enough")
        parser.add_argument("--risk", type=float, default=0.2, metavar="SHARE", help="accepted share")
        parser.add_argument("--delta", type=float, default=0.1, help="the chance that the promise fails")
        parser.add_argument("--confidence", choices=Kind.values, default=Kind.CLOSENESS.value)
        parser.add_argument("--expected-error", type=float, metavar="SHARE", help="else half the risk")
        parser.add_argument("--accepted-share", type=float, default=0.5, metavar="SHARE", help="hoped for")
        parser.add_argument("--size", type=int, metavar="N", help="units of each dimension; else as needed")
        parser.add_argument("--raters", type=int, metavar="N", help="people per unit; else the project's")
        parser.add_argument("--dry-run", action="store_true", help="show the steps and write nothing")
        parser.add_argument("--json", action="store_true", help="print the same as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        """Take the step."""
        project = project_called(options["project"])
        if options["step"] in ("plan", "draw"):
            self._plan_or_draw(project, options)
        else:
            self._compute_or_show(_calibration_by_name(project, options["name"]), options)

    def _plan_or_draw(self, project: Project, options: dict[str, Any]) -> None:
        spec = _spec(project, options)
        plan = draw_plan(project, spec)
        drawn = None
        if options["step"] == "draw" and not options["dry_run"]:
            drawn = draw_calibration(project=project, spec=spec, by=None, shown=plan.digest)
        self._say(options, plan_as_dict(plan, drawn), plan_as_text(plan, drawn))

    def _compute_or_show(self, calibration: Calibration, options: dict[str, Any]) -> None:
        if not options["dry_run"]:
            if options["step"] == "ask":
                waiting = calibration_state(calibration).to_ask
                ask_waiting_judges(project=calibration.project, waiting=waiting, by=None)
            elif options["step"] == "compute":
                compute_certificates(calibration=calibration, by=None)
            elif options["step"] == "withdraw":
                withdraw_calibration(calibration=calibration, by=None)
            calibration.refresh_from_db(fields=["status", "ended_at"])
        state = calibration_state(calibration)
        self._say(options, state.as_dict(), state_as_text(state))
        if state.lapses and calibration.status == Calibration.Status.CERTIFIED:
            sys.exit(1)

    def _say(self, options: dict[str, Any], plain: dict[str, Any], lines: list[str]) -> None:
        self.stdout.write(json.dumps(plain, indent=2) if options["json"] else "\n".join(lines))


def plan_as_text(plan: DrawPlan, drawn: Calibration | None) -> list[str]:
    """Return what a sample needs, and whether it was drawn, as lines of text."""
    ending = f"Drawn as {drawn}." if drawn else f"Nothing was written. {plan.refusal}".strip()
    time = "unknown" if plan.seconds is None else duration(plan.seconds)
    return [
        *(
            f"{each.dimension.key}: {amount(each.units)} units, {_format_needed(each.needed.ratings)}; "
            f"{amount(each.drawn)} drawn, {amount(each.rated)} of them rated already."
            for each in plan.dimensions
        ),
        *plan.warnings,
        f"{amount(len(plan.units))} units of {amount(plan.items)} items, {amount(plan.ratings)} ratings "
        f"to give, time {time}.",
        ending,
    ]


def plan_as_dict(plan: DrawPlan, drawn: Calibration | None) -> dict[str, Any]:
    """Return the same for programs; what is unknown is null."""
    return {
        "calibration": drawn.name if drawn else None,
        "refusal": plan.refusal or None,
        "warnings": plan.warnings,
        "seed": plan.calibration.seed,
        "size": plan.calibration.size,
        "fitting": plan.calibration.fitting,
        "units": len(plan.units),
        "items": plan.items,
        "ratings": plan.ratings,
        "seconds": plan.seconds,
        "dimensions": [
            {
                "dimension": each.dimension.key,
                "units": each.units,
                "left_out": each.left_out,
                "needed": each.needed.ratings,
                "least": each.needed.least_ratings,
                "reason": each.needed.reason,
                "drawn": each.drawn,
                "rated": each.rated,
            }
            for each in plan.dimensions
        ],
    }


def state_as_text(state: CalibrationState) -> list[str]:
    """Return how far a calibration is, and what was found, as lines of text."""
    lines = [f"{state.calibration}, {state.calibration.get_status_display()}."]
    for each in state.dimensions:
        if each.certificate is None:
            lines.append(f"{each.dimension.key}: {each.rated} of {each.drawn} drawn units are rated.")
            continue
        verdict = "lapsed" if each.lapses else "certified" if each.valid else "all units go to people"
        lines.append(f"{each.dimension.key}: {verdict}. {each.says}")
        lines += [f"  {warning}" for warning in each.warnings]
        lines += [f"  {stage_as_text(stage)}" for stage in each.certificate.stages.all()]
    lines += [
        f"{each.judge} has to judge {amount(len(each.units))} units of the sample." for each in state.to_ask
    ]
    return [*lines, *(f"Changed since the draw: {sentence}" for sentence in state.lapses)]


def stage_as_text(stage: CertifiedStage) -> str:
    """Return what a judge of several decides."""
    if stage.threshold is None:
        return f"{stage.judge} decides nothing."
    return (
        f"{stage.judge} decides at a confidence of {stage.threshold:.3f} or more; in the sample "
        f"{amount(stage.accepted)} units, {amount(stage.errors)} wrong."
    )


def _format_needed(ratings: int | None) -> str:
    return "no number of ratings would do" if ratings is None else f"{amount(ratings)} ratings needed"


def _calibration_by_name(project: Project, name: str | None) -> Calibration:
    calibrations = Calibration.objects.filter(project=project).select_related("project", *OF_JUDGES)
    found = calibrations.filter(name=name).first() if name else calibrations.order_by("-pk").first()
    if found is None:
        known = ", ".join(calibrations.order_by("pk").values_list("name", flat=True)) or "none"
        raise CommandError(f"There is no calibration {name or ''!r}; there are: {known}.")
    return found


def _spec(project: Project, options: dict[str, Any]) -> CalibrationSpec:
    number = Calibration.objects.filter(project=project).count() + 1
    keys = list(scales_of(project).values_list("key", flat=True))
    dimensions = options["dimension"] or keys
    if unknown := [key for key in dimensions if key not in keys]:
        raise CommandError(f"There is no dimension {unknown[0]!r}; there are: {', '.join(keys) or 'none'}.")
    other = judge_called(measured_judges(project), options["other"]) if options["other"] else None
    shares = {"--risk": "risk", "--delta": "delta", "--accepted-share": "accepted_share"}
    for option, name in shares.items():
        if not 0 < options[name] < 1 and not (name == "accepted_share" and options[name] == 1):
            raise CommandError(f"{option} lies between 0 and 1, but is {options[name]:g}.")
    return CalibrationSpec(
        name=options["name"] or f"Calibration {number}",
        judge=chosen_judge(project, options["judge"]),
        other=other,
        dimensions=dimensions,
        loss=options["loss"],
        cut=options["cut"],
        risk=options["risk"],
        significance_level=options["delta"],
        confidence=options["confidence"],
        expected_error=options["expected_error"],
        accepted_share=options["accepted_share"],
        size=options["size"],
        raters=options["raters"] or project.raters_per_item,
        stages=[_stage(project, names) for names in options["then"]],
    )


def _stage(project: Project, names: list[str]) -> tuple[Judge, Judge | None]:
    if len(names) > 2:
        raise CommandError("--then takes a judge and at most one judge to compare it with.")
    judges = list(Judge.objects.filter(project=project).order_by("name"))
    judge, *others = (judge_called(judges, name) for name in names)
    return judge, others[0] if others else None


def chosen_judge(project: Project, name: str | None) -> Judge:
    """Return the judge of this name, the first one without; raises CommandError where there is none."""
    judges = measured_judges(project)
    return judge_called(judges, name) if name else first_judge(judges)
