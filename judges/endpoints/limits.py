"""Parsing of a provider's rate-limit headers: waiting times and remaining calls."""

import re
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from math import isfinite

from django.utils import timezone

UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+")
PART = re.compile(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)")
Limits = Sequence[tuple[str, str]]
"""Two headers for each limit: what remains, and when the limit starts anew."""
OPENAI_LIMITS: Limits = tuple(
    (f"x-ratelimit-remaining-{each}", f"x-ratelimit-reset-{each}") for each in ("requests", "tokens")
)
ANTHROPIC_LIMITS: Limits = tuple(
    (f"anthropic-ratelimit-{each}-remaining", f"anthropic-ratelimit-{each}-reset")
    for each in ("requests", "tokens", "input-tokens", "output-tokens")
)


def seconds_to_wait(headers: Mapping[str, str], limits: Limits = OPENAI_LIMITS) -> float | None:
    """Return the seconds without calls that a server demands after rejecting a call for its limits; None
    if unspecified.
    """
    wait = retry_after(headers)
    return seconds_until_reset(headers, limits) if wait is None else wait


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return the seconds of `retry-after-ms`, or of `Retry-After`: seconds or a date (RFC 9110, 10.2.3)."""
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    said = headers.get("retry-after", "").strip()
    seconds = _number(said)
    return _seconds_until(said) if seconds is None else seconds


def seconds_until_reset(headers: Mapping[str, str], limits: Limits = OPENAI_LIMITS) -> float | None:
    """Return the seconds until calls are accepted again; None if no limit is used up.

    The latest reset of all used-up limits counts.
    """
    resets = [
        duration(headers.get(reset, ""))
        for remaining, reset in limits
        if _number(headers.get(remaining, "")) == 0
    ]
    return max((seconds for seconds in resets if seconds is not None), default=None)


def _number(said: str) -> float | None:
    try:
        number = float(said)
    except ValueError:
        return None
    return max(number, 0.0) if isfinite(number) else None


def duration(said: str) -> float | None:
    """Return seconds from "6m0s", "120ms", a plain number of seconds, or a moment (RFC 3339)."""
    said = said.strip()
    if DURATION.fullmatch(said):
        return sum(float(number) * UNITS[unit] for number, unit in PART.findall(said))
    seconds = _number(said)
    return _until_moment(said) if seconds is None else seconds


def _until_moment(said: str) -> float | None:
    try:
        return _until(datetime.fromisoformat(said))
    except ValueError:
        return None


def _seconds_until(date: str) -> float | None:
    try:
        return _until(parsedate_to_datetime(date))
    except ValueError:
        return None


def _until(moment: datetime) -> float:
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max((moment - timezone.now()).total_seconds(), 0.0)
