"""A worker's part of a run: everything that it can ask now, on all of the run's endpoints at once."""

import asyncio
import time

from django.db.models import Exists, OuterRef

from judges.core.errors import KeyMissingError
from judges.core.models import Batch, Endpoint, Judge, Judgment, Run
from judges.endpoints.keys import server_of
from judges.endpoints.prices import EndpointPrices
from judges.runs.batch_worker import work_on_batches
from judges.runs.commands.leases import is_under_way, stop_run
from judges.runs.commands.reusing import reuse_answers
from judges.runs.pipeline import Share
from judges.runs.probing import probe_silent_servers
from judges.runs.queries.batches import ATTENDED
from judges.runs.queries.runs import goes_on
from judges.runs.slices import Slice, work


def collect(*, run: int, seconds: float) -> bool:
    """Ask for up to `seconds`, wait for the calls in flight; return whether the run needs more.

    A run through the batch interface has all done that is due, and is due again when a batch is polled next.
    """
    until = time.monotonic() + seconds
    shares = _shares(run, seconds)
    if shares is None:
        return False
    asyncio.run(work(shares, until=until, hand_over=lambda: None))
    if _uses_batches(run):
        work_on_batches(run=run, seconds=until - time.monotonic())
        return False
    return needs_work(run)


def collect_slice(*, run: int, seconds: float) -> None:
    """Ask for up to `seconds` and return then; calls in flight end in a thread of their own."""
    until = time.monotonic() + seconds
    shares = _shares(run, seconds)
    if shares:
        Slice(shares, seconds=max(until - time.monotonic(), 0)).run()
    if shares is not None and _uses_batches(run):
        work_on_batches(run=run, seconds=until - time.monotonic())


def _uses_batches(run: int) -> bool:
    return Run.objects.filter(pk=run, via=Run.Via.BATCH).exists()


def _shares(run: int, seconds: float) -> list[Share] | None:
    """Return what to ask at each endpoint that answers; None where a key is missing.

    Before, judgments are answered from what is stored, where the run wants that; nothing is asked until all
    were looked up. A run through the batch interface asks the first judgment of each judge by a call.
    """
    probe_silent_servers(run=run)
    if not reuse_answers(run=run, seconds=seconds):
        return []
    found = Run.objects.filter(pk=run).first()
    if found is None:  # its project was deleted meanwhile
        return None
    of_run = Judgment.objects.filter(run=run, judge=OuterRef("pk"))
    asked = Judge.with_candidates.filter(Exists(of_run), project=found.project_id)
    if found.via == Run.Via.BATCH:
        asked = asked.filter(pk__in=found.untried_judges or [])
    endpoints = Endpoint.objects.filter(pk__in=asked.values("endpoint"), next_probe_at__isnull=True)
    try:
        return [_share(run, endpoint) for endpoint in endpoints.order_by("pk")]
    except KeyMissingError as error:
        stop_run(found, error.message)
        return None


def needs_work(run: int) -> bool:
    """Return whether a run is running and has judgments that nobody has answered, or has open batches."""
    if goes_on(run) and is_under_way(Judgment.objects.filter(run=run)):
        return True
    return Batch.objects.filter(run=run, closed_at__isnull=True, run__status__in=ATTENDED).exists()


def _share(run: int, endpoint: Endpoint) -> Share:
    return Share(
        run=run,
        endpoint=endpoint.pk,
        server=server_of(endpoint),
        prices=EndpointPrices(endpoint),
    )
