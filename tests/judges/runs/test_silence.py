"""A server that is away costs no judgment: runs wait for it, stop after a time, and resume by themselves."""

import json
from datetime import timedelta
from uuid import uuid4

import pytest
from django.core import mail
from django.db import connection
from django.test import override_settings
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.core.jobs import run_job
from annotate.core.models import Delivery, Webhook
from judges.core.models import Endpoint, LeaseHolder, Run
from judges.runs.asker import Asker
from judges.runs.commands.endings import stop_run
from judges.runs.commands.leases import Leased, lease, let_rest, renew
from judges.runs.commands.runs import cancel_run, start_run
from judges.runs.commands.silence import note_answer, note_failure, take_probe
from judges.runs.queries.pages import runs_without_worker
from judges.runs.queries.runs import runs_with_open_judgments
from tests.factories import make_project
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint, make_run
from tests.judges.news import news_project
from tests.judges.provider import providing
from tests.judges.replay import replaying
from tests.judges.running import running, statuses, worked
from tests.judges.workers import wait_until, worker
from tests.ports import free_port

pytestmark = pytest.mark.django_db(transaction=True)
SMTP = "django.core.mail.backends.locmem.EmailBackend"
BUSY = "The server failed: busy"


@pytest.fixture
def lab(clock):
    """Return an endpoint that takes one call, and a run of four judgments that asks it."""
    cast = make_project()
    endpoint = make_endpoint(cast.project, name="Lab", calls_in_flight=1)
    run = start_run(run=make_run(cast.project, make_judge(cast.project, endpoint=endpoint)))
    return endpoint, run


def fail(endpoint, **how):
    silent = note_failure(endpoint=endpoint.pk, sentence=BUSY, **how)
    endpoint.refresh_from_db()
    return silent


def take(endpoint, run):
    holder = uuid4()
    taken = take_probe(run=run.pk, endpoint=endpoint.pk, holder=holder)
    LeaseHolder.objects.filter(pk=holder).delete()
    return taken


def stopped(endpoint, run, clock):
    """Let the server be silent until the run stops."""
    for minutes in (0, 5, 5, 5):
        clock.advance(minutes=minutes)
        fail(endpoint)
    run.refresh_from_db()
    assert run.status == "stopped"


def test_many_failed_calls_at_once_stop_nothing(lab, clock):
    endpoint, run = lab
    assert [fail(endpoint) for _ in range(64)] == [False] * 64
    clock.advance(seconds=2)
    assert not fail(endpoint)
    note_answer(endpoint=endpoint.pk)
    endpoint.refresh_from_db()
    assert endpoint.unanswered_since is None
    run.refresh_from_db()
    assert run.status == "running"


def test_server_silent_for_ten_seconds_gets_only_probes(lab, clock):
    endpoint, run = lab
    fail(endpoint)
    clock.advance(seconds=10)
    assert fail(endpoint)
    none = lease(run=run.pk, endpoint=endpoint.pk, holder=uuid4(), how_many=4)
    assert none == Leased([], has_ended=True, server_is_silent=True)
    pauses = []
    for _ in range(6):
        assert not take(endpoint, run), "before its time"
        endpoint.refresh_from_db()
        pauses.append((endpoint.next_probe_at - clock.now).total_seconds())
        clock.now = endpoint.next_probe_at
        assert take(endpoint, run)
    assert pauses == [5, 5, 10, 20, 40, 60]


def test_probe_requires_a_free_slot_and_the_end_of_the_server_pause(lab, clock):
    endpoint, run = lab
    note_failure(endpoint=endpoint.pk, sentence=BUSY)
    held = lease(run=run.pk, endpoint=endpoint.pk, holder=uuid4(), how_many=1).judgments
    assert len(held) == 1
    LeaseHolder.objects.update(draining=True)
    Endpoint.objects.update(next_probe_at=clock.now)
    assert not take(endpoint, run), "a call that began before still holds the only place"
    LeaseHolder.objects.all().delete()
    let_rest(endpoint=endpoint.pk, until=clock.now + timedelta(seconds=30))
    assert not take(endpoint, run)
    clock.advance(seconds=31)
    assert take(endpoint, run)


def test_server_is_probed_while_one_old_call_hangs(lab, clock):
    endpoint, run = lab
    Endpoint.objects.update(calls_in_flight=2)
    worker, probe = uuid4(), uuid4()
    assert lease(run=run.pk, endpoint=endpoint.pk, holder=worker, how_many=1).judgments
    fail(endpoint)
    Endpoint.objects.update(next_probe_at=clock.now)
    assert take_probe(run=run.pk, endpoint=endpoint.pk, holder=probe)
    Endpoint.objects.update(next_probe_at=clock.now)
    assert not take_probe(run=run.pk, endpoint=endpoint.pk, holder=uuid4()), "one probe at a time"
    assert renew(endpoint=endpoint.pk, runs=[run.pk], holder=worker), "the old call keeps its lease"
    LeaseHolder.objects.filter(pk=worker).delete()
    assert not Asker(endpoint, run=run.pk)._take_endpoint(), "the probe is a call of the endpoint"


def test_probe_locks_the_run_before_the_endpoint(lab, clock):
    endpoint, run = lab
    fail(endpoint)
    Endpoint.objects.update(next_probe_at=clock.now)
    with CaptureQueriesContext(connection) as queries:
        assert take(endpoint, run)
    assert locked_tables(queries) == ["judges_run", "judges_endpoint"]


def test_worker_locks_the_run_before_the_endpoint(lab):
    endpoint, run = lab
    worker = Asker(endpoint, run=run.pk)
    with CaptureQueriesContext(connection) as queries:
        assert worker._take_endpoint()
    assert locked_tables(queries) == ["judges_run", "judges_endpoint"]


def test_renewal_makes_no_lease_without_the_lock_of_a_run(lab):
    endpoint, run = lab
    worker = uuid4()
    assert lease(run=run.pk, endpoint=endpoint.pk, holder=worker, how_many=1).judgments
    assert renew(endpoint=endpoint.pk, runs=[run.pk], holder=worker)
    LeaseHolder.objects.all().delete()  # with the run of which it began, or as outdated
    assert not renew(endpoint=endpoint.pk, runs=[run.pk], holder=worker)
    assert not LeaseHolder.objects.exists()


def locked_tables(queries):
    """Return the tables of the first two queries, which lock where the database has locks of rows."""
    statements = [each["sql"] for each in queries if each["sql"].startswith("SELECT")]
    return [statement.split(' FROM "')[1].split('"')[0] for statement in statements[:2]]


def test_the_run_stops_when_patience_is_over_and_resumes_with_the_first_answer(lab, clock):
    endpoint, run = lab
    stopped(endpoint, run, clock)
    assert run.reason == f"No answer from Lab for 15 minutes. The last call: {BUSY}"
    assert run.resumes_until == clock.now + timedelta(hours=24)
    clock.advance(minutes=1)
    assert runs_with_open_judgments() == [run.pk], "for a probe"
    note_answer(endpoint=endpoint.pk)
    run.refresh_from_db()
    assert (run.status, run.reason, run.waits_for, run.resumes_until) == ("running", "", None, None)


def test_patience_and_the_time_to_resume_are_settings_of_the_endpoint(lab, clock):
    endpoint, run = lab
    Endpoint.objects.update(patience_minutes=1, resume_hours=0)
    fail(endpoint)
    clock.advance(minutes=1)
    fail(endpoint)
    run.refresh_from_db()
    assert (run.status, run.resumes_until) == ("stopped", None)
    note_answer(endpoint=endpoint.pk)
    run.refresh_from_db()
    assert run.status == "stopped"


def test_after_its_time_to_resume_a_run_stays_stopped(lab, clock):
    endpoint, run = lab
    stopped(endpoint, run, clock)
    clock.advance(hours=24)
    assert runs_with_open_judgments() == []
    note_answer(endpoint=endpoint.pk)
    run.refresh_from_db()
    assert run.status == "stopped"


def test_who_resumes_a_run_gives_the_server_the_full_time_again(lab, clock):
    endpoint, run = lab
    stopped(endpoint, run, clock)
    start_run(run=run)
    assert take(endpoint, run), "it is tried at once"
    for minutes, status in ((7, "running"), (7, "running"), (1, "stopped")):
        clock.advance(minutes=minutes)
        fail(endpoint)
        run.refresh_from_db()
        assert run.status == status


def test_distant_failures_without_calls_between_are_no_long_silence(lab, clock):
    endpoint, run = lab
    fail(endpoint)
    clock.advance(hours=3)
    assert not fail(endpoint)
    run.refresh_from_db()
    assert run.status == "running"
    assert endpoint.unanswered_since == clock.now


def test_a_server_that_only_asks_to_wait_is_not_probed_and_stops_its_runs_in_the_end(lab, clock):
    endpoint, run = lab
    for _ in range(3):
        assert not fail(endpoint, asked_to_wait=True)
        clock.advance(minutes=5)
    assert fail(endpoint, asked_to_wait=True)
    run.refresh_from_db()
    assert (run.status, run.waits_for) == ("stopped", endpoint)


def test_cancelled_run_awaits_nothing(lab, clock):
    endpoint, run = lab
    stopped(endpoint, run, clock)
    cancel_run(run=run)
    note_answer(endpoint=endpoint.pk)
    run.refresh_from_db()
    assert (run.status, run.resumes_until) == ("cancelled", None)


def test_workers_paused_for_a_server_are_not_missing(lab, clock):
    endpoint, run = lab
    clock.advance(minutes=1)
    assert list(runs_without_worker(timezone.now())) == [run]
    fail(endpoint)
    clock.advance(seconds=10)
    fail(endpoint)
    assert not runs_without_worker(timezone.now()).exists()


# With calls


def silent(endpoint):
    """Let a server have been silent for a minute, with a probe due now."""
    now = timezone.now()
    Endpoint.objects.filter(pk=endpoint.pk).update(
        unanswered_since=now - timedelta(minutes=1),
        tried_at=now,
        failure=BUSY,
        patience_until=now + timedelta(minutes=14),
        next_probe_at=now,
    )


def test_one_probe_ends_a_silence_and_the_run_continues():
    project = news_project(documents=1, systems=1)
    with providing() as provider:
        endpoint = make_priced_endpoint(project, provider.base_url)
        run = running(project, make_judge(project, endpoint=endpoint))
        silent(endpoint)
        assert worked(run).status == "finished"
    assert statuses(run) == {"done": 4}
    assert [asked["max_tokens"] for asked in provider.asked] == [16, 256, 256, 256, 256]
    assert float(run.spent) == pytest.approx(5 * 0.0006), "the probe is paid too"


def test_a_failed_probe_asks_no_judgment():
    project = news_project(documents=1, systems=1)
    with providing(status=500, error="busy") as provider:
        endpoint = make_endpoint(project, provider.base_url)
        run = running(project, make_judge(project, endpoint=endpoint))
        silent(endpoint)
        assert worked(run).status == "running"
        assert worked(run).status == "running", "the next probe is not due"
    assert statuses(run) == {"planned": 4}
    assert len(provider.asked) == 1
    endpoint.refresh_from_db()
    assert endpoint.failed_probes == 1


def test_server_that_rejects_the_probe_is_responsive():
    project = news_project(documents=1, systems=1)
    with providing(status=400, error="no") as provider:
        endpoint = make_endpoint(project, provider.base_url)
        run = running(project, make_judge(project, endpoint=endpoint))
        silent(endpoint)
        worked(run)
    assert statuses(run) == {"failed": 4}
    endpoint.refresh_from_db()
    assert endpoint.unanswered_since is None


@pytest.mark.parametrize("before", ["running", "stopped"])
def test_a_probe_that_finds_a_wrong_key_stops_the_run_for_good(before):
    project = news_project(documents=1, systems=1)
    with providing(status=401, error="bad key") as provider:
        endpoint = make_endpoint(project, provider.base_url)
        run = running(project, make_judge(project, endpoint=endpoint))
        silent(endpoint)
        if before == "stopped":
            stop_run(run, BUSY, waits_for=endpoint)
        worked(run)
    assert (run.status, run.reason) == ("stopped", "The server refuses the key: bad key")
    assert run.resumes_until is None


def test_a_stopped_run_resumes_by_itself_when_its_probe_is_answered():
    project = news_project(documents=1, systems=1)
    with providing() as provider:
        endpoint = make_endpoint(project, provider.base_url)
        run = running(project, make_judge(project, endpoint=endpoint))
        silent(endpoint)
        stop_run(run, BUSY, waits_for=endpoint)
        assert worked(run).status == "finished"
    assert statuses(run) == {"done": 4}


def test_a_server_that_goes_away_for_a_while_fails_no_judgment(monkeypatch):
    monkeypatch.setattr("judges.runs.commands.silence.PROBED_AFTER", timedelta(0))
    project = news_project(documents=1, systems=1)
    with providing(status=500, error="busy") as provider:
        endpoint = make_endpoint(project, provider.base_url)
        run = running(project, make_judge(project, endpoint=endpoint))
        worked(run)
        assert statuses(run) == {"planned": 4}
        assert max(run.judgments.values_list("attempts", flat=True)) <= 1
        provider.status = 200
        Endpoint.objects.update(next_probe_at=timezone.now())
        assert worked(run).status == "finished"
    assert statuses(run) == {"done": 4}


# Who is told


@override_settings(EMAIL_BACKEND=SMTP)
def test_who_planned_the_run_is_mailed_once():
    cast = make_project()
    run = start_run(run=make_run(cast.project, make_judge(cast.project)))
    Run.objects.update(created_by=cast.admin)
    run_job("stopped_run", run.pk)
    assert mail.outbox == []
    stop_run(run, "The server refuses the key: no such key.")
    run_job("stopped_run", run.pk)
    run_job("stopped_run", run.pk)
    (message,) = mail.outbox
    assert message.to == [cast.admin.email]
    assert message.subject == f"Run {run.pk} of judges in {cast.project} is stopped"
    assert message.body.startswith("The server refuses the key: no such key.")


@override_settings(EMAIL_BACKEND=SMTP)
def test_the_mail_says_until_when_a_run_resumes_by_itself(lab, clock):
    endpoint, run = lab
    Run.objects.update(created_by=run.project.memberships.filter(role="admin").first().user)
    stopped(endpoint, run, clock)
    run_job("stopped_run", run.pk)
    assert "It resumes by itself when the server answers before" in mail.outbox[0].body


def test_webhooks_report_a_stopped_run(lab, clock):
    endpoint, run = lab
    hook = {"project": run.project, "url": "https://lab.example/", "events": ["run.stopped"]}
    Webhook.objects.create(**hook, salt="s", digest="d")
    stopped(endpoint, run, clock)
    (delivery,) = Delivery.objects.all()
    data = {"project": run.project.slug, "run": run.pk, "resumes_until": run.resumes_until.isoformat()}
    assert json.loads(delivery.body)["data"] == data


# A real worker


@pytest.mark.long
@pytest.mark.once
def test_server_outage_costs_no_judgment_and_no_manual_action(tmp_path):
    project = news_project(documents=8, systems=12)
    port = free_port()
    endpoint = make_endpoint(project, f"http://127.0.0.1:{port}/v1")
    run = running(project, make_judge(project, endpoint=endpoint))

    def is_silent():
        return Endpoint.objects.filter(next_probe_at__isnull=False).exists() and "leased" not in statuses(run)

    with worker(tmp_path) as at_work:
        with replaying(port=port, latency=400):
            assert wait_until(lambda: statuses(run).get("done", 0) > 60), at_work.story()
        assert wait_until(is_silent), at_work.story()
        assert Run.objects.get(pk=run.pk).status == "running"
        with replaying(port=port, latency=50) as server:
            ended = wait_until(lambda: Run.objects.get(pk=run.pk).status == "finished")
            assert ended, at_work.story()
            assert server.stats()["repeated"] == 0
    assert statuses(run) == {"done": 384}
