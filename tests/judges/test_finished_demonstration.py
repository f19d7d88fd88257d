"""The finished demonstration: every part of Concord has something to show in it."""

from datetime import timedelta

import pytest
from django.test import Client

from annotate.core.models import Dispute, Export, Item, Project, Rating, Round, User
from annotate.results.commands import compute_page
from annotate.results.registry import PAGES, result_of
from judges.core.models import Certificate, Judgment, Proposal, RoutedUnit
from judges.management.demonstration import finished
from tests.factories import make_project


@pytest.mark.once
@pytest.mark.django_db
def test_it_has_both_rounds_judges_routing_certificates_and_an_export() -> None:
    project = finished.load_finished_demonstration()
    assert (Item.objects.count(), Round.objects.filter(status=Round.Status.CLOSED).count()) == (72, 2)
    assert Rating.objects.filter(assignment__round__number=1, value__isnull=False).count() == 63 * 4 * 3
    statuses = set(Dispute.objects.values_list("status", flat=True))
    assert statuses >= {Dispute.Status.SETTLED, Dispute.Status.ADJUDICATED, Dispute.Status.LEFT_OPEN}
    methods = Judgment.objects.values_list("judge__method", flat=True)
    assert set(methods) == {"rts", "mcq", "h2h"}
    chosen_by_lot = RoutedUnit.objects.filter(why="audit")
    assert chosen_by_lot.exists()
    assert RoutedUnit.objects.exclude(pk__in=chosen_by_lot).exists()
    assert Certificate.objects.filter(threshold__isnull=False).exists()
    assert Proposal.objects.count() == 2
    assert Export.objects.get().status == Export.Status.READY
    admin = Client()
    admin.force_login(User.objects.get(email="admin@example.org"))
    for page in PAGES.values():
        compute_page(project=project, result=result_of(project, page))
        shown = admin.get(f"/projects/{project.slug}/results/{page.name}/", follow=True)
        assert shown.status_code == 200, page.name
    for step in ("pilot", "align"):
        shown = admin.get(f"/projects/{project.slug}/judges/{step}/")
        assert "Draw documents" not in shown.content.decode(), step
    assert finished.load_finished_demonstration() == project, "it is not made twice"
    assert not finished.is_wanted()


@pytest.mark.django_db
def test_what_is_half_made_is_made_anew_after_a_while() -> None:
    assert finished.is_wanted()
    half = make_project().project
    Project.objects.filter(pk=half.pk).update(name=finished.NAME)
    assert not finished.is_wanted(), "a worker may be making it"
    Project.objects.filter(pk=half.pk).update(created_at=half.created_at - timedelta(minutes=11))
    assert finished.is_wanted()
    Project.objects.filter(pk=half.pk).update(name="One of ours")
    assert not finished.is_wanted(), "who has begun to work is left alone"
