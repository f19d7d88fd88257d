"""How fast a server takes calls to a model, kept for the worker that calls it next."""

from collections.abc import Mapping
from datetime import UTC, datetime

from django.utils import timezone

from judges.core.models import ModelPace
from judges.runs.rates import Slowdown


def save_slowdowns(*, endpoint: int, slowdowns: Mapping[str, Slowdown]) -> None:
    """Store the slowdowns of models of an endpoint."""
    for model, slowdown in slowdowns.items():
        values = {
            "slowed_at": timezone.now(),
            "resumes_at": datetime.fromtimestamp(slowdown.resumes_at, UTC),
            "rate": slowdown.rate,
            "climb_seconds": slowdown.climb,
        }
        ModelPace.objects.update_or_create(endpoint_id=endpoint, model=model, defaults=values)


def slowdowns_of(endpoint: int) -> dict[str, Slowdown]:
    """Return the stored slowdowns of an endpoint by model. One query."""
    rows = ModelPace.objects.filter(endpoint=endpoint)
    return {row.model: Slowdown(row.rate, row.resumes_at.timestamp(), row.climb_seconds) for row in rows}
