"""What a provider's headers say about its limits: how long to wait, and what is left."""

import re
from collections.abc import Mapping
from datetime import UTC
from email.utils import parsedate_to_datetime
from math import isfinite

from django.utils import timezone

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
REMAINING, RESET = "x-ratelimit-remaining-", "x-ratelimit-reset-"
COUNTED = ("requests", "tokens")


def seconds_to_wait(headers: Mapping[str, str]) -> float | None:
    """Return how long a server that refused a call for its limits wants no calls; None: it does not say."""
    wait = retry_after(headers)
    return seconds_until_reset(headers) if wait is None else wait


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `retry-after-ms`, or of `Retry-After`: seconds or a date (RFC 9110, 10.2.3)."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "").strip()
    seconds = _number(said)
    return _seconds_until(said) if seconds is None else seconds


def seconds_until_reset(headers: Mapping[str, str]) -> float | None:
    """Return when calls are taken again by `x-ratelimit-reset-*`, in seconds; None where some are left.

    Of requests and tokens the later one of those of which nothing remains.
    """
    used_up = [each for each in COUNTED if _number(headers.get(f"{REMAINING}{each}", "")) == 0]
    resets = [_duration(headers.get(f"{RESET}{each}", "")) for each in used_up]
    return max((seconds for seconds in resets if seconds is not None), default=None)


def _number(said: str) -> float | None:
    try:
        number = float(said)
    except ValueError:
        return None
    return max(number, 0.0) if isfinite(number) else None


def _duration(said: str) -> float | None:
    """Return seconds from "6m0s", "120ms", or a plain number of seconds."""
    said = said.strip()
    if DURATION.fullmatch(said):
        return sum(float(number) * UNITS[unit] for number, unit in PART.findall(said))
    return _number(said)


def _seconds_until(date: str) -> float | None:
    try:
        moment = parsedate_to_datetime(date)
    except ValueError:
        return None
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - timezone.now()).total_seconds(), 0.0)
