"""A worker's bounded turns at runs.

A slice runs in a thread of its own. Whoever began it waits until its time is up and no longer, whatever the
calls in flight do: these end under their leases, and the slice ends with the last of them.
"""

import asyncio
import logging
import sys
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from threading import Event, Thread

from judges.runs.pacing import ConsecutiveRefusals
from judges.runs.pipeline import Pipeline, Share

# While many calls are answered, the database's thread waits for that of the event loop at each statement:
# 5 ms by default, so that answers waited to be stored longer than they had taken, and places were empty.
SWITCH_INTERVAL = 0.0005  # seconds
_refusals: defaultdict[tuple[int, int], ConsecutiveRefusals] = defaultdict(ConsecutiveRefusals)
_models_without_n: defaultdict[tuple[int, str], set[str]] = defaultdict(set)  # of an endpoint and address
_stopping = Event()
logger = logging.getLogger(__name__)
_slices: set["Slice"] = set()


class Slice:
    """Shares of a run that are worked on for some seconds; calls that are in flight then may take longer."""

    def __init__(self, shares: Sequence[Share], *, seconds: float) -> None:
        self._shares = shares
        self._until = time.monotonic() + seconds
        self._handed_over = Event()
        self._error: BaseException | None = None
        self._thread = Thread(target=self._work, name="slice", daemon=True)

    def run(self) -> None:
        """Work in a thread of its own, and return when the slice was handed over, or its time is up."""
        sys.setswitchinterval(SWITCH_INTERVAL)
        _slices.add(self)
        self._thread.start()
        self._handed_over.wait(max(0.0, self._until - time.monotonic()))
        if self._error is not None:
            raise self._error

    def wait(self) -> None:
        """Wait until its last call has ended."""
        self._thread.join()

    def _work(self) -> None:
        try:
            asyncio.run(work(self._shares, until=self._until, hand_over=self._handed_over.set))
        except BaseException as error:
            if self._handed_over.is_set():
                raise
            self._error = error  # for whoever waits
        finally:
            self._handed_over.set()
            _slices.discard(self)


async def work(shares: Sequence[Share], *, until: float, hand_over: Callable[[], None]) -> None:
    """Work on shares at the same time; hand over when each of them only has calls in flight to end."""
    left = len(shares)

    def hand_over_one() -> None:
        nonlocal left
        left -= 1
        if not left:
            hand_over()

    async def work_on(share: Share) -> None:
        handed_over = False

        def once() -> None:
            nonlocal handed_over
            if not handed_over:
                handed_over = True
                hand_over_one()

        pipeline = Pipeline(
            share,
            until=until,
            stopping=_stopping.is_set,
            hand_over=once,
            refusals=_refusals[share.run, share.endpoint],
            models_without_n=_models_without_n[share.endpoint, share.server.base_url],
        )
        await pipeline.work()
        once()

    await asyncio.gather(*map(work_on, shares))


def drain() -> None:
    """Begin no more calls in this process, and wait for those in flight: the worker is about to stop."""
    _stopping.set()
    logger.warning("This worker stops: it begins no more calls and stores those in flight.")
    wait_for_calls()


def wait_for_calls() -> None:
    """Wait until the slices that were handed over have ended."""
    for each in list(_slices):
        each.wait()
