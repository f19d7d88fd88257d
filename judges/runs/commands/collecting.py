"""A worker's part of a run: everything that it can ask now, on all of the run's endpoints at once."""

import asyncio
import time

from judges.core.errors import KeyMissingError
from judges.core.models import Batch, Endpoint, Judgment, Run
from judges.endpoints.keys import server_of
from judges.endpoints.work import Prices
from judges.runs.batch_worker import work_on_batches
from judges.runs.commands.leases import is_under_way, stop_run
from judges.runs.commands.reusing import reuse_answers
from judges.runs.pipeline import Share
from judges.runs.probing import learn_names, probe_silent_servers
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
    return needs_work(run)


def collect_slice(*, run: int, seconds: float) -> None:
    """Ask for up to `seconds` and return then; calls in flight end in a thread of their own."""
    until = time.monotonic() + seconds
    shares = _shares(run, seconds)
    if shares:
        Slice(shares, seconds=max(until - time.monotonic(), 0)).run()


def _shares(run: int, seconds: float) -> list[Share] | None:
    """Return what to ask at each endpoint that answers; None where nothing is asked by single calls.

    Before, judgments are answered from what is stored, where the run wants that; nothing is asked until all
    were looked up.
    """
    probe_silent_servers(run=run)
    learn_names(run=run)
    if not reuse_answers(run=run, seconds=seconds):
        return []
    if Run.objects.filter(pk=run, via=Run.Via.BATCH).exists():
        work_on_batches(run=run, seconds=seconds)
        return None
    endpoints = Endpoint.objects.filter(judges__judgments__run=run, next_probe_at__isnull=True).distinct()
    try:
        return [_share(run, endpoint) for endpoint in endpoints]
    except KeyMissingError as error:
        stop_run(Run(pk=run), error.message)
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
        prices=Prices.of(endpoint),
    )
