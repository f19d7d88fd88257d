"""Whether messages can reach the workers."""

from celery import current_app
from django.core.cache import cache
from kombu import Connection
from kombu.exceptions import OperationalError

LONGEST = 1  # seconds that a page waits for the broker
REMEMBERED = 20  # seconds


def broker_problem(url: str | None = None) -> str:
    """Return in a sentence why the broker cannot be reached, empty where it can; remembered for a while."""
    key = f"annotate.broker.{url}"
    problem: str | None = cache.get(key)
    if problem is None:
        problem = _problem(url)
        cache.set(key, problem, REMEMBERED)
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
        return (
            f"The message broker at {connection.as_uri()} cannot be reached ({type(error).__name__}), so no "
            "worker is told of work: start it, or correct CONCORD_BROKER_URL."
        )
    return ""
