"""What passes every request: compression, static files, and turns for writers and for heavy pages.

On SQLite one process writes at a time, and a restore or a command may do so for minutes: only some requests
queue for long, so that threads remain for pages. `annotate.core.responses` answers late requests with 503.
"""

import os
from collections.abc import Callable
from threading import BoundedSemaphore
from typing import Any, cast

from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.middleware.gzip import GZipMiddleware
from whitenoise.middleware import WhiteNoiseMiddleware
from whitenoise.responders import IsDirectoryError, MissingFileError

from annotate.core.database import set_patience

TYPES = ("text/", "application/json", "image/svg+xml")
PACKET = 1400  # bytes, which travel together in any case


class CompressionMiddleware(GZipMiddleware):
    """Compresses complete responses with a textual type.

    The compressed length does not reveal a CSRF token: Django masks it again in each page and adds a random
    number of bytes (BREACH).
    """

    def process_response(self, request: HttpRequest, response: HttpResponseBase) -> HttpResponseBase:
        is_text = not response.streaming and response.get("Content-Type", "").startswith(TYPES)
        if not is_text or len(response.content) < PACKET:  # type: ignore[attr-defined]
            return response
        return super().process_response(request, response)


class StaticFilesMiddleware(WhiteNoiseMiddleware):  # type: ignore[misc]
    """Serves files added by `collectstatic` since the start: pages of a new version use them.

    Two hosts are upgraded one after the other, and a page of one requests its files from the other.
    """

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        url = request.path_info
        # `self.files` contains only the files from the start.
        if url not in self.files and url.startswith(self.static_prefix) and self.url_is_canonical(url):
            path = os.path.join(self.static_root, url.removeprefix(self.static_prefix))
            try:
                return cast("HttpResponseBase", self.serve(self.find_file_at_path(path, url), request))
            except (MissingFileError, IsDirectoryError):
                pass
        return cast("HttpResponseBase", super().__call__(request))


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
        # A page may need no connection, and `set_patience` would open one.
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


AT_ONCE = 1
WAITS = 20.0  # seconds, after which the page is rendered anyway
# By routes: what takes 0.1 s and more with 1,000,000 ratings, and is not a rater's way to the next item.
HEAVY = frozenset(
    {
        *("project", "round_one", "step", "plan", "project_delete"),
        *("quality", "quality_rater", "items", "my_work", "my_values", "dispute_rules"),
        *("disagreements", "results_page", "result", "result_file", "so_far", "reproduction"),
    }
)


class HeavyPagesMiddleware:
    """Limits the number of heavy pages rendered at once in this process; all other requests pass.

    A process has few threads, and they share one interpreter: three admins who watch a large project would
    occupy all of them, and saves of ratings would wait. So others wait before the page, without any query.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._free = BoundedSemaphore(AT_ONCE)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass on; a heavy page's turn ends with its response, even an error."""
        try:
            return self.get_response(request)
        finally:
            if getattr(request, "has_turn", False):
                self._free.release()

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        match = request.resolver_match
        if request.method == "GET" and match is not None and match.url_name in HEAVY:
            request.has_turn = self._free.acquire(timeout=WAITS)  # type: ignore[attr-defined]


PUBLIC = "/benchmarks/"


class WithoutCookiesMiddleware:
    """Takes cookies from requests of public pages, so that caches may share the answers.

    It comes before sessions: nothing behind it can find an account, a session or a language.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.path_info.startswith(PUBLIC):
            return self.get_response(request)
        request.META.pop("HTTP_COOKIE", None)
        request.META.pop("HTTP_ACCEPT_LANGUAGE", None)
        response = self.get_response(request)
        # Nothing that differs between readers remains, so caches need one copy for all.
        response.cookies.clear()
        response.headers.pop("Vary", None)
        return response
