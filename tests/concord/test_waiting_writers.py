"""On SQLite two requests of a process wait long to write, and others are answered at once."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from threading import Event

import pytest
from django.db import connection, connections
from django.http import HttpRequest, HttpResponse
from django.test import Client, RequestFactory

from annotate.core import jobs
from annotate.core.access import token_of
from concord import middleware
from concord.middleware import IMPATIENCE, PATIENCE, WaitingWritersMiddleware
from tests.factories import make_project
from tests.rating.rounds import assigned, opened

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
needs_sqlite = pytest.mark.skipif(
    connection.vendor != "sqlite", reason="elsewhere a writer keeps nobody waiting"
)


def patience() -> float:
    """Return the wait of this thread's connection in seconds."""
    with connection.cursor() as cursor:
        return float(cursor.execute("PRAGMA busy_timeout").fetchone()[0]) / 1000


@needs_sqlite
def test_a_third_writing_request_waits_only_a_moment() -> None:
    waits: list[float] = []
    begun, may_end = [Event(), Event()], Event()

    def answer(request: HttpRequest) -> HttpResponse:
        waits.append(patience())
        if request.path != "/third/":
            begun[len(waits) - 1].set()
            assert may_end.wait(30)
        return HttpResponse()

    middleware = WaitingWritersMiddleware(answer)

    def post(path: str) -> float:
        middleware(RequestFactory().post(path))
        after = patience()
        connections.close_all()
        return after

    with ThreadPoolExecutor(2) as pool:
        others = []
        for number in range(2):
            others.append(pool.submit(post, f"/{number}/"))
            assert begun[number].wait(30)
        usual = post("/third/")
        may_end.set()
        assert {each.result(30) for each in others} == {usual}
    assert waits == [PATIENCE, PATIENCE, IMPATIENCE]
    assert post("/third/") == usual
    assert waits[-1] == PATIENCE


@needs_sqlite
def test_save_at_a_locked_database_gets_a_retry_response(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(middleware, "PATIENCE", 0.05)
    cast = make_project()
    round = opened(cast)
    assignment = assigned(cast, round, cast.annotators[0], cast.items[0])
    client = Client(raise_request_exception=False)
    person = cast.annotators[0].user
    assert person is not None
    client.force_login(person)
    page = f"/projects/{cast.project.slug}/rate/{assignment.position}/"
    assert client.get(page).status_code == 200
    answer = {"annotator": cast.annotators[0].pk, "assignment": token_of(assignment), "value": 3}
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, uri=True)
    try:
        other.execute("BEGIN IMMEDIATE")
        saved = client.post(f"{page}fluency/", answer, headers={"Accept": "*/*"})
        assert (saved.status_code, saved.json()["code"]) == (503, "busy")
        assert saved["Retry-After"] == "5"
        assert client.get(page).status_code == 200
    finally:
        other.close()


@needs_sqlite
def test_heartbeats_go_on_while_another_process_writes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jobs, "BEAT_SECONDS", 0.02)
    cast = make_project()
    beats: list[int] = []
    enough = Event()

    def beat() -> None:
        beats.append(1)
        if len(beats) == 3:
            enough.set()
        type(cast.project).objects.filter(pk=cast.project.pk).update(description="alive")

    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, uri=True)
    try:
        other.execute("BEGIN IMMEDIATE")
        with jobs.heartbeat(beat):
            assert enough.wait(15)  # a beat that waits for its turn takes 20 seconds
    finally:
        other.close()
