"""Replies that cannot be read: when one is asked for again, and when the whole run pauses."""

from datetime import timedelta

import pytest
from django.core import mail
from django.test import override_settings
from django.utils import timezone

from annotate.core.jobs import run_job
from judges.core.models import Judgment, Run
from judges.runs.commands.endings import pause_if_unreadable
from judges.runs.commands.runs import start_run
from tests.factories import make_project
from tests.judges.factories import make_endpoint, make_judge, make_run
from tests.judges.news import news_project
from tests.judges.pages import address, text_of
from tests.judges.provider import providing
from tests.judges.running import running, statuses, worked

pytestmark = pytest.mark.django_db(transaction=True)
REASON = "The reply has no score."


@pytest.mark.parametrize(("temperature", "asked"), [(0, 1), (0.7, 2)])
def test_unreadable_reply_is_retried_only_if_the_next_may_differ(temperature, asked):
    project = news_project(documents=1, systems=1)
    with providing(reply="No number.") as provider:
        endpoint = make_endpoint(project, provider.base_url)
        judge = make_judge(project, endpoint=endpoint, temperature=temperature)
        run = worked(running(project, judge, dimensions=["fluency"]))
    assert statuses(run) == {"unreadable": 1}
    assert len(provider.asked) == asked


def test_run_of_unreadable_replies_pauses_and_continues_on_request():
    project = news_project(documents=5, systems=12)
    with providing(reply="No number.") as provider:
        endpoint = make_endpoint(project, provider.base_url, calls_in_flight=4)
        run = worked(running(project, make_judge(project, endpoint=endpoint)))
        assert run.status == "paused"
        assert "replies are unreadable. The last one: " in run.reason
        assert 10 < len(provider.asked) < 240
        start_run(run=run)
        assert worked(run).status == "finished"
    assert statuses(run) == {"unreadable": 240}
    assert len(provider.asked) == 240


def answered(run, unreadable, *, readable):
    """Let replies come in: so many that can be read, then so many that cannot."""
    rows = list(run.judgments.order_by("pk")[: readable + unreadable])
    for number, row in enumerate(rows):
        row.answered_at = timezone.now() + timedelta(seconds=number)
        if number < readable:
            row.status, row.value = Judgment.Status.DONE, 3
        else:
            row.status, row.reason = Judgment.Status.UNREADABLE, REASON
    Judgment.objects.bulk_update(rows, ["status", "value", "reason", "answered_at"])
    pause_if_unreadable(run=run.pk)
    run.refresh_from_db()
    return run.status


def a_run(judgments):
    """Plan a run of so many judgments."""
    cast = make_project()
    judge = make_judge(cast.project, samples=judgments // 4, temperature=1)
    return cast, start_run(run=make_run(cast.project, judge, dimensions=["fluency"]))


@pytest.mark.parametrize(
    ("readable", "unreadable", "status"),
    [(190, 10, "running"), (190, 11, "paused"), (300, 10, "running"), (0, 10, "running"), (0, 11, "paused")],
)
def test_more_than_one_in_twenty_of_the_last_replies_pauses_the_run(readable, unreadable, status):
    _, run = a_run(400)
    assert answered(run, unreadable, readable=readable) == status


def test_a_run_with_nothing_left_to_ask_is_not_paused():
    _, run = a_run(12)
    assert answered(run, 12, readable=0) == "running"


def test_unreadable_replies_before_the_last_two_hundred_do_not_count():
    _, run = a_run(400)
    first = run.judgments.order_by("pk")[:20].values("pk")
    long_ago = timezone.now() - timedelta(hours=1)
    Judgment.objects.filter(pk__in=list(first.values_list("pk", flat=True))).update(
        status=Judgment.Status.UNREADABLE, reason=REASON, answered_at=long_ago
    )
    rest = list(run.judgments.order_by("pk")[20:220].values_list("pk", flat=True))
    Judgment.objects.filter(pk__in=rest).update(
        status=Judgment.Status.DONE, value=3, answered_at=timezone.now()
    )
    pause_if_unreadable(run=run.pk)
    run.refresh_from_db()
    assert run.status == "running"


@override_settings(EMAIL_BACKEND="django.core.mail.backends.locmem.EmailBackend")
def test_page_and_mail_report_the_reason_and_the_remedy(client):
    cast, run = a_run(40)
    Run.objects.update(created_by=cast.admin)
    answered(run, 11, readable=5)
    client.force_login(cast.admin)
    page = text_of(client.get(address(cast, f"runs/{run.pk}/")))
    says = f"11 of the last 16 replies are unreadable. The last one: {REASON} Read some of them, then resume"
    assert says in page
    assert "Resume anyway" in page
    run_job("stopped_run", run.pk)
    assert mail.outbox[0].subject == f"Run {run.pk} of judges in {cast.project} is paused"
    client.post(address(cast, f"runs/{run.pk}/start/"))
    run.refresh_from_db()
    assert (run.status, run.reason, run.accepts_unreadable) == ("running", "", True)
    assert answered(run, 20, readable=5) == "running"
