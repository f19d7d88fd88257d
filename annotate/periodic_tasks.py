"""Every worker looks by itself whether digests or deliveries are due: no timetable could be forgotten."""

import logging

from django.db import DatabaseError, close_old_connections
from django.utils import timezone

from annotate.core.periodic import PeriodicTask
from annotate.disputes.queries.digests import without_digest_today
from annotate.people.attempts import forget_old_attempts
from annotate.people.sessions import forget_ended_sessions
from annotate.tasks import deliver, send_digests
from annotate.webhooks.queries import due_deliveries

EVERY = 600.0  # seconds
DELIVERIES_EVERY = 3.0  # seconds
DELIVERIES_AT_ONCE = 100
logger = logging.getLogger(__name__)


def enqueue_digests() -> None:
    """Send a message if anyone who asked for digests has had none today."""
    close_old_connections()
    try:
        if without_digest_today(timezone.localtime()).exists():
            send_digests.apply_async(expires=EVERY)
    except DatabaseError as error:  # the next look finds them
        logger.warning("Digests could not be looked for: %s", error)


class SendDueDigests(PeriodicTask):
    """Every ten minutes sends a message if anyone may be due a digest; one that nobody takes expires."""

    at_start = 5.0
    every = EVERY

    def run(self) -> None:
        """Look once."""
        enqueue_digests()


class ForgetOldSignIns(PeriodicTask):
    """Every ten minutes removes sessions that ended, and counts of attempts that limit nothing any more."""

    at_start = 60.0
    every = EVERY

    def run(self) -> None:
        """Remove them once."""
        close_old_connections()
        try:
            forget_old_attempts()
            forget_ended_sessions()
        except DatabaseError as error:  # the next one removes them
            logger.warning("Old sessions and attempts could not be removed: %s", error)


def enqueue_deliveries() -> None:
    """Send a message for each delivery to a webhook that is due."""
    close_old_connections()
    try:
        due = list(due_deliveries(timezone.now()).values_list("pk", flat=True)[:DELIVERIES_AT_ONCE])
    except DatabaseError as error:  # the next look finds them
        logger.warning("Deliveries could not be looked for: %s", error)
        return
    for delivery in due:
        deliver.apply_async((delivery,), expires=DELIVERIES_EVERY)


class SendDueDeliveries(PeriodicTask):
    """Every few seconds sends a message for each delivery that is due; one that nobody takes expires."""

    at_start = 1.0
    every = DELIVERIES_EVERY

    def run(self) -> None:
        """Look once."""
        enqueue_deliveries()
