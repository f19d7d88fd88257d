"""The role of deploy/application_role.sql works with rows, and changes neither tables nor their guards."""

import os
from collections.abc import Iterator

import pytest
from django.db import DatabaseError, connection, transaction

from annotate.core.audit import record
from annotate.core.models import AuditEntry, Rating
from annotate.rating.commands.rounds import close_round_one
from tests.concord.running import ROOT
from tests.factories import Cast, make_project
from tests.rating.rounds import opened, rate

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]
GRANTS = ROOT / "deploy" / "application_role.sql"


@pytest.fixture
def cast() -> Iterator[Cast]:
    """A project with an audit log; what follows is done as the application's role, all in one transaction."""
    cast = make_project(documents=1, systems=1, annotators=2, raters_per_item=2)
    role = connection.ops.quote_name(f"concord_app_{os.getpid()}")
    with connection.cursor() as cursor:
        cursor.execute(GRANTS.read_text().replace(':"role"', role))
        cursor.execute(f"SET LOCAL ROLE {role}")
    yield cast
    with connection.cursor() as cursor:
        cursor.execute("RESET ROLE")


def test_everything_that_people_do_works(cast: Cast) -> None:
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    close_round_one(project=cast.project, by=cast.admin)
    record(cast.project, "project.changed", cast.project, after={"name": "News"}, by=cast.admin)
    assert Rating.objects.count() == 2
    assert AuditEntry.objects.filter(project=cast.project).count() > 2


@pytest.mark.parametrize(
    "statement",
    [
        "TRUNCATE annotate_auditentry CASCADE",
        "DROP TRIGGER annotate_auditentry_append_only ON annotate_auditentry",
        "ALTER TABLE annotate_auditentry DISABLE TRIGGER ALL",
        "ALTER TABLE annotate_rating DROP CONSTRAINT one_rating_per_unit_and_annotator",
        "DROP TABLE annotate_auditentry CASCADE",
        "SET session_replication_role = replica",
        "CREATE TABLE public.hidden (id int)",
        "UPDATE annotate_auditentry SET subject = 'another'",
        "DELETE FROM annotate_ratingchange",
    ],
)
def test_neither_tables_nor_guards_nor_histories_can_be_changed(cast: Cast, statement: str) -> None:
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 3)
    record(cast.project, "project.changed", cast.project, after={"name": "News"}, by=cast.admin)
    why = "must be owner|permission denied|never rewritten|never deleted"
    with pytest.raises(DatabaseError, match=why), transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement)
