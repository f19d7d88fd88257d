"""Sessions in the database, read by a statement that is compiled once: every request reads one."""

from django.contrib.sessions.backends import db
from django.contrib.sessions.models import Session
from django.utils import timezone

from annotate.queries.prepared import WORD, Prepared

_SESSION = Prepared(lambda key: Session.objects.filter(session_key=key), WORD)


class SessionStore(db.SessionStore):
    """Django's own sessions, and its table."""

    def _get_session_from_db(self) -> Session | None:
        found = _SESSION.first(self.session_key) if self.session_key else None
        if found is None or found.expire_date <= timezone.now():
            self._session_key = None
            return None
        return found
