from datetime import timedelta

import pytest
from django.db import transaction
from django.db.models import Count, Exists, OuterRef, Q
from django.db.transaction import TransactionManagementError
from django.utils import timezone

from annotate.core.models import Assignment, Membership, Project
from annotate.fastpath import LIBPQ
from annotate.fastpath.queries import MOMENT, NUMBERS, WORD, Prepared
from tests.factories import make_project
from tests.fastpath.fast_path import fast_path  # noqa: F401 - plays each test by both ways
from tests.rating.rounds import opened

pytestmark = pytest.mark.django_db


def assignments_of(slug, item):
    return Assignment.objects.select_related("round__guideline", "annotator").filter(
        round__project__slug=slug, item=item
    )


def test_a_prepared_query_gives_what_its_queryset_gives(django_assert_num_queries):
    prepared = Prepared(assignments_of, WORD, NUMBERS[0])
    for _ in range(2):
        cast = make_project()
        opened(cast)
        for item in (cast.items[0].pk, cast.items[1].pk, 0):
            with django_assert_num_queries(1):
                found = prepared.all(cast.project.slug, item)
                guidelines = [each.round.guideline.content for each in found]
            expected = list(assignments_of(cast.project.slug, item))
            assert sorted(found, key=lambda each: each.pk) == sorted(expected, key=lambda each: each.pk)
            assert guidelines == [each.round.guideline.content for each in expected]
            assert all(each.annotator is None for each in found)
    assert prepared.first("no such project", 0) is None


def test_a_moment_can_be_put_into_a_prepared_query():
    cast = make_project()
    prepared = Prepared(lambda before: Membership.objects.filter(joined_at__lt=before), MOMENT)
    now = timezone.now()
    assert prepared.all(now - timedelta(days=1)) == []
    assert {each.pk for each in prepared.all(now + timedelta(days=1))} >= {
        each.pk for each in cast.annotators
    }


def test_a_prepared_query_of_values_gives_rows_by_name(django_assert_num_queries):
    def counted(round: int, assignment: int):
        assignments = Assignment.objects.filter(round=round).order_by().values("round")
        return assignments.annotate(all=Count("pk"), later=Count("pk", filter=Q(pk__gt=assignment)))

    prepared = Prepared(counted, *NUMBERS[:2])
    round = opened(make_project())
    for assignment in Assignment.objects.values_list("pk", flat=True)[:3]:
        with django_assert_num_queries(1):
            found = prepared.all(round.pk, assignment)
        assert found == list(counted(round.pk, assignment))
    assert prepared.first(0, 0) is None


def test_rows_of_a_prepared_query_have_their_annotations():
    def of_project(project: int):
        admins = Membership.objects.filter(project=OuterRef("project"), pk=OuterRef("pk"), role="admin")
        found = Membership.objects.select_related("project").filter(project=project)
        return found.annotate(administers=Exists(admins))

    cast = make_project()
    found = Prepared(of_project, NUMBERS[0]).all(cast.project.pk)
    assert {each.pk: each.administers for each in found} == {
        each.pk: each.role == "admin" for each in cast.project.memberships.all()
    }
    assert {each.project.name for each in found} == {cast.project.name}


@pytest.mark.django_db(transaction=True)
def test_a_prepared_query_locks_no_row_outside_a_transaction(settings):
    settings.FAST_PATH = LIBPQ
    locked = Prepared(lambda pk: Project.objects.select_for_update().filter(pk=pk), NUMBERS[0])
    project = make_project().project
    with transaction.atomic():
        assert locked.first(project.pk) == project
    with pytest.raises(TransactionManagementError):
        locked.first(project.pk)
