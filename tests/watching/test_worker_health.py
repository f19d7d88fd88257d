"""Work that waits while no worker comes is said on every page of an admin, never passed over in silence."""

import socket
from datetime import timedelta
from threading import Thread

import pytest
from django.core.cache import caches
from django.urls import reverse
from django.utils import timezone

from annotate.core.jobs import broker_problem
from annotate.core.models import DataImport, WorkerHeartbeat
from annotate.watching.commands import record_heartbeat
from tests.factories import make_project
from tests.judges.workers import wait_until, worker

pytestmark = pytest.mark.django_db
MINUTES_AGO = timedelta(minutes=3)


def wait_with_an_import(cast):
    DataImport.objects.create(
        project=cast.project,
        name="items.jsonl",
        size=1,
        mapping={},
        status="waiting",
        touched_at=timezone.now() - MINUTES_AGO,
    )


def says(client, cast, route="people", user=None):
    client.force_login(user or cast.admin)
    html = client.get(reverse(route, args=[cast.project.slug])).content.decode()
    return [line for line in html.split("<p ") if 'role="alert"' in line]


def test_idle_queue_shows_no_message(client):
    assert says(client, make_project()) == []


@pytest.mark.parametrize("route", ["project", "people", "imports", "runs"])
def test_an_admin_reads_on_every_page_that_no_worker_is_running(client, route):
    cast = make_project()
    wait_with_an_import(cast)
    [line] = says(client, cast, route)
    assert "No worker is running. Start one with make run" in line
    assert says(client, cast, "project", cast.researcher) == []
    assert says(client, make_project(), route) == []  # where nothing waits


def test_a_worker_that_has_been_silent_for_two_minutes_is_missed(client):
    cast = make_project()
    wait_with_an_import(cast)
    record_heartbeat(worker="celery@here")
    assert says(client, cast) == []
    WorkerHeartbeat.objects.update(seen_at=timezone.now() - MINUTES_AGO)
    assert "No worker has run for 3 minutes. Start one with make run" in says(client, cast)[0]


def test_unreachable_broker_is_reported_without_its_password():
    caches["process"].clear()
    problem = broker_problem("redis://:secret@127.0.0.1:1/0")
    assert problem.startswith("The message broker at redis://:**@127.0.0.1:1/0 is unreachable")
    assert problem.endswith("Start it, or correct CONCORD_BROKER_URL.")
    assert broker_problem("memory://") == ""


def refuse(server):
    with server.accept()[0] as caller:
        caller.recv(1000)
        caller.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")


def test_another_server_at_the_broker_url_is_no_broker():
    caches["process"].clear()
    with socket.create_server(("127.0.0.1", 0)) as server:
        answer = Thread(target=refuse, args=(server,))
        answer.start()
        problem = broker_problem(f"redis://127.0.0.1:{server.getsockname()[1]}/0")
        answer.join()
    assert "is unreachable" in problem


@pytest.mark.django_db(transaction=True)
def test_message_disappears_with_a_worker_and_returns_after_its_death(client, tmp_path):
    cast = make_project()
    wait_with_an_import(cast)
    assert len(says(client, cast)) == 1
    with worker(tmp_path):
        assert wait_until(lambda: not says(client, cast))
    WorkerHeartbeat.objects.update(seen_at=timezone.now() - MINUTES_AGO)  # as if two minutes had passed
    wait_with_an_import(cast)  # the worker may have ended the other one
    assert len(says(client, cast)) == 1
