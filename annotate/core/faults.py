"""The response to unhandled errors, with a message if the cause is known."""

import errno
import sys
from collections.abc import Iterator

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.defaults import server_error

from annotate.core.files import StorageAwayError
from annotate.core.optional_writes import is_busy

NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EROFS})
SQLITE_NO_ROOM = ("disk is full", "readonly database", "disk I/O error")
POSTGRES_NO_ROOM = frozenset({"53100", "25006"})  # disk_full, read_only_sql_transaction


def fault(request: HttpRequest) -> HttpResponse:
    """Answer 507 if the disk is full or read-only, 503 if the database or files are temporarily unreachable.

    Django answers everything else; the log has the error.
    """
    error = sys.exc_info()[1]
    if is_busy(error):
        sentence = gettext(
            "Nothing was stored: another process writes to the database, an import for example. Try again "
            "in a moment."
        )
        answer = _say(request, "busy", sentence, 503)
        answer["Retry-After"] = "5"
        return answer
    if any(isinstance(each, StorageAwayError) for each in _causes(error)):
        sentence = gettext(
            "The file storage does not answer. Try again in a moment; if the problem persists, "
            "tell your administrator."
        )
        return _say(request, "files_away", sentence, 503)
    if not is_without_room(error):
        return server_error(request)
    sentence = gettext(
        "Not stored: the server's disk is full or not writable. Tell your administrator, and try again later."
    )
    return _say(request, "no_room", sentence, 507)


def _say(request: HttpRequest, code: str, sentence: str, status: int) -> HttpResponse:
    if request.path.startswith("/api/") or "text/html" not in request.headers.get("Accept", "text/html"):
        return JsonResponse({"code": code, "message": sentence, "fields": {}}, status=status)
    return render(None, "not_stored.html", {"sentence": sentence}, status=status)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        error = error.__cause__ or error.__context__


def is_without_room(error: BaseException | None) -> bool:
    """Return True if the cause of an error is that nothing can be written."""
    return any(
        (isinstance(each, OSError) and each.errno in NO_ROOM)
        or (isinstance(each, DatabaseError) and _database_is_without_room(each))
        for each in _causes(error)
    )


def _database_is_without_room(error: DatabaseError) -> bool:
    if getattr(error.__cause__, "sqlstate", None) in POSTGRES_NO_ROOM:
        return True
    return any(words in str(error) for words in SQLITE_NO_ROOM)
