"""What the database refuses, whatever the code above it does: rewriting a history and deleting from it."""

import pytest
from django.db import DatabaseError, IntegrityError, InternalError, connection, transaction
from django.utils import timezone

from annotate.core.models import (
    AuditEntry,
    DisputeEvent,
    FormerName,
    Post,
    RatingChange,
)
from annotate.disputes.commands.disputes import post_message
from tests.factories import make_project
from tests.rating.rounds import discussed

HISTORIES = [RatingChange, DisputeEvent, Post, AuditEntry, FormerName]
# PostgreSQL keeps these tables with their triggers until a later version drops them.
RETIRED = ("auditseal", "erasedentry", "lookback", "revisedvalue", "revisedvaluechange")
REFUSED = (IntegrityError, InternalError)


@pytest.fixture
def history():
    """A project with rows in every history."""
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    post_message(dispute=dispute, author=cast.annotators[0], text="Why?")
    FormerName.objects.create(user=cast.admin, at=timezone.now(), name="Ada", email="ada@example.org")


@pytest.mark.django_db
@pytest.mark.parametrize("model", HISTORIES)
def test_a_history_is_not_rewritten(history, model):
    before = list(model.objects.values())
    with pytest.raises(REFUSED, match="never rewritten"), transaction.atomic():
        model.objects.update(at=timezone.now())
    assert list(model.objects.values()) == before


@pytest.mark.django_db
@pytest.mark.parametrize("model", HISTORIES)
def test_nothing_is_deleted_from_a_history(history, model):
    before = list(model.objects.values())
    assert before
    with pytest.raises(REFUSED, match="never rewritten"), transaction.atomic():
        model.objects.all().delete()
    assert list(model.objects.values()) == before


# What figures rest on counts its changes in the same way, see ChangeCount.
COUNTED = ("annotate_rating", "annotate_dispute")
ACTS = ("insert", "update", "delete")


def triggers():
    listed = {
        "sqlite": "SELECT name FROM sqlite_master WHERE type = 'trigger'",
        "postgresql": "SELECT tgname FROM pg_trigger WHERE NOT tgisinternal",
    }
    with connection.cursor() as cursor:
        cursor.execute(listed[connection.vendor])
        retired = tuple(f"annotate_{table}_" for table in RETIRED)
        found = {name.lower() for (name,) in cursor.fetchall() if name.startswith("annotate_")}
        return {name for name in found if not name.startswith(retired)}


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("time", ["first", "after the end of a transactional test"])
def test_every_history_has_its_guards_also_after_a_database_was_emptied(history, time):
    tables = [model._meta.db_table for model in HISTORIES]
    kinds = ["append_only", "never_deleted"]
    if connection.vendor == "postgresql":
        kinds.append("never_emptied")
    kept = {f"{table}_{kind}" for table in tables for kind in kinds}
    kept.add("annotate_version_append_only")
    assert triggers() == kept | {f"{table}_counted_{act}" for table in COUNTED for act in ACTS}


@pytest.mark.django_db
def test_no_history_is_emptied_at_once(history):
    why = "syntax error"  # SQLite has no TRUNCATE
    if connection.vendor == "postgresql":
        why = "never rewritten"
        connection.cursor().execute("SET CONSTRAINTS ALL IMMEDIATE")  # what is pending would refuse it first
    for model in HISTORIES:
        with pytest.raises(DatabaseError, match=why), transaction.atomic():
            connection.cursor().execute(f"TRUNCATE {model._meta.db_table} CASCADE")
