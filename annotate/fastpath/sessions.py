"""Sessions in the database, read by a statement that is compiled once: every request reads one."""

from typing import Any

from django.contrib.auth import SESSION_KEY
from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from annotate.fastpath.queries import WORD, Prepared

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
                _holders.clear()
            _holders[self.session_key] = int(found[SESSION_KEY])
        return found

    def _get_session_from_db(self) -> Session | None:
        found = SESSION.first(self.session_key) if self.session_key else None
        if found is None or found.expire_date <= timezone.now():
            self._session_key = None
            return None
        return found
