from io import StringIO

import pytest
from django.core.management import call_command

from annotate.core.models import Assignment, GoldItem, Item, Membership, Project, Rating, Role, User
from annotate.management.demonstration import NAME, PASSWORD, PEOPLE

pytestmark = pytest.mark.django_db


def load():
    out = StringIO()
    call_command("load_demonstration", stdout=out)
    return out.getvalue()


def test_three_annotators_are_part_of_the_way_through_twelve_items_of_four_dimensions():
    load()
    project = Project.objects.get(name=NAME)
    assert (Item.objects.filter(gold=None).count(), project.dimensions.count()) == (12, 4)
    annotators = Membership.objects.filter(project=project, role=Role.ANNOTATOR)
    done = [
        Assignment.objects.filter(annotator=membership, completed_at__isnull=False).count()
        for membership in annotators
    ]
    assert len(done) == 3
    assert all(0 < count < 12 for count in done)
    assert Rating.objects.count() == 4 * sum(done)


def test_annotators_have_passed_practice_on_two_gold_items():
    load()
    assert GoldItem.objects.filter(use=GoldItem.Use.PRACTICE).count() == 2
    memberships = Membership.objects.filter(role=Role.ANNOTATOR)
    assert all(membership.practised_at and not membership.must_practise for membership in memberships)


def test_repeated_load_creates_nothing_twice_and_prints_sign_in_data():
    load()
    before = Rating.objects.count()
    said = load()
    assert (Project.objects.count(), Rating.objects.count()) == (1, before)
    for person in PEOPLE:
        assert person.email in said


def test_everyone_signs_in_with_one_password_that_is_hashed_once():
    load()
    users = User.objects.filter(email__in=[person.email for person in PEOPLE])
    assert len(users) == len(PEOPLE)
    assert all(user.check_password(PASSWORD) for user in users)
    assert len({user.password for user in users}) == 1
