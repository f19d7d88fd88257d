"""Batches that need attention, the expected cost of their judgments, and lists of them."""

from datetime import timedelta
from decimal import Decimal
from math import ceil
from statistics import fmean

from django.db.models import Avg, Count, Exists, OuterRef, Q, QuerySet
from django.utils import timezone

from judges.core.models import Batch, Judge, Judgment, Run
from judges.endpoints.prices import prices_of
from judges.endpoints.queries import estimated_tokens
from judges.runs.queries.work import work_of

ATTENDED = (Run.Status.RUNNING, Run.Status.CANCELLED, Run.Status.FINISHED)
CAUTION = Decimal("1.1")  # by which a batch may cost more than the mean of earlier answers says
SAMPLED = 16  # number of prompts measured if a judge has not answered yet
SOONEST, LATEST = timedelta(seconds=5), timedelta(minutes=1)


def pause_before_look(age: timedelta) -> timedelta:
    """Return the pause before polling a batch, by its age: 5 s initially, then longer, up to 1 min."""
    return min(max(age / 12, SOONEST), LATEST)


def open_batches(run: Run) -> QuerySet[Batch]:
    """Return a run's batches that were neither collected nor failed."""
    return Batch.objects.filter(run=run, closed_at__isnull=True)


def due_batches() -> QuerySet[Batch]:
    """Return the batches that need a worker now: open, due, and without a holder."""
    now = timezone.now()
    free = Q(held_until__isnull=True) | Q(held_until__lt=now)
    attended = Q(run__status__in=ATTENDED) | Q(run__resumes_until__gt=now)
    return Batch.objects.filter(free, attended, closed_at__isnull=True, due_at__lte=now)


def runs_with_due_batches() -> list[int]:
    """Return the runs with due batches, or with judgments in no batch."""
    due = due_batches().filter(run=OuterRef("pk"))
    planned = Judgment.objects.filter(run=OuterRef("pk"), status=Judgment.Status.PLANNED)
    waiting = Q(Exists(due)) | Q(Exists(planned), status=Run.Status.RUNNING)
    return list(Run.objects.filter(waiting, via=Run.Via.BATCH).values_list("pk", flat=True))


def batches_of(run: Run) -> list[Batch]:
    """Return a run's batches in order, with their endpoints. One query."""
    return list(Batch.objects.filter(run=run).select_related("endpoint").order_by("created_at"))


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
    """Return the expected cost of a judgment in a batch:

    the mean of the judge's answers plus a tenth, or a guess.

    The guess, made before there are answers, counts some of the prompts and the longest reply. None if prices
    are unknown.
    """
    assert judge.endpoint is not None
    prices = prices_of(judge.endpoint, judge.model).in_batches()
    if (mean := _mean_usage(judge)) is not None:
        cost = prices.cost(*mean)
        return None if cost is None else CAUTION * cost
    planned = Judgment.objects.filter(run=run, judge=judge, status=Judgment.Status.PLANNED)
    sample = work_of(list(planned.order_by("pk").values_list("pk", flat=True)[:SAMPLED]))
    if not sample:
        return None
    length = fmean(estimated_tokens(work.question.messages) for work in sample)
    cost = prices.cost(ceil(length), judge.max_tokens)
    size = len(sample[0].together)  # what one request gives has a share each
    return None if cost is None else cost / size


def _mean_usage(judge: Judge) -> tuple[int, int] | None:
    """Return the mean tokens of one call, in and out; a judgment may have had two calls."""
    answered = judge.judgments.filter(input_tokens__isnull=False, output_tokens__isnull=False)
    mean = answered.aggregate(sent=Avg("input_tokens"), got=Avg("output_tokens"))
    return None if mean["sent"] is None else (ceil(mean["sent"]), ceil(mean["got"]))
