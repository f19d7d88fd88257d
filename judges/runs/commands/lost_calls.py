"""Calls that ended with their worker: the provider is paid for them, and they are made again."""

from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.db import transaction
from django.db.models import Count, F, Q

from judges.core.models import Judgment, LeaseHolder, Run
from judges.runs.queries.affordable import expected_costs
from judges.runs.queries.shared import count_shared_calls, shared_calls

SMALLEST = Decimal("0.00000001")  # that is stored


@transaction.atomic(savepoint=False)
def count_lost_calls(*, run: Run, at: datetime, besides: UUID | None = None) -> None:
    """Count as spent what calls of dead workers may have cost: as many as they had places, at the mean.

    at: the moment by which they were dead. besides: who asks, and so lives. The caller has locked the run.
    Safe to run twice: a dead worker has no places afterwards. One that was only held up stores its answers,
    and these calls then count twice.
    """
    dead = LeaseHolder.objects.filter(run=run, alive_until__lt=at, places__gt=0)
    for holder in dead.select_related("endpoint"):
        if holder.pk == besides:
            continue
        lost = _lost_by(run, holder)
        LeaseHolder.objects.filter(pk=holder.pk).update(places=0, wanted=0)
        if lost:
            run.spent += lost
            Run.objects.filter(pk=run.pk).update(spent=F("spent") + lost)


def _lost_by(run: Run, holder: LeaseHolder) -> Decimal:
    """Return the cost of a worker's calls in flight; what was leased ahead of its places was not asked."""
    sizes = shared_calls(run).sizes
    leased = Judgment.objects.filter(run=run, lease=holder.pk, status=Judgment.Status.LEASED)
    by_judge = leased.order_by().values_list("judge", "judge__model")
    counts = list(by_judge.annotate(judgments=Count("pk"), calls=count_shared_calls(Q())))
    costs, calls, cost = expected_costs(run, holder.endpoint, sizes), 0, Decimal(0)
    for judge, model, judgments, together in counts:
        count = together if judge in sizes else judgments
        calls += count
        cost += count * costs[model, sizes.get(judge, 1)]
    in_flight = cost * min(Decimal(1), Decimal(holder.places) / calls) if calls else Decimal(0)
    return in_flight.quantize(SMALLEST)
