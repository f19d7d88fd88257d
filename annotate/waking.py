"""Every worker looks by itself whether digests are due: there is no timetable that could be forgotten."""

import logging

from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from annotate.looking import Looking
from annotate.queries.digests import without_digest_today
from annotate.tasks import send_digests

EVERY = 600.0  # seconds
logger = logging.getLogger(__name__)


def wake_for_digests() -> None:
    """Send a message if anyone who asked for digests has had none today."""
    close_old_connections()
    try:
        if without_digest_today(timezone.localtime()).exists():
            send_digests.apply_async(expires=EVERY)
    except DatabaseError as error:  # the next look finds them
        logger.warning("Digests could not be looked for: %s", error)


class LookForDigests(Looking):
    """Every ten minutes sends a message if anyone may be due a digest; one that nobody takes expires."""

    at_start = 5.0
    every = EVERY

    def look(self) -> None:
        """Look once."""
        wake_for_digests()
