"""Alerts for admins: policies that leave units to a judge that must not decide them."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.urls import reverse
from django.utils.translation import gettext

from annotate.core.models import Project
from annotate.watching.registry import Need
from judges.core.models import Judge, RoutingPolicy
from judges.routing.queries.preview import routing_plan
from judges.routing.queries.route_by_reliability import IndicatorsNotKeptError, remember
from judges.routing.queries.state import describe_stops, policies_of, routed_policy, routing_state
from judges.routing.queries.verdicts import PolicyVerdict, judges_of_policy, version_of_evidence
from judges.runs.queries.drift import answering_models, describe_change

Status = RoutingPolicy.Status


@dataclass(frozen=True)
class PolicyLine:
    """A policy in a list. verdict: None of a withdrawn one, and while a worker computes R of many units."""

    policy: RoutingPolicy
    verdict: PolicyVerdict | None


def policy_lines(project: Project) -> list[PolicyLine]:
    """Return a project's policies, the newest first, with their verdicts."""
    return [PolicyLine(policy, _verdict(policy, project)) for policy in policies_of(project)]


def _verdict(policy: RoutingPolicy, project: Project) -> PolicyVerdict | None:
    if policy.status == Status.ROUTED:
        state = routing_state(policy, project)
        return state.verdict if state else None
    if policy.status == Status.DRAFT:
        try:
            return routing_plan(policy, project, preview=True).verdict
        except IndicatorsNotKeptError:
            return None
    return None


def needs_of_routing(project: Project) -> list[Need]:
    """Return what the routed policy must not leave to its judge, by dimension, and judges with a new model.

    The sentences are remembered until a rating or a judgment changes: one query without a routed policy, else
    eight, or those of `routing_state` and one for each judge.
    """
    policy = routed_policy(project)
    if policy is None:
        return []
    judges = list(Judge.objects.filter(pk__in=judges_of_policy(policy)).order_by("pk"))
    sent = policy.units.count()
    stopped = describe_stops(policy)
    made_from = ["needs", policy.pk, sent, stopped, version_of_evidence(project, judges)]

    def compute() -> tuple[Sequence[str], Sequence[tuple[int, str]]]:
        state = routing_state(policy, project)
        changes = [(judge.pk, describe_change(answering_models(judge))) for judge in judges]
        return state.verdict.reasons if state else [], [each for each in changes if each[1]]

    page = reverse("routing_policy", args=[project.slug, policy.pk])
    message = gettext("{policy}: {judge} must not decide these units. {reason}")
    reasons, changes = remember(made_from, compute)
    return [
        *(
            Need(message.format(policy=policy, judge=policy.rts, reason=reason), page, is_urgent=True)
            for reason in reasons
        ),
        # While the round is open an admin can still find raters for these units.
        *(Need(f"{policy}: {says}", page) for says in stopped if policy.round and policy.round.is_open),
        *(
            Need(f"{judge.name}: {says}", reverse("judge_watch", args=[project.slug, pk]))
            for pk, says in changes
            for judge in judges
            if judge.pk == pk
        ),
    ]
