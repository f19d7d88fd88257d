"""Probes, and disks that take nothing."""

import errno
import shutil
from pathlib import Path
from typing import Any

import pytest
from django.db import connection, transaction
from django.test import Client
from django.urls import reverse

from annotate.core.responses import is_without_room
from tests.factories import make_project


@pytest.mark.django_db
def test_probes_are_answered_at_any_name_and_without_https(client: Client, settings: Any) -> None:
    settings.SECURE_SSL_REDIRECT, settings.ALLOWED_HOSTS = True, ["concord.example"]
    live = client.get("/health/live", headers={"Host": "10.0.0.7:8000"})
    ready = client.get("/health/ready", headers={"Host": "10.0.0.7:8000"})
    assert (live.status_code, ready.status_code) == (200, 200)
    assert ready.json() == {"database": "ok", "schema": "ok", "files": "ok", "space": "ok"}
    assert client.get("/", headers={"Host": "10.0.0.7:8000"}).status_code == 400


@pytest.mark.django_db
def test_who_cannot_serve_is_not_ready(client: Client, settings: Any, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = settings.DATA_DIR = tmp_path / "unmounted"
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["files"]) == (503, "read-only")


@pytest.mark.django_db
def test_host_with_little_room_is_not_ready(client: Client, settings: Any) -> None:
    settings.FREE_BYTES = shutil.disk_usage(settings.DATA_DIR).free * 2
    answer = client.get("/health/ready")
    assert (answer.status_code, answer.json()["space"]) == (503, "low")
    assert client.get("/health/live").status_code == 200


@pytest.mark.django_db
def test_read_only_database_is_reported_with_a_message() -> None:
    cast = make_project()
    client = Client(raise_request_exception=False)
    client.force_login(cast.admin)
    address = reverse("project_delete", args=[cast.project.slug])
    with transaction.atomic(), connection.cursor() as cursor:
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA query_only = 1")
        else:  # until the savepoint is left
            cursor.execute("SET TRANSACTION READ ONLY")
        page = client.post(reverse("project_new"), {"name": "Another", "template": ""})
        saved = client.post(address, {"name": cast.project.name}, headers={"Accept": "application/json"})
        if connection.vendor == "sqlite":
            cursor.execute("PRAGMA query_only = 0")
        transaction.set_rollback(True)
    assert (page.status_code, "disk is full or not writable" in page.content.decode()) == (507, True)
    assert (saved.status_code, saved.json()["code"]) == (507, "no_room")


def test_disk_full_errors_are_detected_through_their_causes() -> None:
    full, other = OSError(errno.ENOSPC, "full"), OSError(errno.ENOENT, "none")
    wrapped = RuntimeError()
    wrapped.__cause__ = full
    assert [is_without_room(each) for each in (full, wrapped, other, None)] == [True, True, False, False]
