"""Every worker looks by itself whether digests or deliveries are due: no timetable could be forgotten."""

import logging

from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from annotate.looking import Looking
from annotate.queries.digests import without_digest_today
from annotate.queries.webhooks import due_deliveries
from annotate.tasks import deliver, send_digests

EVERY = 600.0  # seconds
DELIVERIES_EVERY = 3.0  # seconds
DELIVERIES_AT_ONCE = 100
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


def wake_for_deliveries() -> None:
    """Send a message for each delivery to a webhook that is due."""
    close_old_connections()
    try:
        due = list(due_deliveries(timezone.now()).values_list("pk", flat=True)[:DELIVERIES_AT_ONCE])
    except DatabaseError as error:  # the next look finds them
        logger.warning("Deliveries could not be looked for: %s", error)
        return
    for delivery in due:
        deliver.apply_async((delivery,), expires=DELIVERIES_EVERY)


class LookForDeliveries(Looking):
    """Every few seconds sends a message for each delivery that is due; one that nobody takes expires."""

    at_start = 1.0
    every = DELIVERIES_EVERY

    def look(self) -> None:
        """Look once."""
        wake_for_deliveries()
