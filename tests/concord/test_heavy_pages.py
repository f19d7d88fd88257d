"""Pages that read much take turns, and nothing else waits for them."""

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.http import HttpRequest, HttpResponse
from django.test import RequestFactory
from django.urls import get_resolver, resolve

from concord.middleware import HEAVY, HeavyPagesMiddleware


class Pages:
    """Answers through the middleware; a heavy page is made until it may end."""

    def __init__(self) -> None:
        self.middleware = HeavyPagesMiddleware(self._answer)
        self.made: list[str] = []
        self.begun, self.may_end = Event(), Event()

    def get(self, path: str) -> int:
        return self.middleware(RequestFactory().get(path)).status_code

    def _answer(self, request: HttpRequest) -> HttpResponse:
        request.resolver_match = resolve(request.path)
        self.middleware.process_view(request)
        self.made.append(request.path)
        if request.path.endswith("/fails/"):
            raise ValueError("A page that cannot be made.")
        if request.resolver_match.url_name in HEAVY:
            self.begun.set()
            assert self.may_end.wait(30)
        return HttpResponse()


def test_second_heavy_page_queues_behind_the_first_and_others_pass() -> None:
    pages = Pages()
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(pages.get, "/projects/one/annotator-quality/")
        assert pages.begun.wait(30)
        second = pool.submit(pages.get, "/projects/one/assignment-plan/")
        assert pages.get("/projects/one/rate/1/") == 200
        assert pages.made == ["/projects/one/annotator-quality/", "/projects/one/rate/1/"]
        pages.may_end.set()
        assert (first.result(30), second.result(30)) == (200, 200)
    assert pages.made[-1] == "/projects/one/assignment-plan/"


def test_a_page_that_fails_gives_its_turn_back() -> None:
    pages = Pages()
    pages.may_end.set()
    for _ in range(3):
        with pytest.raises(ValueError, match="cannot be made"):
            pages.get("/projects/one/results/fails/")
    assert pages.get("/projects/one/annotator-quality/") == 200


def test_heavy_pages_are_existing_routes() -> None:
    names = {name for name in get_resolver().reverse_dict if isinstance(name, str)}
    assert names >= HEAVY
