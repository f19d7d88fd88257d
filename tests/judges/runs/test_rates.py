"""The rate at which a server is asked after it asked to slow down."""

from functools import partial
from math import inf

import pytest

from benchmarks.pacing import Phase, ask_through
from judges.runs.commands.paces import note_slowdown, slowdowns_of
from judges.runs.rates import Slowdown, allowed_rate, answered_rate, slow_down
from tests.factories import make_project
from tests.judges.factories import make_endpoint


@pytest.mark.parametrize(
    ("now", "rate"),
    [(0, 8.5), (100, 8.5), (105, 9.25), (110, 10), (112, 20), (114, 40), (130, inf)],
)
def test_calls_go_on_a_little_slower_climb_back_and_then_look_beyond(now, rate):
    assert allowed_rate(Slowdown(rate=10, resumes_at=100, climb=10), now) == pytest.approx(rate)


@pytest.mark.parametrize(("now", "rate"), [(20, 1), (22, 2), (30, 32), (40, inf)])
def test_where_nothing_was_answered_before_calls_begin_with_one_a_second(now, rate):
    assert allowed_rate(Slowdown(rate=None, resumes_at=20), now) == rate


def test_who_was_never_asked_to_slow_down_is_not_limited():
    assert allowed_rate(None, 0) == inf


def test_a_limit_that_stands_is_looked_beyond_more_and_more_rarely():
    climbs, known, now = [], None, 0.0
    for _ in range(5):
        known = slow_down(known, now=now, wait=20, answered=20)
        climbs.append(known.climb)
        now = known.resumes_at + known.climb
    assert climbs == [10, 20, 40, 80, 80]
    assert slow_down(known, now=now, wait=1, answered=2).climb == 10, "another limit"


def test_no_more_is_taken_for_the_limit_than_was_allowed():
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


def test_sixteen_refusals_at_first_cost_their_pause_and_little_more():
    came = ask_through([Phase(1, 0, retry_after=20), Phase(50, None)], latency=0.4, calls=16)
    assert came.answered(0, 20) == 0
    assert came.answered(21, 51) >= came.ideal(21, 51) / 2
    assert came.refused(0, 51) == 16


def test_half_of_the_pace_is_there_within_seconds_after_an_outage():
    came = ask_through([Phase(20, None), Phase(5, 0, retry_after=20), Phase(50, None)], latency=0.4, calls=16)
    assert came.answered(50, 60) >= came.ideal(50, 60) / 2


@pytest.mark.parametrize("workers", [1, 2])
def test_a_limit_that_stands_is_used_with_few_refusals(workers):
    came = ask_through([Phase(120, 20)], latency=0.4, calls=16, workers=workers)
    assert came.answered(0, 120) >= 0.8 * 20
    assert came.refused(0, 120) <= 0.02 * came.answered(0, 120) * 120


# In the database


@pytest.mark.django_db
def test_workers_share_what_one_was_told_and_calls_of_the_same_moment_count_once():
    endpoint = make_endpoint(make_project().project)
    note = partial(note_slowdown, endpoint=endpoint.pk, model="m", seconds=20)
    first = note(began=1000, told=1001, answered=10)
    assert first == Slowdown(11, resumes_at=1021, climb=10)
    late = note(began=1000.5, told=1003, answered=1)
    assert late == Slowdown(11, resumes_at=1023, climb=10), "it began before: only its pause counts"
    assert slowdowns_of(endpoint.pk) == {"m": late}
    again = note(began=1033, told=1033, answered=10)
    assert again == Slowdown(11, resumes_at=1053, climb=20)
    assert slowdowns_of(make_endpoint(endpoint.project).pk) == {}
