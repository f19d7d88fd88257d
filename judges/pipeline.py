"""One worker's share of a run: lease, ask concurrently, store, until nothing is left.

Calls run in one event loop. The database is asked in a thread of its own, so that neither a write nor the
next lease holds up a call. A judgment is leased until its outcome is stored; no more of them are begun than
may be in flight or waiting to be stored, and a worker that is killed repeats at most as many calls as that.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TypeVar
from uuid import uuid4

from django.db import InterfaceError, OperationalError, connections

from judges.asking import NobodyAnswers, NotAsked, Pace, ask
from judges.client import Client, Server
from judges.commands import leases
from judges.models import Run
from judges.queries.runs import goes_on
from judges.queries.work import Questions
from judges.work import Outcome, Prices, Work

STORED_AFTER = 0.05  # seconds that an outcome waits for others at the most
STORED_AT_ONCE = 32  # outcomes that may wait to be stored together, or are being stored
RENEWED_EVERY = leases.LEASE.total_seconds() / 4
COME_BACK_AFTER = 0.25
DATABASE_MAY_BE_AWAY = 30.0

T = TypeVar("T")


@dataclass(frozen=True)
class Leased:
    """What was leased, and the questions that it means."""

    lease: leases.Leased
    work: Sequence[Work]


@dataclass(frozen=True)
class Share:
    """The part of a run that goes to one endpoint."""

    run: int
    endpoint: int
    server: Server
    prices: Prices


class Pipeline:
    """Works on a share until nothing is left for this worker, or until its time is up."""

    def __init__(self, share: Share, *, seconds: float) -> None:
        self._share = share
        self._until = time.monotonic() + seconds
        self._holder = uuid4()
        self._database = ThreadPoolExecutor(1)
        everyone = share.server.calls_in_flight
        self._calls = everyone // leases.workers_of(everyone)
        self._pace = Pace(self._calls)
        self._questions = Questions()
        self._leasing: asyncio.Future[Leased] | None = None
        self._lease_next = 0.0
        self._ready: deque[Work] = deque()
        self._asked: set[asyncio.Task[Outcome]] = set()
        self._answered: list[asyncio.Task[Outcome]] = []
        self._outcomes: list[Outcome] = []
        self._storing: asyncio.Future[bool] | None = None
        self._being_stored = 0
        self._last_stored = self._last_renewed = time.monotonic()
        self._news = asyncio.Event()
        self._rest_told = 0.0

    async def work(self) -> None:
        """Lease, ask and store; leases that are still held at the end are given back."""
        client = Client(self._share.server)
        try:
            await self._work(client)
        except NobodyAnswers as error:
            reason = str(error)
            await self._db(lambda: leases.stop_run(Run(pk=self._share.run), reason))
        finally:
            await self._end(client)

    async def _work(self, client: Client) -> None:
        more = True
        while more or self._leasing or self._ready or self._asked or self._outcomes or self._storing:
            self._news.clear()
            if self._leasing is not None and self._leasing.done():
                more = self._take_leased(self._leasing.result()) and time.monotonic() < self._until
                self._leasing = None
            self._lease_if_short(more)
            self._begin(client)
            self._gather_answers()
            self._store_if_due()
            await self._tell_rest()
            await self._renew_if_due()
            await self._wait_for_news()

    def _lease_if_short(self, more: bool) -> None:
        due = more and self._leasing is None and time.monotonic() >= self._lease_next
        if due and len(self._ready) < self._calls:
            room = 2 * self._calls - len(self._ready)
            self._leasing = self._later(lambda: self._lease(room))

    def _lease(self, room: int) -> Leased:
        share = self._share
        leased = leases.lease(run=share.run, endpoint=share.endpoint, holder=self._holder, how_many=room)
        return Leased(leased, self._questions.work_of(leased.judgments))

    def _take_leased(self, found: Leased) -> bool:
        """Take what was leased; return whether there will be more."""
        if found.lease.has_ended:
            self._begin_no_more()
        if found.lease.resting_until:
            self._pace.resting_until = max(self._pace.resting_until, found.lease.resting_until.timestamp())
        self._ready.extend(found.work)
        if not found.work:
            self._lease_next = time.monotonic() + COME_BACK_AFTER
        return found.lease.come_back

    def _begin_no_more(self) -> None:
        self._pace.begins_no_more = True
        self._ready.clear()

    def _begin(self, client: Client) -> None:
        """Begin as many as may be lost with this process: those in flight and those not stored."""
        held = len(self._asked) + len(self._answered) + len(self._outcomes) + self._being_stored
        for _ in range(min(len(self._ready), self._calls + STORED_AT_ONCE - held)):
            task = asyncio.create_task(ask(self._ready.popleft(), client, self._pace))
            task.add_done_callback(self._note_answered)
            self._asked.add(task)

    def _note_answered(self, task: "asyncio.Task[Outcome]") -> None:
        self._asked.discard(task)
        self._answered.append(task)
        self._news.set()

    def _gather_answers(self) -> None:
        answered, self._answered = self._answered, []
        failures = [error for task in answered if (error := task.exception())]
        self._outcomes += [task.result() for task in answered if not task.exception()]
        for error in failures:
            if not isinstance(error, NotAsked):
                raise error

    def _store_if_due(self) -> None:
        if self._storing is not None and self._storing.done():
            if not self._storing.result():
                self._begin_no_more()
            self._storing, self._being_stored = None, 0
        waited = time.monotonic() - self._last_stored > STORED_AFTER
        due = waited or not self._asked or len(self._outcomes) >= STORED_AT_ONCE // 2
        if self._outcomes and self._storing is None and due:
            batch, self._outcomes = self._outcomes, []
            self._being_stored, self._last_stored = len(batch), time.monotonic()
            self._storing = self._later(lambda: self._store(batch))

    def _store(self, batch: list[Outcome]) -> bool:
        """Write outcomes; return whether the run still goes on, for the next lease may be far off."""
        share = self._share
        leases.store(
            run=share.run,
            endpoint=share.endpoint,
            holder=self._holder,
            outcomes=batch,
            prices=share.prices,
        )
        return goes_on(share.run)

    async def _tell_rest(self) -> None:
        until = self._pace.resting_until
        if until > max(self._rest_told, time.time() + 0.5):
            self._rest_told = until
            moment = datetime.fromtimestamp(until, UTC)
            await self._db(lambda: leases.let_rest(endpoint=self._share.endpoint, until=moment))

    async def _renew_if_due(self) -> None:
        if time.monotonic() - self._last_renewed > RENEWED_EVERY:
            self._last_renewed = time.monotonic()
            await self._db(lambda: leases.renew(holder=self._holder))

    async def _wait_for_news(self) -> None:
        with suppress(TimeoutError):
            async with asyncio.timeout(STORED_AFTER):
                await self._news.wait()

    async def _db(self, what: Callable[[], T]) -> T:
        return await self._later(what)

    def _later(self, what: Callable[[], T]) -> "asyncio.Future[T]":
        """Do something with the database, after all that was asked of it before."""
        future = asyncio.get_running_loop().run_in_executor(self._database, persistently, what)
        future.add_done_callback(lambda _: self._news.set())
        return future

    async def _end(self, client: Client) -> None:
        for task in self._asked:
            task.cancel()
        await asyncio.gather(*self._asked, return_exceptions=True)
        try:
            await self._leave_the_database()
        finally:
            self._database.shutdown()
            await client.close()

    async def _leave_the_database(self) -> None:
        if self._leasing is not None:
            await self._leasing
        if self._storing is not None:
            await self._storing
        batch = [*self._outcomes, *_outcomes(self._answered)]
        if batch:
            await self._db(lambda: self._store(batch))
        await self._db(lambda: leases.give_back(holder=self._holder))
        await self._db(lambda: leases.finish_if_done(run=self._share.run))
        await self._db(connections.close_all)


def persistently(what: Callable[[], T]) -> T:
    """Do something with the database, again and again for a while if the database is away."""
    until = time.monotonic() + DATABASE_MAY_BE_AWAY
    while True:
        try:
            return what()
        except (OperationalError, InterfaceError):
            if time.monotonic() > until:
                raise
            connections.close_all()
            time.sleep(0.5)


def _outcomes(tasks: Sequence["asyncio.Task[Outcome]"]) -> list[Outcome]:
    return [task.result() for task in tasks if not task.cancelled() and not task.exception()]
