"""Leasing judgments to a worker and writing back what came of them, in short transactions.

A lease is the right to ask a judgment until a moment. A worker that dies keeps nothing: when its leases have
ended, the next worker of the endpoint or the sweeper plans these judgments again. Only the holder of a lease
can write its outcome, so each is written once.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, fields
from datetime import datetime, timedelta
from decimal import Decimal
from itertools import chain
from uuid import UUID

from django.db import connection, transaction
from django.db.models import Exists, F, OuterRef, Q, QuerySet, Value
from django.db.models.expressions import Combinable
from django.db.models.functions import Coalesce
from django.utils import timezone

from annotate.webhooks.commands import announce
from judges.core.models import Batch, Endpoint, Judge, Judgment, Run
from judges.endpoints.work import Call, Outcome, Prices
from judges.runs.commands import askers
from judges.runs.commands.askers import LEASE
from judges.runs.commands.budgets import used_up
from judges.runs.commands.earlier_answers import give_back_answers
from judges.runs.commands.first_judgments import explain_stopped_judges, note_first_judgments
from judges.runs.queries.affordable import affordable_calls
from judges.runs.queries.batches import open_batches
from judges.runs.queries.runs import orphaned_leases
from judges.runs.queries.shared import SharedCalls, first_calls, shared_calls

WINDOW = timedelta(seconds=6)  # period of an endpoint's rate limits
RUN_FINISHED, RUN_STOPPED = "run.finished", "run.stopped"  # events of webhooks


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
    locked = Run.objects.select_for_update().get(pk=run)
    if locked.status != Run.Status.RUNNING:
        return Leased([], has_ended=True)
    if locked.looked_up_to is not None:  # a stored answer costs nothing: see commands.reusing
        return Leased([])
    server = Endpoint.objects.select_for_update().get(pk=endpoint)
    if server.next_probe_at is not None:
        return Leased([], has_ended=True, server_is_silent=True)
    if not askers.hold_endpoint(endpoint=server, run=run, holder=holder):
        return Leased([], has_ended=True)
    now = timezone.now()
    askers.free_abandoned(run=locked, at=now, besides=holder)
    planned = Judgment.objects.filter(run=run, judge=OuterRef("pk"), status=Judgment.Status.PLANNED)
    own = Judge.with_candidates.filter(endpoint=server).order_by("pk")
    judges = dict(own.values_list("pk", Exists(planned)))
    untried = judges.keys() & set(locked.untried_judges or ())
    if locked.via == Run.Via.BATCH:
        judges = {judge: has_planned for judge, has_planned in judges.items() if judge in untried}
    judgments = Judgment.objects.filter(run=run, judge__in=judges)
    if not any(judges.values()) and not judgments.filter(status=Judgment.Status.LEASED).exists():
        return Leased([])
    shared = shared_calls(locked)
    affordable = affordable_calls(locked, server, how_many, shared.sizes)
    in_flight = judgments.filter(status=Judgment.Status.LEASED).exists() or open_batches(locked).exists()
    if affordable == 0 and locked.budget and not in_flight:
        stop_run(locked, used_up(locked.budget))
        return Leased([])
    room, allowed = min(how_many, affordable), _allowed_now(server, how_many)
    if allowed < how_many:  # a window's requests are for all runs
        room = min(room, -(-allowed // runs))
    taken: list[Sequence[int]] = []
    waiting = [judge for judge, has_planned in judges.items() if has_planned]
    untried &= set(waiting)
    if untried:
        asked = judgments.filter(judge__in=untried, status=Judgment.Status.LEASED)
        busy = set(asked.order_by().values_list("judge", flat=True).distinct())
        waiting = [judge for judge in waiting if judge not in busy]
    if waiting and room > 0:
        first = turn % len(waiting)
        in_turn = [*waiting[first:], *waiting[:first]]
        alone = _first_calls_of(server, untried)
        taken = _take_in_turn(judgments, in_turn, alone, room, holder, shared, now)
    _count_against_limits(server, len(taken))
    return Leased(
        list(chain.from_iterable(taken)),
        come_back=bool(taken) or room <= 0 or bool(untried),
        counts_tokens=server.tokens_per_minute is not None,
        untried=frozenset(untried),
    )


def is_under_way(judgments: QuerySet[Judgment]) -> bool:
    """Return True if any of the judgments is planned or leased."""
    return (
        judgments.filter(status=Judgment.Status.PLANNED).exists()
        or judgments.filter(status=Judgment.Status.LEASED).exists()
    )


@transaction.atomic
def store(
    *,
    run: int,
    endpoint: int,
    holder: UUID,
    outcomes: Sequence[Outcome],
    prices_of: Callable[[str], Prices],
    counts_tokens: bool = True,
) -> int:
    """Write outcomes of leases that this holder still has; return the number written.

    prices_of: returns the prices of a model. If a repeated call has failed, the earlier answer remains. The
    cost counts for the run even without the lease: the call has been paid.
    """
    now = timezone.now()
    prices = {model: prices_of(model) for model in {each.model for each in outcomes}}
    costs = [
        prices[each.model].cost(each.input_tokens, each.output_tokens, each.cached_tokens)
        for each in outcomes
    ]
    rows = [_row(each, cost, now, holder) for each, cost in zip(outcomes, costs, strict=True)]
    with connection.cursor() as cursor:
        cursor.executemany(_WRITE, rows)  # type: ignore[arg-type]
        written = int(cursor.rowcount)
    failed = [each.judgment for each in outcomes if each.status == Judgment.Status.FAILED]
    if failed:
        give_back_answers(Judgment.objects.filter(pk__in=failed, status=Judgment.Status.FAILED))
    firsts = [each for each in outcomes if each.first_of is not None]
    if firsts:
        note_first_judgments(run=run, outcomes=firsts)
    spent = sum((cost for cost in costs if cost is not None), Decimal(0))
    savings = _note_savings(outcomes, prices)
    if spent or savings:
        Run.objects.filter(pk=run).update(spent=F("spent") + spent, **savings)
    if counts_tokens:
        tokens = sum((each.input_tokens or 0) + (each.output_tokens or 0) for each in outcomes)
        Endpoint.objects.filter(pk=endpoint, tokens_per_minute__isnull=False).update(
            window_tokens=F("window_tokens") + tokens
        )
    return written


def _note_savings(outcomes: Sequence[Outcome], prices: Mapping[str, Prices]) -> dict[str, Combinable]:
    """Return cached tokens and savings as an update of the run; empty if no server reports any."""
    told = [(each.cached_tokens, prices[each.model]) for each in outcomes if each.cached_tokens is not None]
    if not told:
        return {}
    savings = [(cached, of_model.savings(cached)) for cached, of_model in told]
    unpriced = sum(cached for cached, saved in savings if saved is None)
    return {
        "cached_tokens": Coalesce("cached_tokens", Value(0)) + sum(cached for cached, _ in savings),
        "cached_tokens_unpriced": F("cached_tokens_unpriced") + unpriced,
        "cache_savings": F("cache_savings") + sum((saved or Decimal(0) for _, saved in savings), Decimal(0)),
    }


@transaction.atomic
def renew(*, endpoint: int, runs: Sequence[int], holder: UUID) -> bool:
    """Let the holder's leases run from now on: of the endpoint, and of judgments of these runs.

    Return whether the endpoint is still its own. Locks the endpoint.
    """
    server = Endpoint.objects.select_for_update().filter(pk=endpoint).first()
    if server is None or not askers.hold_endpoint(endpoint=server, run=runs[0], holder=holder):
        return False
    held = Judgment.objects.filter(run__in=runs, lease=holder, status=Judgment.Status.LEASED)
    held.update(leased_until=timezone.now() + LEASE)
    return True


def give_back(*, holder: UUID, judgments: Collection[int]) -> None:
    """Plan again what the holder has leased and will not ask."""
    held = Judgment.objects.filter(pk__in=judgments, lease=holder, status=Judgment.Status.LEASED)
    held.update(status=Judgment.Status.PLANNED, lease=None, leased_until=None)


@transaction.atomic
def sweep() -> int:
    """Free judgments without a living holder, in every state of the run; return their number.

    In a run that continues, or may resume, they are planned again. In an ended run they are removed from the
    plan, or a new plan would count them as existing. A delayed worker gets the period of another lease.
    Batches have separate holds.
    """
    long_ago, freed = timezone.now() - LEASE, 0
    abandoned = Judgment.objects.filter(orphaned_leases(long_ago), status=Judgment.Status.LEASED)
    abandoned = abandoned.exclude(Exists(Batch.objects.filter(pk=OuterRef("lease"))))
    runs = set(abandoned.values_list("run", flat=True).distinct())
    for run in Run.objects.select_for_update().filter(pk__in=runs).order_by("pk"):
        freed += askers.free_abandoned(run=run, at=long_ago)
        if run.status in Run.OVER:
            end_plan(run)
    askers.forget_the_dead()
    return freed


def end_plan(run: Run) -> None:
    """Remove the rest of a run's plan; judgments unreadable once and due for another call stay unreadable.

    Judgments that a person requested again keep their earlier answers.
    """
    planned = Judgment.objects.filter(run=run, status=Judgment.Status.PLANNED)
    planned.filter(reason__gt="").update(status=Judgment.Status.UNREADABLE)
    give_back_answers(planned)
    planned.delete()


def let_rest(*, endpoint: int, until: datetime) -> None:
    """Keep until when a server asked to wait, for the next worker and for probes."""
    Endpoint.objects.filter(Q(resting_until__isnull=True) | Q(resting_until__lt=until), pk=endpoint).update(
        resting_until=until
    )


@transaction.atomic
def finish_if_done(*, run: int) -> None:
    """Finish a running run without planned or leased judgments. Locks the run.

    A run with a judge that the server rejects stops, so that a person is notified and can resume it. Each
    worker calls this after storing its last outcome, so the last one sees all of them. Judgments returned
    from a cancelled run are not planned again.
    """
    locked = Run.objects.select_for_update().get(pk=run)
    if locked.status == Run.Status.CANCELLED:
        end_plan(locked)
    if locked.status == Run.Status.RUNNING and not is_under_way(Judgment.objects.filter(run=run)):
        if reason := explain_stopped_judges(locked):
            stop_run(locked, reason)
            return
        locked.status, locked.finished_at = Run.Status.FINISHED, timezone.now()
        locked.save(update_fields=["status", "finished_at"])
        announce(locked.project_id, RUN_FINISHED, {"run": locked.pk})


def finish_left_undone() -> None:
    """Finish runs whose last worker stored or returned everything and died before finishing the run.

    No other worker claims them: a running one has nothing open, and a cancelled one has ended.
    """
    judgments = Judgment.objects.filter(run=OuterRef("pk"))
    planned = judgments.filter(status=Judgment.Status.PLANNED)
    leased = judgments.filter(status=Judgment.Status.LEASED)
    through = Q(~Exists(planned), ~Exists(leased), status=Run.Status.RUNNING)
    given_back = Q(Exists(planned), status=Run.Status.CANCELLED)
    for run in Run.objects.filter(through | given_back).order_by("pk").values_list("pk", flat=True):
        finish_if_done(run=run)


@transaction.atomic
def stop_run(run: Run, reason: str, *, waits_for: Endpoint | None = None) -> None:
    """Stop a running run for a reason that a person must see; other runs do not change.

    waits_for: the endpoint whose next answer resumes the run, within the period set by the endpoint. Locks
    the run.
    """
    locked = Run.objects.select_for_update().filter(pk=run.pk, status=Run.Status.RUNNING).first()
    if locked is None:
        return
    now = timezone.now()
    locked.status, locked.reason, locked.finished_at = Run.Status.STOPPED, reason, now
    if waits_for is not None and waits_for.resume_hours:
        locked.waits_for, locked.resumes_until = waits_for, now + timedelta(hours=waits_for.resume_hours)
    locked.told_at, locked.mail_due_at, locked.mail_attempts = None, now, 0
    changed = ("status", "reason", "finished_at", "waits_for", "resumes_until")
    locked.save(update_fields=[*changed, "told_at", "mail_due_at", "mail_attempts"])
    until = locked.resumes_until and locked.resumes_until.isoformat()
    announce(locked.project_id, RUN_STOPPED, {"run": locked.pk, "resumes_until": until})


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
    planned = judgments.select_for_update(skip_locked=True).filter(status=Judgment.Status.PLANNED)
    calls: list[Sequence[int]] = []
    for before, judge in enumerate(judges):
        share = -(-(how_many - len(calls)) // (len(judges) - before))
        if share > 0:
            of_judge = planned.filter(judge=judge).order_by("pk")
            calls += first_calls(of_judge, alone.get(judge, share), shared)
    Judgment.objects.filter(pk__in=list(chain.from_iterable(calls))).update(
        status=Judgment.Status.LEASED, lease=holder, leased_until=now + LEASE
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


def _count_against_limits(server: Endpoint, calls: int) -> None:
    if server.requests_per_minute or server.tokens_per_minute:
        server.window_requests += calls
        server.save(update_fields=["window_began_at", "window_requests", "window_tokens"])


_CALL = tuple(field.name for field in fields(Call))
_COLUMNS = (
    *_CALL,
    "steps",
    "steps_done",
    "status",
    "attempts",
    "value",
    "data",
    "rationale",
    "reply",
    "reason",
    "problem",
    "input_tokens",
    "output_tokens",
    "cached_tokens",
    "reasoning_tokens",
    "cost",
    "seconds",
    "answered_at",
    "log_probabilities",
)
_WRITE = (
    f"UPDATE {Judgment._meta.db_table} SET {', '.join(f'{name} = %s' for name in _COLUMNS)}, "
    "lease = NULL, leased_until = NULL WHERE id = %s AND lease = %s"
)


def _row(outcome: Outcome, cost: Decimal | None, now: datetime, holder: UUID) -> list[object]:
    was_put_back = outcome.status == Judgment.Status.PLANNED and not outcome.reason
    answered_at = None if was_put_back else now
    values = {
        **outcome.__dict__,
        **outcome.call.__dict__,
        **_add_earlier_spending(outcome, cost),
        "steps_done": outcome.steps_done,
        "answered_at": answered_at,
    }
    fields = [Judgment._meta.get_field(name) for name in _COLUMNS]
    adapted = [
        field.get_db_prep_save(values[field.name], connection)  # type: ignore[union-attr]
        for field in fields
    ]
    lease_field = Judgment._meta.get_field("lease")
    return [*adapted, outcome.judgment, lease_field.get_db_prep_save(holder, connection)]


def _add_earlier_spending(outcome: Outcome, cost: Decimal | None) -> dict[str, object]:
    """Return tokens and cost including an unreadable reply that an earlier slice stored."""
    earlier = outcome.earlier
    if earlier is None:
        return {"cost": cost}
    return {
        "input_tokens": earlier.input_tokens + (outcome.input_tokens or 0),
        "output_tokens": earlier.output_tokens + (outcome.output_tokens or 0),
        "cached_tokens": _sum(earlier.cached_tokens, outcome.cached_tokens),
        "reasoning_tokens": _sum(earlier.reasoning_tokens, outcome.reasoning_tokens),
        "cost": None if earlier.cost is None else earlier.cost + (cost or Decimal(0)),
    }


def _sum(earlier: int | None, now: int | None) -> int | None:
    return None if earlier is None and now is None else (earlier or 0) + (now or 0)
