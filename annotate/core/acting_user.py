"""Who is acting: the person whose request is being answered, for whoever must record it."""

from collections.abc import Callable
from contextvars import ContextVar

from django.http import HttpRequest, HttpResponse

from annotate.core.models import User

_request: ContextVar[HttpRequest | None] = ContextVar("request", default=None)


def acting_user() -> User | None:
    """Return who is signed in where a request is being answered, None elsewhere."""
    user = getattr(_request.get(), "user", None)
    return user if isinstance(user, User) else None


class ActingMiddleware:
    """Remembers whose request is being answered, so that no view can forget to say who did what."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Answer the request."""
        token = _request.set(request)
        try:
            return self.get_response(request)
        finally:
            _request.reset(token)
