"""Leases: one worker calls an endpoint at a time, and holds the judgments that it asks. Short transactions.

The lease of an endpoint is a `LeaseHolder`. Its key is also the lease of the judgments that the worker holds,
whatever their run. A worker that dies keeps nothing: when its leases have ended, the next worker of the
endpoint or the sweeper plans these judgments again. Only the holder of a lease can write its outcome
(`commands.outcomes`), so each is written once.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import chain
from uuid import UUID

from django.conf import settings
from django.db import transaction
from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet
from django.utils import timezone

from judges.core.models import Batch, Endpoint, Judge, Judgment, LeaseHolder, Run
from judges.runs.commands.endings import end_plan, stop_run, used_up
from judges.runs.queries.calls import (
    SharedCalls,
    affordable_calls,
    count_shared_calls,
    expected_costs,
    first_calls,
    shared_calls,
)
from judges.runs.queries.runs import open_batches, orphaned_leases

LEASE = timedelta(seconds=settings.LEASE_SECONDS)  # a living worker renews it well before
WINDOW = timedelta(seconds=6)  # period of an endpoint's rate limits
REMEMBERED = timedelta(hours=1)  # longer than the judgments of a dead worker wait to be planned again
Status = Judgment.Status
SMALLEST = Decimal("0.00000001")  # that is stored


def lock_endpoint(*, run: int, endpoint: int) -> Endpoint | None:
    """Lock a run, then its endpoint; return the endpoint, None if the run is gone.

    A lease refers to the run. Without the run's lock, taking a lease and resuming the run could deadlock.
    """
    if Run.objects.select_for_update().filter(pk=run).first() is None:
        return None
    return Endpoint.objects.select_for_update().get(pk=endpoint)


def hold_endpoint(*, endpoint: Endpoint, run: int | None, holder: UUID) -> bool:
    """Take the lease of an endpoint, or renew it; return whether it is this holder's.

    run: to which a new lease refers; None to renew only, if the caller has locked the endpoint alone.

    A worker that was silent for too long does not get it back from the next one. A worker of the version
    before counts all calls of the endpoint as taken and makes none; its lease keeps this one away, too. A
    probe keeps only a new worker away. With a run, the caller has called `lock_endpoint`.
    """
    now = timezone.now()
    # A probe has 0 slots, and does not stop a renewal by the worker that has the endpoint.
    others = LeaseHolder.objects.filter(endpoint=endpoint, alive_until__gte=now).exclude(pk=holder)
    if others.filter(calls_in_flight__gt=0).exists():
        return False
    kept = {"calls_in_flight": endpoint.calls_in_flight, "alive_until": now + LEASE}
    if not LeaseHolder.objects.filter(pk=holder).update(**kept):
        if run is None or others.exists():
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
    # One probe at a time answers whether the server is back.
    if others.filter(calls_in_flight=0).exists():
        return False
    # Old calls that still hang count for the endpoint's limit of calls.
    held = Judgment.objects.filter(lease__in=others.values("pk"), status=Status.LEASED)
    if held.count() >= endpoint.calls_in_flight:
        return False
    # As long as a call takes, for nothing renews the lease of a probe.
    until = now + timedelta(seconds=endpoint.timeout_seconds + 5)
    LeaseHolder.objects.create(pk=holder, run_id=run, endpoint=endpoint, calls_in_flight=0, alive_until=until)
    return True


def let_go(*, holder: UUID) -> None:
    """Give the endpoint to whichever worker takes it next."""
    LeaseHolder.objects.filter(pk=holder).delete()


@transaction.atomic(savepoint=False)
def free_abandoned(*, run: Run, at: datetime, besides: UUID | None = None) -> int:
    """Plan again what dead workers hold of a run, and count as spent what their calls may have cost.

    at: the moment by which they were dead. besides: the worker that asks, and so lives. Return the number of
    judgments. The caller has locked the run. Batches have holds of their own. A worker that was only held up
    stores its answers later, and these calls then count twice.
    """
    abandoned = Judgment.objects.filter(orphaned_leases(at), run=run, status=Status.LEASED)
    abandoned = abandoned.exclude(Exists(Batch.objects.filter(pk=OuterRef("lease"))))
    if besides is not None:
        abandoned = abandoned.exclude(lease=besides)
    held = abandoned.order_by().values("lease").distinct()
    # A probe has 0 slots, and so has a worker whose calls are all counted already.
    for holder in LeaseHolder.objects.filter(pk__in=held, calls_in_flight__gt=0).select_related("endpoint"):
        own = abandoned.filter(lease=holder.pk)
        calls, cost = _expected_calls(run, holder.endpoint, own)
        # The worker made up to `calls_in_flight` calls. Judgments that it leased ahead were in no call.
        everything = Judgment.objects.filter(lease=holder.pk, status=Status.LEASED).count()
        share = min(Decimal(1), Decimal(holder.calls_in_flight) / (everything - own.count() + calls))
        lost = (cost * share).quantize(SMALLEST)
        run.spent += lost
        Run.objects.filter(pk=run.pk).update(spent=F("spent") + lost)
        # The other runs of the worker share the rest: each call counts for one of them.
        LeaseHolder.objects.filter(pk=holder.pk).update(
            calls_in_flight=holder.calls_in_flight - round(share * calls)
        )
    return abandoned.update(status=Status.PLANNED, lease=None, leased_until=None)


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


@dataclass(frozen=True)
class Leased:
    """What a worker may ask now; `come_back` when there will be more for it, though not at once.

    `has_ended`: the run no longer goes on, or its `server_is_silent` (`commands.silence`), and what is leased
    already should not be asked either. `counts_tokens`: the endpoint limits tokens. `untried`: judges that
    are asked one judgment alone until one is answered.
    """

    judgments: Sequence[int]
    come_back: bool = False
    has_ended: bool = False
    server_is_silent: bool = False
    counts_tokens: bool = True
    untried: Collection[int] = frozenset()


@transaction.atomic
def lease(*, run: int, endpoint: int, holder: UUID, how_many: int, turn: int = 0, runs: int = 1) -> Leased:
    """Lease the judgments of up to `how_many` calls of a running run, for the worker that has the endpoint.

    As many as limits and budget allow. `turn`: which judge of the run comes first, for they take turns.
    `runs`: how many runs share the requests that the endpoint allows now. Of a judge without an answer one
    judgment is leased at a time, and in a run through the batch interface nothing else. Locks the run, then
    the endpoint, then each judgment that it takes.
    """
    # The run first, then the endpoint, as `lock_endpoint` does: the other order could deadlock with it.
    locked = Run.objects.select_for_update().get(pk=run)
    if locked.status != Run.Status.RUNNING:
        return Leased([], has_ended=True)
    if locked.looked_up_to is not None:  # a stored answer costs nothing: see commands.reusing
        return Leased([])
    server = Endpoint.objects.select_for_update().get(pk=endpoint)
    if server.next_probe_at is not None:
        return Leased([], has_ended=True, server_is_silent=True)
    # The lease ended while this worker was silent, and another worker has the endpoint.
    if not hold_endpoint(endpoint=server, run=run, holder=holder):
        return Leased([], has_ended=True)
    now = timezone.now()
    # Before the budget is read: lost calls count as spent, and their judgments join the plan.
    free_abandoned(run=locked, at=now, besides=holder)
    # The judges of this endpoint, each with whether it has planned judgments.
    planned = Judgment.objects.filter(run=run, judge=OuterRef("pk"), status=Status.PLANNED)
    own = Judge.with_candidates.filter(endpoint=server).order_by("pk")
    judges = dict(own.values_list("pk", Exists(planned)))
    untried = judges.keys() & set(locked.untried_judges or ())
    # Calls only test the first judgment of each judge; the batch interface asks the others.
    if locked.via == Run.Via.BATCH:
        judges = {judge: has_planned for judge, has_planned in judges.items() if judge in untried}
    judgments = Judgment.objects.filter(run=run, judge__in=judges)
    # Judgments in flight may return to the plan, so the worker comes back while there are any.
    if not any(judges.values()) and not judgments.filter(status=Status.LEASED).exists():
        return Leased([])
    shared = shared_calls(locked)
    affordable = affordable_calls(locked, server, how_many, shared.sizes)
    in_flight = judgments.filter(status=Status.LEASED).exists() or open_batches(locked).exists()
    # What is in flight may cost less than its reserve, which would leave room: so only an idle run stops.
    if affordable == 0 and locked.budget and not in_flight:
        stop_run(locked, used_up(locked.budget))
        return Leased([])
    room, allowed = min(how_many, affordable), _allowed_now(server, how_many)
    if allowed < how_many:  # a window's requests are for all runs
        room = min(room, -(-allowed // runs))
    taken: list[Sequence[int]] = []
    waiting = [judge for judge, has_planned in judges.items() if has_planned]
    untried &= set(waiting)
    # A judge whose first judgment is in a call waits until it is answered.
    if untried:
        asked = judgments.filter(judge__in=untried, status=Status.LEASED)
        busy = set(asked.order_by().values_list("judge", flat=True).distinct())
        waiting = [judge for judge in waiting if judge not in busy]
    if waiting and room > 0:
        # `turn` grows with the calls of the worker, so each lease starts with the next judge.
        first = turn % len(waiting)
        in_turn = [*waiting[first:], *waiting[:first]]
        alone = _first_calls_of(server, untried)
        taken = _take_in_turn(judgments, in_turn, alone, room, holder, shared, now)
    # Stores the new window, too, that `_allowed_now` may have begun.
    if server.requests_per_minute or server.tokens_per_minute:
        server.window_requests += len(taken)
        server.save(update_fields=["window_began_at", "window_requests", "window_tokens"])
    return Leased(
        list(chain.from_iterable(taken)),
        # The other judgments of an untried judge follow once its first one is answered.
        come_back=bool(taken) or room <= 0 or bool(untried),
        counts_tokens=server.tokens_per_minute is not None,
        untried=frozenset(untried),
    )


@transaction.atomic
def renew(*, endpoint: int, runs: Sequence[int], holder: UUID) -> bool:
    """Let the holder's leases run from now on: of the endpoint, and of judgments of these runs.

    Return whether the endpoint is still its own. Locks the endpoint. A lease that is gone is not made again:
    it would refer to a run, which this must not lock (`lock_endpoint`), because others may hold it for long.
    """
    server = Endpoint.objects.select_for_update().filter(pk=endpoint).first()
    if server is None or not hold_endpoint(endpoint=server, run=None, holder=holder):
        return False
    held = Judgment.objects.filter(run__in=runs, lease=holder, status=Status.LEASED)
    held.update(leased_until=timezone.now() + LEASE)
    return True


def give_back(*, holder: UUID, judgments: Collection[int]) -> None:
    """Plan again what the holder has leased and will not ask."""
    # Only its own ones: another worker may have leased some of them by now.
    held = Judgment.objects.filter(pk__in=judgments, lease=holder, status=Status.LEASED)
    held.update(status=Status.PLANNED, lease=None, leased_until=None)


@transaction.atomic
def sweep() -> int:
    """Free judgments without a living holder, in every state of the run; return their number.

    In a run that continues, or may resume, they are planned again. In an ended run they are removed from the
    plan, or a new plan would count them as existing. A delayed worker gets the period of another lease.
    Batches have separate holds.
    """
    long_ago, freed = timezone.now() - LEASE, 0
    abandoned = Judgment.objects.filter(orphaned_leases(long_ago), status=Status.LEASED)
    abandoned = abandoned.exclude(Exists(Batch.objects.filter(pk=OuterRef("lease"))))
    runs = set(abandoned.values_list("run", flat=True).distinct())
    # In the order of ids: two sweepers that lock in different orders could deadlock.
    for run in Run.objects.select_for_update().filter(pk__in=runs).order_by("pk"):
        freed += free_abandoned(run=run, at=long_ago)
        if run.status in Run.OVER:
            end_plan(run)
    LeaseHolder.objects.filter(alive_until__lt=timezone.now() - REMEMBERED).delete()
    return freed


def let_rest(*, endpoint: int, until: datetime) -> None:
    """Keep until when a server asked to wait, for the next worker and for probes."""
    Endpoint.objects.filter(Q(resting_until__isnull=True) | Q(resting_until__lt=until), pk=endpoint).update(
        resting_until=until
    )


def _take_in_turn(
    judgments: QuerySet[Judgment],
    judges: Sequence[int],
    alone: Mapping[int, int],
    how_many: int,
    holder: UUID,
    shared: SharedCalls,
    now: datetime,
) -> list[Sequence[int]]:
    """Lease the first planned judgments of each judge, in equal numbers; return them by calls.

    One query for each judge, because a single query would sort all planned judgments. The shortfall of a
    judge goes to the judges after it. alone: see `_first_calls_of`.
    """
    # Nothing waits for a row: another transaction that has it locked is about to take it from the plan.
    planned = judgments.select_for_update(skip_locked=True).filter(status=Status.PLANNED)
    calls: list[Sequence[int]] = []
    for before, judge in enumerate(judges):
        share = -(-(how_many - len(calls)) // (len(judges) - before))
        if share > 0:
            of_judge = planned.filter(judge=judge).order_by("pk")
            calls += first_calls(of_judge, alone.get(judge, share), shared)
    Judgment.objects.filter(pk__in=list(chain.from_iterable(calls))).update(
        status=Status.LEASED, lease=holder, leased_until=now + LEASE
    )
    return calls


def _first_calls_of(server: Endpoint, untried: Collection[int]) -> dict[int, int]:
    """Return the number of judgments in the first call, in the plan's order, for judges with a single test
    call.

    Several samples are requested together if all calls of the judge will do so.
    """
    if not untried:
        return {}
    sizes = {}
    for judge in Judge.with_candidates.filter(endpoint=server, pk__in=untried):
        together = judge.seed is None and not judge.asks_several and not judge.takes_steps
        sizes[judge.pk] = judge.samples if together and server.samples_in_one_call else 1
    return sizes


def _allowed_now(server: Endpoint, how_many: int) -> int:
    now = timezone.now()
    if server.resting_until and server.resting_until > now + timedelta(seconds=1):
        return 0
    if server.window_began_at is None or now >= server.window_began_at + _window(server):
        server.window_began_at, server.window_requests, server.window_tokens = now, 0, 0
    # Limits are per minute, and a window allows its share of them.
    share = _window(server) / timedelta(minutes=1)
    if server.tokens_per_minute and server.window_tokens >= server.tokens_per_minute * share:
        return 0
    if server.requests_per_minute:
        return min(how_many, max(int(server.requests_per_minute * share) - server.window_requests, 0))
    return how_many


def _window(server: Endpoint) -> timedelta:
    """Return the period of rate limits: long enough for one request."""
    if server.requests_per_minute:
        return max(WINDOW, timedelta(minutes=1) / server.requests_per_minute)
    return WINDOW
