"""A project's routing policies as pages list them."""

from django.db.models import Count, Q, QuerySet

from annotate.core.models import Project
from judges.core.models import RoutedUnit, RoutingPolicy


def policies_of(project: Project) -> QuerySet[RoutingPolicy]:
    """Return a project's policies, the newest first, with how many units each sent and audits. One query."""
    audited = Count("units", filter=Q(units__why=RoutedUnit.Why.AUDIT))
    policies = RoutingPolicy.objects.filter(project=project).select_related(
        "rts", "mcq", "routed_by", "calibration"
    )
    return policies.annotate(units_count=Count("units"), audited_count=audited).order_by("-pk")


def has_judge_pair(project: Project) -> bool:
    """Return whether there is an RTS and an MCQ judge. One query."""
    methods = project.judges.filter(method__in=["rts", "mcq"]).values_list("method", flat=True)
    return set(methods) == {"rts", "mcq"}
