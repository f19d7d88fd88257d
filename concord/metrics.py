"""`/metrics`: requests as counted by the workers of this web server, everything else from the database.

All hosts return the same values of the database, so scrape one of them, or use their maximum.
"""

import os
import time
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any

from django.apps import apps
from django.conf import settings
from django.core.cache import caches
from django.db import DatabaseError
from django.db.models import Count, Min, QuerySet, Sum
from django.http import HttpRequest, HttpResponse
from django.utils import timezone
from django.utils.crypto import constant_time_compare
from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, Histogram, generate_latest
from prometheus_client.core import GaugeMetricFamily, Metric
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector

from annotate.core.models import (
    AccountMail,
    ComputedResult,
    DataImport,
    Delivery,
    Export,
    Invitation,
    Nudge,
    Push,
    WorkerHeartbeat,
)

ALIVE = timedelta(minutes=1)
COUNTED_EVERY = 60  # seconds: judgments may be a million


def queues() -> dict[str, tuple["QuerySet[Any]", str]]:
    """Return the rows pending for a worker, with the column of their start time."""
    return {
        "imports": (DataImport.objects.filter(status=DataImport.Status.WAITING), "touched_at"),
        "exports": (Export.objects.filter(status=Export.Status.WAITING), "touched_at"),
        "pushes": (Push.objects.filter(status=Push.Status.WAITING), "touched_at"),
        "results": (ComputedResult.objects.filter(asked_at__isnull=False), "asked_at"),
        "deliveries": (Delivery.objects.filter(status=Delivery.Status.WAITING), "created_at"),
        "invitation_mails": (Invitation.objects.filter(mail_due_at__isnull=False), "mail_asked_at"),
        "account_mails": (AccountMail.objects.all(), "asked_at"),
        "nudge_mails": (Nudge.objects.filter(mail_due_at__isnull=False), "at"),
    }


class DatabaseCollector(Collector):
    """Queries the database once for each scrape."""

    def collect(self) -> Iterator[Metric]:
        """Yield all metrics; without the database, only its absence."""
        try:
            workers = GaugeMetricFamily("concord_workers", "Workers that gave a heartbeat within a minute.")
            workers.add_metric(
                [], WorkerHeartbeat.objects.filter(seen_at__gte=timezone.now() - ALIVE).count()
            )
            found = [*_queues(), *_states(), *_select_judges(), workers]
        except DatabaseError:
            found = []
        up = GaugeMetricFamily("concord_database_up", "Whether the database answered.")
        up.add_metric([], float(bool(found)))
        yield up
        yield from found


def _queues() -> Iterator[Metric]:
    depth = GaugeMetricFamily("concord_queue_depth", "How many wait for a worker.", labels=["queue"])
    age = GaugeMetricFamily("concord_queue_age_seconds", "How long the oldest has waited.", labels=["queue"])
    now = timezone.now()
    for name, (rows, since) in queues().items():
        found = rows.aggregate(count=Count("pk"), oldest=Min(since))
        depth.add_metric([name], found["count"])
        age.add_metric([name], _seconds(found["oldest"], now))
    yield depth
    yield age


def _seconds(oldest: datetime | None, now: datetime) -> float:
    # Clocks of hosts differ, so the time of a row can be in the future.
    return max(0.0, (now - oldest).total_seconds()) if oldest else 0.0


def _states() -> Iterator[Metric]:
    jobs = GaugeMetricFamily("concord_jobs", "Jobs by what they are and how far.", labels=["kind", "status"])
    kinds: dict[str, QuerySet[Any]] = {
        "import": DataImport.objects.all(),
        "export": Export.objects.all(),
        "push": Push.objects.all(),
        "delivery": Delivery.objects.all(),
    }
    for kind, rows in kinds.items():
        for status, count in _count_by_status(rows):
            jobs.add_metric([kind, status], count)
    yield jobs


def _select_judges() -> Iterator[Metric]:
    # The web server also runs without the app of judges.
    if not apps.is_installed("judges"):
        return
    every_run = apps.get_model("judges", "Run").objects.all()
    every_judgment = apps.get_model("judges", "Judgment").objects.all()
    runs = GaugeMetricFamily("concord_runs", "Runs of judges by status.", labels=["status"])
    for status, count in _count_by_status(every_run):
        runs.add_metric([status], count)
    cost = GaugeMetricFamily("concord_cost", "What all runs have cost, in the currency of their prices.")
    cost.add_metric([], float(every_run.aggregate(all=Sum("spent"))["all"] or 0))
    yield from (runs, cost)
    calls = GaugeMetricFamily("concord_judgments", "Judgments by status.", labels=["status"])
    counted = caches["process"].get_or_set(
        "metrics.judgments", lambda: _count_by_status(every_judgment), COUNTED_EVERY
    )
    for status, count in counted or []:
        calls.add_metric([status], count)
    yield calls


def _count_by_status(rows: "QuerySet[Any]") -> list[tuple[str, int]]:
    return list(rows.order_by("status").values_list("status").annotate(Count("pk")))


PATH = "/metrics"
SAVES = frozenset({"save_answers", "save_rating"})
# The default registry would add numbers of the Python process, which differ between workers.
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
            # The time of the answer must not reveal how much of a token is right.
            if not constant_time_compare(request.headers.get("Authorization", ""), wanted):
                return HttpResponse(
                    "Show the token of CONCORD_METRICS_TOKEN.\n", status=401, content_type="text/plain"
                )
            # With several processes, the counts of each are in files, which this registry adds up.
            registry = CollectorRegistry()
            if os.environ.get("PROMETHEUS_MULTIPROC_DIR"):
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
        # Each combination of labels is a time series, so kinds and classes keep them few.
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
