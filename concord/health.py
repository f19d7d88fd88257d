"""Answers to health probes: whether a web process lives, and whether it can serve.

Probes use an IP instead of a name, and HTTP. So these answer before the checks of names and HTTPS, and return
only words. The message for each word is in the log.
"""

import logging
import os
import shutil
from collections.abc import Callable
from pathlib import Path

from django.conf import settings
from django.core.cache import caches
from django.core.files.storage import default_storage
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, JsonResponse

from annotate.core.files import is_local
from concord.schema import UNAPPLIED, compare_database

LIVE, READY = "/health/live", "/health/ready"
NOT_STORED = {"Cache-Control": "no-store"}
# A comparison takes a tenth of a second, so the process keeps its result.
SCHEMA, MATCHES_SECONDS, PROBLEM_SECONDS = "health_schema", 60, 10
logger = logging.getLogger(__name__)


class HealthMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path == LIVE:
            return HttpResponse("live\n", content_type="text/plain", headers=NOT_STORED)
        if request.path == READY:
            # The folders may be on different file systems, so the one with the least space counts.
            folders = {settings.DATA_DIR}
            if is_local():
                folders.add(settings.MEDIA_ROOT)
            if connection.vendor == "sqlite":
                folders.add(Path(connection.settings_dict["NAME"]).parent)
            free = [shutil.disk_usage(folder).free for folder in folders if os.path.isdir(folder)]
            space = "low" if free and min(free) < settings.FREE_BYTES else "ok"
            state = {**_database(), "files": _files(), "space": space}
            status = 200 if set(state.values()) == {"ok"} else 503
            return JsonResponse(state, status=status, headers=NOT_STORED)
        return self.get_response(request)


def _database() -> dict[str, str]:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
        kept: str | None = caches["process"].get(SCHEMA)
        if kept is None:
            compared = compare_database()
            kept = (
                "does not match"
                if compared.differences
                else "not migrated"
                if compared.is_unapplied
                else "ok"
            )
            if kept != "ok":
                logger.error(compared.mismatch() or UNAPPLIED)
            # A problem is checked again sooner, so a repaired database is soon ready.
            caches["process"].set(SCHEMA, kept, MATCHES_SECONDS if kept == "ok" else PROBLEM_SECONDS)
        return {"database": "ok", "schema": kept}
    except DatabaseError:
        # A broken connection would make every later probe of this thread fail, too.
        connection.close()
    return {"database": "away", "schema": "unknown"}


def _files() -> str:
    if not is_local():
        try:
            default_storage.exists("health")
        except OSError:
            return "away"
        return "ok"
    folder = settings.MEDIA_ROOT if os.path.isdir(settings.MEDIA_ROOT) else settings.DATA_DIR
    return "ok" if os.access(folder, os.W_OK) else "read-only"
