"""Batches in the database: their holders, their judgments and their results.

A batch leases its judgments for the provider's retention of replies, and releases each when its reply is
stored or the batch ends. One worker at a time processes a batch; if it dies, another continues from the same
step.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from datetime import timedelta
from decimal import Decimal
from itertools import chain, groupby
from math import ceil
from operator import itemgetter
from statistics import fmean
from threading import Event, Thread
from typing import Any
from uuid import UUID

from django.db import OperationalError, connections, transaction
from django.db.models import Count, F, QuerySet, Sum
from django.utils import timezone
from django.utils.translation import gettext

from judges.core.models import Batch, Judge, Judgment, Run
from judges.endpoints.failures import RequestFailed
from judges.endpoints.prices import prices_of
from judges.endpoints.queries import estimated_tokens
from judges.endpoints.questions import Reply, shares_of
from judges.endpoints.work import Earlier, JudgmentWork, Outcome, Prices
from judges.runs.asking import MAX_ATTEMPTS, outcome_of_reply
from judges.runs.commands import endings, outcomes
from judges.runs.commands.endings import pause_if_unreadable, used_up
from judges.runs.commands.outcomes import give_back_answers
from judges.runs.queries.calls import LOOKED_THROUGH, SharedCalls, group_by_call, shared_calls
from judges.runs.queries.plans import mean_usage
from judges.runs.queries.runs import due_batches, open_batches
from judges.runs.queries.samples import among
from judges.runs.queries.work import earlier_use, work_of

MOST_REQUESTS = 50_000  # in one file, at OpenAI
# retention of replies at the provider; a batch leases its judgments for this period
KEPT = timedelta(days=30)
HELD = timedelta(seconds=20)  # that a batch waits after the worker that was at it died
HELD_ANEW_EVERY = 5.0  # seconds; three of them may fail
Status = Judgment.Status
Said = Mapping[int, Reply | RequestFailed]
"""The replies or failures of judgments in a batch's output."""
FREE: dict[str, Any] = {"lease": None, "leased_until": None, "attempts": F("attempts") + 1}
"""How a judgment leaves a batch that had no reply to it."""
CAUTION = Decimal("1.1")  # by which a batch may cost more than the mean of earlier answers says
SAMPLED = 16  # number of prompts measured if a judge has not answered yet


class HoldLost(Exception):  # noqa: N818 - it reads as what happened
    """Another worker holds the batch now, because this one was silent for too long."""


@transaction.atomic
def take(*, run: int, holder: UUID) -> Batch | None:
    """Return a due batch of the run, now locked for this holder. Locks the run."""
    # The lock is the run's, as in all code here: a worker that waited for it sees the other's hold, and
    # continues with the next batch.
    Run.objects.select_for_update().get(pk=run)
    batch = due_batches().filter(run=run).order_by("due_at").first()
    if batch is None:
        return None
    batch.holder, batch.held_until = holder, timezone.now() + HELD
    batch.save(update_fields=["holder", "held_until"])
    return batch


@transaction.atomic
def begin(*, run: int, holder: UUID) -> Batch | None:
    """Lease judgments of one model to a new batch, within the limits of the budget and the file.

    Locks the run.

    None if no judgment is due. A judge is skipped until its first judgment is answered. The run stops when
    its budget does not allow one more request.
    """
    # Two workers would lease the same planned judgments, and each spend the remaining budget.
    locked = Run.objects.select_for_update().get(pk=run)
    if locked.status != Run.Status.RUNNING or locked.looked_up_to is not None:
        return None
    untried = locked.untried_judges or ()
    planned = [each for each in planned_by_judge(locked) if each[0].pk not in untried]
    for (endpoint, model), group in groupby(sorted(planned, key=_group), key=_group):
        # Judgments may still return from a batch that is collected; then all are requested again together.
        same = open_batches(locked).filter(endpoint=endpoint, model=model)
        if not same.filter(status=Batch.Status.COLLECTING).exists():
            judges = list(group)
            chosen, cost = _affordable(locked, judges)
            if chosen:
                return _new_batch(locked, judges[0][0], chosen, cost, holder)
    # An open batch may cost less than its reservation, which frees a part of the budget.
    if planned and locked.budget and not open_batches(locked).exists():
        endings.stop_run(locked, used_up(locked.budget))
    return None


def _group(planned: tuple[Judge, int]) -> tuple[int, str]:
    judge = planned[0]
    assert judge.endpoint_id is not None
    return judge.endpoint_id, judge.model


def _affordable(run: Run, planned: Sequence[tuple[Judge, int]]) -> tuple[list[int], Decimal | None]:
    """Return the first judgments of each judge within the file and the budget, and their maximum cost."""
    room, left = MOST_REQUESTS, _remaining_budget(run)
    shared = shared_calls(run)
    chosen: list[int] = []
    costs: list[Decimal | None] = []
    for judge, count in planned:
        each, size = expected_cost(run, judge), shared.sizes.get(judge.pk, 1)
        # A request about a few of a judge's dimensions is paid like one about all of them.
        calls = int(left / (each * size)) if left is not None and each else room
        first, asked = _first_that_fit(run, judge, min(count, room), calls, shared)
        if first:
            cost = None if each is None else each * size * asked
            chosen += first
            costs.append(cost)
            # Each judge takes its share of the file and the budget before the next one.
            room -= len(first)
            if left is not None:
                left -= cost or 0
        if len(first) < count:  # the file or the budget is full: cheaper judges behind do not overtake
            break
    return chosen, None if None in costs else sum((cost for cost in costs if cost), Decimal(0))


def _first_that_fit(
    run: Run, judge: Judge, room: int, calls: int, shared: SharedCalls
) -> tuple[list[int], int]:
    """Return a judge's planned judgments in the first calls, and the number of calls that these cost.

    Judgments of one request are included all or none.
    """
    planned = Judgment.objects.filter(run=run, judge=judge, status=Status.PLANNED).order_by("pk")
    size, most = shared.sizes.get(judge.pk), min(room, calls)
    if most <= 0:
        return [], 0
    if judge.pk not in shared.judges:
        return list(planned.values_list("pk", flat=True)[:most]), most
    # A call about a document counts once for each of its judgments.
    limit = most if size is None else room
    kept: list[int] = []
    asked = 0
    # Rows beyond the room show whether the last call fits with all of its judgments.
    rows = planned[: limit + (size or LOOKED_THROUGH)]
    for members in group_by_call(rows, shared.judges).values():
        is_full = len(kept) + len(members) > limit or asked == calls
        # The first request about a document always goes in, or a file would never contain a larger one.
        if is_full and (kept or size):
            break
        kept += members
        asked += 1
    return kept, asked if size else most


def _remaining_budget(run: Run) -> Decimal | None:
    """Return the budget that is neither spent nor reserved for open batches; None without a budget."""
    if run.budget is None:
        return None
    kept = open_batches(run).aggregate(sum=Sum("expected_cost"))["sum"]
    # Calls may cost more than their estimate, so the remainder could fall below 0.
    return max(run.budget - run.spent - (kept or Decimal(0)), Decimal(0))


def _new_batch(run: Run, judge: Judge, chosen: list[int], cost: Decimal | None, holder: UUID) -> Batch:
    # All judges of a batch have the endpoint and model of this one, as `begin` groups them.
    now = timezone.now()
    assert judge.endpoint is not None
    batch = Batch.objects.create(
        run=run,
        endpoint=judge.endpoint,
        model=judge.model,
        requests=len(chosen),
        expected_cost=cost,
        due_at=now,
        holder=holder,
        held_until=now + HELD,
    )
    Judgment.objects.filter(pk__in=among(chosen)).update(
        status=Status.LEASED, lease=batch.pk, leased_until=now + KEPT
    )
    return batch


def judgments_in(batch: Batch) -> QuerySet[Judgment]:
    """Return the judgments of a batch without an outcome yet."""
    return Judgment.objects.filter(run=batch.run_id, status=Status.LEASED, lease=batch.pk)


def calls_in(batch: Batch) -> list[list[int]]:
    """Return the judgments of each call of a batch; they may be far apart in the order of the plan."""
    judgments = judgments_in(batch).order_by("pk")
    return list(group_by_call(judgments, shared_calls(batch.run).judges).values())


@contextmanager
def hold_batch(batch: Batch) -> Iterator[None]:
    """Renew the hold on a batch during a step, and release it at the end."""
    # From a thread, since an upload or a download is one call of many minutes that nothing interrupts.
    # Every write asks for the holder: if another worker took the batch over, holding and letting go change
    # nothing.
    done = Event()
    mine = Batch.objects.filter(pk=batch.pk, holder=batch.holder)

    def hold() -> None:
        try:
            while not done.wait(HELD_ANEW_EVERY):
                with suppress(OperationalError):  # a busy database may have time at the next turn
                    mine.all().update(held_until=timezone.now() + HELD)
        finally:
            connections.close_all()

    thread = Thread(target=hold, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()
        mine.all().update(holder=None, held_until=None)


def note(batch: Batch, **fields: Any) -> None:
    """Write new fields of a batch; raises HoldLost if another worker holds it by now."""
    # Compared and set in one statement, so that it needs no lock during a call to the provider.
    if not Batch.objects.filter(pk=batch.pk, holder=batch.holder).update(**fields):
        raise HoldLost
    for name, value in fields.items():
        setattr(batch, name, value)


@transaction.atomic
def shorten(batch: Batch, *, without: Sequence[Sequence[int]]) -> None:
    """Release the judgments of calls that did not fit into the file to later batches."""
    _free(judgments_in(batch).filter(pk__in=among(list(chain.from_iterable(without)))))


def store(*, batch: Batch, said: Said) -> None:
    """Write a batch's outputs for some judgments.

    An unreadable reply is requested again if it may vary, a request without a reply up to MAX_ATTEMPTS times;
    both return to the plan until then. A request with rejected content has failed. Pauses a run with too many
    unreadable replies.
    """
    # A worker without the hold does no harm here: only judgments still in the batch are written, once.
    said = _split_by_judgment(batch, said)
    replies = {pk: each for pk, each in said.items() if isinstance(each, Reply)}
    run = Run.objects.get(pk=batch.run_id)
    held = {row.pk: row for row in judgments_in(batch).filter(pk__in=replies)}
    prices = prices_of(batch.endpoint, batch.model).in_batches()
    outcomes = []
    for work in work_of(list(held)):  # read before rows are locked, for it takes longest
        earlier, outcome = earlier_use(held[work.judgment]), outcome_of_reply(work, replies[work.judgment])
        outcome = _add_usage_before(earlier, outcome, prices)
        outcomes.append(_second_chance(work, outcome, run))
    failures = {pk: each for pk, each in said.items() if isinstance(each, RequestFailed)}
    refused = {pk: each for pk, each in failures.items() if each.problem}
    unanswered = sorted((each.sentence, pk) for pk, each in failures.items() if pk not in refused)
    with transaction.atomic():
        _store_replies(batch, outcomes, prices)
        for pk, failed in refused.items():
            problem = failed.problem.value if failed.problem else ""
            _fail(judgments_in(batch).filter(pk=pk), failed.sentence, problem)
        # One update for each reason, of which many judgments may share one.
        for sentence, group in groupby(unanswered, key=itemgetter(0)):
            _put_back(judgments_in(batch).filter(pk__in=[pk for _, pk in group]), sentence)
    # After the transaction: an error here cannot undo the replies, which are paid.
    if any(outcome.status == Status.UNREADABLE for outcome in outcomes):
        pause_if_unreadable(run=batch.run_id)


def _split_by_judgment(batch: Batch, said: Said) -> Said:
    """Return the result for each judgment of a request, whose key is the first of them, with their shares."""
    shared = shared_calls(batch.run).judges
    if not shared:
        return said
    held = judgments_in(batch).order_by("pk")
    # Judgments of one request are about one document, so only these documents are searched.
    documents = held.filter(pk__in=said).values("item__document")
    sharing = held.filter(judge__in=list(shared), item__document__in=documents)
    each_judgment = dict(said)
    for first, *rest in group_by_call(sharing, shared).values():
        of_first = said.get(first)
        # An older batch may have several requests about these judgments, and each reply was paid.
        others = [judgment for judgment in rest if judgment not in said]
        if isinstance(of_first, Reply):
            shares = shares_of(of_first, 1 + len(others))
            each_judgment |= zip((first, *others), shares, strict=True)
        elif of_first is not None:
            each_judgment |= dict.fromkeys(others, of_first)
    return each_judgment


def _store_replies(batch: Batch, answered: Sequence[Outcome], prices: Prices) -> None:
    """Write outcomes of judgments that the batch still holds.

    Locks the run, so that each reply counts once.
    """
    Run.objects.select_for_update().get(pk=batch.run_id)
    # `outcomes.store` counts the cost also for expired leases, because the call was paid. The same output of
    # a batch may be read twice, by two workers or after a crash, and is paid once.
    wanted = [outcome.judgment for outcome in answered]
    held = set(judgments_in(batch).filter(pk__in=wanted).values_list("pk", flat=True))
    kept = [outcome for outcome in answered if outcome.judgment in held]
    outcomes.store(
        run=batch.run_id,
        endpoint=batch.endpoint_id,
        holder=batch.pk,
        outcomes=kept,
        prices_of=lambda _: prices,
    )


def _add_usage_before(earlier: Earlier | None, outcome: Outcome, prices: Prices) -> Outcome:
    """Let the usage of earlier replies to the same judgment count; an unknown part makes the sum unknown.

    Also of a reply that a later failure replaced, so it comes from the row and not from the work.
    """
    if earlier is None or outcome.input_tokens is None or outcome.output_tokens is None:
        return outcome
    return replace(outcome, earlier=earlier if prices.are_known else replace(earlier, cost=None))


def _second_chance(work: JudgmentWork, outcome: Outcome, run: Run) -> Outcome:
    """Plan a first unreadable reply again, unless the next one would be the same."""
    again = outcome.attempts % MAX_ATTEMPTS and run.status != Run.Status.CANCELLED
    first = work.unreadable is None and work.may_vary
    if outcome.status == Status.UNREADABLE and first and again:
        return replace(outcome, status=Status.PLANNED)
    return outcome


def _put_back(judgments: QuerySet[Judgment], sentence: str) -> None:
    """Plan judgments without a reply again, or give them up after the maximum number of calls."""
    reason = gettext("{calls} calls failed. The last one: {reason}").format(
        calls=MAX_ATTEMPTS, reason=sentence
    )
    _fail(judgments.annotate(asked=F("attempts") % MAX_ATTEMPTS).filter(asked=MAX_ATTEMPTS - 1), reason)
    judgments.update(status=Status.PLANNED, **FREE)


def _fail(judgments: QuerySet[Judgment], reason: str, problem: str = "") -> None:
    """End judgments without a reply; the ones with an unreadable reply stay unreadable."""
    found = list(judgments.values_list("pk", flat=True))
    # Each update removes its rows from `judgments`, because their lease ends.
    judgments.filter(reason__gt="").update(status=Status.UNREADABLE, **FREE)
    judgments.update(status=Status.FAILED, reason=reason, problem=problem, answered_at=timezone.now(), **FREE)
    if found:
        give_back_answers(Judgment.objects.filter(pk__in=among(found), status=Status.FAILED))


@transaction.atomic
def close(batch: Batch, *, without_reply: str) -> None:
    """Mark a batch as collected; judgments missing from its output had no reply. Locks the run."""
    run = Run.objects.select_for_update().get(pk=batch.run_id)
    _put_back(judgments_in(batch), without_reply)
    # Last: where another worker is at the batch, HoldLost undoes the above with the transaction.
    note(batch, status=Batch.Status.COLLECTED, closed_at=timezone.now())
    if run.status == Run.Status.CANCELLED:
        endings.end_plan(run)


@transaction.atomic
def drop(batch: Batch, reason: str) -> None:
    """Give up a lost batch, and plan its judgments again. Locks the run."""
    run = Run.objects.select_for_update().get(pk=batch.run_id)
    _free(judgments_in(batch))
    note(batch, status=Batch.Status.FAILED, closed_at=timezone.now(), reason=reason)
    if run.status == Run.Status.CANCELLED:
        endings.end_plan(run)


def _free(judgments: QuerySet[Judgment]) -> None:
    judgments.update(status=Status.PLANNED, lease=None, leased_until=None)


def make_due(run: Run) -> None:
    """Make a run's open batches due now, with the initial patience."""
    open_batches(run).update(due_at=timezone.now(), failures=0, failing_since=None)


def planned_by_judge(run: Run) -> list[tuple[Judge, int]]:
    """Return the judges with judgments in no batch, and their number, the oldest judgments first."""
    rows = (
        Judgment.objects.filter(run=run, status=Judgment.Status.PLANNED)
        .values_list("judge")
        .annotate(count=Count("pk"))
        .order_by("judge")
    )
    counts = dict(rows)
    judges = Judge.with_candidates.filter(pk__in=counts, endpoint__isnull=False).select_related("endpoint")
    return [(judge, counts[judge.pk]) for judge in judges.order_by("pk")]


def expected_cost(run: Run, judge: Judge) -> Decimal | None:
    """Return the expected cost of a judgment in a batch: the mean of the judge's answers plus a tenth.

    Before there are answers it is a guess, which counts some of the prompts and the longest reply. None if
    prices are unknown.
    """
    assert judge.endpoint is not None
    prices = prices_of(judge.endpoint, judge.model).in_batches()
    if used := mean_usage([judge]).get(judge.pk):
        cost = prices.cost(ceil(used.input_tokens), ceil(used.output_tokens))
        return None if cost is None else CAUTION * cost
    planned = Judgment.objects.filter(run=run, judge=judge, status=Judgment.Status.PLANNED)
    sample = work_of(list(planned.order_by("pk").values_list("pk", flat=True)[:SAMPLED]))
    if not sample:
        return None
    length = fmean(estimated_tokens(work.question.messages) for work in sample)
    cost = prices.cost(ceil(length), judge.max_tokens)
    size = len(sample[0].together)  # what one request gives has a share each
    return None if cost is None else cost / size
