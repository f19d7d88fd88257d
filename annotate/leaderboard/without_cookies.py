"""Public pages of benchmarks are the same for everyone: no session, no account, no cookie."""

from collections.abc import Callable

from django.http import HttpRequest, HttpResponse

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
        response.cookies.clear()
        response.headers.pop("Vary", None)
        return response
