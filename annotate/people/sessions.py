"""Sessions of a person: recorded on use, ended after inactivity, listed, ended by hand."""

import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from allauth.account.adapter import get_adapter
from allauth.usersessions.models import UserSession
from django.conf import settings
from django.contrib.auth.models import AnonymousUser
from django.contrib.sessions.models import Session
from django.db.models import Exists, OuterRef, QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.database import write_if_possible
from annotate.core.models import User

SIGNED_IN_AT = "signed_in_at"
LOOKED_AT_EVERY = timedelta(minutes=1)
MOST_SESSIONS = 10_000
_looked_at: dict[str, datetime] = {}  # when this process last looked at a session

# The order matters: Edge and Opera also name Chrome, and Chrome also names Safari.
BROWSERS = (
    ("Edge", r"\bEdgi?A?/"),
    ("Opera", r"\bOPR/"),
    ("Firefox", r"\b(Firefox|FxiOS)/"),
    ("Chrome", r"\b(Chrome|CriOS|HeadlessChrome)/"),
    ("Safari", r"\bSafari/"),
)
# An iPhone also names Mac OS X, and Android also names Linux.
SYSTEMS = (
    ("iPhone", r"\biPhone\b"),
    ("iPad", r"\biPad\b"),
    ("Android", r"\bAndroid\b"),
    ("Windows", r"\bWindows\b"),
    ("macOS", r"\bMac OS X\b"),
    ("ChromeOS", r"\bCrOS\b"),
    ("Linux", r"\bLinux\b"),
)


class SessionLimitsMiddleware:
    """Ends sessions that are too old or inactive, and records the time and origin of their use.

    Each process checks a session once a minute, so most requests need no query for it. Saving a rating reads
    its session in one round trip with all other data.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        key, now = request.session.session_key, timezone.now()
        last = _looked_at.get(key or "")
        # `abs`, because the clock of a host can be set back.
        if key and (last is None or abs(now - last) >= LOOKED_AT_EVERY):
            _check_session(request, key, now)
        return self.get_response(request)


def _check_session(request: HttpRequest, key: str, now: datetime) -> None:
    signed_in_at = request.session.get(SIGNED_IN_AT)
    if signed_in_at is not None:
        known = UserSession.objects.filter(session_key=key)
        used_at = known.values_list("last_seen_at", flat=True).first()
        # A session ends by age, even in use, and by inactivity.
        too_old = now.timestamp() - signed_in_at > settings.SESSION_LASTS.total_seconds()
        if too_old or (used_at is not None and now - used_at > settings.SESSION_IDLE):
            known.delete()
            request.session.flush()
            request.user = AnonymousUser()
            return
        seen: dict[str, Any] = {"last_seen_at": now, "ip": get_adapter(request).get_client_ip(request)}
        # The record is optional: no request blocks while another process writes to SQLite.
        write_if_possible(lambda: known.update(**seen))
    if len(_looked_at) >= MOST_SESSIONS:
        # A forgotten session costs one more look.
        _looked_at.clear()
    _looked_at[key] = now


@dataclass(frozen=True)
class SignedIn:
    session: UserSession
    is_this: bool

    @property
    def device(self) -> str:
        return device_of(self.session.user_agent)


def device_of(user_agent: str) -> str:
    """Return the browser and system, such as "Firefox on Linux", or the known part of it."""
    browser = next((name for name, sign in BROWSERS if re.search(sign, user_agent)), gettext("A browser"))
    system = next((name for name, sign in SYSTEMS if re.search(sign, user_agent)), "")
    if not system:
        return browser
    return gettext("{browser} on {system}").format(browser=browser, system=system)


def sessions_of(user: User) -> QuerySet[UserSession]:
    live = Session.objects.filter(session_key=OuterRef("session_key"), expire_date__gt=timezone.now())
    found: QuerySet[UserSession] = UserSession.objects.filter(Exists(live), user=user)
    return found.order_by("-last_seen_at", "-pk")


def signed_in(user: User, current: str | None) -> list[SignedIn]:
    """Return a person's sessions, the current one first. One query."""
    found = [SignedIn(each, each.session_key == current) for each in sessions_of(user)]
    return sorted(found, key=lambda each: not each.is_this)


def end_sessions(*, user: User, besides: str | None = None) -> int:
    """End all sessions of a person, except `besides` if given; return the number of ended sessions."""
    ended = UserSession.objects.filter(user=user).exclude(session_key=besides or "")
    keys = list(ended.values_list("session_key", flat=True))
    count = Session.objects.filter(session_key__in=keys).delete()[0]
    ended.delete()
    return count


def forget_ended_sessions() -> int:
    """Remove ended sessions and their records; return the number of sessions."""
    now = timezone.now()
    count = Session.objects.filter(expire_date__lte=now).delete()[0]
    live = Session.objects.filter(session_key=OuterRef("session_key"))
    # Not the record from this request: signing in may store it before another connection sees the session.
    UserSession.objects.filter(~Exists(live), last_seen_at__lt=now - timedelta(hours=1)).delete()
    return count


def end_session(*, session: UserSession) -> None:
    Session.objects.filter(session_key=session.session_key).delete()
    UserSession.objects.filter(pk=session.pk).delete()
