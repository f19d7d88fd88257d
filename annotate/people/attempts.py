"""How often something may be tried, counted in the database: all processes and hosts count together."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db import connection
from django.db.models import F
from django.utils import timezone

from annotate.core.models import AttemptCount


@dataclass(frozen=True)
class Limit:
    """At most so many attempts within a time, which begins with the first of them."""

    name: str
    most: int
    within: timedelta

    def of(self, whose: str) -> "Counter":
        """Return the counter of one account, address or device."""
        return Counter(self, hashlib.sha256(f"{self.name} {self.within} {whose}".encode()).hexdigest())


@dataclass(frozen=True)
class Counter:
    """What is counted together, and up to where."""

    limit: Limit
    key: str


# One statement, so that attempts at the same moment wait for each other in the database and nowhere else.
# A lock in the cache, as allauth's own limits take one, gave up on 7 of 60 people who signed in at once.
COUNT = """
INSERT INTO annotate_attemptcount AS known (key, count, ends) VALUES (%(key)s, 1, %(ends)s)
ON CONFLICT (key) DO UPDATE SET
  count = CASE WHEN known.ends <= %(now)s THEN 1 ELSE known.count + 1 END,
  ends = CASE WHEN known.ends <= %(now)s THEN excluded.ends ELSE known.ends END
RETURNING count
"""


def count_attempt(counters: Sequence[Counter]) -> bool:
    """Count an attempt in each of these, in order; where one is full, in none of them, and return False."""
    for number, counter in enumerate(counters, start=1):
        if _count(counter) > counter.limit.most:
            take_back(counters[:number])
            return False
    return True


def longest_wait(counters: Sequence[Counter]) -> tuple[Limit, timedelta] | None:
    """Return the full limit that lasts longest, and how long. None if an attempt may be made. One query."""
    now, known = timezone.now(), AttemptCount.objects.in_bulk([each.key for each in counters])
    waits = [
        (known[each.key].ends - now, place)
        for place, each in enumerate(counters)
        if each.key in known and known[each.key].count >= each.limit.most and known[each.key].ends > now
    ]
    if not waits:
        return None
    wait, place = max(waits)
    return counters[place].limit, wait


def _count(counter: Counter) -> int:
    now = timezone.now()
    as_moment = connection.ops.adapt_datetimefield_value
    values = {"key": counter.key, "now": as_moment(now), "ends": as_moment(now + counter.limit.within)}
    with connection.cursor() as cursor:
        cursor.execute(COUNT, values)
        return int(cursor.fetchone()[0])


def take_back(counters: Sequence[Counter]) -> None:
    """Count an attempt no longer."""
    for counter in counters:  # one by one: two that take back several in different orders could wait for ever
        AttemptCount.objects.filter(pk=counter.key, count__gt=0).update(count=F("count") - 1)


def forget_old_attempts() -> int:
    """Remove what counts no more, and return how many counters that were."""
    return AttemptCount.objects.filter(ends__lte=timezone.now()).delete()[0]
