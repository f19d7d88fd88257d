"""The one worker that calls an endpoint, for all runs that need it.

It has the lease of the endpoint (`commands.leases`), and works on each run by a `Pipeline`. Runs that start
later join within half a second. The limits of the endpoint, its pauses and its pace are in its memory, and
stored for the worker after it. It ends when no run needs the endpoint, when the endpoint is silent, when its
settings were changed, or when the worker stops; calls in flight end before.
"""

import asyncio
import logging
import sys
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from functools import partial
from threading import Event, Lock, Thread, current_thread

from django.db import connections, transaction
from django.utils import timezone

from annotate.core.jobs import persistently
from judges.core.errors import KeyMissingError
from judges.core.models import Endpoint, ModelPace
from judges.endpoints.client import Client
from judges.endpoints.keys import server_of
from judges.endpoints.prices import EndpointPrices
from judges.runs.commands import leases, silence
from judges.runs.pacing import ConsecutiveRefusals, RateLimiter, Slowdown
from judges.runs.pipeline import CalledEndpoint, Pipeline
from judges.runs.queries.runs import runs_that_ask

LOOK_EVERY = 0.05  # seconds, as all below
RUNS_SOUGHT_EVERY = 0.5  # one query each time; a run that starts meanwhile waits no longer than this
MOST_AT_WORK = 16  # endpoints that one process calls; each takes two connections to the database
LET_ALONE = 5.0  # seconds, for a run that has nothing to ask now, or failed
RENEWED_EVERY = leases.LEASE.total_seconds() / 4  # a renewal may be late or fail before the lease ends
FAILURES_STORED_EVERY = 1.0  # when a server is away its calls fail by the hundred
# While many calls are answered, the database's thread waits for that of the event loop at each statement:
# 5 ms by default, so that answers waited to be stored longer than they had taken.
SWITCH_INTERVAL = 0.0005  # seconds
# In the process and not in an `Asker`, so that the next one continues the count.
_refusals: defaultdict[tuple[int, int], ConsecutiveRefusals] = defaultdict(ConsecutiveRefusals)
_models_without_n: defaultdict[tuple[int, str], set[str]] = defaultdict(set)  # of an endpoint and URL
_stopping = Event()
_at_work: dict[Thread, "Asker"] = {}
_at_work_lock = Lock()
logger = logging.getLogger(__name__)


class Asker:
    """Calls an endpoint while it has its lease.

    run: for which it was started. ends_with_run: whether it ends when that one needs no more calls. until:
    when it begins no more calls, on the monotonic clock. Raises KeyMissingError.
    """

    def __init__(
        self, endpoint: Endpoint, *, run: int, ends_with_run: bool = False, until: float = float("inf")
    ) -> None:
        server = server_of(endpoint)
        names = _models_without_n[endpoint.pk, server.base_url]
        limiter = RateLimiter(calls_in_flight=server.calls_in_flight, models_without_n=names)
        self.pk = endpoint.pk
        self._endpoint = CalledEndpoint(endpoint.pk, server, EndpointPrices(endpoint), limiter)
        self._run, self._ends_with_run, self._until = run, ends_with_run, until
        self._pipelines: dict[asyncio.Task[None], Pipeline] = {}
        self._let_alone: dict[int, float] = {}  # runs, with the moment until which they are
        self.is_over = False  # whether it makes no more calls
        self._last: defaultdict[str, float] = defaultdict(lambda: float("-inf"))  # when things were done
        self._error: BaseException | None = None

    async def work(self) -> None:
        """Take the endpoint and call it until it is over; nothing happens if another worker has it."""
        endpoint = self._endpoint
        try:
            if await endpoint.later(self._take_endpoint):
                endpoint.client = Client(endpoint.server)
                try:
                    await self._call()
                finally:
                    await endpoint.client.close()
                    await endpoint.later(self._store_failure)
                    await endpoint.later(partial(leases.let_go, holder=endpoint.holder))
        finally:
            # Django closes connections at the end of requests only, and this thread has none.
            await endpoint.later(connections.close_all)
            endpoint.database.shutdown()
        if self._error is not None:
            raise self._error

    async def _call(self) -> None:
        limiter = self._endpoint.limiter
        renewing = asyncio.create_task(self._keep_lease())
        try:
            while await self._start_pipelines() or self._pipelines:
                # Calls in flight end under the lease, which is renewed until then.
                if limiter.server_is_silent or _stopping.is_set() or time.monotonic() >= self._until:
                    self._begin_no_more()
                await self._store_limits()
                await asyncio.wait(
                    list(self._pipelines), timeout=LOOK_EVERY, return_when=asyncio.FIRST_COMPLETED
                )
                self._drop_ended()
        finally:
            # The lease is renewed until the pipelines have stored their outcomes: only its holder may write.
            for task in self._pipelines:
                task.cancel()
            await asyncio.gather(*self._pipelines, return_exceptions=True)
            renewing.cancel()
            await asyncio.gather(renewing, return_exceptions=True)

    async def _keep_lease(self) -> None:
        """Renew the lease until the last call has ended.

        It has a separate thread and connection: the database's thread may wait for the lock of one run, and
        the lease of all the others must not end in the meantime.
        """
        loop, thread = asyncio.get_running_loop(), ThreadPoolExecutor(1)
        try:
            while await loop.run_in_executor(thread, persistently, self._renew):
                await asyncio.sleep(RENEWED_EVERY)
        except Exception as error:
            logger.exception("The lease of endpoint %d cannot be renewed.", self.pk)
            self._error = self._error or error
        finally:
            self._begin_no_more()
            thread.submit(connections.close_all)
            # Off the loop: a renewal under way ends before the lease is let go, or it would come back.
            await loop.run_in_executor(None, thread.shutdown)

    def _take_endpoint(self) -> bool:
        endpoint = self._endpoint
        with transaction.atomic():
            locked = leases.lock_endpoint(run=self._run, endpoint=endpoint.pk)
            # The run was deleted with its project.
            if locked is None:
                return False
            if not leases.hold_endpoint(endpoint=locked, run=self._run, holder=endpoint.holder):
                return False
        endpoint.limiter.slowdowns = slowdowns_of(endpoint.pk)
        endpoint.limiter.resting_until = locked.resting_until.timestamp() if locked.resting_until else 0.0
        return True

    async def _start_pipelines(self) -> bool:
        """Start a pipeline for each run that has none; return whether any is started."""
        # Without a pipeline it looks at once: the answer decides whether this worker ends.
        if self.is_over or (self._pipelines and not self._is_due("sought", RUNS_SOUGHT_EVERY)):
            return False
        now = time.monotonic()
        self._let_alone = {run: until for run, until in self._let_alone.items() if until > now}
        # A run that was paused and resumed has a new pipeline beside the one whose last calls end.
        at_work = {pipeline.run for pipeline in self._pipelines.values() if not pipeline.is_ending}
        found = await self._endpoint.later(partial(runs_that_ask, self._endpoint.pk))
        new = [run for run in found if run not in at_work and run not in self._let_alone]
        # `call_endpoints` waits for this run: without more of its calls, the worker ends.
        if self._ends_with_run and self._run not in {*at_work, *new}:
            self._begin_no_more()
            return False
        for run in new:
            pipeline = Pipeline(self._endpoint, run, _refusals[run, self._endpoint.pk])
            self._pipelines[asyncio.create_task(pipeline.work())] = pipeline
        return bool(new)

    def _drop_ended(self) -> None:
        for task in [task for task in self._pipelines if task.done()]:
            pipeline = self._pipelines.pop(task)
            error = task.exception()
            if error is not None:
                logger.error("Calls of run %d failed.", pipeline.run, exc_info=error)
                self._error = self._error or error
                # The run may still hold judgments, which are free once this worker lets the endpoint go.
                self._begin_no_more()
            if error is not None or not pipeline.leased_any:
                self._let_alone[pipeline.run] = time.monotonic() + LET_ALONE

    def _begin_no_more(self) -> None:
        self.is_over = True
        for pipeline in self._pipelines.values():
            pipeline.begin_no_more()

    def _is_due(self, what: str, every: float) -> bool:
        """Return whether something was last done so long ago; it counts as done now."""
        now = time.monotonic()
        is_due = now - self._last[what] >= every
        if is_due:
            self._last[what] = now
        return is_due

    async def _store_limits(self) -> None:
        """Store pauses and slowdowns for the next worker, and failures since the last answer."""
        endpoint, limiter = self._endpoint, self._endpoint.limiter
        # A pause of less than half a second is over before another worker could read it.
        if limiter.resting_until > max(endpoint.stored_rest, time.time() + 0.5):
            endpoint.stored_rest = limiter.resting_until
            moment = datetime.fromtimestamp(limiter.resting_until, UTC)
            await endpoint.later(partial(leases.let_rest, endpoint=endpoint.pk, until=moment))
        if limiter.unsaved_slowdowns:
            unsaved = {model: limiter.slowdowns[model] for model in limiter.unsaved_slowdowns}
            limiter.unsaved_slowdowns.clear()
            await endpoint.later(partial(save_slowdowns, endpoint=endpoint.pk, slowdowns=unsaved))
        is_due = limiter.last_failure is not None and self._is_due("failures stored", FAILURES_STORED_EVERY)
        if is_due and await endpoint.later(self._store_failure):
            limiter.server_is_silent = True
            self._begin_no_more()

    def _store_failure(self) -> bool:
        """Store that calls failed; return whether no call should begin now but probes."""
        limiter = self._endpoint.limiter
        failed, limiter.last_failure = limiter.last_failure, None
        if failed is None:  # answered in the meantime
            return False
        # A server that asks to wait is reachable, and accepts no calls yet.
        asked_to_wait = failed.wait is not None
        return silence.note_failure(
            endpoint=self._endpoint.pk, sentence=failed.sentence, asked_to_wait=asked_to_wait
        )

    def _renew(self) -> bool:
        """Renew the leases; return whether the endpoint is called as before, with the same settings."""
        endpoint = self._endpoint
        # A copy of the values: the event loop changes the dictionary while this thread reads it.
        runs = sorted({pipeline.run for pipeline in list(self._pipelines.values())})
        if not leases.renew(endpoint=endpoint.pk, runs=runs, holder=endpoint.holder):
            return False
        found = Endpoint.objects.filter(pk=endpoint.pk).select_related("project").first()
        try:
            # Changed settings end the calls of this worker; the next one starts with the new settings.
            if found is None or server_of(found) != endpoint.server:
                return False
        except KeyMissingError:
            return False
        # New prices apply from here on, without an end of the calls.
        endpoint.prices = EndpointPrices(found)
        return True


def call_endpoints(found: Sequence[Endpoint], *, run: int, seconds: float) -> None:
    """Call endpoints until a run needs no more, or no longer than so long; wait for calls in flight."""
    until = time.monotonic() + seconds
    workers = [Asker(endpoint, run=run, ends_with_run=True, until=until) for endpoint in found]

    async def work() -> None:
        await asyncio.gather(*(worker.work() for worker in workers))

    asyncio.run(work())


def call_in_background(found: Sequence[Endpoint], *, run: int) -> None:
    """Call endpoints in threads of their own, as long as any run needs them."""
    sys.setswitchinterval(SWITCH_INTERVAL)
    for endpoint in found:
        with _at_work_lock:  # several tasks of this process may start calls in the same moment
            # One thread for each endpoint, whose lease a second one could not take.
            called = {worker.pk for worker in _at_work.values()}
            if endpoint.pk in called or len(called) >= MOST_AT_WORK or _stopping.is_set():
                continue
            worker = Asker(endpoint, run=run)
            thread = Thread(target=_work_in_thread, args=(worker,), name="asker", daemon=True)
            thread.start()  # it cannot end before it is noted: for that it needs the lock
            _at_work[thread] = worker


def _work_in_thread(worker: Asker) -> None:
    try:
        asyncio.run(worker.work())
    except Exception:
        logger.exception("Calls to an endpoint failed; they are made again soon.")
    finally:
        with _at_work_lock:
            _at_work.pop(current_thread())


def stop_calls() -> None:
    """Begin no more calls in this process, and wait for those in flight: the worker is about to stop."""
    _stopping.set()
    until = time.monotonic() + 10.0
    # What it says next is true: a busy loop may notice only after its next call.
    while any(not worker.is_over for worker in list(_at_work.values())) and time.monotonic() < until:
        time.sleep(0.01)
    logger.warning("This worker stops: it begins no more calls and stores those in flight.")
    wait_for_calls()


def wait_for_calls() -> None:
    """Wait until the endpoints that are called in the background are given up."""
    with _at_work_lock:
        threads = list(_at_work)
    # Joined without the lock, which each thread needs for its end.
    for thread in threads:
        thread.join()


def save_slowdowns(*, endpoint: int, slowdowns: Mapping[str, Slowdown]) -> None:
    """Store the slowdowns of models of an endpoint."""
    for model, slowdown in slowdowns.items():
        # One row for each model, which every later slowdown replaces.
        values = {
            "slowed_at": timezone.now(),
            "resumes_at": datetime.fromtimestamp(slowdown.resumes_at, UTC),
            "rate": slowdown.rate,
            "climb_seconds": slowdown.climb,
        }
        ModelPace.objects.update_or_create(endpoint_id=endpoint, model=model, defaults=values)


def slowdowns_of(endpoint: int) -> dict[str, Slowdown]:
    """Return the stored slowdowns of an endpoint by model. One query."""
    rows = ModelPace.objects.filter(endpoint=endpoint)
    return {row.model: Slowdown(row.rate, row.resumes_at.timestamp(), row.climb_seconds) for row in rows}
