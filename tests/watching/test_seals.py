"""The audit log is sealed: what is changed or removed past all guards is found."""

from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection

from annotate.core.audit import record
from annotate.core.models import AuditEntry, AuditSeal
from annotate.setup.commands import delete_project
from annotate.watching.seals import problems_of, seal_entries, signed_head
from tests.factories import Cast, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    """A project with three sealed acts."""
    cast = make_project()
    for act in ("a.first", "a.second", "a.third"):
        record(cast.project, act, "it", by=cast.admin)
    seal_entries()
    return cast


def past_the_guards(sql: str, *values: int) -> None:
    """What whoever owns the database can do."""
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = replica")
        else:
            for table in ("auditentry", "auditseal"):
                for guard in ("append_only", "never_deleted"):
                    cursor.execute(f"DROP TRIGGER annotate_{table}_{guard}")
        cursor.execute(sql, values)
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = origin")


def test_each_entry_is_sealed_once_and_the_log_is_whole(cast: Cast) -> None:
    assert AuditSeal.objects.count() == AuditEntry.objects.count()
    assert seal_entries() == 0
    out = StringIO()
    call_command("audit", "--verify", "--head", stdout=out)
    whole, head = out.getvalue().split("\n")[:2]
    assert whole == "The audit log is whole."
    record(cast.project, "a.fourth", "it", by=cast.admin)
    call_command("audit", "--verify", head, stdout=out)


def test_a_changed_and_a_removed_entry_are_found(cast: Cast) -> None:
    second = AuditEntry.objects.get(act="a.second")
    past_the_guards("UPDATE annotate_auditentry SET subject = 'else' WHERE id = %s", second.pk)
    with pytest.raises(CommandError, match=f"Entry {second.pk} says something else"):
        call_command("audit", "--verify")


def test_a_removed_entry_and_its_seal_are_found(cast: Cast) -> None:
    second = AuditEntry.objects.get(act="a.second")
    past_the_guards("DELETE FROM annotate_auditentry WHERE id = %s", second.pk)
    assert list(problems_of()) == [f"Entry {second.pk} is gone, and its project is not."]


def test_a_chain_that_was_made_anew_is_told_by_the_head(cast: Cast) -> None:
    head = signed_head()
    first = AuditEntry.objects.get(act="a.first")
    past_the_guards("DELETE FROM annotate_auditentry WHERE id = %s", first.pk)
    with connection.cursor() as cursor:
        if connection.vendor == "postgresql":
            cursor.execute("SET LOCAL session_replication_role = replica")
        cursor.execute("DELETE FROM annotate_auditseal")
    seal_entries()
    assert list(problems_of()) == []
    assert [problem for problem in problems_of(head) if "head was signed for" in problem]
    assert list(problems_of("forged")) == ["The head was not signed by this installation, or was changed."]


def test_entries_that_went_with_their_project_leave_the_chain_whole(cast: Cast) -> None:
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    assert list(problems_of()) == []
