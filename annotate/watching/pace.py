"""How fast a round goes on, and when it ends if it goes on so. Pure: counts per day in, a forecast out."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from math import ceil

from django.utils.translation import gettext

ACTIVE_DAYS = 7
LEAST_DAYS = 2
LONGEST = timedelta(days=5 * 365)


@dataclass(frozen=True)
class Pace:
    """Ratings on a day on which anyone rated, and the day on which the rest is done; or why there is none.

    per_day: over the last `active_days` days with ratings, which lie within the last `calendar_days` days.
    """

    left: int
    active_days: int = 0
    calendar_days: int = 0
    per_day: float | None = None
    ends_on: date | None = None
    reason: str = ""


def pace_of(ratings: Mapping[date, int], *, left: int, today: date) -> Pace:
    """Return the pace of the last seven days with ratings, and when `left` more ratings are given.

    Today is not over and does not count. The forecast is by the calendar: it takes days without ratings, such
    as Sundays, and a standstill up to today, to go on as they were. Undefined with fewer than two such days.
    """
    days = sorted((day for day, count in ratings.items() if count and day < today), reverse=True)
    days = days[:ACTIVE_DAYS]
    if not left:
        return Pace(left, reason=gettext("All assignments are rated."))
    if len(days) < LEAST_DAYS:
        return Pace(left, reason=gettext("The forecast needs two days with ratings before today."))
    given = sum(ratings[day] for day in days)
    calendar_days = (today - days[-1]).days
    needed = timedelta(days=ceil(left * calendar_days / given))
    late = needed > LONGEST
    return Pace(
        left,
        active_days=len(days),
        calendar_days=calendar_days,
        per_day=given / len(days),
        ends_on=None if late else today + needed,
        reason=gettext("At this pace, rating would take more than five years.") if late else "",
    )
