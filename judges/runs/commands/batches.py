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
from itertools import accumulate, chain, groupby, islice
from math import ceil
from operator import itemgetter
from statistics import fmean
from threading import Event, Thread
from typing import Any
from uuid import UUID

from django.db import OperationalError, connections, transaction
from django.db.models import Count, F, QuerySet, Sum, Value
from django.db.models.expressions import Combinable, RawSQL
from django.db.models.functions import Coalesce
from django.utils import timezone
from django.utils.translation import gettext

from judges.core.models import Batch, Judge, Judgment, Run
from judges.endpoints.failures import RequestFailed
from judges.endpoints.prices import prices_of
from judges.endpoints.queries import estimated_tokens
from judges.endpoints.questions import Reply, shares_of
from judges.endpoints.work import JudgmentWork, Outcome
from judges.runs.asking import MAX_ATTEMPTS, outcome_of_reply
from judges.runs.commands import endings, outcomes
from judges.runs.commands.endings import pause_if_unreadable, used_up
from judges.runs.commands.outcomes import give_back_answers
from judges.runs.queries.calls import LOOKED_THROUGH, group_by_call, shared_calls, sizes_of_calls
from judges.runs.queries.plans import mean_usage
from judges.runs.queries.runs import due_batches, open_batches
from judges.runs.queries.samples import among
from judges.runs.queries.work import work_of

MOST_REQUESTS = 50_000  # in one file, at OpenAI
# retention of replies at the provider; a batch leases its judgments for this period
KEPT = timedelta(days=30)
HELD = timedelta(seconds=20)  # that a batch waits after the worker that was at it died
HELD_ANEW_EVERY = 5.0  # seconds; three of them may fail
Status = Judgment.Status
Said = Mapping[int, Reply | RequestFailed]
"""The replies or failures of judgments in a batch's output."""
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
            shares, cost = _affordable(locked, list(group))
            if shares:
                return _new_batch(locked, shares, cost, holder)
    # An open batch may cost less than its reservation, which frees a part of the budget.
    if planned and locked.budget and not open_batches(locked).exists():
        endings.stop_run(locked, used_up(locked.budget))
    return None


def _group(planned: tuple[Judge, int]) -> tuple[int, str]:
    judge = planned[0]
    assert judge.endpoint_id is not None
    return judge.endpoint_id, judge.model


def _affordable(
    run: Run, planned: Sequence[tuple[Judge, int]]
) -> tuple[list[tuple[Judge, int]], Decimal | None]:
    """Return the number of judgments of each judge within the file and the budget, and their maximum cost."""
    room, left = MOST_REQUESTS, _remaining_budget(run)
    sizes = shared_calls(run).sizes
    shares: list[tuple[Judge, int]] = []
    costs: list[Decimal | None] = []
    for judge, count in planned:
        each, size = expected_cost(run, judge), sizes.get(judge.pk, 1)
        # A request about a few of a judge's dimensions is paid like one about all of them.
        calls = int(left / (each * size)) if left is not None and each else room
        fit, asked = _first_that_fit(run, judge, min(count, room), calls, sizes)
        if fit:
            cost = None if each is None else each * size * asked
            shares.append((judge, fit))
            costs.append(cost)
            # Each judge takes its share of the file and the budget before the next one.
            room -= fit
            if left is not None:
                left -= cost or 0
        if fit < count:  # the file or the budget is full: cheaper judges behind do not overtake
            break
    return shares, None if None in costs else sum((cost for cost in costs if cost), Decimal(0))


def _first_that_fit(
    run: Run, judge: Judge, room: int, calls: int, sizes: Mapping[int, int]
) -> tuple[int, int]:
    """Return the number of a judge's planned judgments in the first calls, and the number of these calls."""
    if judge.pk not in sizes:
        fit = min(room, calls)
        return fit, fit
    # Rows beyond the room show whether the last call fits with all of its judgments.
    planned = Judgment.objects.filter(run=run, judge=judge, status=Status.PLANNED).order_by("pk")
    given = map(len, group_by_call(planned[: room + sizes[judge.pk]], {judge.pk}).values())
    sums = [fit for fit in islice(accumulate(given), calls) if fit <= room]
    return (sums[-1], len(sums)) if sums else (0, 0)


def _remaining_budget(run: Run) -> Decimal | None:
    """Return the budget that is neither spent nor reserved for open batches; None without a budget."""
    if run.budget is None:
        return None
    kept = open_batches(run).aggregate(sum=Sum("expected_cost"))["sum"]
    return max(run.budget - run.spent - (kept or Decimal(0)), Decimal(0))


def _new_batch(run: Run, shares: Sequence[tuple[Judge, int]], cost: Decimal | None, holder: UUID) -> Batch:
    # All judges of a batch have the same endpoint and model, as `begin` groups them.
    now, judge = timezone.now(), shares[0][0]
    assert judge.endpoint is not None
    batch = Batch.objects.create(
        run=run,
        endpoint=judge.endpoint,
        model=judge.model,
        requests=sum(count for _, count in shares),
        expected_cost=cost,
        due_at=now,
        holder=holder,
        held_until=now + HELD,
    )
    for of, count in shares:
        planned = Judgment.objects.filter(run=run, judge=of, status=Status.PLANNED).order_by("pk")
        shares_calls = of.asks_several or of.asks_of_documents
        first: Any = _first_whole(planned, of, count) if shares_calls else planned.values("pk")[:count]
        Judgment.objects.filter(pk__in=first).update(
            status=Status.LEASED, lease=batch.pk, leased_until=now + KEPT
        )
    return batch


def _first_whole(planned: QuerySet[Judgment], judge: Judge, count: int) -> RawSQL:
    """Return the first judgments of a judge; judgments of one request are included all or none."""
    kept: list[int] = []
    size = sizes_of_calls(Judge.with_candidates.filter(pk=judge.pk)).get(judge.pk, LOOKED_THROUGH)
    several, of_documents = ({judge.pk}, {}) if judge.asks_several else (set(), {judge.pk: judge})
    for members in group_by_call(planned[: count + size], several, of_documents).values():
        # The first request is taken in any case, or one larger than the limit would never be sent.
        if kept and len(kept) + len(members) > count:
            break
        kept += members
    return among(kept)


def judgments_in(batch: Batch) -> QuerySet[Judgment]:
    """Return the judgments of a batch without an outcome yet."""
    return Judgment.objects.filter(run=batch.run_id, status=Status.LEASED, lease=batch.pk)


def calls_in(batch: Batch) -> list[list[int]]:
    """Return the judgments of each call of a batch; they may be far apart in the order of the plan."""
    shared = shared_calls(batch.run)
    judgments = judgments_in(batch).order_by("pk")
    return list(group_by_call(judgments, shared.sizes, shared.of_documents).values())


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
    # The usage of earlier replies, which the write below replaces and `_add_usage_before` restores.
    before = {row.pk: row for row in judgments_in(batch).filter(pk__in=replies)}
    run = Run.objects.get(pk=batch.run_id)
    outcomes = [
        _second_chance(work, outcome_of_reply(work, replies[work.judgment]), run)
        for work in work_of(list(before))  # read before rows are locked, for it takes longest
    ]
    failures = {pk: each for pk, each in said.items() if isinstance(each, RequestFailed)}
    refused = {pk: each for pk, each in failures.items() if each.problem}
    unanswered = sorted((each.sentence, pk) for pk, each in failures.items() if pk not in refused)
    with transaction.atomic():
        _store_replies(batch, outcomes, before)
        for pk, failed in refused.items():
            # Mark judgments with rejected content as failed; an earlier unreadable reply stays.
            judgments = judgments_in(batch).filter(pk=pk)
            free: dict[str, Any] = {"lease": None, "leased_until": None, "attempts": F("attempts") + 1}
            problem = failed.problem.value if failed.problem else ""
            found = list(judgments.values_list("pk", flat=True))
            judgments.filter(reason__gt="").update(status=Status.UNREADABLE, **free)
            judgments.update(
                status=Status.FAILED,
                reason=failed.sentence,
                problem=problem,
                answered_at=timezone.now(),
                **free,
            )
            give_back_answers(Judgment.objects.filter(pk__in=found, status=Status.FAILED))
        # One update for each reason, of which many judgments may share one.
        for sentence, group in groupby(unanswered, key=itemgetter(0)):
            _put_back(judgments_in(batch).filter(pk__in=[pk for _, pk in group]), sentence)
    # After the transaction: an error here cannot undo the replies, which are paid.
    if any(outcome.status == Status.UNREADABLE for outcome in outcomes):
        pause_if_unreadable(run=batch.run_id)


def _split_by_judgment(batch: Batch, said: Said) -> Said:
    """Return the result for each judgment of a request, whose key is the first of them, with their shares."""
    shared = shared_calls(batch.run)
    several, of_documents = shared.sizes, shared.of_documents
    if not several and not of_documents:
        return said
    held = judgments_in(batch).order_by("pk")
    # Judgments of one request are about one document, so only these documents are searched.
    documents = held.filter(pk__in=said).values("item__document")
    sharing = held.filter(judge__in={*several, *of_documents}, item__document__in=documents)
    each_judgment = dict(said)
    for first, *rest in group_by_call(sharing, several, of_documents).values():
        of_first = said.get(first)
        # An older batch may have several requests about these judgments, and each reply was paid.
        others = [judgment for judgment in rest if judgment not in said]
        if isinstance(of_first, Reply):
            shares = shares_of(of_first, 1 + len(others))
            each_judgment |= zip((first, *others), shares, strict=True)
        elif of_first is not None:
            each_judgment |= dict.fromkeys(others, of_first)
    return each_judgment


def _store_replies(batch: Batch, answered: Sequence[Outcome], before: Mapping[int, Judgment]) -> None:
    """Write outcomes of judgments that the batch still holds.

    Locks the run, so that each reply counts once.
    """
    Run.objects.select_for_update().get(pk=batch.run_id)
    # `outcomes.store` counts the cost also for expired leases, because the call was paid. The same output of
    # a batch may be read twice, by two workers or after a crash, and is paid once.
    held = set(judgments_in(batch).filter(pk__in=before).values_list("pk", flat=True))
    kept = [outcome for outcome in answered if outcome.judgment in held]
    prices = prices_of(batch.endpoint, batch.model).in_batches()
    outcomes.store(
        run=batch.run_id,
        endpoint=batch.endpoint_id,
        holder=batch.pk,
        outcomes=kept,
        prices_of=lambda _: prices,
    )
    for outcome in kept:
        _add_usage_before(before[outcome.judgment])


def _second_chance(work: JudgmentWork, outcome: Outcome, run: Run) -> Outcome:
    """Plan a first unreadable reply again, unless the next one would be the same."""
    again = outcome.attempts % MAX_ATTEMPTS and run.status != Run.Status.CANCELLED
    first = work.unreadable is None and work.may_vary
    if outcome.status == Status.UNREADABLE and first and again:
        return replace(outcome, status=Status.PLANNED)
    return outcome


def _add_usage_before(row: Judgment) -> None:
    """Add the usage of earlier replies to the same judgment; an unknown part makes the sum unknown."""
    if row.input_tokens is None or row.output_tokens is None:
        return
    Judgment.objects.filter(pk=row.pk).update(
        input_tokens=F("input_tokens") + row.input_tokens,
        output_tokens=F("output_tokens") + row.output_tokens,
        cached_tokens=_plus("cached_tokens", row.cached_tokens),
        reasoning_tokens=_plus("reasoning_tokens", row.reasoning_tokens),
        cost=None if row.cost is None else F("cost") + row.cost,
    )


def _plus(column: str, before: int | None) -> Combinable:
    """Return a count of tokens plus earlier ones; a server may report it for one call and not for another."""
    return F(column) if before is None else Coalesce(column, Value(0)) + before


def _put_back(judgments: QuerySet[Judgment], sentence: str) -> None:
    """Plan judgments without a reply again, or give them up after the maximum number of calls."""
    free: dict[str, Any] = {"lease": None, "leased_until": None, "attempts": F("attempts") + 1}
    # Each update removes its rows from `judgments` (they are leased no more), so the next one applies to the
    # others: first the judgments with an unreadable reply, which stay unreadable, then the ones without any.
    tired = judgments.annotate(asked=F("attempts") % MAX_ATTEMPTS).filter(asked=MAX_ATTEMPTS - 1)
    tired.filter(reason__gt="").update(status=Status.UNREADABLE, **free)
    reason = gettext("{calls} calls failed. The last one: {reason}").format(
        calls=MAX_ATTEMPTS, reason=sentence
    )
    runs = set(tired.values_list("run", flat=True))
    tired.update(status=Status.FAILED, reason=reason, answered_at=timezone.now(), **free)
    if runs:
        give_back_answers(Judgment.objects.filter(run__in=runs, status=Status.FAILED))
    judgments.update(status=Status.PLANNED, **free)


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
