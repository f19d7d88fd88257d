"""A worker's part of a run: all calls that are possible now, on all of the run's endpoints concurrently."""

import time

from django.db.models import Exists, OuterRef
from django.utils import timezone

from judges.core.errors import KeyMissingError
from judges.core.models import Batch, Endpoint, Judge, Judgment, LeaseHolder, Run
from judges.endpoints.keys import server_of
from judges.runs.asker import call_endpoints, call_in_background
from judges.runs.batch_worker import work_on_batches
from judges.runs.commands.endings import is_under_way, stop_run
from judges.runs.commands.reusing import reuse_answers
from judges.runs.commands.silence import probe_silent_servers
from judges.runs.queries.runs import ATTENDED, goes_on


def collect(*, run: int, seconds: float) -> bool:
    """Ask for up to `seconds`, wait for the calls in flight; return whether the run needs more.

    Other runs are worked on where they ask the same endpoints. A run through the batch interface has all done
    that is due, and is due again when a batch is polled next.
    """
    until = time.monotonic() + seconds
    endpoints = _endpoints_of(run, seconds)
    if endpoints is None:
        return False
    call_endpoints(endpoints, run=run, seconds=until - time.monotonic())
    if _uses_batches(run):
        work_on_batches(run=run, seconds=until - time.monotonic())
        return False
    return needs_work(run)


def start_collecting(*, run: int, seconds: float) -> None:
    """Call the run's endpoints in the background, where no worker does so; do what is due for its batches.

    seconds: how long the look for stored answers and the work on batches may take.
    """
    until = time.monotonic() + seconds
    endpoints = _endpoints_of(run, seconds)
    if endpoints is None:
        return
    call_in_background(endpoints, run=run)
    if _uses_batches(run):
        work_on_batches(run=run, seconds=until - time.monotonic())


def _uses_batches(run: int) -> bool:
    return Run.objects.filter(pk=run, via=Run.Via.BATCH).exists()


def _endpoints_of(run: int, seconds: float) -> list[Endpoint] | None:
    """Return the endpoints to call that answer and that no worker calls; None where a key is missing.

    Before, judgments are answered from what is stored, where the run wants that; nothing is asked until all
    were looked up. A run through the batch interface asks the first judgment of each judge by a call.
    """
    probe_silent_servers(run=run)
    if not reuse_answers(run=run, seconds=seconds):
        # The lookup needs another turn, and until its end no call starts.
        return []
    found = Run.objects.filter(pk=run).first()
    if found is None:  # its project was deleted in the meantime
        return None
    of_run = Judgment.objects.filter(run=run, judge=OuterRef("pk"))
    asked = Judge.with_candidates.filter(Exists(of_run), project=found.project_id)
    if found.via == Run.Via.BATCH:
        asked = asked.filter(pk__in=found.untried_judges or [])
    answering = Endpoint.objects.filter(pk__in=asked.values("endpoint"), next_probe_at__isnull=True)
    # A worker that calls the endpoint already finds this run by itself.
    called = LeaseHolder.objects.filter(endpoint=OuterRef("pk"), alive_until__gte=timezone.now())
    # Each key is read here, where a missing one can stop the run with its message.
    try:
        for endpoint in answering:
            server_of(endpoint)
    except KeyMissingError as error:
        stop_run(found, error.message)
        return None
    return list(answering.filter(~Exists(called)).order_by("pk"))


def needs_work(run: int) -> bool:
    """Return True if a run is running and has unanswered judgments, or has open batches."""
    if goes_on(run) and is_under_way(Judgment.objects.filter(run=run)):
        return True
    return Batch.objects.filter(run=run, closed_at__isnull=True, run__status__in=ATTENDED).exists()
