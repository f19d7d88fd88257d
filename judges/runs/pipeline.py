"""One slice of a run at one endpoint: lease, ask concurrently, store, until nothing is left or time is up.

Calls run in one event loop. The database is asked in a thread of its own, so that neither a write nor the
next lease holds up a call. A judgment is leased until its outcome is stored; no more of them are begun than
may be in flight or waiting to be stored, and a worker that is killed repeats at most as many calls as that.

When time is up, or the run does not go on, no call begins. What is not in a call is given back at once, and
the slice is handed over: whoever waits for it may go on to something else, while the calls in flight end,
each under its lease and its timeout, and are stored.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from itertools import chain
from typing import TypeVar
from uuid import uuid4

from django.db import connections

from annotate.core.jobs import persistently
from judges.core.models import Judgment, Run
from judges.endpoints.client import Client
from judges.endpoints.prices import EndpointPrices
from judges.endpoints.questions import Server
from judges.endpoints.work import JudgmentWork, Outcome
from judges.runs.asking import ask_together
from judges.runs.commands import holders, leases, paces, silence
from judges.runs.commands.first_judgments import note_max_tokens_name
from judges.runs.commands.unreadable import pause_if_unreadable
from judges.runs.pacing import ConsecutiveRefusals, RateLimiter, RunMustStop
from judges.runs.queries.runs import goes_on
from judges.runs.queries.work import Questions

STORED_AFTER = 0.05  # seconds that an outcome waits for others at the most
STORED_AT_ONCE = 32  # outcomes that may wait to be stored together, or are being stored
RENEWED_EVERY = holders.LEASE.total_seconds() / 4
COME_BACK_AFTER = 0.25
LOOK_AHEAD = 0.5  # seconds of calls that are leased before there are places for them; slow calls never are
FAILURES_TOLD_EVERY = 1.0

T = TypeVar("T")


@dataclass(frozen=True)
class LeasedWork:
    """What was leased, and the questions that it means."""

    lease: leases.Leased
    work: Sequence[JudgmentWork]


def count_calls(works: Sequence[JudgmentWork]) -> int:
    """Return how many calls work takes: one for each judgment, besides those that share a reply."""
    shared = {work.shared for work in works if work.shared is not None}
    return len(shared) + sum(work.shared is None for work in works)


@dataclass(frozen=True)
class Share:
    """The part of a run that goes to one endpoint."""

    run: int
    endpoint: int
    server: Server
    prices: EndpointPrices


class Pipeline:
    """Works on a share until nothing is left for this worker, or until its slice is over.

    until: when the slice is over, on the monotonic clock. stopping: whether it is over before that. Once it
    only has calls in flight to end, it calls `hand_over`.
    """

    def __init__(
        self,
        share: Share,
        *,
        until: float,
        stopping: Callable[[], bool],
        hand_over: Callable[[], None],
        refusals: ConsecutiveRefusals,
        models_without_n: set[str],
    ) -> None:
        self._share = share
        self._until = until
        self._stopping = stopping
        self._hand_over = hand_over
        self._holder = uuid4()
        self._database = ThreadPoolExecutor(1)
        self._most_calls = holders.most_places(share.server.calls_in_flight)
        self._pace = RateLimiter(refusals=refusals, models_without_n=models_without_n)
        self._questions = Questions()
        self._more = True
        self._counts_tokens = True  # of an endpoint that has a limit of them, as the last lease said
        self._is_handed_over = False
        self._has_steps = False  # whether a judgment takes several calls
        self._awaits_first = False  # whether more is asked once the first judgment of a judge is answered
        self._turn = self._holder.int  # of which judge is asked next, so that slices begin with any
        self._leasing: asyncio.Future[LeasedWork] | None = None
        self._lease_next = 0.0
        self._ahead = 0
        self._places_known = 0  # to the database as ours
        self._ready: deque[JudgmentWork] = deque()
        self._ready_calls = 0
        self._asked: dict[asyncio.Task[None], set[int]] = {}  # with what each has no outcome of yet
        self._answered: list[asyncio.Task[None]] = []
        self._outcomes: list[Outcome] = []
        self._storing: asyncio.Future[bool] | None = None
        self._being_stored = 0
        self._last_stored = self._last_renewed = time.monotonic()
        self._news = asyncio.Event()
        self._rest_told = 0.0
        self._failures_told = -FAILURES_TOLD_EVERY

    async def work(self) -> None:
        """Lease, ask and store; leases that are still held at the end are given back."""
        client = Client(self._share.server)
        try:
            self._pace.slowdowns = await self._db(lambda: paces.slowdowns_of(self._share.endpoint))
            await self._work(client)
        except RunMustStop as error:
            reason = str(error)
            await self._db(lambda: leases.stop_run(Run(pk=self._share.run), reason))
        finally:
            await self._end(client)

    async def _work(self, client: Client) -> None:
        while self._more or self._leasing or self._unanswered or self._answered or self._has_to_store:
            # Cleared before anything is looked at: what comes from here on sets it again and is not slept
            # through.
            self._news.clear()
            self._take_leased_if_there()
            # Before calls begin: a failure may be one that ends the run, and each further call costs money.
            self._raise_failures()
            self._store_if_due()
            if not self._pace.is_stopped and (time.monotonic() >= self._until or self._stopping()):
                self._begin_no_more()
            self._lease_if_short()
            self._begin(client)
            await self._hand_over_if_draining()
            await self._tell_places_if_draining()
            await self._tell_rest()
            await self._tell_slowdowns()
            await self._tell_failures_if_due()
            await self._renew_if_due()
            await self._wait_for_news()

    @property
    def _unanswered(self) -> int:
        """Calls that are made or wait to be made; a judgment each, but for those that share a reply."""
        return self._ready_calls + len(self._asked)

    @property
    def _has_to_store(self) -> bool:
        return bool(self._outcomes) or self._storing is not None

    @property
    def _held_places(self) -> int:
        """Places in use, or that may come into use before the database is asked for more."""
        return max(self._pace.in_flight, min(self._pace.places, self._unanswered))

    def _lease_if_short(self) -> None:
        now, places = time.monotonic(), self._pace.places
        if not self._more or self._leasing is not None or now < self._lease_next:
            return
        # A claim is a transaction that locks the run and the endpoint, so it is not made for each answer:
        # half of what is leased ahead is used up first. It is also how the others learn of places that are
        # no longer needed here, and how this worker learns of places that they left: nobody tells it.
        lacks_judgments = self._unanswered < places or self._unanswered - places < self._ahead // 2
        gives_up_places = self._held_places < self._places_known and places < self._places_known
        lacks_places = places < self._most_calls
        if lacks_judgments or gives_up_places or lacks_places:
            wanted = int(self._pace.answered_within(1.0) * LOOK_AHEAD)
            self._ahead = min(wanted, leases.MOST_AHEAD * self._most_calls)
            load = leases.HolderLoad(self._held_places, self._unanswered, self._ahead, self._turn)
            self._leasing = self._later(lambda: self._lease(load))

    def _lease(self, load: leases.HolderLoad) -> LeasedWork:
        share = self._share
        leased = leases.lease(
            run=share.run,
            endpoint=share.endpoint,
            holder=self._holder,
            how_many=self._most_calls,
            load=load,
        )
        # A call in flight cannot be called off, so the database counts at least the places held, whatever
        # it gives.
        self._places_known = max(leased.places, load.held)
        return LeasedWork(leased, self._questions.work_of(leased.judgments, leased.untried))

    def _take_leased_if_there(self) -> None:
        """Take what was leased, and note whether there will be more."""
        if self._leasing is None or not self._leasing.done():
            return
        found, self._leasing = self._leasing.result(), None
        if found.lease.has_ended:
            # A lease that was asked for before a call failed may know less than this worker does.
            self._pace.server_is_silent = self._pace.server_is_silent or found.lease.server_is_silent
            self._begin_no_more()
        if self._pace.is_stopped:
            return  # it is given back with the rest
        if found.lease.resting_until:
            self._pace.resting_until = max(self._pace.resting_until, found.lease.resting_until.timestamp())
        self._ready.extend(found.work)
        calls = count_calls(found.work)
        self._ready_calls, self._turn = self._ready_calls + calls, self._turn + calls
        self._awaits_first = bool(found.lease.untried)
        self._more, self._counts_tokens = found.lease.come_back, found.lease.counts_tokens
        if self._more:
            self._pace.share = found.lease.share
            self._pace.give_places(found.lease.places)
        if not found.work:  # others hold what is left, or limits are used up: neither changes at once
            self._lease_next = time.monotonic() + COME_BACK_AFTER

    def _begin_no_more(self) -> None:
        self._more = False
        self._pace.stop()
        self._ready.clear()
        self._ready_calls = 0

    def _begin(self, client: Client) -> None:
        """Begin as many as may be lost with this process: those in flight and those not stored."""
        held = sum(map(len, self._asked.values())) + len(self._outcomes) + self._being_stored
        # What one call gives is lost together, so a call counts with all of its judgments. Calls beyond the
        # places wait inside `RateLimiter.call`: begun already, they start in the moment in which a place is
        # free.
        while self._ready:
            works = self._next_call()
            held += len(works)
            if held > self._pace.places * len(works) + STORED_AT_ONCE:
                self._ready.extendleft(reversed(works))
                break
            self._ready_calls -= count_calls(works)
            self._begin_call(works, client)

    def _begin_call(self, works: Sequence[JudgmentWork], client: Client) -> None:
        # One set for the call and for `_asked`: what was delivered is stored, and must not be given back as
        # well.
        judgments = {work.judgment for work in works}
        deliver = partial(self._take_outcome, judgments)
        longest = self._share.server.timeout_seconds
        task = asyncio.create_task(ask_together(works, client, self._pace, deliver, longest=longest))
        task.add_done_callback(self._note_answered)
        self._asked[task] = judgments

    def _take_outcome(self, unanswered: set[int], outcome: Outcome) -> None:
        unanswered.discard(outcome.judgment)
        self._has_steps = self._has_steps or outcome.steps_done > 0
        self._outcomes.append(outcome)
        self._news.set()

    def _next_call(self) -> list[JudgmentWork]:
        """Take what is asked next: a judgment, with those behind it that the same call may give."""
        works = [self._ready.popleft()]
        shared, unit, model = works[0].shared, works[0].unit, works[0].question.model
        while shared is not None and self._ready and self._ready[0].shared == shared:
            works.append(self._ready.popleft())
        if model in self._pace.models_without_n:
            return works
        while unit is not None and self._ready and self._ready[0].unit == unit:
            works.append(self._ready.popleft())
        return works

    def _note_answered(self, task: asyncio.Task[None]) -> None:
        del self._asked[task]
        self._answered.append(task)
        if not task.cancelled():
            task.exception()  # one of several is raised: asyncio shall log none, with its key
        self._news.set()

    async def _hand_over_if_draining(self) -> None:
        """Give back at once what is in no call when no call begins any more, and hand the slice over."""
        # A lease under way brings judgments that are to be given back too, and tasks that waited for a
        # place end without a call: only when both are through is what is left really in flight.
        who_waited_has_ended = len(self._asked) == self._pace.in_flight and not self._answered
        if not self._pace.is_stopped or self._is_handed_over or self._leasing or not who_waited_has_ended:
            return
        self._is_handed_over = True
        kept = [*chain.from_iterable(self._asked.values()), *(outcome.judgment for outcome in self._outcomes)]
        # What is being stored comes before this in the thread of the database.
        await self._db(lambda: leases.give_back(run=self._share.run, holder=self._holder, besides=kept))
        # Before the slice is handed over: its worker may begin another one at this endpoint at once, which
        # claims what this one leaves.
        held = self._places_known = self._held_places
        await self._db(lambda: holders.drain(holder=self._holder, in_flight=held))
        self._hand_over()

    async def _tell_places_if_draining(self) -> None:
        """Leave places to others as calls come to an end, when there will be no next claim."""
        held = self._held_places
        if not self._more and self._leasing is None and held < self._places_known:
            self._places_known = held
            await self._db(lambda: holders.drain(holder=self._holder, in_flight=held))

    def _raise_failures(self) -> None:
        answered, self._answered = self._answered, []
        for task in answered:
            task.result()  # raises what ended it

    def _store_if_due(self) -> None:
        if self._storing is not None and self._storing.done():
            if not self._storing.result():
                self._begin_no_more()
            elif (
                self._has_steps and not self._pace.is_stopped
            ):  # what was stored may go on with its next call
                self._more = True
            self._storing, self._being_stored = None, 0
            if self._awaits_first:
                self._lease_next = 0.0
        # One write at a time; outcomes that come meanwhile are written together by the next one.
        waited = time.monotonic() - self._last_stored > STORED_AFTER
        due = waited or not self._asked or len(self._outcomes) >= STORED_AT_ONCE // 2
        if self._outcomes and self._storing is None and due:
            batch, self._outcomes = self._outcomes, []
            self._being_stored, self._last_stored = len(batch), time.monotonic()
            self._storing = self._later(lambda: self._store(batch))

    def _store(self, batch: list[Outcome]) -> bool:
        """Write outcomes; return whether the run still goes on, for the next lease may be far off."""
        share = self._share
        # Transactions of their own: to pause the run or to note the answer takes its lock or the
        # endpoint's, for which other workers wait, and neither may undo that outcomes which were paid for
        # are written.
        leases.store(
            run=share.run,
            endpoint=share.endpoint,
            holder=self._holder,
            outcomes=batch,
            prices_of=share.prices.of,
            counts_tokens=self._counts_tokens,
        )
        while self._pace.learned_names:
            note_max_tokens_name(share.endpoint, *self._pace.learned_names.popitem())
        if any(outcome.status == Judgment.Status.UNREADABLE for outcome in batch):
            pause_if_unreadable(run=share.run)
        if self._pace.was_answered:
            self._pace.was_answered = False
            silence.note_answer(endpoint=share.endpoint)
        return goes_on(share.run)

    async def _tell_rest(self) -> None:
        until = self._pace.resting_until
        if until > max(self._rest_told, time.time() + 0.5):
            self._rest_told = until
            moment = datetime.fromtimestamp(until, UTC)
            await self._db(lambda: leases.let_rest(endpoint=self._share.endpoint, until=moment))

    async def _tell_slowdowns(self) -> None:
        """Tell all workers that models asked to be asked more slowly, and take over what follows."""
        told, self._pace.asked_to_wait = self._pace.asked_to_wait, {}
        for model, asked in told.items():
            note = partial(paces.note_slowdown, endpoint=self._share.endpoint, model=model, **asdict(asked))
            self._pace.slowdowns = {**self._pace.slowdowns, model: await self._db(note)}

    async def _tell_failures_if_due(self) -> None:
        """Tell all workers of failures since the last answer; begin no call when the server is silent."""
        is_due = time.monotonic() - self._failures_told >= FAILURES_TOLD_EVERY
        if is_due and self._pace.last_failure is not None:
            self._failures_told = time.monotonic()
            if await self._db(self._tell_failure):
                self._pace.server_is_silent = True
                self._begin_no_more()

    def _tell_failure(self) -> bool:
        failed, self._pace.last_failure = self._pace.last_failure, None
        if failed is None:  # answered meanwhile
            return False
        endpoint, wait = self._share.endpoint, failed.asked_to_wait
        return silence.note_failure(endpoint=endpoint, sentence=failed.sentence, asked_to_wait=wait)

    async def _renew_if_due(self) -> None:
        if time.monotonic() - self._last_renewed > RENEWED_EVERY:
            self._last_renewed = time.monotonic()
            await self._db(lambda: leases.renew(run=self._share.run, holder=self._holder))
            self._pace.slowdowns = await self._db(lambda: paces.slowdowns_of(self._share.endpoint))

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
        calls = list(self._asked)
        for task in calls:
            task.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
        try:
            await self._leave_the_database()
        finally:
            self._database.shutdown()
            await client.close()

    async def _leave_the_database(self) -> None:
        # In this order: what a lease under way brings is given back, not left to run out; outcomes are
        # written while their leases are held, for nobody else can; places are free once nothing uses them;
        # and the run is finished by whoever comes last, when none of its own judgments counts as under way.
        if self._leasing is not None:
            await self._leasing
        if self._storing is not None:
            await self._storing
        if batch := self._outcomes:
            await self._db(lambda: self._store(batch))
        await self._db(self._tell_failure)
        await self._db(lambda: leases.give_back(run=self._share.run, holder=self._holder))
        await self._db(lambda: holders.let_go(holder=self._holder))
        await self._db(lambda: leases.finish_if_done(run=self._share.run))
        await self._db(connections.close_all)
