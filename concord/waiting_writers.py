"""On SQLite, limits the requests of a process that queue for writing, so that threads remain for pages.

A SQLite file lets one process write at a time. A restore, or a command of the operator, can do so for
minutes. `annotate.core.responses` answers late requests with 503, and browsers retry saves.
"""

from collections.abc import Callable
from threading import BoundedSemaphore

from django.db import connection
from django.http import HttpRequest, HttpResponse

from annotate.core.database import set_patience

PATIENT, PATIENCE = 2, 5.0  # numbers of requests of a process, and their maximum wait in seconds
IMPATIENCE = 0.5  # seconds that others wait
SQLITE_PATIENCE = 5.0  # of connections without a separate timeout
READING_PATIENCE = 1.0  # seconds that a page waits which must write, such as a download of the audit log
READS = ("GET", "HEAD", "OPTIONS", "TRACE")


class WaitingWritersMiddleware:
    """Sets the maximum time for which each request may queue for writing."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._free = BoundedSemaphore(PATIENT)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass on; the first requests that write may wait longer than others."""
        if connection.vendor != "sqlite" or (request.method in READS and connection.connection is None):
            return self.get_response(request)
        reads = request.method in READS
        is_patient = not reads and self._free.acquire(blocking=False)
        try:
            set_patience(PATIENCE if is_patient else READING_PATIENCE if reads else IMPATIENCE)
            return self.get_response(request)
        finally:
            set_patience(connection.settings_dict["OPTIONS"].get("timeout", SQLITE_PATIENCE))
            if is_patient:
                self._free.release()
