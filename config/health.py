"""Answers to those who watch the installation: whether a web process lives, and whether it can serve.

Probes come to an address, not to a name, and by HTTP: so these answer before names and HTTPS are looked at,
and tell nothing but words.
"""

import os
from collections.abc import Callable

from django.conf import settings
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from annotate.core.files import is_local

LIVE, READY = "/health/live", "/health/ready"
NOT_STORED = {"Cache-Control": "no-store"}


class HealthMiddleware:
    """Answers probes; the first of all middleware."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer a probe, and pass everything else on."""
        if request.path == LIVE:
            return HttpResponse("live\n", content_type="text/plain", headers=NOT_STORED)
        if request.path == READY:
            state = {"database": _database(), "files": _files()}
            status = 200 if set(state.values()) == {"ok"} else 503
            return JsonResponse(state, status=status, headers=NOT_STORED)
        return self.get_response(request)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM django_migrations LIMIT 1")
    except DatabaseError:
        connection.close()
        return "away"
    return "ok"


def _files() -> str:
    if not is_local():
        try:
            default_storage.exists("health")
        except OSError:
            return "away"
        return "ok"
    folder = settings.MEDIA_ROOT if os.path.isdir(settings.MEDIA_ROOT) else settings.DATA_DIR
    return "ok" if os.access(folder, os.W_OK) else "read-only"
