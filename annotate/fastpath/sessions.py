"""Sessions in the database, read by a statement that is compiled once: every request reads one."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from annotate.fastpath import is_off
from annotate.fastpath.queries import WORD, Prepared, Value, prefetch_queries

MOST_HOLDERS = 10_000
SESSION = Prepared(lambda key: Session.objects.filter(session_key=key), WORD)


_holders: dict[str, int] = {}  # whose sessions were, when this process last read them


def likely_holder(key: str) -> int | None:
    """Return the session's owner at this process's last read: for prefetching, not for authentication."""
    return _holders.get(key)


class SessionStore(db.SessionStore):
    def load(self) -> dict[str, Any]:
        found: dict[str, Any] = super().load()
        if self.session_key and SESSION_KEY in found:
            if len(_holders) >= MOST_HOLDERS:
                # A forgotten holder costs one request its prefetching, so nothing finer is needed.
                _holders.clear()
            _holders[self.session_key] = int(found[SESSION_KEY])
        return found

    def _get_session_from_db(self) -> Session | None:
        found = SESSION.first(self.session_key) if self.session_key else None
        if found is None or found.expire_date <= timezone.now():
            # As in Django, an unknown or expired key is not used again.
            self._session_key = None
            return None
        return found


View = Callable[..., HttpResponse]
Question = tuple[Prepared[Any], tuple[Value, ...]]


def prefetch_request(questions: Callable[..., tuple[Question, ...]]) -> Callable[[View], View]:
    """Send these questions together with the session query, if this process has seen the owner of the
    session.

    questions: gets the likely owner's key and the view's arguments; returns the view's likely queries.

    The usual code decides on the session's validity, its owner and the owner's rights, from the rows found.
    If the session now belongs to another person, the queries run again for that person.
    """

    def decorate(view: View) -> View:
        @wraps(view)
        def inner(request: HttpRequest, **arguments: Any) -> HttpResponse:
            key = request.session.session_key or ""
            holder = None if is_off() else likely_holder(key)
            # The first request of a session in this process sends the queries individually, and so learns the
            # owner.
            if holder is None:
                return view(request, **arguments)
            # Only the same question with the same values finds the rows, each once. So a wrong guess costs
            # unused rows, and reading after a write reads again.
            with prefetch_queries((SESSION, (key,)), *questions(holder, **arguments)):
                return view(request, **arguments)

        return inner

    return decorate
