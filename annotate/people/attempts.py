"""Rate limits counted in the database, shared by all processes and hosts."""

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
    """A maximum number of attempts within a period, which starts with the first attempt."""

    name: str
    most: int
    within: timedelta

    def of(self, whose: str) -> "Counter":
        return Counter(self, hashlib.sha256(f"{self.name} {self.within} {whose}".encode()).hexdigest())


@dataclass(frozen=True)
class Counter:
    """The key of attempts counted together, and their limit."""

    limit: Limit
    key: str


# One statement, so that simultaneous attempts queue only in the database. A lock in the cache, as in
# allauth's own limits, failed for 7 of 60 people who signed in at once.
COUNT = """
INSERT INTO annotate_attemptcount AS known (key, count, ends) VALUES (%(key)s, 1, %(ends)s)
ON CONFLICT (key) DO UPDATE SET
  count = CASE WHEN known.ends <= %(now)s THEN 1 ELSE known.count + 1 END,
  ends = CASE WHEN known.ends <= %(now)s THEN excluded.ends ELSE known.ends END
RETURNING count
"""


def count_attempt(counters: Sequence[Counter]) -> bool:
    """Count an attempt in all counters, in order. If one is full, count nothing and return False."""
    for number, counter in enumerate(counters, start=1):
        if _count(counter) > counter.limit.most:
            take_back(counters[:number])
            return False
    return True


def longest_wait(counters: Sequence[Counter]) -> tuple[Limit, timedelta] | None:
    """Return the full limit that lasts longest and its remaining time.

    None if an attempt is allowed. One query.
    """
    now, known = timezone.now(), AttemptCount.objects.in_bulk([each.key for each in counters])
    waits = [
        (known[each.key].ends - now, index)
        for index, each in enumerate(counters)
        if each.key in known and known[each.key].count >= each.limit.most and known[each.key].ends > now
    ]
    if not waits:
        return None
    wait, index = max(waits)
    return counters[index].limit, wait


def _count(counter: Counter) -> int:
    now = timezone.now()
    as_moment = connection.ops.adapt_datetimefield_value
    values = {"key": counter.key, "now": as_moment(now), "ends": as_moment(now + counter.limit.within)}
    with connection.cursor() as cursor:
        cursor.execute(COUNT, values)
        return int(cursor.fetchone()[0])


def take_back(counters: Sequence[Counter]) -> None:
    # individually: two transactions that uncount several in different orders could deadlock
    for counter in counters:
        AttemptCount.objects.filter(pk=counter.key, count__gt=0).update(count=F("count") - 1)


def forget_old_attempts() -> int:
    """Remove expired counters and return their number."""
    return AttemptCount.objects.filter(ends__lte=timezone.now()).delete()[0]
