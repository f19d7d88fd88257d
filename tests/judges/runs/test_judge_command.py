"""`manage.py judge`: plans, asks, shows, pauses; its exit code says what came of it."""

import _thread
import json
import threading
from contextlib import contextmanager
from datetime import timedelta
from io import StringIO
from types import SimpleNamespace

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from django.db import connections

from judges.core.models import Judgment, Run
from judges.management.commands import judge as command
from judges.runs import batch_worker as attending
from judges.runs.commands.runs import pause_run
from tests.factories import make_project
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint, make_run
from tests.judges.news import news_project
from tests.judges.workers import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture(autouse=True)
def looks_often(monkeypatch):
    monkeypatch.setattr(command, "LOOK_EVERY", 0.02)


@contextmanager
def meanwhile(play):
    """Play another process's part in a thread."""

    def run():
        try:
            play()
        finally:
            connections.close_all()

    thread = threading.Thread(target=run)
    thread.start()
    yield
    thread.join()


def judge(cast, *options, name="A"):
    """Run the command; return what it printed and its exit code."""
    out = StringIO()
    code: str | int | None = 0
    try:
        call_command("judge", cast.project.slug, f"--judge={name}", *options, stdout=out, stderr=StringIO())
    except SystemExit as ended:
        code = ended.code
    return out.getvalue(), code


def test_plan_is_printed_and_nothing_written():
    cast = make_project(documents=5)
    make_judge(cast.project, name="A", endpoint=make_endpoint(cast.project, requests_per_minute=5))
    out, code = judge(cast, "--dry-run")
    assert "A: 10 of 10 judgments to ask" in out
    assert "10 calls, cost unknown, time 2 min" in out
    assert code == 0
    assert not Run.objects.exists()


def test_command_runs_alone_and_prints_its_cost(provider):
    cast = make_project()
    make_judge(cast.project, name="A", endpoint=make_priced_endpoint(cast.project, provider.base_url))
    out, code = judge(cast, "--here")
    assert (
        "is finished: 4 done, 0 unreadable, 0 failed of 4; spent 0.0024 USD." in out
    )  # 4 x (100 x 2 + 50 x 8)
    assert code == 0
    assert set(Judgment.objects.values_list("status", "value")) == {("done", 4.0)}
    assert len(provider.asked) == 4


def test_asking_again_pays_for_nothing(provider):
    cast = make_project()
    make_judge(cast.project, name="A", endpoint=make_endpoint(cast.project, provider.base_url))
    judge(cast, "--here")
    out, code = judge(cast, "--here")
    assert "Nothing is missing, so no run was made." in out
    assert code == 0
    assert len(provider.asked) == 4
    assert Run.objects.count() == 1


def test_judgments_pending_in_another_run_are_not_complete(provider):
    cast = make_project()
    asked = make_judge(cast.project, name="A", endpoint=make_endpoint(cast.project, provider.base_url))
    make_run(cast.project, asked)
    out, code = judge(cast, "--here")
    assert "No run was made: 4 judgments wait in another run." in out
    assert code == 1
    assert not provider.asked


def test_failed_judgments_end_with_1(provider):
    provider.status, provider.error = 400, "maximum context length"
    cast = make_project()
    make_judge(cast.project, name="A", endpoint=make_endpoint(cast.project, provider.base_url))
    out, code = judge(cast, "--here")
    assert "is finished: 0 done, 0 unreadable, 4 failed of 4" in out
    assert code == 1
    out, code = judge(cast, "--here")
    assert "No run was made: retry what failed on its run's page." in out
    assert code == 1


def test_a_wrong_key_stops_the_run_and_ends_with_1(provider):
    provider.status, provider.error = 401, "no such key"
    cast = make_project()
    make_judge(cast.project, name="A", endpoint=make_endpoint(cast.project, provider.base_url))
    out, code = judge(cast, "--here")
    assert "is stopped" in out
    assert "The server refuses the key: no such key" in out
    assert code == 1


def test_as_json_for_programs(provider):
    cast = make_project()
    make_judge(cast.project, name="A", endpoint=make_endpoint(cast.project, provider.base_url))
    out, _ = judge(cast, "--here", "--json")
    said = json.loads(out)
    assert said["plan"]["calls"] == 4
    assert said["plan"]["cost"] is None
    assert (said["run"]["status"], said["run"]["done"], said["run"]["cost_unknown"]) == ("finished", 4, 4)


def test_command_without_here_depends_on_the_workers():
    cast = make_project()
    make_judge(cast.project, name="A")

    def work():
        assert wait_until(Run.objects.filter(status=Run.Status.RUNNING).exists)
        run = Run.objects.get()
        run.judgments.update(status=Judgment.Status.DONE, value=5)
        Run.objects.update(status=Run.Status.FINISHED)

    with meanwhile(work):
        out, code = judge(cast)
    assert "is finished: 4 done" in out
    assert code == 0


def test_ctrl_c_pauses_the_run_and_keeps_calls_in_flight(provider):
    provider.seconds = 0.3
    cast = make_project(documents=20)
    endpoint = make_endpoint(cast.project, provider.base_url, calls_in_flight=2)
    make_judge(cast.project, name="A", endpoint=endpoint)

    def interrupt():
        assert wait_until(lambda: bool(provider.asked))
        _thread.interrupt_main()

    with meanwhile(interrupt):
        out, code = judge(cast, "--here")
    assert "is paused" in out
    assert code == 130
    run = Run.objects.get()
    statuses = list(run.judgments.values_list("status", flat=True))
    assert statuses.count("leased") == 0
    assert statuses.count("done") == len(provider.asked) > 0
    assert statuses.count("planned") == 40 - len(provider.asked)


def test_a_run_that_someone_pauses_in_the_browser_ends_the_waiting(provider):
    provider.seconds = 0.3
    cast = make_project(documents=40)
    endpoint = make_endpoint(cast.project, provider.base_url, calls_in_flight=1)
    make_judge(cast.project, name="A", endpoint=endpoint)

    def pause():
        assert wait_until(lambda: bool(provider.asked))
        pause_run(run=Run.objects.get())

    with meanwhile(pause):
        out, code = judge(cast, "--here")
    assert "is paused" in out
    assert code == 1


def test_through_the_batch_interface_at_half_the_price(replay, monkeypatch):
    monkeypatch.setattr(attending, "SOONEST", timedelta(0))
    project = news_project(documents=1, systems=2)
    endpoint = make_priced_endpoint(project, replay(batch_seconds=0).base_url)
    make_judge(project, name="A", endpoint=endpoint)
    cast = SimpleNamespace(project=project)
    out, code = judge(cast, "--here", "--batch")
    assert "8 calls, cost 0.0" in out
    assert ", time at most 24 h 0 min" in out
    assert "is finished: 8 done, 0 unreadable, 0 failed of 8" in out
    assert "batch 1: 7 requests to gpt-3.5-turbo-0301, collected" in out
    assert code == 0
    tokens = Judgment.objects.order_by("pk").values_list("input_tokens", "output_tokens")
    first, *others = (2 * (sent or 0) + 8 * (got or 0) for sent, got in tokens)
    assert Run.objects.get().spent * 1_000_000 == first + sum(others) / 2, "the first is a call"


def test_batches_as_json_for_programs(replay, monkeypatch):
    monkeypatch.setattr(attending, "SOONEST", timedelta(0))
    project = news_project(documents=1, systems=1)
    make_judge(project, name="A", endpoint=make_endpoint(project, replay(batch_seconds=0).base_url))
    out, _ = judge(SimpleNamespace(project=project), "--here", "--batch", "--json")
    said = json.loads(out)
    assert (said["plan"]["via"], said["plan"]["seconds"]) == ("batch", 86400)
    (batch,) = said["run"]["batches"]
    assert (batch["status"], batch["requests"], batch["completed"]) == ("collected", 3, 3)


def test_ctrl_c_leaves_batches_at_the_provider(replay):
    project = news_project(documents=1, systems=1)
    make_judge(project, name="A", endpoint=make_endpoint(project, replay(batch_seconds=60).base_url))

    def interrupt():
        assert wait_until(Run.objects.filter(batches__status="in_progress").exists)
        _thread.interrupt_main()

    with meanwhile(interrupt):
        out, code = judge(SimpleNamespace(project=project), "--here", "--batch")
    assert "is paused" in out
    assert "in progress, 0 of 3" in out
    assert code == 130


@pytest.mark.parametrize(
    ("options", "says"),
    [
        (["--dimension=style"], "There is no dimension 'style'; there are: fluency."),
        (["--budget=much"], "'much' is no amount of money"),
        (["--budget=0"], "The budget must be above 0."),
        (["--budget=5"], "so Concord cannot enforce a budget"),
        (["--pairs=neighbours"], "need ratings by people"),
    ],
)
def test_impossible_request_gives_one_message(options, says):
    cast = make_project()
    make_judge(cast.project, "h2h", name="A")
    with pytest.raises(CommandError, match=says):
        judge(cast, *options)
    assert not Run.objects.exists()


def test_unknown_projects_and_judges_get_a_list_of_existing_ones():
    cast = make_project()
    make_judge(cast.project, name="A")
    with pytest.raises(CommandError, match=r"There is no judge 'B' to ask; there are: A\."):
        judge(cast, name="B")
    with pytest.raises(CommandError, match=f"there are: {cast.project.slug}"):
        call_command("judge", "nothing", "--judge=A")
