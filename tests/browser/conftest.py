"""A real browser before a real server: Debian's chromium, led by Playwright."""

import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from typing import Any

import pytest
from django.core.signals import request_finished, request_started
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright
from pytest_django.live_server_helper import LiveServer

from concord.celery import app
from judges.runs.commands.collecting import collect

# Milliseconds. It only ends what hangs: a busy machine takes a minute for an import within a request.
PATIENCE = 120_000
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")  # the lightest first
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE localhost",  # the pages must need nothing from outside
]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Give one headless chromium for the whole run."""
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    if executable is None:
        pytest.skip("no chromium: apt-get install chromium")
    # Playwright leaves its event loop in this thread, where Django then refuses to ask the database although
    # nothing is asynchronous. These stories are played last, so no other test runs with the guard off.
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "1"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=executable, args=FLAGS, headless=True)
        yield browser
        browser.close()
    del os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"]


@pytest.fixture(autouse=True)
def tasks_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Play the worker's part inside the server: a task runs where it is sent."""
    monkeypatch.setitem(app.conf, "task_always_eager", True)
    monkeypatch.setitem(app.conf, "task_eager_propagates", True)
    monkeypatch.setattr("judges.tasks.start_collecting", collect)


class RequestsUnderWay:
    """How many requests the live server is answering."""

    def __init__(self) -> None:
        self.count = 0
        self.changed = threading.Condition()

    def change(self, by: int) -> None:
        """Count a request that began or ended."""
        with self.changed:
            self.count += by
            self.changed.notify_all()

    def wait_for_none(self) -> None:
        """Return when every request was answered."""
        with self.changed:
            assert self.changed.wait_for(lambda: self.count <= 0, PATIENCE / 1000), "a request does not end"


@pytest.fixture
def requests_under_way() -> Iterator[RequestsUnderWay]:
    """Let every request end before the database is emptied: the next test would find what it wrote."""
    requests = RequestsUnderWay()

    def begin(**_: object) -> None:
        requests.change(1)

    def end(**_: object) -> None:
        requests.change(-1)

    request_started.connect(begin)
    request_finished.connect(end)
    yield requests
    requests.wait_for_none()
    request_started.disconnect(begin)
    request_finished.disconnect(end)


@pytest.fixture
def new_context(
    browser: Browser, live_server: LiveServer, requests_under_way: RequestsUnderWay
) -> Iterator[Callable[..., BrowserContext]]:
    """Make profiles whose relative addresses are those of the live server; options are Playwright's.

    They share the browser and the server of this process of tests, and are closed at the end of the test.
    """
    expect.set_options(timeout=PATIENCE)
    with ExitStack() as profiles:

        def make(**options: Any) -> BrowserContext:
            usual = {"viewport": {"width": 1280, "height": 800}, "reduced_motion": "reduce"}
            context = browser.new_context(base_url=live_server.url, **{**usual, **options})
            context.set_default_timeout(PATIENCE)
            return profiles.enter_context(closing(context))

        yield make


@pytest.fixture
def context(new_context: Callable[..., BrowserContext]) -> BrowserContext:
    """Give a fresh profile."""
    return new_context()


@pytest.fixture
def phone(new_context: Callable[..., BrowserContext]) -> BrowserContext:
    """Give a fresh profile of a phone, which is tapped."""
    return new_context(viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True)


@pytest.fixture
def page(context: BrowserContext) -> Iterator[Page]:
    """Give a page, and fail the story if a script of it failed or the policy of pages was broken."""
    failures: list[str] = []
    page = context.new_page()
    page.on("pageerror", lambda error: failures.append(str(error)))
    page.on("console", lambda said: failures.append(said.text) if "Security Policy" in said.text else None)
    yield page
    assert not failures, f"a script failed in the page: {failures}"
