"""A worker reads stored replies anew: first a preview of what would change, then the change."""

from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from annotate.core.jobs import run_job
from judges.core.errors import JudgmentStandsError
from judges.core.models import Judgment, Rereading
from judges.runs.commands.corrections import confirm_rereading, restart_rereading, start_rereading
from judges.runs.queries import judgments
from tests.api.client import ApiClient
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_judgment

pytestmark = pytest.mark.django_db


def scene() -> tuple[Cast, Judgment]:
    """Return one judgment whose reply earlier rules could not read, beside one that they could."""
    cast = make_project(documents=1)
    judge = make_judge(cast.project, name="Reasoner")
    make_judgment(judge, cast.items[0], cast.dimensions[0])
    unread = {"status": "unreadable", "value": None, "reason": "No score.", "reply": "Score: 2"}
    return cast, make_judgment(judge, cast.items[1], cast.dimensions[0], **unread)


def test_it_previews_first_and_changes_after_confirmation() -> None:
    cast, judgment = scene()
    rereading = start_rereading(project=cast.project, judge=None, by=cast.admin)
    with pytest.raises(JudgmentStandsError):
        confirm_rereading(rereading=rereading, by=cast.admin)
    for _ in range(2):
        run_job("rereading", rereading.pk)
    rereading.refresh_from_db()
    assert (rereading.status, rereading.would_change, rereading.changed) == ("previewed", 1, 0)
    assert rereading.first_changes == [
        {"judgment": judgment.pk, "before": "unreadable", "after": "2", "reply": "Score: 2"}
    ]
    assert Judgment.objects.get(pk=judgment.pk).status == "unreadable"
    for _ in range(2):
        confirm_rereading(rereading=rereading, by=cast.admin)
        run_job("rereading", rereading.pk)
    rereading.refresh_from_db()
    assert (rereading.status, rereading.changed) == ("applied", 1)
    assert Judgment.objects.get(pk=judgment.pk).value == 2
    assert judgment.changes.get().actor == cast.admin


def test_another_worker_replaces_a_silent_one() -> None:
    cast, judgment = scene()
    rereading = start_rereading(project=cast.project, judge=judgment.judge, by=cast.admin)
    Rereading.objects.update(status="reading", lease="11111111-1111-1111-1111-111111111111")
    run_job("rereading", rereading.pk)
    assert restart_rereading(rereading=rereading).status == "reading", "it may still be at it"
    Rereading.objects.update(touched_at=timezone.now() - timedelta(minutes=2))
    assert restart_rereading(rereading=rereading).status == "waiting"
    run_job("rereading", rereading.pk)
    rereading.refresh_from_db()
    assert rereading.status == "previewed"


def test_a_worker_that_finds_nothing_to_change_is_not_taken_for_silent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cast = make_project(documents=2)
    judge = make_judge(cast.project)
    for item in cast.items:
        make_judgment(judge, item, cast.dimensions[0])
    monkeypatch.setattr(judgments, "READ_AT_ONCE", 1)
    rereading = start_rereading(project=cast.project, judge=None, by=cast.admin)
    for _ in range(2):
        with CaptureQueriesContext(connection) as asked:
            run_job("rereading", rereading.pk)
        renewed = [each for each in asked if each["sql"].startswith('UPDATE "judges_rereading"')]
        assert len(renewed) > len(cast.items), "after each reply, besides the beginning and the end"
        confirm_rereading(rereading=rereading, by=cast.admin)


def test_its_pages_lead_from_the_judge_to_the_change(client: Client) -> None:
    cast, judgment = scene()
    client.force_login(cast.admin)
    home = reverse("rereadings", args=[cast.project.slug])
    assert home in client.get(reverse("runs", args=[cast.project.slug])).content.decode()
    assert client.post(home, {"judge": 10**9}).status_code == 422
    page = client.post(home, {"judge": judgment.judge_id}).headers["Location"]
    rereading = Rereading.objects.get()
    assert "Waiting for a worker" in client.get(page).content.decode()
    Rereading.objects.update(touched_at=timezone.now() - timedelta(minutes=2))
    assert "No worker is reading." in client.get(page).content.decode()
    client.post(page, {"restart": "on"})
    run_job("rereading", rereading.pk)
    html = client.get(page).content.decode()
    assert "1 judgment would change." in html
    part = client.get(page, headers={"HX-Request": "true"}).content.decode()
    assert "1 judgment would change." in part
    assert "<html" not in part
    client.post(page)
    run_job("rereading", rereading.pk)
    assert "1 judgment was changed." in client.get(page).content.decode()
    assert "Reasoner" in client.get(home).content.decode()
    client.force_login(cast.researcher)
    assert client.get(home).status_code == 404


def test_the_api_previews_and_changes() -> None:
    cast, _ = scene()
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/judgments/read-again/"
    made = program.post(home, {}).json()
    assert made["status"] == "waiting"
    assert program.post(f"{home}{made['id']}/").status_code == 409
    run_job("rereading", made["id"])
    assert program.get(f"{home}{made['id']}/").json()["would_change"] == 1
    assert program.post(f"{home}{made['id']}/").json()["status"] == "confirmed"
