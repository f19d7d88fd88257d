"""`/metrics`: requests as counted by the workers of this web server, everything else from the database."""

import os
import time
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from prometheus_client.multiprocess import MultiProcessCollector

from concord.metrics.database import DatabaseCollector
from concord.metrics.sharing import FOLDER

PATH = "/metrics"
SAVES = frozenset({"save_answers", "save_rating"})
_counts = CollectorRegistry()
SECONDS = Histogram(
    "concord_request_seconds",
    "How long requests took, by what they were for and how they were answered.",
    ["kind", "status"],
    buckets=(0.01, 0.03, 0.1, 0.3, 1, 3, 10),
    registry=_counts,
)


class MetricsMiddleware:
    """Answers requests with the metrics token, at any host name like probes, and counts all others."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path == PATH and settings.METRICS_TOKEN:
            wanted = f"Bearer {settings.METRICS_TOKEN}"
            if not constant_time_compare(request.headers.get("Authorization", ""), wanted):
                return HttpResponse(
                    "Show the token of CONCORD_METRICS_TOKEN.\n", status=401, content_type="text/plain"
                )
            registry = CollectorRegistry()
            if os.environ.get(FOLDER):
                MultiProcessCollector(registry)  # type: ignore[no-untyped-call]
                counts = generate_latest(registry)
            else:
                counts = generate_latest(_counts)
            asked = CollectorRegistry()
            asked.register(DatabaseCollector())
            headers = {"Cache-Control": "no-store"}
            return HttpResponse(
                counts + generate_latest(asked), content_type=CONTENT_TYPE_LATEST, headers=headers
            )
        started = time.monotonic()
        response = self.get_response(request)
        seconds = time.monotonic() - started
        SECONDS.labels(kind_of(request), f"{response.status_code // 100}xx").observe(seconds)
        return response


def kind_of(request: HttpRequest) -> str:
    """Return the kind of a request: a save of ratings, the API, a page, or a file or unknown URL."""
    match = request.resolver_match
    if match is None:
        return "other"
    if match.url_name in SAVES:
        return "save"
    return "api" if request.path.startswith("/api/") else "page"
