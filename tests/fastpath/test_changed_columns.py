"""A migration changes a column while an older Concord still sends its statements."""

import pytest
from django.db import NotSupportedError, connection, transaction

from annotate.core.models import Project
from annotate.fastpath.queries import NUMBERS, Prepared, compile_once
from tests.factories import make_project

pytestmark = [pytest.mark.postgresql, pytest.mark.django_db]


def widen_names_of_projects():
    with connection.cursor() as cursor:
        cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
        cursor.execute("ALTER TABLE annotate_project ALTER COLUMN name TYPE varchar(400)")


def test_a_query_that_is_compiled_once_continues():
    project = make_project().project
    by_key = compile_once(lambda pk: Project.objects.filter(pk=pk), NUMBERS[0])
    assert by_key.first(project.pk) == project
    widen_names_of_projects()
    assert by_key.first(project.pk) == project


def test_a_prepared_query_fails_once_and_is_prepared_again():
    project = make_project().project
    by_key = Prepared(lambda pk: Project.objects.filter(pk=pk, name__gt=""), NUMBERS[0])
    assert by_key.first(project.pk) == project
    widen_names_of_projects()
    with pytest.raises(NotSupportedError), transaction.atomic():
        by_key.first(project.pk)
    assert by_key.first(project.pk) == project
