"""Databases of earlier versions, with data, are upgraded: nothing is lost, and pages open."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.urls import reverse
from pytest_django.plugin import DjangoDbBlocker

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import Dimension, Guideline, Item
from concord.schema import compare_database
from tests.upgrades.bases import bases
from tests.upgrades.connecting import connected_to_base

WRITTEN_BY_MIGRATE = {"django_migrations", "django_content_type", "auth_permission"}
# SQLite drops them; PostgreSQL keeps them for servers of the version before.
RETIRED = {
    f"annotate_{name}"
    for name in ("auditseal", "erasedentry", "lookback", "revisedvalue", "revisedvaluechange")
}
IN_PROGRESS = "demonstration-opinions-about-three-products"
FINISHED = "demonstration-twelve-articles-finished"
PAGES: dict[str, list[tuple[str, list[Any]]]] = {
    "ann@example.org": [("projects", []), ("rate", [IN_PROGRESS]), ("rate_item", [IN_PROGRESS, 1])],
    "researcher@example.org": [("project", [FINISHED]), ("results", [FINISHED]), ("items", [FINISHED])],
    "admin@example.org": [("project", [IN_PROGRESS]), ("people", [FINISHED]), ("audit", [FINISHED])],
}


@pytest.fixture(params=bases(connection.vendor))
def base(
    request: pytest.FixtureRequest,
    tmp_path: Path,
    django_db_setup: None,
    django_db_blocker: DjangoDbBlocker,
) -> Iterator[None]:
    with django_db_blocker.unblock(), connected_to_base(request.param, tmp_path):
        yield


def count_rows() -> dict[str, int]:
    tables = sorted(set(connection.introspection.table_names()) - WRITTEN_BY_MIGRATE)
    with connection.cursor() as cursor:
        counts = {}
        for table in tables:
            cursor.execute(f'SELECT COUNT(*) FROM "{table}"')
            counts[table] = cursor.fetchone()[0]
    return counts


def test_every_kind_of_database_has_a_base() -> None:
    assert bases("sqlite") == bases("postgresql") != []


@pytest.mark.usefixtures("base")
def test_upgraded_database_keeps_its_rows_and_opens(client: Client, settings: Any) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    before = count_rows()
    assert before["annotate_rating"] > 500
    assert compare_database().mismatch() == ""
    call_command("migrate", verbosity=0, interactive=False)
    after = count_rows()
    kept = before.keys() - (RETIRED if connection.vendor == "sqlite" else set())
    assert {table: after.get(table) for table in kept} == {table: before[table] for table in kept}
    compared = compare_database()
    assert (compared.mismatch(), compared.is_unapplied) == ("", False)
    assert client.get("/health/ready").json()["schema"] == "ok"
    # Old questions stay the same: a scale about single outputs, frozen without changes.
    assert set(Dimension.objects.values_list("kind", "options", "shown_if")) == {("scale", None, None)}
    assert not Item.objects.exclude(kind=Item.Kind.OUTPUT).exists()
    frozen = list(Guideline.objects.values_list("content", "digest"))
    assert [FrozenGuideline.from_json(content).digest() for content, _ in frozen] == [
        digest for _, digest in frozen
    ]
    for email, pages in PAGES.items():
        signed_in = client.post(reverse("account_login"), {"login": email, "password": "demonstration"})
        assert signed_in.status_code == 302
        for name, arguments in pages:
            page = client.get(reverse(name, args=arguments), follow=True)
            assert (name, page.status_code) == (name, 200)
        client.logout()
