"""Whether workers run, and can be reached."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from celery import current_app
from django.core.cache import caches
from django.utils import timezone
from django.utils.translation import gettext
from kombu import Connection
from kombu.exceptions import OperationalError

from annotate.core.models import WorkerHeartbeat

LONGEST = 1  # Timeout in seconds for a page's connection to the broker.
REMEMBERED = 20  # seconds


def broker_problem(url: str | None = None) -> str:
    """Return the reason if the broker is unreachable, empty if it is reachable; cached for a while."""
    key = f"annotate.core.workers.{url}"
    problem: str | None = caches["process"].get(key)
    if problem is None:
        problem = _problem(url)
        caches["process"].set(key, problem, REMEMBERED)
    return problem


def _problem(url: str | None) -> str:
    # A transport reads only the options that it knows.
    limits = {"socket_connect_timeout": LONGEST, "socket_timeout": LONGEST}
    connection: Connection = current_app.connection_for_write(
        url, connect_timeout=LONGEST, transport_options=limits
    )
    errors = (*connection.connection_errors, *connection.channel_errors, OperationalError, OSError)
    failures: tuple[type[BaseException], ...] = errors
    try:
        with connection:
            connection.connect()
    except failures as error:
        message = gettext(
            "The message broker at {url} is unreachable ({error}), so workers get no jobs. "
            "Start it, or correct CONCORD_BROKER_URL."
        )
        return message.format(url=connection.as_uri(), error=type(error).__name__)
    return ""


SILENT_AFTER = timedelta(minutes=2)
HOW_TO_RUN = ".venv/bin/python -m celery -A concord worker --pool threads --concurrency 8"


@dataclass(frozen=True)
class WorkerHealth:
    workers: int
    last_seen: datetime | None
    broker_problem: str

    @property
    def problem(self) -> str:
        """Return the problem and its solution, empty if there is none."""
        if self.broker_problem:
            return self.broker_problem
        if self.workers:
            return ""
        if self.last_seen is None:
            message = gettext("No worker is running. Start one with make run, or on a server: {command}")
            return message.format(command=HOW_TO_RUN)
        minutes = round((timezone.now() - self.last_seen).total_seconds() / 60)
        if minutes < 120:
            message = gettext(
                "No worker has run for {minutes} minutes. Start one with make run, or on a server: {command}"
            )
        else:
            message = gettext(
                "No worker has run for {hours} hours. Start one with make run, or on a server: {command}"
            )
        return message.format(minutes=minutes, hours=round(minutes / 60), command=HOW_TO_RUN)


def worker_health() -> WorkerHealth:
    """Return the health of the workers. One query, and occasionally a connection to the broker."""
    seen = list(WorkerHeartbeat.objects.order_by("-seen_at").values_list("seen_at", flat=True))
    long_ago = timezone.now() - SILENT_AFTER
    return WorkerHealth(
        workers=sum(at >= long_ago for at in seen),
        last_seen=seen[0] if seen else None,
        broker_problem=broker_problem(),
    )
