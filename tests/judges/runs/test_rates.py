"""The rate at which a server is asked after it asked to slow down, and the turns of runs."""

import asyncio
from math import inf

import pytest

from benchmarks.pacing import Phase, ask_through
from judges.runs.asker import save_slowdowns, slowdowns_of
from judges.runs.pacing import RateLimiter, Slowdown, Stopped, allowed_rate, answered_rate, slow_down
from tests.factories import make_project
from tests.judges.factories import make_endpoint


@pytest.mark.parametrize(
    ("now", "rate"),
    [(0, 8.5), (100, 8.5), (105, 9.25), (110, 10), (112, 20), (114, 40), (130, inf)],
)
def test_calls_go_on_a_little_slower_climb_back_and_then_look_beyond(now, rate):
    assert allowed_rate(Slowdown(rate=10, resumes_at=100, climb=10), now) == pytest.approx(rate)


@pytest.mark.parametrize(("now", "rate"), [(20, 1), (22, 2), (30, 32), (40, inf)])
def test_calls_without_any_answer_start_at_one_a_second(now, rate):
    assert allowed_rate(Slowdown(rate=None, resumes_at=20), now) == rate


def test_who_was_never_asked_to_slow_down_is_not_limited():
    assert allowed_rate(None, 0) == inf


def test_stable_limit_is_probed_less_and_less_often():
    climbs, known, now = [], None, 0.0
    for _ in range(5):
        known = slow_down(known, now=now, wait=20, answered=20)
        climbs.append(known.climb)
        now = known.resumes_at + known.climb
    assert climbs == [10, 20, 40, 80, 80]
    assert slow_down(known, now=now, wait=1, answered=2).climb == 10, "another limit"


def test_limit_estimate_never_exceeds_the_allowed_rate():
    known = slow_down(Slowdown(10, resumes_at=0, climb=10), now=10, wait=1, answered=300)
    assert known == Slowdown(10, resumes_at=11, climb=20)


@pytest.mark.parametrize(
    ("answered", "since", "rate"),
    [
        ([], 0, 0),
        ([100.0], 0, 1),
        ([99.5] * 16, 0, 16),
        ([96.0, 97.0, 98.0, 99.0, 100.0], 0, 5 / 4),
        ([20.0, 96.0], 0, 1 / 4),
        ([20.0, 96.0], 97, 0),
    ],
)
def test_the_last_answers_say_the_rate(answered, since, rate):
    assert answered_rate(answered, now=100, since=since) == rate


# Asking a scripted server on a clock that jumps


def test_sixteen_initial_rejections_cost_little_beyond_their_pause():
    came = ask_through([Phase(1, 0, retry_after=20), Phase(50, None)], latency=0.4, calls=16)
    assert came.answered(0, 20) == 0
    assert came.answered(21, 51) >= came.ideal(21, 51) / 2
    assert came.refused(0, 51) == 16


def test_half_of_the_pace_is_there_within_seconds_after_an_outage():
    came = ask_through([Phase(20, None), Phase(5, 0, retry_after=20), Phase(50, None)], latency=0.4, calls=16)
    assert came.answered(50, 60) >= came.ideal(50, 60) / 2


@pytest.mark.parametrize("runs", [1, 2])
def test_stable_limit_is_used_with_few_rejections(runs):
    came = ask_through([Phase(120, 20)], latency=0.4, calls=16, runs=runs)
    assert came.answered(0, 120) >= 0.8 * 20
    assert came.refused(0, 120) <= 0.02 * came.answered(0, 120) * 120


# Slowdowns


def test_calls_that_began_before_a_slowdown_only_make_its_pause_longer():
    now = [1000.0]
    limiter = RateLimiter(calls_in_flight=9, clock=lambda: now[0])
    now[0] = 1000.5
    for _ in range(10):
        limiter.note_answer("m")
    now[0] = 1001.0
    limiter.back_off("m", began=1000, seconds=20)
    assert limiter.slowdowns == {"m": Slowdown(11, resumes_at=1021, climb=10)}
    now[0] = 1003.0
    limiter.back_off("m", began=1000.5, seconds=20)
    assert limiter.slowdowns == {"m": Slowdown(11, resumes_at=1023, climb=10)}
    now[0] = 1032.5
    for _ in range(10):
        limiter.note_answer("m")
    now[0] = 1033.0
    limiter.back_off("m", began=1033, seconds=20)
    assert limiter.slowdowns == {"m": Slowdown(11, resumes_at=1053, climb=20)}
    assert (limiter.resting_until, limiter.unsaved_slowdowns) == (1053, {"m"})


@pytest.mark.django_db
def test_the_next_worker_has_the_slowdowns_of_the_one_before():
    endpoint = make_endpoint(make_project().project)
    for climb in (10, 20):
        slowdowns = {"m": Slowdown(11, resumes_at=1053, climb=climb), "n": Slowdown(None, resumes_at=1)}
        save_slowdowns(endpoint=endpoint.pk, slowdowns=slowdowns)
        assert slowdowns_of(endpoint.pk) == slowdowns
    assert slowdowns_of(make_endpoint(endpoint.project).pk) == {}


# Calls of several runs


async def make_call(run):
    async with run.call("m"):
        await asyncio.sleep(60)


async def end_calls(calls):
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)


def test_runs_that_wait_get_calls_in_turn():
    async def work():
        limiter = RateLimiter(calls_in_flight=0)
        first, second = limiter.add_run(), limiter.add_run()
        calls = [asyncio.create_task(make_call(run)) for run in (first, first, first, first, second, second)]
        await asyncio.sleep(0)
        for most, in_flight in ((1, (1, 0)), (2, (1, 1)), (4, (2, 2)), (6, (4, 2))):
            limiter.calls_in_flight = most
            limiter.begin_waiting_calls()
            assert (first.in_flight, second.in_flight) == in_flight
        await end_calls(calls)
        assert limiter.in_flight == 0

    asyncio.run(work())


def test_calls_of_a_stopped_run_leave_their_turns_to_others():
    async def work():
        limiter = RateLimiter(calls_in_flight=1)
        first, second = limiter.add_run(), limiter.add_run()
        calls = [asyncio.create_task(make_call(run)) for run in (first, first, second)]
        await asyncio.sleep(0)
        first.stop()
        with pytest.raises(Stopped):
            await calls[1]
        assert (first.in_flight, second.in_flight) == (1, 0), "a call in flight ends"
        calls[0].cancel()
        await asyncio.sleep(0.01)
        assert (first.in_flight, second.in_flight) == (0, 1)
        await end_calls(calls)

    asyncio.run(work())


def test_stopped_and_cancelled_calls_are_not_counted_as_ended():
    async def work():
        limiter = RateLimiter(calls_in_flight=1)
        first, second = limiter.add_run(), limiter.add_run()
        calls = [asyncio.create_task(make_call(run)) for run in (first, first, first, second, second)]
        await asyncio.sleep(0)
        first.stop()
        await end_calls(calls[1:3])
        assert (first.in_flight, second.in_flight) == (1, 0)
        await end_calls(calls)
        assert limiter.in_flight == 0

    asyncio.run(work())
