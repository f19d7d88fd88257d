from datetime import date, timedelta

import pytest

from annotate.watching.queries.round_progress import pace_of

TODAY = date(2026, 3, 20)  # a Friday


def days(*ago_and_counts):
    return {TODAY - timedelta(days=ago): count for ago, count in ago_and_counts}


def test_pace_is_of_days_with_ratings_and_the_forecast_of_the_calendar():
    # 40 ratings on two days of the last four: 20 on such a day, 10 a calendar day, 100 left take ten days.
    pace = pace_of(days((1, 25), (4, 15)), left=100, today=TODAY)
    assert (pace.per_day, pace.active_days, pace.calendar_days) == (20, 2, 4)
    assert pace.ends_on == date(2026, 3, 30)


def test_only_the_last_seven_days_with_ratings_count_and_today_does_not():
    many = days((0, 1000), *((ago, 10) for ago in range(1, 8)), (9, 500))
    pace = pace_of(many, left=15, today=TODAY)
    assert (pace.per_day, pace.active_days, pace.calendar_days) == (10, 7, 7)
    assert pace.ends_on == date(2026, 3, 22)


@pytest.mark.parametrize(
    ("given", "left", "reason"),
    [
        (days((1, 5), (2, 5)), 0, "All assignments are rated."),
        ({}, 9, "two days with ratings before today"),
        (days((0, 99), (1, 5)), 9, "two days with ratings before today"),
        (days((30, 1), (59, 1)), 1000, "more than five years"),
    ],
)
def test_without_a_forecast_there_is_a_reason(given, left, reason):
    pace = pace_of(given, left=left, today=TODAY)
    assert pace.ends_on is None
    assert reason in pace.reason
