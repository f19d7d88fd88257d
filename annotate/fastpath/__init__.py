"""Fast queries and writes: of rating, and of the frame of every page.

Independent of Concord's tables.

Django compiles every query again, creates each row's object by calling its model, and makes a round trip for
each statement. That is most of the work of a save. So here queries are compiled once (`queries`),
and several go to PostgreSQL in one round trip (`statements`). The sender of a request is read
together with its subject (`sessions`). Measurements are in docs/performance.md. Queries outside rating are
compiled once too, and sent by Django's cursor.

CONCORD_FAST_PATH=libpq, cursor or off: `cursor` keeps compiled statements but sends them by Django's cursor,
as SQLite always does; `off` is the plain ORM everywhere, for comparison and for debugging.
"""

from django.conf import settings

LIBPQ, CURSOR, OFF = "libpq", "cursor", "off"


def is_off() -> bool:
    return str(settings.FAST_PATH) == OFF
