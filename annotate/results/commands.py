"""Computing and storing results: at once, or by a worker if there is much to compute."""

import logging
from time import perf_counter

from django.db import transaction
from django.db.models import Count, Q
from django.utils import timezone

from annotate.core.database import is_in_snapshot, snapshot, write_if_possible
from annotate.core.errors import DomainError
from annotate.core.jobs import JobKind, own_row, wake_worker
from annotate.core.models import ChangeCount, ComputedResult, Project, Round
from annotate.results.queries.kept import KeptPage, load_kept_page, rest_of, sections_to
from annotate.results.registry import Result, result_called, version_of

MOST_ASSUMPTIONS = 60
"""Maximum number of stored pages and plots with a user's own numbers, per project and page."""
CHANGES_AT_ONCE = 20_000
logger = logging.getLogger(__name__)


def current_page(*, project: Project, result: Result) -> KeptPage:
    """Return the results for the current data: the stored ones, else compute and store them.

    For commands, exports and decisions, which wait; a page of the browser enqueues a worker task instead.
    """
    kept = load_kept_page(project, result, version_of(result, project))
    return kept if kept.is_current else compute_page(project=project, result=result)


def compute_page(*, project: Project, result: Result) -> KeptPage:
    """Compute a result of one state of the data, replace the stored one, and return it.

    Inside another snapshot, such as an export's, it is from that state, and cannot be stored.
    """
    began = perf_counter()
    with snapshot():
        version = version_of(result, project)
        sections = result.page.sections(project, result.chosen)
    row = ComputedResult(
        project=project,
        name=result.name,
        version=version,
        content=sections_to(sections),
        computed_at=timezone.now(),
        seconds=perf_counter() - began,
    )
    if not is_in_snapshot():
        write_if_possible(lambda: _keep(row, is_limited=result.assumes))
    return KeptPage(row, version, sections)


def keep_plot(*, project: Project, name: str, version: str, content: str) -> None:
    """Keep a plot instead of the one of earlier data."""
    now = timezone.now()
    row = ComputedResult(project=project, name=name, version=version, content=content, computed_at=now)
    write_if_possible(lambda: _keep(row))


@transaction.atomic
def ask_for_page(*, project: Project, result: Result) -> int | None:
    """Enqueue the computation of a result; return its key, None if enqueued recently. Locks its row.

    A recently computed result rests first, see `rest_of`, so that a busy round does not keep workers busy.
    """
    is_changing = project.rounds.filter(status=Round.Status.OPEN).exists()
    # Many readers may ask at once: the row is there first, then the one with its lock decides.
    ComputedResult.objects.get_or_create(project=project, name=result.name)
    row = ComputedResult.objects.select_for_update().get(project=project, name=result.name)
    now = timezone.now()
    if row.asked_at is not None:
        return None
    if row.computed_at is not None and now - row.computed_at < rest_of(row, is_changing=is_changing):
        return None
    row.asked_at, row.heartbeat_at, row.lease, row.attempts, row.problem = now, now, None, 0, ""
    row.save(update_fields=["asked_at", "heartbeat_at", "lease", "attempts", "problem"])
    wake_worker(RESULT_JOB, row.pk)
    return row.pk


@transaction.atomic
def add_up_changes() -> None:
    """Replace the many rows that count a round's changes by one row with the same sum.

    Locks the rows, and skips rows that another worker is summing.
    """
    many = ChangeCount.objects.values_list("round", "source").annotate(rows=Count("pk")).filter(rows__gt=1)
    for round, source, _ in many.order_by("round", "source"):
        rows = ChangeCount.objects.filter(round=round, source=source).order_by("pk")[:CHANGES_AT_ONCE]
        found = dict(rows.select_for_update(skip_locked=True).values_list("pk", "number"))
        # A worker that skipped locked rows may have only one, whose sum would be the same row again.
        if len(found) > 1:
            ChangeCount.objects.filter(pk__in=list(found)).delete()
            ChangeCount.objects.create(round_id=round, source=source, number=sum(found.values()))


def _compute(row: ComputedResult) -> None:
    result = result_called(row.project, row.name)
    # Read first: if data change during the computation, the reason counts for the earlier data only.
    version = version_of(result, row.project)
    try:
        compute_page(project=row.project, result=result)
    except DomainError:
        # The reason holds for this version of the data; a later version is computed again.
        ComputedResult.objects.filter(pk=row.pk).update(version=version, content="")
        raise


RESULT_JOB = JobKind(
    "result",
    ComputedResult,
    _compute,
    does="computes a page of results",
    reason="problem",
    related=("project",),
    condition=lambda: Q(asked_at__isnull=False),
    clock="heartbeat_at",
    stop=lambda row, problem: own_row(row).update(problem=problem, asked_at=None, lease=None),
)


def _keep(row: ComputedResult, *, is_limited: bool = False) -> None:
    """Store a result instead of the one of earlier data.

    is_limited: True to keep only the latest pages of its name.
    """
    ComputedResult.objects.update_or_create(
        project=row.project,
        name=row.name,
        defaults={
            "version": row.version,
            "content": row.content,
            "computed_at": row.computed_at,
            "seconds": row.seconds,
            # A stored result needs no task.
            "asked_at": None,
            "heartbeat_at": None,
            "lease": None,
            "problem": "",
        },
    )
    if is_limited:
        # The number of possible assumptions is unlimited.
        page, _, _ = row.name.partition("?")
        kept = ComputedResult.objects.filter(project=row.project, name__startswith=f"{page}?", asked_at=None)
        latest = kept.order_by("-computed_at").values_list("pk", flat=True)[:MOST_ASSUMPTIONS]
        kept.exclude(pk__in=list(latest)).delete()
