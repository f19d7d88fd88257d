"""A worker's part of a run: everything that it can ask now, on all of the run's endpoints at once."""

import asyncio

from judges.attending import attend, server_of
from judges.commands.leases import is_under_way, stop_run
from judges.errors import KeyMissingError
from judges.models import Batch, Endpoint, Judgment, Run
from judges.pipeline import Pipeline, Share
from judges.queries.batches import ATTENDED
from judges.queries.runs import goes_on
from judges.work import Prices


def collect(*, run: int, seconds: float) -> bool:
    """Ask for up to `seconds`; return whether the run still goes on and needs more.

    A run through the batch interface has all done that is due, and needs more when waking says so.
    """
    if Run.objects.filter(pk=run, via=Run.Via.BATCH).exists():
        attend(run=run)
        return False
    endpoints = Endpoint.objects.filter(judges__judgments__run=run).distinct()
    try:
        shares = [_share(run, endpoint) for endpoint in endpoints]
    except KeyMissingError as error:
        stop_run(Run(pk=run), error.message)
        return False
    asyncio.run(_work(shares, seconds))
    return needs_work(run)


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
        prices=Prices(endpoint.input_price, endpoint.output_price),
    )


async def _work(shares: list[Share], seconds: float) -> None:
    await asyncio.gather(*(Pipeline(share, seconds=seconds).work() for share in shares))
