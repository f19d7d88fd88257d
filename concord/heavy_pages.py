"""Pages with large queries use a web process in turn, so that saves of ratings are not blocked.

A process has few threads, and they share one interpreter: three admins who watch a large project would occupy
all of them. The others wait before the page, without any query.
"""

from collections.abc import Callable
from threading import BoundedSemaphore
from typing import Any

from django.http import HttpRequest, HttpResponse

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
    """Limits the number of heavy pages rendered at once in this process; all other requests pass."""

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
