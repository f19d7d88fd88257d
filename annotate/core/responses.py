"""Errors as JSON for programs, the page of an unhandled error, and the headers of every response."""

import errno
import sys
from collections.abc import Callable, Iterator
from functools import cache, wraps
from urllib.parse import urlsplit

from django.conf import settings
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.translation import gettext
from django.views.defaults import server_error

from annotate.core.database import is_busy
from annotate.core.errors import DomainError, NotFoundError
from annotate.core.files import StorageAwayError

View = Callable[..., HttpResponse]


def refusals_as_json(view: View) -> View:
    """Return every possible error of a save as JSON, so that the page can preserve the answer."""

    @wraps(view)
    def inner(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Http404 as error:
            return error_as_json(NotFoundError(str(error)))
        except DomainError as error:
            return error_as_json(error)

    return inner


def error_as_json(error: DomainError) -> JsonResponse:
    """Return an error in the only shape of errors for programs."""
    return JsonResponse(error_content(error), status=error.status)


def error_content(error: DomainError) -> dict[str, object]:
    """Return the content of that shape, for one of several answers in a response."""
    return {"code": error.code, "message": error.message, "fields": error.fields}


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
        answer = _answer_fault(request, "busy", sentence, 503)
        answer["Retry-After"] = "5"
        return answer
    if any(isinstance(each, StorageAwayError) for each in _causes(error)):
        sentence = gettext(
            "The file storage does not answer. Try again in a moment; if the problem persists, "
            "tell your administrator."
        )
        return _answer_fault(request, "files_away", sentence, 503)
    if not is_without_room(error):
        return server_error(request)
    sentence = gettext(
        "Not stored: the server's disk is full or not writable. Tell your administrator, and try again later."
    )
    return _answer_fault(request, "no_room", sentence, 507)


def _answer_fault(request: HttpRequest, code: str, sentence: str, status: int) -> HttpResponse:
    # Programs and scripts get JSON; they could not read a page.
    if request.path.startswith("/api/") or "text/html" not in request.headers.get("Accept", "text/html"):
        return JsonResponse({"code": code, "message": sentence, "fields": {}}, status=status)
    return render(None, "not_stored.html", {"sentence": sentence}, status=status)


def _causes(error: BaseException | None) -> Iterator[BaseException]:
    while error is not None:
        yield error
        # Django and the storages wrap the errors of drivers.
        error = error.__cause__ or error.__context__


def is_without_room(error: BaseException | None) -> bool:
    """Return True if the cause of an error is that nothing can be written."""
    for each in _causes(error):
        if isinstance(each, OSError) and each.errno in NO_ROOM:
            return True
        if isinstance(each, DatabaseError):
            is_full = getattr(each.__cause__, "sqlstate", None) in POSTGRES_NO_ROOM
            if is_full or any(words in str(each) for words in SQLITE_NO_ROOM):
                return True
    return False


PERMISSIONS = (
    *("accelerometer", "camera", "display-capture", "geolocation", "gyroscope", "magnetometer"),
    *("microphone", "midi", "payment", "serial", "usb", "xr-spatial-tracking"),
)


@cache
def content_policy(providers: tuple[str, ...] = (), *, framed: bool = False) -> str:
    """Return the Content-Security-Policy of all pages.

    providers: the URLs of sign-in providers. The response to the sign-in form redirects to a URL that only
    the provider knows, and browsers apply the policy of forms to that URL too. framed: True if a page of
    Concord may show this page in a frame, as it does with the annotator's screen.
    """
    # `https:` covers all other providers.
    plain = {f"http://{urlsplit(each).netloc}" for each in providers if each.startswith("http://")}
    forms = " ".join(["'self'", *(["https:"] if providers else []), *sorted(plain)])
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "style-src 'self'",
            "img-src 'self' data:",
            "font-src 'self'",
            "connect-src 'self'",
            "base-uri 'none'",
            "frame-src 'self'",
            "frame-ancestors 'self'" if framed else "frame-ancestors 'none'",
            f"form-action {forms}",
        )
    )


class ResponseHeadersMiddleware:
    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        # A view permits frames by Django's own header, and the policy follows it.
        framed = response.headers.get("X-Frame-Options") == "SAMEORIGIN"
        apps = settings.SOCIALACCOUNT_PROVIDERS["openid_connect"]["APPS"]
        providers = tuple(app["settings"]["server_url"] for app in apps)
        defaults = {
            "Content-Security-Policy": content_policy(providers, framed=framed),
            "Permissions-Policy": ", ".join(f"{each}=()" for each in PERMISSIONS),
            "Cross-Origin-Resource-Policy": "same-origin",
            "Cache-Control": "no-store",
        }
        for name, value in defaults.items():
            response.headers.setdefault(name, value)
        return response
