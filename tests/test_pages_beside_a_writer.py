"""While another process writes, every page is read all the same: what a GET writes it can do without."""

import sqlite3
from collections.abc import Iterator

import pytest
from django.core.cache import caches
from django.db import connection
from django.test import Client

from annotate.people import sessions
from tests.access_table import PAGES
from tests.test_access_table import Scene, api_rows, rows, scene

pytestmark = [pytest.mark.once, pytest.mark.django_db(transaction=True)]
__all__ = ["scene"]
MUST_WRITE = ("export/ratings.csv", "audit/audit.csv", "/feedback/")
"""Who takes data away is written down in the audit log; who has seen reference values cannot answer again."""


@pytest.fixture
def clients(transactional_db: None, scene: Scene) -> dict[str, Client]:
    """Sign in, which writes, before somebody else does."""
    found = {who: Client(raise_request_exception=False) for who in ("a", "n")}
    for who, client in found.items():
        client.force_login(scene.people[who])  # type: ignore[arg-type]
        client.get("/")
    return found


@pytest.fixture
def writer(clients: dict[str, Client]) -> Iterator[None]:
    """Hold the one right to write that a SQLite file gives, as an import does for seconds."""
    if connection.vendor != "sqlite":
        yield  # elsewhere one who writes keeps nobody from writing
        return
    other = sqlite3.connect(connection.settings_dict["NAME"], isolation_level=None, uri=True)
    other.execute("BEGIN IMMEDIATE")
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 50")
    yield
    with connection.cursor() as cursor:
        cursor.execute("PRAGMA busy_timeout = 20000")
    other.execute("ROLLBACK")
    other.close()


@pytest.mark.parametrize("who", ["a", "n"])
def test_every_page_answers_while_another_process_writes(
    scene: Scene, clients: dict[str, Client], who: str, writer: None
) -> None:
    client = clients[who]
    failed = []
    caches["process"].clear()
    sessions._looked_at.clear()  # as a minute later, when it is noted again that the session is used
    for allowed, method, address in rows(PAGES, scene.names):
        if method == "GET" and who in allowed:
            answer = client.get(f"/{address}")
            if answer.streaming:
                answer.getvalue()
            if address.endswith(MUST_WRITE):
                assert (answer.status_code, "Try again" in answer.content.decode()) == (503, True), address
            elif answer.status_code >= 500:
                failed.append(f"{address}: {answer.status_code}")
    assert not failed, "\n".join(failed)


def test_every_reading_operation_answers_while_another_process_writes(scene: Scene, writer: None) -> None:
    client = Client(raise_request_exception=False)
    headers = {"Authorization": f"Bearer {scene.secrets['a']}"}
    failed = []
    for allowed, method, address in api_rows(scene.names):
        if method == "GET" and "a" in allowed:
            answer = client.get(f"/api/v1/{address}", headers=headers)
            if answer.status_code >= 500 and answer.json()["code"] != "busy":
                failed.append(f"{address}: {answer.status_code}")
            elif answer.status_code >= 500 and "/export/" not in address:
                failed.append(f"{address}: busy")
    assert not failed, "\n".join(failed)
