from contextlib import suppress

import pytest
from django.db import DatabaseError, IntegrityError, connection, transaction

from annotate.core.models import Item, System
from annotate.fastpath.queries import NUMBERS, Prepared, PreparedInsert, PreparedUpdate
from annotate.fastpath.statements import execute, send_together
from tests.factories import make_project
from tests.fastpath.fast_path import fast_path  # noqa: F401 - plays each test by both ways

pytestmark = pytest.mark.django_db
SYSTEMS = Prepared(lambda project: System.objects.filter(project=project).order_by("name"), NUMBERS[0])
ITEM = Prepared(lambda pk: Item.objects.select_related("document").filter(pk=pk), NUMBERS[0])


def test_statements_sent_together_each_give_their_own_rows():
    cast = make_project(documents=2, systems=3)
    with send_together():
        systems, item = SYSTEMS.ask(cast.project.pk), ITEM.ask(cast.items[1].pk)
    assert systems.all() == list(cast.project.systems.order_by("name"))
    found = item.first()
    assert found == cast.items[1]
    assert found.document.title == cast.items[1].document.title


def test_row_is_inserted_like_django_and_updated_in_chosen_columns():
    project = make_project().project
    insert, update = PreparedInsert(System), PreparedUpdate(System, "name")
    with send_together():
        insert.run(System(project=project, name="new “one”"))
        insert.run(System(project=project, name="other"))
    other = project.systems.get(name="other")
    other.name = "another"
    update.run(other)
    assert set(project.systems.values_list("name", flat=True)) >= {"new “one”", "another"}
    assert not project.systems.filter(name="other").exists()


def test_what_fails_among_statements_sent_together_fails_as_django_says_and_nothing_of_it_stays():
    project = make_project().project
    with pytest.raises(IntegrityError), transaction.atomic():
        write_twice(System(project=project, name="twice"))
    assert not project.systems.filter(name="twice").exists()
    assert SYSTEMS.all(project.pk) == list(project.systems.order_by("name"))


def write_twice(system):
    insert = PreparedInsert(System)
    with send_together():
        insert.run(system)
        insert.run(system)


def test_query_counters_include_prepared_statements(django_assert_num_queries):
    with django_assert_num_queries(2), send_together():
        execute("SELECT 1", [])
        execute("SELECT 2", [])


def test_value_longer_than_one_chunk_is_stored_and_read_whole():
    long = "“" * 3_000_000
    with send_together():
        short, whole = execute("SELECT %s", ["100%"]), execute("SELECT %s", [long])
    assert (short.rows, whole.rows) == ([("100%",)], [(long,)])


@pytest.mark.django_db(transaction=True)
def test_statements_that_are_last_end_their_transaction_or_leave_nothing_of_it():
    project = make_project().project
    told = []
    with transaction.atomic():
        transaction.on_commit(lambda: told.append("kept"))
        write_last(System(project=project, name="kept"))
    nowhere = System(project_id=0, name="of no project, which is seen at the end")
    with pytest.raises(IntegrityError), transaction.atomic():
        write_last(System(project=project, name="lost"), nowhere)
    with suppress(KeyError), transaction.atomic():
        with transaction.atomic():
            write_last(System(project=project, name="part of another"))
        raise KeyError
    names = set(project.systems.values_list("name", flat=True))
    assert "kept" in names
    assert names.isdisjoint({"lost", "part of another"})
    assert told == ["kept"]


def write_last(*systems):
    insert = PreparedInsert(System)
    with send_together(last=True):
        for system in systems:
            insert.run(system)


@pytest.mark.django_db(transaction=True)
def test_a_connection_that_ended_is_replaced_by_the_next_request():
    execute("SELECT 1", [])
    if connection.vendor == "postgresql":
        with pytest.raises(DatabaseError, match="terminat"):
            execute("SELECT pg_terminate_backend(pg_backend_pid())", [])
    else:
        connection.close()
    connection.close_if_unusable_or_obsolete()
    assert execute("SELECT 7", []).rows == [(7,)]
