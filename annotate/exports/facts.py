from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property

from django.db.models import Count, Max, Min, Q, Sum

from annotate.core.models import Assignment, Dispute, Document, Item, Project, Rating, Round, System
from annotate.exports.tables.ratings import time_if_known


@dataclass(frozen=True)
class RoundFacts:
    """The ratings of a round. first, last: None if the times are unknown.

    seconds: measured active time. without_value: answers “cannot rate” or “not applicable”. unfinished: the
    number of open assignments.
    """

    round: Round
    raters: int
    values: int
    without_value: int
    unfinished: int
    seconds: float
    first: datetime | None
    last: datetime | None

    @property
    def days(self) -> str:
        if self.first is None or self.last is None:
            return "recorded elsewhere, on days that are not known"
        return write_days(self.first, self.last)


@dataclass(frozen=True)
class Facts:
    """Counts of a project; items are outputs.

    disputes: by status. plans: assignments of Round I by label of their plan.
    """

    documents: int
    systems: int
    items: int
    comparisons: int
    rounds: list[RoundFacts]
    plans: Mapping[str, int]
    disputes: Mapping[str, int]

    @cached_property
    def disputed(self) -> int:
        return sum(self.disputes.values())


def facts_of(project: Project) -> Facts:
    """Return the facts. Six queries, and two for each round."""
    assignments = Assignment.objects.filter(round__project=project, round__number=1)
    plans = assignments.order_by("plan").values_list("plan").annotate(count=Count("pk"))
    disputes = Dispute.objects.filter(round__project=project).order_by("status").values_list("status")
    rounds = Round.objects.filter(project=project).select_related("guideline").order_by("number")
    kinds = Item.objects.filter(document__project=project).order_by("kind").values_list("kind")
    items = dict(kinds.annotate(count=Count("pk")))
    return Facts(
        documents=Document.objects.filter(project=project).count(),
        systems=System.objects.filter(project=project, compares=False).count(),
        items=items.get(Item.Kind.OUTPUT, 0),
        comparisons=sum(count for kind, count in items.items() if kind != Item.Kind.OUTPUT),
        rounds=[_facts_of_round(round) for round in rounds],
        plans={str(Assignment.Plan(plan).label): count for plan, count in plans},
        disputes=dict(disputes.annotate(count=Count("pk"))),
    )


def _facts_of_round(round: Round) -> RoundFacts:
    has_value = Q(value__isnull=False)
    found = Rating.objects.filter(assignment__round=round).aggregate(
        values=Count("pk", filter=has_value),
        without_value=Count("pk", filter=Q(cannot_rate=True) | Q(not_applicable=True)),
        raters=Count("assignment__annotator", filter=has_value, distinct=True),
        seconds=Sum("active_seconds", filter=has_value),
        first=Min(time_if_known("created_at"), filter=has_value),
        last=Max(time_if_known("updated_at", revision=1), filter=has_value),
    )
    unfinished = Assignment.objects.filter(round=round, completed_at__isnull=True).count()
    return RoundFacts(round, unfinished=unfinished, **{**found, "seconds": found["seconds"] or 0})


def write_day(at: datetime) -> str:
    """Return the day in UTC as 5 March 2026."""
    return f"{at.day} {at:%B %Y}"


def write_days(first: datetime, last: datetime) -> str:
    """Return “on” one day, or “from” one day “to” another."""
    one, other = write_day(first), write_day(last)
    return f"on {one}" if one == other else f"from {one} to {other}"
