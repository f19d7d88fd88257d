"""Endpoints as pages list them."""

from django.db.models import Count, QuerySet

from annotate.models import Project
from judges.models import Endpoint

READY = "Reply with the word: ready"


def endpoints_of(project: Project) -> QuerySet[Endpoint]:
    """Return a project's endpoints by name, each with `judges_count`. One query."""
    return Endpoint.objects.filter(project=project).annotate(judges_count=Count("judges")).order_by("name")


def usual_trial(endpoint: Endpoint) -> dict[str, str]:
    """Return a model that is asked at this endpoint already, if any, and a short message. One query."""
    models = endpoint.judges.order_by("-pk").values_list("model", flat=True)
    return {"model": models.first() or "", "message": READY}
