"""What is asked and written thousands of times while people rate, done cheaply. It knows no table of Concord.

Django compiles every query anew, makes each row's object by calling its model, and starts a round trip for
each statement. That is most of the work of a save, so here queries are compiled once (`queries`, `writes`),
several go to PostgreSQL in one round trip (`statements`, `pipeline`), and who sends a request is read
together with what the request is about (`sessions`, `prefetch`). The figures are in docs/performance.md.

CONCORD_FAST_PATH=libpq, cursor or off: `cursor` keeps what is compiled but sends it by Django's cursor, as
SQLite always does; `off` is the plain ORM throughout, to compare with, and to turn to when in doubt.
"""

from django.conf import settings

LIBPQ, CURSOR, OFF = "libpq", "cursor", "off"


def is_off() -> bool:
    """Whether everything goes by the plain ORM."""
    return str(settings.FAST_PATH) == OFF
