"""What a datasheet says of the judges of a project."""

from decimal import Decimal

from django.db.models import Count, Q, Sum

from annotate.core.models import Project
from judges.core.models import Judge, Judgment


def judges_in_datasheet(project: Project) -> list[str]:
    """Return a sentence for each judge with answers: what it is, how many values it gave, what it cost."""
    done = Q(judgments__status=Judgment.Status.DONE)
    answered = done | Q(judgments__status=Judgment.Status.UNREADABLE)
    judges = Judge.objects.filter(project=project).annotate(
        values_count=Count("judgments", filter=done),
        unreadable=Count("judgments", filter=answered & ~done),
        cost=Sum("judgments__cost"),
    )
    return [
        f"The judge {judge.name} ({judge.model or 'model unknown'}, method {judge.method}) gave "
        f"{judge.values_count:,} values; {judge.unreadable:,} replies were unreadable; "
        f"{_cost(judge.cost)}."
        for judge in judges.order_by("pk")
        if judge.values_count or judge.unreadable
    ]


def _cost(cost: Decimal | None) -> str:
    return "its cost is unknown" if cost is None else f"it cost {cost:f}"
