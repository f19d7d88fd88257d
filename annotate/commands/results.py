"""Computing results and keeping them: at once, or by a worker where there is much to compute."""

import logging
from time import perf_counter

from django.db import transaction
from django.utils import timezone

from annotate.exporting.snapshot import snapshot
from annotate.models import ComputedResult, Project
from annotate.queries.agreement import Drawn
from annotate.queries.results.kept import ASKED_AGAIN_AFTER, RESTS, sections_to
from annotate.results_pages import ResultsPage, meant_by, name_of, version_of

logger = logging.getLogger(__name__)


def compute_page(*, project: Project, page: ResultsPage, drawn: Drawn) -> None:
    """Compute a page of one state of the data, and keep it instead of what was kept."""
    began = perf_counter()
    with snapshot():
        version = version_of(page, project)
        content = sections_to(page.sections(project, drawn))
    _keep(project, name_of(page, drawn), version, content, perf_counter() - began)


def keep_plot(*, project: Project, name: str, version: str, content: str) -> None:
    """Keep a plot instead of the one of earlier data."""
    _keep(project, name, version, content, 0)


@transaction.atomic
def ask_for_page(*, project: Project, page: ResultsPage, drawn: Drawn) -> int | None:
    """Note that a page is wanted; return what to tell a worker, None where one was told a moment ago.

    Locks its row. Whatever a worker was told is told again after ten minutes; what was computed within the
    last half minute is not wanted again yet, so that a busy Round I does not keep workers busy.
    """
    name = name_of(page, drawn)
    ComputedResult.objects.get_or_create(project=project, name=name)
    row = ComputedResult.objects.select_for_update().get(project=project, name=name)
    now = timezone.now()
    if row.asked_at is not None and now - row.asked_at < ASKED_AGAIN_AFTER:
        return None
    if row.computed_at is not None and now - row.computed_at < RESTS:
        return None
    row.asked_at = now
    row.save(update_fields=["asked_at"])
    return row.pk


def compute_asked(*, result_id: int) -> None:
    """Compute a page that was asked for; one that is gone or already there is left alone."""
    asked = ComputedResult.objects.filter(pk=result_id, asked_at__isnull=False)
    row = asked.select_related("project").first()
    if row is None:
        return
    page, drawn = meant_by(row.name)
    try:
        compute_page(project=row.project, page=page, drawn=drawn)
    except Exception as error:
        logger.exception("Results %s could not be computed", row.pk)
        problem = f"An error stopped the computing ({type(error).__name__}). The worker's log says more."
        ComputedResult.objects.filter(pk=row.pk).update(problem=problem, asked_at=None)
        raise


def _keep(project: Project, name: str, version: str, content: str, seconds: float) -> None:
    ComputedResult.objects.update_or_create(
        project=project,
        name=name,
        defaults={
            "version": version,
            "content": content,
            "computed_at": timezone.now(),
            "seconds": seconds,
            "asked_at": None,
            "problem": "",
        },
    )
