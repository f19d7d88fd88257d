"""The calls of one run at one endpoint: lease, ask concurrently, store, until nothing is left.

Calls run in one event loop. The database is asked in a thread of its own, so that neither a write nor the
next lease holds up a call. A judgment is leased until its outcome is stored; no more of them are begun than
may be in flight or waiting to be stored, and a worker that is killed repeats at most as many calls as that.

When the worker stops, or the run does not go on, no call begins. What is not in a call is given back, and the
calls in flight end, each under its lease and its timeout, and are stored.
"""

import asyncio
import time
from collections import deque
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar
from uuid import UUID, uuid4

from annotate.core.jobs import persistently
from judges.core.models import Judgment, Run
from judges.endpoints.client import Client
from judges.endpoints.prices import EndpointPrices
from judges.endpoints.questions import Server
from judges.endpoints.work import JudgmentWork, Outcome
from judges.runs.asking import ask_together
from judges.runs.commands import endings, leases, outcomes, silence
from judges.runs.commands.endings import pause_if_unreadable
from judges.runs.commands.outcomes import note_max_tokens_name
from judges.runs.pacing import ConsecutiveRefusals, RateLimiter, RunMustStop
from judges.runs.queries.runs import goes_on
from judges.runs.queries.work import Questions

STORED_AFTER = 0.05  # maximum seconds that an outcome waits until a joint write
STORED_AT_ONCE = 32  # outcomes that may wait to be stored together, or are being stored
COME_BACK_AFTER = 0.25
LOOK_AHEAD = 0.5  # seconds of calls that are leased before they can begin; slow calls never are
MOST_AHEAD = 4  # times the calls in flight, as many judgments are leased ahead of them

T = TypeVar("T")


@dataclass
class CalledEndpoint:
    """An endpoint that this worker has the lease of, with what the calls of all runs share."""

    pk: int
    server: Server
    prices: EndpointPrices
    limiter: RateLimiter
    client: Client = field(init=False)  # from when the endpoint is taken
    holder: UUID = field(default_factory=uuid4)
    database: ThreadPoolExecutor = field(default_factory=lambda: ThreadPoolExecutor(1))
    stored_rest: float = 0.0

    def later(self, what: Callable[[], T]) -> "asyncio.Future[T]":
        """Do something with the database, after all that was asked of it before; retry it if that is away."""
        return self.once_later(partial(persistently, what))

    def once_later(self, what: Callable[[], T]) -> "asyncio.Future[T]":
        """Do something in the same order that retries its own steps."""
        return asyncio.get_running_loop().run_in_executor(self.database, what)


class LeasedQueue:
    """Judgments that are leased and in no call yet, and when to lease more."""

    def __init__(self, first_turn: int) -> None:
        self.more = True
        self.under_way: asyncio.Future[tuple[leases.Leased, list[JudgmentWork]]] | None = None
        self.awaits_first = False  # whether more is leased once the first judgment of a judge is answered
        self.counts_tokens = True  # of an endpoint that has a limit of them, as the last lease said
        self.next_at = 0.0
        self.turn = first_turn  # of which judge is asked next
        self.ahead = 0
        self.calls = 0
        self._works: deque[JudgmentWork] = deque()

    def add(self, works: Sequence[JudgmentWork]) -> None:
        self._works.extend(works)
        self.calls += count_calls(works)
        self.turn += count_calls(works)

    def take_call(self, models_without_n: set[str]) -> list[JudgmentWork]:
        """Take what is asked next: a judgment, with those behind it that the same call may give."""
        # Judgments of a shared reply always go together, samples of a unit only if the model takes `n`.
        works, ready = [self._works.popleft()], self._works
        shared, unit, model = works[0].shared, works[0].unit, works[0].question.model
        while shared is not None and ready and ready[0].shared == shared:
            works.append(ready.popleft())
        while unit is not None and model not in models_without_n and ready and ready[0].unit == unit:
            works.append(ready.popleft())
        self.calls -= count_calls(works)
        return works

    def put_back(self, works: Sequence[JudgmentWork]) -> None:
        """Undo `take_call`."""
        self._works.extendleft(reversed(works))
        self.calls += count_calls(works)

    def drop(self) -> list[int]:
        """Return the judgments, which are not asked."""
        dropped, self.calls = [work.judgment for work in self._works], 0
        self._works.clear()
        return dropped


class InFlight:
    """Calls that began, with the judgments that have no outcome yet; some wait for their turn."""

    def __init__(self, news: asyncio.Event) -> None:
        self._news = news
        self._calls: dict[asyncio.Task[None], set[int]] = {}
        self._ended: list[tuple[asyncio.Task[None], set[int]]] = []

    @property
    def calls(self) -> int:
        return len(self._calls)

    @property
    def judgments(self) -> int:
        """Judgments of these calls without an outcome."""
        return sum(map(len, self._calls.values()))

    def __bool__(self) -> bool:
        return bool(self._calls or self._ended)

    def begin(self, call: Coroutine[Any, Any, None], judgments: set[int]) -> None:
        """Make a call. It takes each judgment out of the set when it delivers the outcome."""
        task = asyncio.create_task(call)
        self._calls[task] = judgments
        task.add_done_callback(self._note_end)

    def _note_end(self, task: asyncio.Task[None]) -> None:
        self._ended.append((task, self._calls.pop(task)))
        if not task.cancelled():
            task.exception()  # one of several is raised: asyncio shall log none, with its key
        self._news.set()

    def take_ended(self, unasked: list[int]) -> None:
        """Add the judgments that ended without an outcome; raise what ended a call."""
        ended, self._ended = self._ended, []
        for _, judgments in ended:
            unasked.extend(judgments)
        for task, _ in ended:
            if not task.cancelled():
                task.result()

    async def cancel(self) -> None:
        calls = list(self._calls)
        for task in calls:
            task.cancel()
        await asyncio.gather(*calls, return_exceptions=True)


@dataclass(frozen=True)
class Stored:
    """What a write found: whether the run goes on, and judgments whose next step may be asked."""

    run_goes_on: bool
    has_steps: bool


class ToStore:
    """Outcomes that are not stored yet, and the write that is under way."""

    def __init__(self) -> None:
        self.outcomes: list[Outcome] = []
        self.under_way: asyncio.Future[Stored] | None = None
        self._being_stored = 0
        self._last = time.monotonic()

    def __len__(self) -> int:
        return len(self.outcomes) + self._being_stored

    def take_batch(self) -> list[Outcome]:
        """Return the outcomes, which are being stored from now on."""
        batch, self.outcomes = self.outcomes, []
        self._being_stored, self._last = len(batch), time.monotonic()
        return batch

    def is_due(self, *, calls: int) -> bool:
        """Return whether outcomes should be written now, one write at a time."""
        waited = time.monotonic() - self._last > STORED_AFTER
        # Without calls in flight no further outcome comes that could join this write.
        due = waited or not calls or len(self.outcomes) >= STORED_AT_ONCE // 2
        return bool(self.outcomes) and self.under_way is None and due

    def take_result(self) -> Stored | None:
        """Return what the write found that has ended since."""
        if self.under_way is None or not self.under_way.done():
            return None
        # A write that failed is not awaited again.
        ended, self.under_way, self._being_stored = self.under_way, None, 0
        return ended.result()


def count_calls(works: Sequence[JudgmentWork]) -> int:
    """Return the number of calls: one for each judgment, except judgments that share a reply."""
    shared = {work.shared for work in works if work.shared is not None}
    return len(shared) + sum(work.shared is None for work in works)


class Pipeline:
    """Works on one run at an endpoint until it needs no more calls, or `begin_no_more`."""

    def __init__(self, endpoint: CalledEndpoint, run: int, refusals: ConsecutiveRefusals) -> None:
        self.run = run
        self._endpoint = endpoint
        self._pace = endpoint.limiter.add_run(refusals)
        self._questions = Questions()
        self._news = asyncio.Event()
        self._leased = LeasedQueue(endpoint.holder.int)  # so that workers begin with any judge
        self._in_flight = InFlight(self._news)
        self._to_store = ToStore()
        self._unasked: list[int] = []  # judgments that are given back in the end

    @property
    def leased_any(self) -> bool:
        """Whether there was something to call for."""
        # `turn` starts at this number, and grows with each leased call.
        return self._leased.turn != self._endpoint.holder.int

    @property
    def is_ending(self) -> bool:
        return self._pace.is_stopped

    async def work(self) -> None:
        """Lease, ask and store. What is still leased in the end is given back."""
        leased = self._leased
        try:
            while leased.more or leased.under_way or leased.calls or self._in_flight or self._to_store:
                # Cleared before anything is looked at: what comes from here on sets it again and is not
                # slept through.
                self._news.clear()
                self._take_leased()
                # Before calls begin: a failure may be one that ends the run, and each further call costs.
                self._in_flight.take_ended(self._unasked)
                self._take_stored()
                if self.is_ending:  # not only in the end: probes need the room while an old call hangs
                    await self._give_back_unasked()
                if self._to_store.is_due(calls=self._in_flight.calls):
                    self._to_store.under_way = self._store_later(self._to_store.take_batch())
                self._lease_if_short()
                self._begin_calls()
                with suppress(TimeoutError):
                    async with asyncio.timeout(STORED_AFTER):
                        await self._news.wait()
        except RunMustStop as error:
            await self._later(partial(endings.stop_run, Run(pk=self.run), str(error)))
        finally:
            await self._end()

    def begin_no_more(self) -> None:
        """Make no more calls; those in flight end and are stored."""
        self._pace.stop()
        self._leased.more = False
        self._unasked += self._leased.drop()
        self._news.set()

    def _later(self, what: Callable[[], T]) -> "asyncio.Future[T]":
        return self._announce(self._endpoint.later(what))

    def _store_later(self, batch: list[Outcome]) -> "asyncio.Future[Stored]":
        return self._announce(self._endpoint.once_later(partial(self._store, batch)))

    def _announce(self, future: "asyncio.Future[T]") -> "asyncio.Future[T]":
        future.add_done_callback(lambda _: self._news.set())
        return future

    def _lease_if_short(self) -> None:
        leased, most = self._leased, self._endpoint.server.calls_in_flight
        if not leased.more or leased.under_way is not None or time.monotonic() < leased.next_at:
            return
        # A lease is a transaction that locks the run and the endpoint, so it is not made for each answer:
        # half of what is leased ahead is used up first.
        unanswered = leased.calls + self._in_flight.calls
        if unanswered < most or unanswered - most < leased.ahead // 2:
            limiter = self._endpoint.limiter
            # As many calls as the server answers in LOOK_AHEAD seconds, shared by the runs.
            wanted = int(limiter.answered_within(1.0) * LOOK_AHEAD / limiter.runs)
            leased.ahead = min(wanted, MOST_AHEAD * most)
            # A worker that has all that it can hold leases nothing, and learns whether the run goes on.
            leased.under_way = self._later(partial(self._lease, max(most + leased.ahead - unanswered, 0)))

    def _lease(self, how_many: int) -> tuple[leases.Leased, list[JudgmentWork]]:
        found = leases.lease(
            run=self.run,
            endpoint=self._endpoint.pk,
            holder=self._endpoint.holder,
            how_many=how_many,
            turn=self._leased.turn,
            runs=self._endpoint.limiter.runs,
        )
        return found, self._questions.work_of(found.judgments, found.untried)

    def _take_leased(self) -> None:
        """Take what was leased, and note whether there will be more."""
        leased = self._leased
        if leased.under_way is None or not leased.under_way.done():
            return
        ended, leased.under_way = leased.under_way, None
        found, works = ended.result()
        leased.add(works)
        # The run was paused, the server is silent, or another worker has the endpoint.
        if found.has_ended:
            # A lease requested before a call failed may have older information than this worker.
            limiter = self._endpoint.limiter
            limiter.server_is_silent = limiter.server_is_silent or found.server_is_silent
            self.begin_no_more()
        # A lease that arrives after the stop is returned, and no call follows.
        if self._pace.is_stopped:
            self._unasked += leased.drop()
            return
        leased.awaits_first = bool(found.untried)
        leased.more, leased.counts_tokens = found.come_back, found.counts_tokens
        if not works:  # limits are used up, or first judgments are not answered: neither changes at once
            leased.next_at = time.monotonic() + COME_BACK_AFTER

    def _begin_calls(self) -> None:
        """Begin as many as may be lost with this process: those in flight and those not stored."""
        leased, pace, limiter = self._leased, self._pace, self._endpoint.limiter
        pace.held_judgments = self._in_flight.judgments + len(self._to_store)
        # What one call gives is lost together, so a call counts with all of its judgments. Calls beyond the
        # endpoint's limit wait in `RunPace.call`: begun already, they start in the moment in which they may.
        while leased.calls:
            works = leased.take_call(limiter.models_without_n)
            most = limiter.calls_in_flight * len(works) + STORED_AT_ONCE
            # A run below its share may start a call even if the others use all of the room.
            if (
                limiter.held_judgments + len(works) > most
                and pace.held_judgments + len(works) > most // limiter.runs
            ):
                leased.put_back(works)
                break
            pace.held_judgments += len(works)
            # One set for the call and for `InFlight`: what was delivered is stored, and must not be given
            # back as well.
            judgments = {work.judgment for work in works}
            deliver = partial(self._take_outcome, judgments)
            self._in_flight.begin(ask_together(works, self._endpoint.client, pace, deliver), judgments)

    def _take_outcome(self, unanswered: set[int], outcome: Outcome) -> None:
        unanswered.discard(outcome.judgment)
        self._to_store.outcomes.append(outcome)
        self._news.set()

    def _take_stored(self) -> None:
        # The write may have found that the run does not go on, or made next steps.
        stored = self._to_store.take_result()
        if stored is None:
            return
        if not stored.run_goes_on:
            self.begin_no_more()
        elif stored.has_steps and not self._pace.is_stopped:  # the next call of their judgments
            self._leased.more = True
        # The outcome may be the first of its judge, whose other judgments may be leased then.
        if self._leased.awaits_first:
            self._leased.next_at = 0.0

    def _store(self, batch: list[Outcome]) -> "Stored":
        """Write outcomes; look whether the run still goes on, for the next lease may be far off."""
        endpoint, limiter = self._endpoint, self._endpoint.limiter
        # Transactions of their own: to pause the run or to note the answer takes its lock or the
        # endpoint's, for which others wait, and neither may undo that outcomes which were paid for
        # are written. Each is retried alone: to write outcomes again would count their cost again.
        persistently(
            partial(
                outcomes.store,
                run=self.run,
                endpoint=endpoint.pk,
                holder=endpoint.holder,
                outcomes=batch,
                prices_of=endpoint.prices.of,
                counts_tokens=self._leased.counts_tokens,
            )
        )
        while limiter.learned_names:
            model, name = limiter.learned_names.popitem()
            persistently(partial(note_max_tokens_name, endpoint.pk, model, name))
        if any(outcome.status == Judgment.Status.UNREADABLE for outcome in batch):
            persistently(partial(pause_if_unreadable, run=self.run))
        # An answer of any run ends the silence of the server for all of them.
        if limiter.was_answered:
            limiter.was_answered = False
            persistently(partial(silence.note_answer, endpoint=endpoint.pk))
        run_goes_on = persistently(partial(goes_on, self.run))
        return Stored(run_goes_on, any(outcome.steps_done > 0 for outcome in batch))

    async def _end(self) -> None:
        self.begin_no_more()
        await self._in_flight.cancel()
        with suppress(Exception):  # what ended the first call is raised already
            self._in_flight.take_ended(self._unasked)
        # From the last to the first: what a lease under way brings is given back, not left to run out;
        # outcomes are written while their leases are held, for no one else can; and the run is finished when
        # none of its judgments counts as under way. Each step is taken even if the one before failed.
        async with AsyncExitStack() as steps:
            steps.callback(self._endpoint.limiter.remove_run, self._pace)
            steps.push_async_callback(self._give_back)
            steps.push_async_callback(self._store_rest)
            steps.push_async_callback(self._take_last_lease)

    async def _take_last_lease(self) -> None:
        if self._leased.under_way is not None:
            found, _ = await self._leased.under_way
            self._unasked += found.judgments

    async def _store_rest(self) -> None:
        try:
            if self._to_store.under_way is not None:
                await self._to_store.under_way
        finally:
            if batch := self._to_store.take_batch():
                await self._store_later(batch)

    async def _give_back_unasked(self) -> None:
        # A copy, since calls that end during the write add more.
        if unasked := list(self._unasked):
            holder = self._endpoint.holder
            await self._later(partial(leases.give_back, holder=holder, judgments=unasked))
            del self._unasked[: len(unasked)]  # more may have been added in the meantime

    async def _give_back(self) -> None:
        await self._give_back_unasked()
        await self._later(partial(endings.finish_if_done, run=self.run))
