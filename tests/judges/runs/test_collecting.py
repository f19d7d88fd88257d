"""One worker's part of a run, asked over HTTP of a server that answers with a real model's replies."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from functools import partial
from threading import Semaphore
from typing import Any
from uuid import uuid4

import pytest
from django.conf import settings
from django.db import connections
from django.utils import timezone

from judges.core.models import Endpoint, Judgment, LeaseHolder, Run
from judges.endpoints.work import Outcome
from judges.runs.commands.collecting import collect
from judges.runs.commands.leases import Leased, lease, let_rest, renew
from judges.runs.commands.outcomes import store
from judges.runs.commands.runs import cancel_run, pause_run, retry_failed, start_run
from judges.runs.queries.runs import run_progress, runs_with_open_judgments
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint, unpriced
from tests.judges.news import DIMENSIONS, news_project
from tests.judges.provider import providing
from tests.judges.running import running, statuses, worked
from tests.judges.workers import wait_until

pytestmark = pytest.mark.django_db(transaction=True)


def test_run_is_called_once_and_finished(replay):
    server = replay()
    project = news_project(documents=3, systems=4)
    run = running(project, make_judge(project, endpoint=make_endpoint(project, server.base_url)))
    assert worked(run).status == "finished"
    assert statuses(run) == {"done": 48}
    assert server.stats()["repeated"] == 0
    for one in Judgment.objects.filter(run=run):
        assert 1 <= (one.value or 0) <= 5
        assert one.reply
        assert (one.input_tokens or 0) > (one.output_tokens or 0) > 0
        assert one.lease is None


def test_second_run_pays_only_for_missing_judgments(replay):
    server = replay()
    project = news_project(documents=2, systems=3)
    judge = make_judge(project, endpoint=make_endpoint(project, server.base_url))
    worked(running(project, judge, dimensions=["fluency"]))
    second = running(project, judge, dimensions=["fluency", "coherence"])
    assert Judgment.objects.filter(run=second).count() == 6
    assert worked(second).status == "finished"
    assert server.stats()["repeated"] == 0


def test_head_to_head_runs_in_both_orders(replay):
    server = replay()
    project = news_project(documents=2, systems=12)
    pair = tuple(
        project.systems.filter(name__in=["M10", "M20"]).order_by("name").values_list("pk", flat=True)
    )
    judge = make_judge(project, "h2h", endpoint=make_endpoint(project, server.base_url))
    run = worked(running(project, judge, dimensions=["fluency"], pairs=[pair]))
    assert statuses(run) == {"done": 4}
    asked = Judgment.objects.filter(run=run).values_list("item__system__name", "other__system__name")
    assert Counter(asked) == {("M10", "M20"): 2, ("M20", "M10"): 2}


def test_on_a_bad_day_every_judgment_ends_done_or_explained(replay):
    server = replay(error=0.05, drop=0.02, hang=0.01, garbage=0.05, rate_limit=60, seed=3)
    project = news_project(documents=5, systems=6)
    endpoint = make_endpoint(project, server.base_url, timeout_seconds=2, calls_in_flight=16)
    run = worked(running(project, make_judge(project, endpoint=endpoint, temperature=0.7)))
    assert run.status == "finished"
    assert set(statuses(run)) <= {"done", "unreadable"}
    assert statuses(run)["done"] >= 114
    for judgment in Judgment.objects.filter(run=run).exclude(status="done"):
        assert judgment.reason
        assert judgment.value is None
    assert server.stats()["status"]["500"] > 0, "it was a bad day, also where all is too slow for a 429"


def test_forbidden_variable_stops_the_run_with_one_message(replay):
    server = replay()
    project = news_project(documents=5, systems=12)
    endpoint = make_endpoint(project, server.base_url, key_variable="NOWHERE_API_KEY")
    run = worked(running(project, make_judge(project, endpoint=endpoint)))
    assert run.status == "stopped"
    assert "may not send NOWHERE_API_KEY to 127.0.0.1" in run.reason
    assert statuses(run) == {"planned": 240}
    assert server.stats()["asked"] == 0


def test_server_with_a_rate_limit_gets_slower_calls(replay):
    server = replay(rate_limit=3)
    project = news_project(documents=1, systems=6)
    endpoint = make_endpoint(project, server.base_url, calls_in_flight=24)
    run = worked(running(project, make_judge(project, endpoint=endpoint)))
    assert statuses(run) == {"done": 24}
    assert server.stats()["status"]["429"] <= 30, "asked at the pace at which it answers"


@pytest.mark.parametrize(
    ("status", "error", "code"),
    [
        (404, "no such model", None),
        (401, "bad key", None),
        (400, "bad request", None),
        (429, "You exceeded your current quota", "insufficient_quota"),
    ],
)
def test_general_provider_rejection_stops_the_run(status, error, code):
    project = news_project(documents=5, systems=12)
    with providing(status=status, error=error, code=code) as provider:
        endpoint = make_endpoint(project, provider.base_url, calls_in_flight=4)
        run = worked(running(project, make_judge(project, endpoint=endpoint)))
    assert run.status == "stopped"
    assert error in run.reason
    assert statuses(run)["planned"] >= 190
    assert len(provider.asked) <= 40


def test_budget_stops_the_run_cleanly_and_is_respected(replay):
    server = replay()
    project = news_project(documents=5, systems=12)
    endpoint = make_priced_endpoint(project, server.base_url, calls_in_flight=4)
    run = worked(running(project, make_judge(project, endpoint=endpoint), budget=Decimal("0.10")))
    assert run.status == "stopped"
    assert "budget" in run.reason
    assert Decimal("0.08") < run.spent <= Decimal("0.10")
    costs = Judgment.objects.filter(run=run, status="done").values_list("cost", flat=True)
    assert run.spent == sum(cost or 0 for cost in costs)
    assert statuses(run)["planned"] > 0
    assert "leased" not in statuses(run)


def test_pause_resume_and_cancel(replay):
    server = replay()
    project = news_project(documents=2, systems=3)
    run = running(project, make_judge(project, endpoint=make_endpoint(project, server.base_url)))
    pause_run(run=run)
    assert worked(run).status == "paused"
    assert server.stats()["asked"] == 0
    start_run(run=run)
    assert worked(run).status == "finished"
    other = running(project, make_judge(project, endpoint=make_endpoint(project, server.base_url)))
    cancel_run(run=other)
    assert worked(other).status == "cancelled"
    assert Judgment.objects.filter(run=other).count() == 0


def test_new_run_adopts_the_unanswered_part_of_a_cancelled_one(replay):
    server = replay()
    project = news_project(documents=1, systems=3)
    endpoint = make_endpoint(project, server.base_url)
    judge = make_judge(project, endpoint=endpoint)
    first = running(project, judge)
    held = lease(run=first.pk, endpoint=endpoint.pk, holder=uuid4(), how_many=5).judgments
    Judgment.objects.filter(pk=held[0]).update(
        status="failed", reason="The server failed.", lease=None, leased_until=None
    )
    cancel_run(run=first)
    a_second_ago = timezone.now() - timedelta(seconds=1)
    Judgment.objects.filter(status="leased").update(leased_until=a_second_ago)
    LeaseHolder.objects.update(alive_until=a_second_ago)
    second = worked(running(project, judge))
    assert second.status == "finished"
    assert statuses(second) == {"done": 12}


def test_leases_of_a_dead_worker_are_reused_after_their_expiry(replay):
    server = replay()
    project = news_project(documents=1, systems=3)
    endpoint = make_endpoint(project, server.base_url)
    run = running(project, make_judge(project, endpoint=endpoint))
    dead = uuid4()
    held = lease(run=run.pk, endpoint=endpoint.pk, holder=dead, how_many=5).judgments
    assert worked(run).status == "running"
    assert statuses(run) == {"planned": 7, "leased": 5}, "the endpoint's calls are its own for so long"
    a_second_ago = timezone.now() - timedelta(seconds=1)
    Judgment.objects.filter(pk__in=held).update(leased_until=a_second_ago)
    LeaseHolder.objects.update(alive_until=a_second_ago)
    assert runs_with_open_judgments() == [run.pk]
    assert worked(run).status == "finished"
    late = [Outcome(held[0], "done", 1, value=1.0)]
    assert store(run=run.pk, endpoint=endpoint.pk, holder=dead, outcomes=late, prices_of=unpriced) == 0
    assert server.stats()["repeated"] == 0


def test_delayed_worker_does_not_lease_its_active_calls_again():
    project = news_project(documents=1, systems=3)
    endpoint = make_endpoint(project)
    run = running(project, make_judge(project, endpoint=endpoint))
    ours = partial(lease, run=run.pk, endpoint=endpoint.pk, holder=uuid4())
    asking = ours(how_many=5).judgments
    Judgment.objects.filter(pk__in=asking).update(leased_until=timezone.now() - timedelta(seconds=1))
    more = ours(how_many=12).judgments
    assert len(more) == 7
    assert not set(asking) & set(more)
    other = lease(run=run.pk, endpoint=endpoint.pk, holder=uuid4(), how_many=12).judgments
    assert other == []


@pytest.mark.parametrize("calls", [8, 64, 65, 129])
def test_an_endpoint_is_called_by_one_worker_however_many_calls_it_takes(clock, calls):
    project = news_project(documents=5, systems=12)
    endpoint = make_endpoint(project, calls_in_flight=calls)
    judge = make_judge(project, endpoint=endpoint)
    runs = [running(project, judge, dimensions=[name]) for name in ("fluency", "coherence")]
    holder = uuid4()
    ours = [lease(run=run.pk, endpoint=endpoint.pk, holder=holder, how_many=9).judgments for run in runs]
    assert [len(each) for each in ours] == [9, 9], "for all its runs"
    other = partial(lease, endpoint=endpoint.pk, holder=uuid4(), how_many=30)
    assert [other(run=run.pk) for run in runs] == [Leased([], has_ended=True)] * 2
    clock.advance(seconds=settings.LEASE_SECONDS + 1)
    assert len(other(run=runs[1].pk).judgments) == 30, "the silent worker lost it"
    assert lease(run=runs[0].pk, endpoint=endpoint.pk, holder=holder, how_many=9).judgments == []
    assert not renew(endpoint=endpoint.pk, runs=[run.pk for run in runs], holder=holder)
    assert len(other(run=runs[0].pk).judgments) == 30, "that changed nothing for the next one"


def test_a_worker_of_the_version_before_and_one_of_this_never_call_together():
    project = news_project(documents=1, systems=3)
    endpoint = make_endpoint(project, calls_in_flight=8)
    run = running(project, make_judge(project, endpoint=endpoint))
    alive = timezone.now() + timedelta(minutes=1)
    of_before = {"run": run, "endpoint": endpoint, "alive_until": alive}
    old = LeaseHolder.objects.create(pk=uuid4(), calls_in_flight=1, wanted=8, draining=True, **of_before)
    ours = partial(lease, run=run.pk, endpoint=endpoint.pk, holder=uuid4(), how_many=4)
    assert ours() == Leased([], has_ended=True), "calls of the one before are in flight"
    LeaseHolder.objects.filter(pk=old.pk).update(
        calls_in_flight=0, alive_until=timezone.now() - timedelta(seconds=1)
    )
    assert len(ours().judgments) == 4
    living = LeaseHolder.objects.filter(alive_until__gte=timezone.now()).values_list(
        "calls_in_flight", "draining"
    )
    assert list(living) == [(8, False)], "the one before counts these calls, and finds none left"


def test_a_pause_asks_nothing_that_was_only_leased():
    """Each call in flight makes room for one more until the worker stores, and no call begins after that."""
    project = news_project(documents=3, systems=12)
    answers = Semaphore(0)
    with providing(answers=answers) as provider, ThreadPoolExecutor(1) as worker:
        endpoint = make_endpoint(project, provider.base_url, calls_in_flight=4)
        run = running(project, make_judge(project, endpoint=endpoint))
        work = worker.submit(collect, run=run.pk, seconds=60)
        assert wait_until(lambda: len(provider.asked) == 4, seconds=30)
        pause_run(run=run)
        answers.release(4)
        assert wait_until(lambda: statuses(run).get("done") == 4, seconds=30)
        answers.release(len(DIMENSIONS) * 36)
        work.result(30)
        worker.submit(connections.close_all).result()
    assert statuses(run).keys() == {"done", "planned"}
    assert len(provider.asked) <= 3 * 4


def test_a_wait_that_a_server_told_one_worker_holds_for_the_next():
    project = news_project(documents=1, systems=3)
    endpoint = make_endpoint(project, calls_in_flight=129)
    run = running(project, make_judge(project, endpoint=endpoint))
    until = timezone.now() + timedelta(seconds=20)
    let_rest(endpoint=endpoint.pk, until=until)
    let_rest(endpoint=endpoint.pk, until=until - timedelta(seconds=10))
    endpoint.refresh_from_db()
    assert endpoint.resting_until == until
    ours = partial(lease, run=run.pk, endpoint=endpoint.pk, holder=uuid4(), how_many=4)
    assert ours() == Leased([], come_back=True, counts_tokens=False)
    Endpoint.objects.update(resting_until=timezone.now())
    assert len(ours().judgments) == 4


def test_schema_is_requested_and_parsed():
    project = news_project(documents=1, systems=3)
    with providing(reply='{"reasons": "Because.", "score": 4}') as provider:
        judge = make_judge(project, endpoint=make_endpoint(project, provider.base_url), structured=True)
        assert worked(running(project, judge, dimensions=["fluency"])).status == "finished"
    assert {asked["response_format"]["type"] for asked in provider.asked} == {"json_schema"}
    assert set(Judgment.objects.values_list("value", "status")) == {(4, "done")}


def test_the_limit_of_requests_holds_for_all_leases(clock):
    project = news_project(documents=5, systems=12)
    endpoint = make_endpoint(project, requests_per_minute=50, calls_in_flight=129)
    run = running(project, make_judge(project, endpoint=endpoint))
    ours = partial(lease, run=run.pk, endpoint=endpoint.pk, holder=uuid4(), how_many=4)
    assert [len(ours().judgments) for _ in range(3)] == [4, 1, 0]


def test_runs_share_the_requests_that_are_left(clock):
    project = news_project(documents=5, systems=12)
    endpoint = make_endpoint(project, requests_per_minute=50)
    judge = make_judge(project, endpoint=endpoint)
    runs = [running(project, judge, dimensions=[name]) for name in ("fluency", "coherence")]
    ours = partial(lease, endpoint=endpoint.pk, holder=uuid4(), how_many=9, runs=2)
    assert [len(ours(run=run.pk).judgments) for run in runs] == [3, 1]


def test_failed_judgments_are_retried_on_request(replay):
    server = replay()
    project = news_project(documents=1, systems=2)
    run = running(project, make_judge(project, endpoint=make_endpoint(project, server.base_url)))
    Judgment.objects.filter(run=run).update(status="failed", reason="The server failed.")
    Run.objects.filter(pk=run.pk).update(status="finished")
    retry_failed(run=run)
    assert worked(run).status == "finished"
    assert statuses(run) == {"done": 8}


def test_progress_counts_everything_once(replay):
    server = replay()
    project = news_project(documents=1, systems=2)
    run = worked(running(project, make_judge(project, endpoint=make_endpoint(project, server.base_url))))
    progress = run_progress(run)
    assert (progress.total, progress.done, progress.ended, progress.cost_unknown) == (8, 8, 8, 8)


def test_request_has_every_judge_parameter_and_a_seed_per_sample():
    project = news_project(documents=1, systems=1)
    more: dict[str, Any] = {"top_p": 0.9, "stop": ["END"], "reasoning_effort": "low"}
    with providing() as provider:
        endpoint = make_endpoint(project, provider.base_url)
        judge = make_judge(
            project,
            endpoint=endpoint,
            temperature=None,
            seed=7,
            samples=2,
            system_message="Be strict.",
            extra_body={"top_k": 20},
            **more,
        )
        worked(running(project, judge, dimensions=["fluency"]))
    first, second = sorted(provider.asked, key=lambda asked: asked["seed"])
    assert (first["seed"], second["seed"]) == (7, 8)
    assert "temperature" not in first
    assert first["top_k"] == 20
    assert {name: first[name] for name in more} == more
    assert first["messages"][0] == {"role": "system", "content": "Be strict."}
