"""Limits of attempts, counted in the database for all processes and hosts: passwords, mails, joining.

See docs/decisions/0026-sign-in-limits.md.
"""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from allauth.core.internal.ratelimit import get_ip
from django.conf import settings
from django.db import connection
from django.db.models import F
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import get_random_string, salted_hmac

from annotate.core.models import AttemptCount


@dataclass(frozen=True)
class Limit:
    """A maximum number of attempts within a period, which starts with the first attempt."""

    name: str
    most: int
    within: timedelta

    def of(self, whose: str) -> "Counter":
        # A hash, so that the table holds no e-mails and no IPs.
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
        now = timezone.now()
        as_moment = connection.ops.adapt_datetimefield_value
        values = {"key": counter.key, "now": as_moment(now), "ends": as_moment(now + counter.limit.within)}
        with connection.cursor() as cursor:
            cursor.execute(COUNT, values)
            count = int(cursor.fetchone()[0])
        if count > counter.limit.most:
            # A rejected attempt counts nowhere, also not in the counters before the full one.
            take_back(counters[:number])
            return False
    return True


def longest_wait(counters: Sequence[Counter]) -> tuple[Limit, timedelta] | None:
    """Return the full limit that lasts longest and its remaining time, None if there is none. One query."""
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


def take_back(counters: Sequence[Counter]) -> None:
    # individually: two transactions that uncount several in different orders could deadlock
    for counter in counters:
        AttemptCount.objects.filter(pk=counter.key, count__gt=0).update(count=F("count") - 1)


def forget_old_attempts() -> int:
    """Remove expired counters and return their number."""
    return AttemptCount.objects.filter(ends__lte=timezone.now()).delete()[0]


MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)
# Wrong passwords for one account, from one IP or from one device known to the account.
GUESSES = (Limit("guesses", 5, 5 * MINUTE), Limit("guesses", 20, DAY))
# From devices unknown to an account: for one account, and from one IP for all accounts. A class of 60 behind
# one IP can mistype and still sign in.
UNKNOWN_GUESSES = Limit("guesses for an account", 100, HOUR)
GUESSES_FROM_ADDRESS = (
    Limit("guesses from an address", 100, MINUTE),
    Limit("guesses from an address", 500, HOUR),
)
# Mailed links: to one e-mail, and from one network to all e-mails.
MAILS = (Limit("mails", 3, HOUR), Limit("mails", 6, DAY))
MAILS_FROM_ADDRESS = Limit("mails from an address", 120, HOUR)

# Raters who join by a study's open link, by IP: a whole laboratory can share one.
JOINS_FROM_ADDRESS = (Limit("joins from an address", 60, MINUTE), Limit("joins from an address", 300, HOUR))
# Who comes with a rater's ID in another browser, and so may be guessing at that rater's session.
RETURNS = (Limit("returns of a rater", 5, HOUR), Limit("returns of a rater", 20, DAY))
RETURNS_FROM_ADDRESS = Limit("returns from an address", 60, HOUR)

DEVICE, SALT = "concord_device", "annotate.device"
LASTS = 365 * 24 * 3600  # seconds since somebody last signed in there
MOST_PEOPLE = 20  # who share a device; their marks fill 340 of a cookie's 4,096 bytes


def guess_counters(request: HttpRequest, email: str) -> list[Counter]:
    """Return the counters for a password attempt on this account, the narrowest first."""
    email = email.lower()
    device, people = _device_of(request)
    # A known device has separate limits, so attempts elsewhere never block the owner on it.
    if _mark(email) in people:
        return [limit.of(f"{email} on {device}") for limit in GUESSES]
    address = get_ip(request)
    pair = [limit.of(f"{email} from {address}") for limit in GUESSES]
    return [*pair, UNKNOWN_GUESSES.of(email), *(limit.of(address) for limit in GUESSES_FROM_ADDRESS)]


def may_send_mail(request: HttpRequest, email: str, *, purpose: str) -> bool:
    """Count a requested mail, and return True if the limit allows it.

    Mails with another purpose do not count: requests for links that change an e-mail use up none of its
    owner's password links.
    """
    limits = [limit.of(f"{purpose} {email.lower()}") for limit in MAILS]
    return count_attempt([*limits, MAILS_FROM_ADDRESS.of(get_ip(request))])


def may_join(request: HttpRequest) -> bool:
    """Count a rater who joins by a study's link; return False above the limit."""
    return count_attempt([limit.of(get_ip(request)) for limit in JOINS_FROM_ADDRESS])


def return_counters(request: HttpRequest, rater: int) -> list[Counter]:
    """Return the counters of attempts to continue as this rater (by key) in another browser."""
    return [*(limit.of(str(rater)) for limit in RETURNS), RETURNS_FROM_ADDRESS.of(get_ip(request))]


def remember_device(request: HttpRequest, response: HttpResponse, email: str) -> None:
    """Mark this device as known to the account, so that attempts elsewhere do not block its owner here."""
    device, people = _device_of(request)
    mark = _mark(email.lower())
    # The latest person first: the one who has not signed in for longest drops out.
    kept = [mark, *(each for each in people if each != mark)][:MOST_PEOPLE]
    response.set_signed_cookie(
        DEVICE,
        f"{device or get_random_string(22)}.{'.'.join(kept)}",
        salt=SALT,
        max_age=LASTS,
        # Only the sign-in pages need the cookie.
        path="/accounts/",
        secure=settings.SESSION_COOKIE_SECURE,
        httponly=True,
        samesite="Lax",
    )


def _device_of(request: HttpRequest) -> tuple[str, list[str]]:
    known = request.get_signed_cookie(DEVICE, default="", salt=SALT, max_age=LASTS)
    device, *people = (known or "").split(".")
    return device, people


def _mark(email: str) -> str:
    return salted_hmac(SALT, email, algorithm="sha256").hexdigest()[:16]
