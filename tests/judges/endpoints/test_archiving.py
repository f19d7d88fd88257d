"""Judges and endpoints that are archived, or deleted while unused."""

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.core.models import AuditEntry
from judges.core.errors import InUseError, RunRefusedError, RunStateError
from judges.core.models import Calibration, Endpoint, Judge, Judgment, ModelPrice, Rereading, Run
from judges.endpoints.archiving import archive, delete_unused, unarchive
from judges.endpoints.queries import usable_judges
from judges.laboratory.commands.panels import make_panel
from judges.runs.commands.runs import cancel_run, pause_run, start_run
from tests.judges.factories import make_endpoint, make_judge, make_judgment, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    monkeypatch.setattr("judges.runs.commands.runs.collect_judgments.delay", lambda _: None)


def test_archived_judge_leaves_lists_and_forms_and_keeps_its_data(cast, client):
    judge, other = make_judge(cast.project, name="Old"), make_judge(cast.project, name="New")
    make_judgment(judge, cast.items[0], cast.dimensions[0])
    client.force_login(cast.admin)
    client.post(reverse("judge_archive", args=[cast.project.slug, judge.pk]))
    address = reverse("judges", args=[cast.project.slug])
    assert ">Old<" not in client.get(address).content.decode()
    assert "Show the archived one" in client.get(address).content.decode()
    assert ">Old<" in client.get(f"{address}?archived").content.decode()
    assert list(usable_judges(cast.project)) == [other]
    assert "Old" not in client.get(reverse("run_plan", args=[cast.project.slug])).content.decode()
    assert Judgment.objects.filter(judge=judge).count() == 1
    client.post(reverse("judge_archive", args=[cast.project.slug, judge.pk]))
    assert list(usable_judges(cast.project)) == [other, judge]
    acts = AuditEntry.objects.filter(act__startswith="judge.").order_by("pk").values_list("act", flat=True)
    assert list(acts) == ["judge.archived", "judge.unarchived"]


def test_judges_of_an_archived_endpoint_are_not_offered(cast):
    judge = make_judge(cast.project)
    assert judge.endpoint is not None
    archive(kept=judge.endpoint, by=cast.admin)
    assert not usable_judges(cast.project).exists()
    with pytest.raises(RunRefusedError, match="Unarchive the endpoint first"):
        make_run(cast.project, Judge.objects.get())
    unarchive(kept=judge.endpoint, by=cast.admin)
    assert usable_judges(cast.project).exists()


def test_judge_in_a_running_run_is_archived_only_after_its_end(cast, client):
    judge = make_judge(cast.project, name="Busy")
    run = start_run(run=make_run(cast.project, judge))
    assert judge.endpoint is not None
    for kept in (judge, judge.endpoint):
        with pytest.raises(InUseError, match=f"Run {run.pk} still calls"):
            archive(kept=kept, by=cast.admin)
    client.force_login(cast.admin)
    said = client.post(reverse("judge_archive", args=[cast.project.slug, judge.pk]), follow=True)
    assert "still calls Busy" in said.content.decode()
    cancel_run(run=run)
    archive(kept=judge, by=cast.admin)
    assert Judge.objects.get().archived_at is not None


def test_paused_run_of_an_archived_judge_does_not_start_again(cast):
    judge = make_judge(cast.project, name="Old")
    run = pause_run(run=start_run(run=make_run(cast.project, judge)))
    archive(kept=judge, by=cast.admin)
    with pytest.raises(RunStateError, match="Old is archived"):
        start_run(run=run)
    unarchive(kept=judge, by=cast.admin)
    assert start_run(run=run).status == Run.Status.RUNNING


def test_only_an_unused_judge_is_deleted(cast):
    used, unused = make_judge(cast.project), make_judge(cast.project)
    make_judgment(used, cast.items[0], cast.dimensions[0])
    with pytest.raises(InUseError, match="judgments"):
        delete_unused(unused=used, by=cast.admin)
    delete_unused(unused=unused, by=cast.admin)
    assert list(Judge.objects.all()) == [used]


def test_member_of_a_panel_is_not_deleted_and_a_panel_is(cast):
    members = [make_judge(cast.project) for _ in range(2)]
    panel = make_panel(project=cast.project, name="Both", members=members, rule="mean", by=cast.admin)
    with pytest.raises(InUseError, match="panel members"):
        delete_unused(unused=members[0], by=cast.admin)
    delete_unused(unused=panel.judge, by=cast.admin)
    delete_unused(unused=members[0], by=cast.admin)
    assert list(Judge.objects.all()) == members[1:]


def test_endpoint_with_prices_and_without_judges_is_deleted(cast, client):
    endpoint = make_endpoint(cast.project)
    ModelPrice.objects.create(endpoint=endpoint, model="m", currency="USD", as_of="2026-11-01")
    judge = make_judge(cast.project, endpoint=endpoint)
    client.force_login(cast.admin)
    address = reverse("endpoint_delete", args=[cast.project.slug, endpoint.pk])
    assert "Archive it instead" in client.post(address, follow=True).content.decode()
    judge.delete()
    client.post(address)
    assert not Endpoint.objects.exists()


def test_judge_that_only_a_calibration_or_another_judge_uses_is_not_deleted(cast):
    judge, other = make_judge(cast.project), make_judge(cast.project, name="Drafter")
    Calibration.objects.create(
        project=cast.project,
        name="First",
        judge=judge,
        loss="another_point",
        risk=0.2,
        significance_level=0.1,
        confidence="steadiness",
        expected_error=0.1,
        accepted_share=0.5,
        raters=1,
        size=1,
        grids={},
        bound={},
        seed=1,
        drawn_at=timezone.now(),
    )
    Rereading.objects.create(project=cast.project, judge=other, touched_at=timezone.now())
    for used in (judge, other):
        with pytest.raises(InUseError, match="is in use"):
            delete_unused(unused=used, by=cast.admin)
    assert Rereading.objects.count() == 1
