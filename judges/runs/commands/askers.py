"""Which worker calls an endpoint: one at a time, under a lease that it renews.

The lease is a `LeaseHolder`. Its key is also the lease of the judgments that the worker holds, whatever their
run. Another worker takes the endpoint when the lease has ended, and plans again what the dead worker held.
"""

from datetime import datetime, timedelta
from decimal import Decimal
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from judges.core.models import Batch, Endpoint, Judgment, LeaseHolder, Run
from judges.runs.queries.affordable import expected_costs
from judges.runs.queries.runs import orphaned_leases
from judges.runs.queries.shared import count_shared_calls, shared_calls

LEASE = timedelta(seconds=settings.LEASE_SECONDS)  # a living worker renews it well before
REMEMBERED = timedelta(hours=1)  # longer than the judgments of a dead worker wait to be planned again
SMALLEST = Decimal("0.00000001")  # that is stored


def lock_endpoint(*, run: int, endpoint: int) -> Endpoint | None:
    """Lock a run, then its endpoint; return the endpoint, None if the run is gone.

    A lease refers to the run. Without the run's lock, taking a lease and resuming the run could deadlock.
    """
    if Run.objects.select_for_update().filter(pk=run).first() is None:
        return None
    return Endpoint.objects.select_for_update().get(pk=endpoint)


def hold_endpoint(*, endpoint: Endpoint, run: int, holder: UUID) -> bool:
    """Take the lease of an endpoint, or renew it; return whether it is this holder's.

    A worker that was silent for too long does not get it back from the next one. A worker of the version
    before counts all calls of the endpoint as taken and makes none; its lease keeps this one away, too. A
    probe keeps only a new worker away. The caller has called `lock_endpoint`.
    """
    now = timezone.now()
    others = LeaseHolder.objects.filter(endpoint=endpoint, alive_until__gte=now).exclude(pk=holder)
    if others.filter(places__gt=0).exists():
        return False
    kept = {"places": endpoint.calls_in_flight, "alive_until": now + LEASE}
    if not LeaseHolder.objects.filter(pk=holder).update(**kept):
        if others.exists():
            return False
        LeaseHolder.objects.create(pk=holder, run_id=run, endpoint=endpoint, **kept)
    return True


def hold_probe(*, endpoint: Endpoint, run: int, holder: UUID) -> bool:
    """Take a lease without judgments for one probe; return whether the endpoint has room for its call.

    A worker with old calls in flight may have the endpoint: one of them may hang until its timeout. The
    caller has called `lock_endpoint`.
    """
    now = timezone.now()
    others = LeaseHolder.objects.filter(endpoint=endpoint, alive_until__gte=now)
    if others.filter(places=0).exists():
        return False
    held = Judgment.objects.filter(lease__in=others.values("pk"), status=Judgment.Status.LEASED)
    if held.count() >= endpoint.calls_in_flight:
        return False
    # As long as a call takes, for nothing renews the lease of a probe.
    until = now + timedelta(seconds=endpoint.timeout_seconds + 5)
    LeaseHolder.objects.create(pk=holder, run_id=run, endpoint=endpoint, places=0, alive_until=until)
    return True


def let_go(*, holder: UUID) -> None:
    """Give the endpoint to whichever worker takes it next."""
    LeaseHolder.objects.filter(pk=holder).delete()


def forget_the_dead() -> None:
    """Delete the leases that ended long ago."""
    LeaseHolder.objects.filter(alive_until__lt=timezone.now() - REMEMBERED).delete()


@transaction.atomic(savepoint=False)
def free_abandoned(*, run: Run, at: datetime, besides: UUID | None = None) -> int:
    """Plan again what dead workers hold of a run, and count as spent what their calls may have cost.

    at: the moment by which they were dead. besides: the worker that asks, and so lives. Return the number of
    judgments. The caller has locked the run. Batches have holds of their own. A worker that was only held up
    stores its answers later, and these calls then count twice.
    """
    abandoned = Judgment.objects.filter(orphaned_leases(at), run=run, status=Judgment.Status.LEASED)
    abandoned = abandoned.exclude(Exists(Batch.objects.filter(pk=OuterRef("lease"))))
    if besides is not None:
        abandoned = abandoned.exclude(lease=besides)
    held = abandoned.order_by().values("lease").distinct()
    for holder in LeaseHolder.objects.filter(pk__in=held, places__gt=0).select_related("endpoint"):
        own = abandoned.filter(lease=holder.pk)
        calls, cost = _expected_calls(run, holder.endpoint, own)
        # The worker made up to `places` calls. Judgments that it leased ahead were in no call.
        everything = Judgment.objects.filter(lease=holder.pk, status=Judgment.Status.LEASED).count()
        share = min(Decimal(1), Decimal(holder.places) / (everything - own.count() + calls))
        lost = (cost * share).quantize(SMALLEST)
        run.spent += lost
        Run.objects.filter(pk=run.pk).update(spent=F("spent") + lost)
        # The other runs of the worker share the rest.
        LeaseHolder.objects.filter(pk=holder.pk).update(places=holder.places - round(share * calls))
    return abandoned.update(status=Judgment.Status.PLANNED, lease=None, leased_until=None)


def _expected_calls(run: Run, endpoint: Endpoint, leased: QuerySet[Judgment]) -> tuple[int, Decimal]:
    """Return the number of calls for these judgments of a run, and their cost at the mean."""
    sizes = shared_calls(run).sizes
    by_judge = leased.order_by().values_list("judge", "judge__model")
    counts = list(by_judge.annotate(judgments=Count("pk"), calls=count_shared_calls(Q())))
    costs, calls, cost = expected_costs(run, endpoint, sizes), 0, Decimal(0)
    for judge, model, judgments, together in counts:
        count = together if judge in sizes else judgments
        calls += count
        cost += count * costs[model, sizes.get(judge, 1)]
    return calls, cost
