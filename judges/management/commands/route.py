"""manage.py route PROJECT --rts NAME --mcq NAME --threshold R, or --certificates NAME."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import CommandError
from django.db import transaction

from annotate.core.models import Project
from annotate.management.base import ConcordCommand, project_called
from judges.core.material import scales_of
from judges.core.models import Calibration, Judge, RoutingPolicy
from judges.core.policy_settings import POLICY_SETTING
from judges.core.specification import CONFIDENCE_LEVELS, PolicySpec, policy_from_certificates
from judges.routing.api import AdviceRow, DimensionVerdictRow
from judges.routing.commands.certificates import ask_waiting_judges
from judges.routing.commands.policies import draft_policy, fit_budget, make_policy, route
from judges.routing.queries.preview import RoutingPlan, routing_plan
from judges.routing.queries.units import PolicyCell
from judges.templatetags.judging import amount, duration


class Command(ConcordCommand):
    """Sends units to people if a judge is not reliable there, by R or certificates, and audits the rest."""

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="the project's short name, as in its address")
        parser.add_argument("--rts", metavar="NAME", help="the judge that decides")
        parser.add_argument("--mcq", metavar="NAME", help="the judge that it is held against")
        parser.add_argument("--threshold", type=float, metavar="R", help="r, between -1 and 1")
        parser.add_argument(
            "--budget",
            type=int,
            metavar="N",
            help="instead of r: the largest r for up to N ratings",
        )
        parser.add_argument("--certificates", metavar="NAME", help="instead of these: a calibration")
        parser.add_argument(
            "--threshold-of", action="append", default=[], metavar="KEY=R", help="another r for a dimension"
        )
        parser.add_argument(
            "--coefficient",
            choices=RoutingPolicy.Coefficient.values,
            default=_default("coefficient"),
        )
        parser.add_argument(
            "--estimate", action="store_true", help="compare R itself with r, not its lower bound"
        )
        parser.add_argument(
            "--confidence",
            type=float,
            choices=CONFIDENCE_LEVELS,
            default=_default("confidence_level"),
            help="of R's interval",
        )
        parser.add_argument(
            "--audit",
            type=float,
            default=_default("audit_share"),
            metavar="SHARE",
            help="of the units that stay with the judge",
        )
        parser.add_argument(
            "--audit-least",
            type=int,
            default=_default("audit_least"),
            metavar="N",
            help="audited units of each system on each dimension at least; 0: by share only",
        )
        parser.add_argument(
            "--audit-where-errors-are-expected",
            action="store_true",
            help="audit more of the units on which RTS and MCQ differ",
        )
        parser.add_argument("--raters", type=int, metavar="N", help="people per unit; else the project's")
        parser.add_argument(
            "--risk", type=float, default=_default("risk"), metavar="SHARE", help="accepted share of errors"
        )
        parser.add_argument("--name", default="", help="of the policy")
        parser.add_argument(
            "--ask", action="store_true", help="start the run that a route of several judges needs"
        )
        parser.add_argument("--dry-run", action="store_true", help="show the steps and write nothing")
        parser.add_argument("--json", action="store_true", help="print the plan as JSON")

    def handle(self, *_args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        if name := options["certificates"]:
            calibrations = Calibration.objects.filter(project=project).select_related("judge", "other")
            calibration = calibrations.filter(name=name).first()
            if calibration is None:
                known = ", ".join(calibrations.order_by("pk").values_list("name", flat=True)) or "none"
                raise CommandError(f"There is no calibration {name!r}; there are: {known}.")
            # The certificates name judges and risk, so only the work of people is left to set.
            spec = policy_from_certificates(
                calibration,
                name=(options["name"] or f"By {name}")[:80],
                raters=int(_limit("raters", options["raters"] or calibration.raters)),
                audit_share=_limit("audit_share", options["audit"]),
                audit_least=int(_limit("audit_least", options["audit_least"])),
                confidence_level=_limit("confidence_level", options["confidence"]),
            )
        else:
            spec = _spec(project, options)
        # The plan comes from an unsaved policy, so that a dry run writes nothing.
        policy = draft_policy(project, spec)
        plan = routing_plan(policy, project)
        # Judges without answers come first: the policy follows in a second call of the command.
        if options["ask"] and not options["dry_run"]:
            run = ask_waiting_judges(project=project, waiting=plan.decided.to_ask, by=None)
            self.stderr.write(f"Run {run.pk} asks about {amount(run.judgments.count())} judgments.")
        elif not options["dry_run"]:
            if plan.refusal:
                raise CommandError(plan.refusal)
            policy = _route(project, spec)
        if options["json"]:
            self.stdout.write(json.dumps(plan_as_dict(plan, policy), indent=2))
        else:
            self.stdout.write("\n".join(plan_as_text(plan, policy)))


@transaction.atomic
def _route(project: Project, spec: PolicySpec) -> RoutingPolicy:
    """Create and follow the policy in one transaction."""
    return route(policy=make_policy(project=project, spec=spec, by=None), by=None)


def plan_as_text(plan: RoutingPlan, policy: RoutingPolicy) -> list[str]:
    cells = [
        f"{cell.system}, {cell.dimension.key}: {'people' if cell.decision.to_humans else 'judge'}"
        f"{_r(cell)}. {cell.decision.reason}"
        for cell in plan.decided.cells
    ]
    routed = policy.status == RoutingPolicy.Status.ROUTED
    verdict = plan.verdict  # its reasons are among the lines before
    refusal = verdict.refusal if verdict and plan.refusal == verdict.message else plan.refusal
    ending = f"Routed as {policy.name}." if routed else f"Nothing was written. {refusal}".strip()
    time = "unknown" if plan.seconds is None else duration(plan.seconds)
    share = f" ({plan.audited_share:.1%} on average)" if plan.audited_share is not None else ""
    certified = [
        f"{each.dimension.key}: {amount(each.kept)} units stay. {each.reason}".strip()
        for each in plan.decided.certified
    ]
    return [
        *cells,
        *certified,
        *[f"{each.dimension.key}: {each.verdict.says}" for each in plan.verdicts],
        *plan.warnings,
        f"{amount(plan.kept)} units stay with the judge, {amount(plan.audited)} of them audited{share}; "
        f"{amount(plan.sent)} go to people. {amount(plan.items)} items, {amount(plan.ratings)} ratings, "
        f"time {time}.",
        *([plan.decided.gain.says] if plan.decided.gain else []),
        *[f"{each.dimension.key}: {each.says}" for each in plan.advice],
        *([plan.advice_caveat] if plan.advice else []),
        ending,
    ]


def plan_as_dict(plan: RoutingPlan, policy: RoutingPolicy) -> dict[str, Any]:
    """Return the same for programs; unknown or undefined values are null."""
    return {
        "policy": policy.name if policy.status == RoutingPolicy.Status.ROUTED else None,
        "status": policy.status,
        "refusal": plan.refusal or None,
        "verdicts": DimensionVerdictRow(plan.verdicts, many=True).data,
        "warnings": plan.warnings,
        "kept": plan.kept,
        "audited": plan.audited,
        "audited_share": plan.audited_share,
        "sent": plan.sent,
        "items": plan.items,
        "ratings": plan.ratings,
        "seconds": plan.seconds,
        "gain": asdict(plan.decided.gain) if plan.decided.gain else None,
        "advice": AdviceRow(plan.advice, many=True).data,
        "threshold": plan.policy.threshold,
        "seed": plan.policy.seed,
        "calibration": plan.policy.calibration.name if plan.policy.calibration else None,
        "lapses": list(plan.decided.lapses),
        "certified": [
            {
                "dimension": each.dimension.key,
                "threshold": each.certificate.threshold if each.certificate else None,
                "reason": each.reason or None,
                "kept": each.kept,
                "sent": each.sent,
                "audited": each.audited,
                "audited_share": each.audited_share,
            }
            for each in plan.decided.certified
        ],
        "cells": [
            {
                "system": cell.system,
                "dimension": cell.dimension.key,
                "to": "people" if cell.decision.to_humans else "judge",
                "reason": cell.decision.reason,
                "r": cell.indicator.value,
                "low": cell.indicator.interval.low if cell.indicator.interval else None,
                "high": cell.indicator.interval.high if cell.indicator.interval else None,
                "threshold": cell.decision.threshold,
                "units": cell.units,
                "sent": cell.sent,
                "audited": cell.audited,
                "audited_share": cell.audited_share,
            }
            for cell in plan.decided.cells
        ],
        "agreement_on_what_stays": [
            {
                "dimension": each.dimension.key,
                "rated": each.rated,
                "alpha_among_people": each.among_people.value,
                "alpha_with_judge": each.with_judge.value,
                "spearman": each.spearman.value,
                "exact": each.exact,
                "within_one": each.within_one,
            }
            for each in plan.decided.agreement
        ],
    }


def _r(cell: PolicyCell) -> str:
    interval = cell.indicator.interval
    bounds = f" [{interval.low:.3f}, {interval.high:.3f}]" if interval else ""
    return "" if cell.indicator.value is None else f", R {cell.indicator.value:.3f}{bounds}"


def _spec(project: Project, options: dict[str, Any]) -> PolicySpec:
    if missing := [name for name in ("rts", "mcq") if options[name] is None]:
        raise CommandError(f"Say --{missing[0]}, or --certificates with the name of a calibration.")
    threshold, budget = options["threshold"], options["budget"]
    # A budget of ratings is turned into the largest r that it allows.
    if (threshold is None) == (budget is None):
        raise CommandError("Say either --threshold or --budget.")
    if budget is not None:
        budget = int(_require_range("--budget", budget, 1, 100_000_000))
    by = RoutingPolicy.DecidedBy
    rule = f"at {threshold:g}" if budget is None else f"for {budget} ratings"
    names = f"{options['rts']} × {options['mcq']} {rule}"
    # Another r for single dimensions, as KEY=R.
    given = options["threshold_of"]
    keys = list(scales_of(project).values_list("key", flat=True))
    found = {}
    for each in given:
        key, _, r = each.partition("=")
        if key not in keys:
            raise CommandError(f"There is no dimension {key!r}; there are: {', '.join(keys) or 'none'}.")
        try:
            found[key] = _require_range(f"--threshold-of {key}", float(r), -1, 1)
        except ValueError:
            raise CommandError(f"{each!r} names no r; write --threshold-of {key}=0.4.") from None
    spec = PolicySpec(
        # The column takes 80 characters.
        name=(options["name"] or names)[:80],
        rts=_judge(project, options["rts"], "rts"),
        mcq=_judge(project, options["mcq"], "mcq"),
        threshold=None if threshold is None else _limit("threshold", threshold),
        thresholds=found,
        coefficient=options["coefficient"],
        decided_by=by.ESTIMATE if options["estimate"] else by.LOWER_BOUND,
        confidence_level=_limit("confidence_level", options["confidence"]),
        audit=RoutingPolicy.Audit.ACTIVE
        if options["audit_where_errors_are_expected"]
        else RoutingPolicy.Audit.RANDOM,
        audit_share=_limit("audit_share", options["audit"]),
        audit_least=int(_limit("audit_least", options["audit_least"])),
        raters=int(_limit("raters", options["raters"] or project.raters_per_item)),
        risk=_limit("risk", options["risk"]),
    )
    return fit_budget(project, spec, budget)


def _judge(project: Project, name: str, method: str) -> Judge:
    judges = {judge.name: judge for judge in Judge.objects.filter(project=project, method=method)}
    if name not in judges:
        known = ", ".join(sorted(judges)) or "none"
        raise CommandError(f"There is no {method.upper()} judge {name!r}; there are: {known}.")
    return judges[name]


def _default(setting: str) -> Any:
    return POLICY_SETTING[setting].default


def _limit(setting: str, number: float) -> float:
    declared = POLICY_SETTING[setting]
    return _require_range(declared.option, number, *declared.limits)


def _require_range(option: str, number: float, low: float, high: float) -> float:
    if not low <= number <= high:
        raise CommandError(f"{option} lies between {low:g} and {high:g}, but is {number:g}.")
    return number
