"""Computing results and keeping them: at once, or by a worker where there is much to compute."""

import logging
from time import perf_counter

from django.db import transaction
from django.db.models import Count, F, Q, QuerySet
from django.utils import timezone

from annotate.core.errors import DomainError
from annotate.core.jobs import GAVE_UP, MAX_ATTEMPTS, MESSAGE_LOST_AFTER, SILENT_AFTER, heartbeat
from annotate.core.models import ChangeCount, ComputedResult, Project
from annotate.core.optional_writes import write_if_possible
from annotate.core.snapshot import in_snapshot, snapshot
from annotate.results.queries.kept import RESTS, KeptPage, kept_page, sections_to
from annotate.results.registry import Result, result_called, version_of

MOST_ASSUMPTIONS = 60
"""Pages and plots with somebody's own numbers that are kept of a project and a page."""
CHANGES_AT_ONCE = 20_000
logger = logging.getLogger(__name__)


def current_page(*, project: Project, result: Result) -> KeptPage:
    """Return the figures of the data as they are now: those that are kept, else computed and kept.

    For commands, exports and decisions, which wait; a page of the browser asks a worker instead.
    """
    kept = kept_page(project, result, version_of(result, project))
    return kept if kept.is_current else compute_page(project=project, result=result)


def compute_page(*, project: Project, result: Result) -> KeptPage:
    """Compute a result of one state of the data, keep it instead of what was kept, and return it.

    Inside somebody else's snapshot, such as an export's, it is of that state, and nothing can be kept.
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
    if not in_snapshot():
        write_if_possible(lambda: _keep_page(row, result))
    return KeptPage(row, version, sections)


def _keep_page(row: ComputedResult, result: Result) -> None:
    _keep(row)
    if result.assumes:
        _forget_old_assumptions(row)


def keep_plot(*, project: Project, name: str, version: str, content: str) -> None:
    """Keep a plot instead of the one of earlier data."""
    now = timezone.now()
    row = ComputedResult(project=project, name=name, version=version, content=content, computed_at=now)
    write_if_possible(lambda: _keep(row))


@transaction.atomic
def ask_for_page(*, project: Project, result: Result) -> int | None:
    """Note that a result is wanted; return the key for a worker's task, None where one was enqueued lately.

    Locks its row. A message that is lost is sent again, see `due_results`. What was computed within the last
    half minute is not wanted again yet, so that a busy Round I does not keep workers busy.
    """
    ComputedResult.objects.get_or_create(project=project, name=result.name)
    row = ComputedResult.objects.select_for_update().get(project=project, name=result.name)
    now = timezone.now()
    if row.asked_at is not None:
        return None
    if row.computed_at is not None and now - row.computed_at < RESTS:
        return None
    row.asked_at, row.heartbeat_at, row.attempts = now, None, 0
    row.save(update_fields=["asked_at", "heartbeat_at", "attempts"])
    return row.pk


def due_results() -> QuerySet[ComputedResult]:
    """Return the results that were asked for and wait although a message was sent, or whose worker died."""
    now = timezone.now()
    waits = Q(heartbeat_at=None, asked_at__lt=now - MESSAGE_LOST_AFTER)
    return ComputedResult.objects.filter(
        waits | Q(heartbeat_at__lt=now - SILENT_AFTER), asked_at__isnull=False
    ).order_by("pk")


@transaction.atomic
def add_up_changes() -> None:
    """Put one row in the place of the many that count a round's changes, which leaves their sum as it is.

    Locks the rows, and passes over those that another worker adds up.
    """
    many = ChangeCount.objects.values_list("round", "source").annotate(rows=Count("pk")).filter(rows__gt=1)
    for round, source, _ in many.order_by("round", "source"):
        rows = ChangeCount.objects.filter(round=round, source=source).order_by("pk")[:CHANGES_AT_ONCE]
        found = dict(rows.select_for_update(skip_locked=True).values_list("pk", "number"))
        if len(found) > 1:
            ChangeCount.objects.filter(pk__in=list(found)).delete()
            ChangeCount.objects.create(round_id=round, source=source, number=sum(found.values()))


def compute_asked(*, result_id: int) -> None:
    """Compute a result that was asked for; one that is there, or that a worker computes, is left alone."""
    now = timezone.now()
    asked = ComputedResult.objects.filter(pk=result_id, asked_at__isnull=False)
    free = asked.filter(Q(heartbeat_at=None) | Q(heartbeat_at__lt=now - SILENT_AFTER))
    if not free.update(heartbeat_at=now, attempts=F("attempts") + 1):
        return
    row = asked.select_related("project").first()
    if row is None:
        return
    if row.attempts > MAX_ATTEMPTS:
        _give_up(row, GAVE_UP)
        return
    with heartbeat(lambda: asked.update(heartbeat_at=timezone.now())):
        _compute_held(row)


def _compute_held(row: ComputedResult) -> None:
    try:
        compute_page(project=row.project, result=result_called(row.project, row.name))
    except DomainError as error:  # what was chosen is gone, or there is nothing to compute any more
        _give_up(row, error.message)
    except Exception as error:
        logger.exception("Results %s could not be computed", row.pk)
        _give_up(row, f"An error stopped the computing ({type(error).__name__}). The worker's log says more.")
        raise


def _give_up(row: ComputedResult, problem: str) -> None:
    ComputedResult.objects.filter(pk=row.pk).update(problem=problem, asked_at=None, heartbeat_at=None)


def _forget_old_assumptions(row: ComputedResult) -> None:
    """Keep the latest pages of a name only: there is no end of numbers that somebody may assume."""
    page, _, _ = row.name.partition("?")
    kept = ComputedResult.objects.filter(project=row.project, name__startswith=f"{page}?", asked_at=None)
    latest = kept.order_by("-computed_at").values_list("pk", flat=True)[:MOST_ASSUMPTIONS]
    kept.exclude(pk__in=list(latest)).delete()


def _keep(row: ComputedResult) -> None:
    ComputedResult.objects.update_or_create(
        project=row.project,
        name=row.name,
        defaults={
            "version": row.version,
            "content": row.content,
            "computed_at": row.computed_at,
            "seconds": row.seconds,
            "asked_at": None,
            "heartbeat_at": None,
            "problem": "",
        },
    )
