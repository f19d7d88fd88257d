"""The log: lines or JSON, each with its request, person and IP, and never a secret.

With CONCORD_LOG_FORMAT=json there is also a line for each request, by its route, because URLs can contain
tokens.
"""

import json
import logging
import re
import time
from collections.abc import Callable
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.utils.functional import LazyObject, empty

ID = "X-Request-ID"
# A few harmless characters only, because log lines and responses contain the identifier.
GIVEN_ID = re.compile(r"[\w.-]{8,64}", re.ASCII)
# Such a URL is enough for access.
SECRET_PATH = re.compile(
    r"(/(?:accounts/password/reset/key|account/address|signup|first-account|invitations|join)/)[^/\s\"'?#]+"
)
# Concord's tokens, secrets of webhooks, keys of Hugging Face and OpenAI, bearer tokens, URLs' passwords.
SECRET_WORD = re.compile(
    r"\b(concord_|whsec_|hf_|sk-)[\w-]{8,}|(?<=Bearer )\S+|(?<=://)([^/@\s:]*):[^/@\s]+(?=@)"
)
logger = logging.getLogger("concord.request")


@dataclass(frozen=True)
class Logged:
    request: HttpRequest
    identifier: str


_logged: ContextVar[Logged | None] = ContextVar("logged", default=None)


class RequestLogMiddleware:
    """Gives each request an identifier, which the response and every line about it contain."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        given = request.headers.get(ID, "")
        # Without a trusted proxy anybody could choose the identifier.
        is_believed = settings.ALLAUTH_TRUSTED_PROXY_COUNT and GIVEN_ID.fullmatch(given)
        logged = Logged(request, given if is_believed else uuid4().hex)
        token, started = _logged.set(logged), time.monotonic()
        try:
            response = self.get_response(request)
            response[ID] = logged.identifier
            if settings.LOG_FORMAT == "json":
                seconds = time.monotonic() - started
                route = request.resolver_match.route if request.resolver_match else ""
                facts = {"method": request.method, "route": route, "status": response.status_code}
                extra = {"event": {**facts, "milliseconds": round(1000 * seconds, 1)}}
                logger.info("%s %s %s", request.method, route, response.status_code, extra=extra)
            return response
        finally:
            _logged.reset(token)


def hide_secrets(text: str) -> str:
    """Return a line without tokens, passwords in URLs, and the secret part of links."""
    return SECRET_WORD.sub(lambda found: f"{found[1] or found[2] or ''}…", SECRET_PATH.sub(r"\1…", text))


def facts_of_request() -> dict[str, Any]:
    """Return identifier, person and IP of the request in progress, without a database query."""
    logged = _logged.get()
    if logged is None:
        return {}
    person = logged.request.__dict__.get("user")
    if isinstance(person, LazyObject) and person.__dict__.get("_wrapped", empty) is empty:
        person = None  # not authenticated yet
    request = logged.request
    forwarded = [
        each.strip() for each in request.headers.get("X-Forwarded-For", "").split(",") if each.strip()
    ]
    count = settings.ALLAUTH_TRUSTED_PROXY_COUNT
    # Each trusted proxy appends an entry; clients can forge all earlier ones.
    address = forwarded[-count] if 0 < count <= len(forwarded) else str(request.META.get("REMOTE_ADDR", ""))
    return {
        "request": logged.identifier,
        "person": getattr(person, "pk", None),
        "address": address,
    }


class LineFormatter(logging.Formatter):
    def __init__(self) -> None:
        super().__init__("{asctime} {levelname} {name}: {message}", style="{")

    def format(self, record: logging.LogRecord) -> str:
        request = facts_of_request().get("request")
        return hide_secrets(super().format(record)) + (f" [{request}]" if request else "")


class JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        said = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%S%z"),
            "level": record.levelname,
            "logger": record.name,
            "message": record.getMessage(),
            **facts_of_request(),
            **getattr(record, "event", {}),
        }
        if record.exc_info:
            said["error"] = self.formatException(record.exc_info)
        hidden = {name: hide_secrets(each) if isinstance(each, str) else each for name, each in said.items()}
        return json.dumps(hidden, default=lambda each: hide_secrets(str(each)), ensure_ascii=False)
