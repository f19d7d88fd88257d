"""Pages that read much take turns in a web process, so that ratings are saved beside them.

A process has few threads, and they share one interpreter: three admins who watch a large project would hold
all of them. The others wait in front of the page, before it asks the database for anything.
"""

from collections.abc import Callable
from threading import BoundedSemaphore
from typing import Any

from django.http import HttpRequest, HttpResponse

AT_ONCE = 1
WAITS = 20.0  # seconds, after which a page is made all the same
# By routes: what takes 0.1 s and more with 1,000,000 ratings, and is not a rater's way to the next item.
HEAVY = frozenset(
    {
        *("project", "round_one", "step", "plan", "project_delete"),
        *("quality", "quality_rater", "items", "my_work", "my_values", "dispute_rules"),
        *("disagreements", "results_page", "result", "result_file", "so_far", "reproduction"),
    }
)


class HeavyPagesMiddleware:
    """Lets so many heavy pages be made at once in this process; all other requests pass."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response
        self._free = BoundedSemaphore(AT_ONCE)

    def __call__(self, request: HttpRequest) -> HttpResponse:
        """Pass on; a heavy page's turn ends with its answer, whatever that is."""
        try:
            return self.get_response(request)
        finally:
            if getattr(request, "has_turn", False):
                self._free.release()

    def process_view(self, request: HttpRequest, *_view: Any) -> None:
        """Wait for the turn of a heavy page."""
        match = request.resolver_match
        if request.method == "GET" and match is not None and match.url_name in HEAVY:
            request.has_turn = self._free.acquire(timeout=WAITS)  # type: ignore[attr-defined]
