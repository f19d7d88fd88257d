"""How fast a server takes calls to a model, as all workers know it."""

from datetime import UTC, datetime, timedelta

from django.db import transaction

from judges.core.models import Endpoint, ModelPace
from judges.runs.rates import Slowdown, slow_down


@transaction.atomic
def note_slowdown(
    *, endpoint: int, model: str, began: float, told: float, seconds: float, answered: float
) -> Slowdown:
    """Note that a server asked to slow down and to wait so many seconds; return what follows for all workers.

    began, told: when the call began and ended that says so, in seconds since 1970. answered: calls a second
    that the server answered lately. What calls say that were in flight at the last slowdown belongs to it:
    they only make its pause longer. Locks the endpoint.
    """
    Endpoint.objects.select_for_update().get(pk=endpoint)
    row = ModelPace.objects.filter(endpoint=endpoint, model=model).first()
    before = None if row is None else _slowdown(row)
    if row is not None and before is not None and began <= row.slowed_at.timestamp():
        until = max(row.resumes_at, _moment(told) + timedelta(seconds=seconds))
        ModelPace.objects.filter(pk=row.pk).update(resumes_at=until)
        return Slowdown(before.rate, until.timestamp(), before.climb)
    after = slow_down(before, now=told, wait=seconds, answered=answered)
    values = {
        "slowed_at": _moment(told),
        "resumes_at": _moment(after.resumes_at),
        "rate": after.rate,
        "climb_seconds": after.climb,
    }
    ModelPace.objects.update_or_create(endpoint_id=endpoint, model=model, defaults=values)
    return after


def slowdowns_of(endpoint: int) -> dict[str, Slowdown]:
    """Return what is known of an endpoint's models, by model. One query."""
    return {row.model: _slowdown(row) for row in ModelPace.objects.filter(endpoint=endpoint)}


def _slowdown(row: ModelPace) -> Slowdown:
    return Slowdown(row.rate, row.resumes_at.timestamp(), row.climb_seconds)


def _moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)
