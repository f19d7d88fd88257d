"""A run through the batch interface, over HTTP at a server that answers with a real model's replies."""

import json
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.utils import timezone

from judges.core.models import Batch, Endpoint, Judge, Judgment, Run
from judges.core.specification import Scope
from judges.endpoints.dialects.chat_completions import ChatCompletions
from judges.runs import batch_worker
from judges.runs.batch_worker import pause_before_look
from judges.runs.commands import batches as batch_commands
from judges.runs.commands.collecting import collect, needs_work
from judges.runs.commands.leases import lease
from judges.runs.commands.runs import cancel_run, pause_run, plan_run, retry_failed, start_run
from judges.runs.queries.runs import run_progress, runs_with_due_batches, runs_with_open_judgments
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint
from tests.judges.news import DIMENSIONS, news_project
from tests.judges.relay import relaying
from tests.judges.workers import wait_until, worker

pytestmark = pytest.mark.django_db(transaction=True)

BAD = (
    b'{"error": {"message": "Billing hard limit has been reached", "type": "t", "param": null, "code": null}}'
)


def planned(project, *judges, budget=None, dimensions=DIMENSIONS):
    """Plan a run through the batch interface and let it go on, without a message to any worker."""
    scope = Scope(judges, dimensions)
    run = plan_run(project=project, scope=scope, by=None, budget=budget, via=Run.Via.BATCH)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, started_at=timezone.now())
    return run


def news_run(url, *, documents=1, systems=3, **fields):
    """Plan a run of one judge over news summaries."""
    project = news_project(documents=documents, systems=systems)
    budget = fields.pop("budget", None)
    temperature = fields.pop("temperature", 0)
    judge = make_judge(
        project, endpoint=make_priced_endpoint(project, url, **fields), temperature=temperature
    )
    return planned(project, judge, budget=budget)


def looked_after(run, times=1):
    """Let a worker look after a run's batches, as if it were time to."""
    for _ in range(times):
        Batch.objects.filter(run=run).update(due_at=timezone.now() - timedelta(seconds=1))
        collect(run=run.pk, seconds=60)
    run.refresh_from_db()
    return run


def statuses(run):
    return dict(Counter(Judgment.objects.filter(run=run).values_list("status", flat=True)))


def batches(run):
    return list(Batch.objects.filter(run=run).order_by("created_at"))


def to_the_end(run):
    """Look again and again: the server takes its time for a batch, however fast the looks are."""
    ended = wait_until(lambda: not needs_work(looked_after(run).pk), seconds=60, every=0.02)
    assert ended, f"not at its end: {run.status}, {statuses(run)}"
    return looked_after(run)


# A whole run


def test_a_run_is_uploaded_submitted_collected_and_finished(replay):
    server = replay(batch_seconds=0)
    run = news_run(server.base_url, documents=2)
    collect(run=run.pk, seconds=60)
    (batch,) = batches(run)
    assert (batch.status, batch.requests) == ("in_progress", 24)
    assert set(Judgment.objects.filter(run=run).values_list("lease", flat=True)) == {batch.pk}
    assert looked_after(run).status == "finished"
    (batch,) = batches(run)
    assert (batch.status, batch.completed, batch.failed) == ("collected", 24, 0)
    assert statuses(run) == {"done": 24}
    assert server.stats()["repeated"] == 0
    for one in Judgment.objects.filter(run=run):
        assert 1 <= (one.value or 0) <= 5
        assert one.reply
        assert (one.attempts, one.seconds, one.lease) == (1, None, None)
        assert (one.finish_reason, one.parameters["temperature"], len(one.messages_hash)) == ("stop", 0, 64)


def test_the_same_replies_come_as_by_calls_at_half_the_price(replay):
    server = replay(batch_seconds=0)
    by_batch = to_the_end(news_run(server.base_url))
    by_calls = news_run(server.base_url)
    Run.objects.filter(pk=by_calls.pk).update(via=Run.Via.CALLS)
    collect(run=by_calls.pk, seconds=60)
    by_calls.refresh_from_db()
    values = [
        list(Judgment.objects.filter(run=run).order_by("pk").values_list("value", "reply", "input_tokens"))
        for run in (by_batch, by_calls)
    ]
    assert values[0] == values[1]
    assert by_batch.spent * 2 == by_calls.spent > 0
    assert by_batch.spent == sum(cost or 0 for cost in by_batch.judgments.values_list("cost", flat=True))


def test_each_model_and_each_endpoint_has_separate_batches(replay):
    server = replay(batch_seconds=0)
    project = news_project(documents=1, systems=2)
    endpoint = make_endpoint(project, server.base_url)
    others = [
        make_judge(project, "mcq", endpoint=endpoint),
        make_judge(project, endpoint=endpoint, model="another"),
        make_judge(project, endpoint=make_endpoint(project, server.base_url)),
    ]
    run = to_the_end(planned(project, make_judge(project, endpoint=endpoint), *others))
    assert sorted(Batch.objects.values_list("model", "requests")) == [
        ("another", 8),
        ("gpt-3.5-turbo-0301", 8),
        ("gpt-3.5-turbo-0301", 16),
    ]
    assert statuses(run) == {"done": 32}


def test_batch_with_too_many_requests_for_a_file_is_split(replay, monkeypatch):
    monkeypatch.setattr(batch_commands, "MOST_REQUESTS", 5)
    server = replay(batch_seconds=0)
    run = to_the_end(news_run(server.base_url))
    assert [batch.requests for batch in batches(run)] == [5, 5, 2]
    assert statuses(run) == {"done": 12}
    assert server.stats()["repeated"] == 0


def test_batch_too_long_for_a_file_is_split(replay, monkeypatch):
    monkeypatch.setattr(ChatCompletions, "batch_bytes", 20_000)
    server = replay(batch_seconds=0)
    run = to_the_end(news_run(server.base_url))
    assert len(batches(run)) > 1
    assert sum(batch.requests for batch in batches(run)) == 12
    assert statuses(run) == {"done": 12}
    assert server.stats()["repeated"] == 0


def test_portions_are_stored_one_after_the_other(replay, monkeypatch):
    monkeypatch.setattr(batch_worker, "PORTION", 5)
    run = to_the_end(news_run(replay(batch_seconds=0).base_url))
    assert statuses(run) == {"done": 12}


def test_probabilities_and_a_schema_are_requested_as_in_calls(replay):
    server = replay(batch_seconds=0)
    project = news_project(documents=1, systems=1)
    endpoint = make_endpoint(project, server.base_url)
    weighed = make_judge(project, "g_eval", endpoint=endpoint, score_from="probabilities")
    shaped = make_judge(project, endpoint=endpoint, structured=True)
    run = to_the_end(planned(project, weighed, shaped))
    reasons = set(run.judgments.filter(judge=weighed).values_list("status", "reason", "attempts"))
    no_logprobs = "The server gave no probabilities; choose a judge that reads the text."
    assert reasons == {("unreadable", no_logprobs, 1)}
    assert not run.judgments.filter(status__in=["planned", "leased", "failed"]).exists()


# What fails in part


def test_failed_requests_are_repeated_in_the_next_batch(replay):
    server = replay(batch_seconds=0, error=0.3)
    run = to_the_end(news_run(server.base_url, documents=3))
    assert run.status == "finished"
    assert statuses(run) == {"done": 36}
    assert len(batches(run)) > 1
    assert Judgment.objects.filter(run=run, attempts__gt=1).exists()
    assert server.stats()["repeated"] == 0
    first = batches(run)[0]
    assert first.failed == 36 - first.completed > 0


def test_permanent_failure_in_batches_costs_as_many_calls_as_singles(replay):
    run = to_the_end(news_run(replay(batch_seconds=0, error=1).base_url))
    assert run.status == "finished"
    assert statuses(run) == {"failed": 12}
    assert len(batches(run)) == 8
    assert set(run.judgments.values_list("attempts", "reason")) == {
        (
            8,
            "8 calls failed. The last one: The server refuses the request: replay: "
            "The server had an error while processing your request",
        )
    }
    assert retry_failed(run=run).status == "running"
    Run.objects.update(untried_judges=None)
    assert to_the_end(run).status == "finished"
    assert len(batches(run)) == 16


def test_a_large_batch_without_any_reply_stops_the_run(replay):
    run = to_the_end(news_run(replay(batch_seconds=0, error=1).base_url, documents=2))
    assert run.status == "stopped"
    assert run.reason.startswith("None of the 24 requests of a batch had a reply. The last one: ")
    assert statuses(run) == {"planned": 24}


def test_unreadable_reply_is_retried_once_and_both_calls_are_paid(replay):
    server = replay(batch_seconds=0, garbage=0.4)
    run = to_the_end(news_run(server.base_url, documents=4, temperature=0.7))
    assert run.status == "finished"
    assert set(statuses(run)) == {"done", "unreadable"}
    for one in run.judgments.filter(status="unreadable"):
        assert one.attempts == 2
        assert one.reason
    assert run.judgments.filter(status="done", attempts=2).exists()
    assert server.stats()["answered"] == sum(run.judgments.values_list("attempts", flat=True))
    assert run.spent == sum(cost or 0 for cost in run.judgments.values_list("cost", flat=True))


@pytest.mark.parametrize(
    "line",
    [
        b"<html>",
        b"[]",
        b'{"custom_id": "x"}',
        b'{"custom_id": "999999999", "response": {"status_code": 200, "body": {}}}',
        b"",
    ],
)
def test_unknown_lines_are_skipped_and_missing_ones_are_retried(replay, line):
    server = replay(batch_seconds=0)
    with relaying(server.base_url) as relay:
        run = news_run(relay.base_url)
        relay.answers["GET /files/ID/content"] = (200, line + b"\n")
        looked_after(run, times=2)
        assert [batch.status for batch in batches(run)] == ["collected", "in_progress"]
        assert set(run.judgments.values_list("attempts", flat=True)) == {1}
        relay.answers.clear()
        assert to_the_end(run).status == "finished"
    assert statuses(run) == {"done": 12}


@pytest.mark.parametrize(
    ("response", "attempts", "status"),
    [
        ('{"status_code": 200, "body": {"choices": null}}', 1, "planned"),
        ('{"status_code": 200, "body": {"choices": ["x"]}}', 1, "unreadable"),
        ('{"status_code": 200, "body": "x"}', 1, "planned"),
        ('{"status_code": 200}', 1, "planned"),
        ("null", 1, "planned"),
        ('{"status_code": 500, "body": {"error": "x"}}', 1, "planned"),
        (
            '{"status_code": 200, "body": {"choices": [{"message": {"content": "Score: 3\\u0000"}}], '
            '"usage": {"prompt_tokens": "many", "completion_tokens": -1}}}',
            1,
            "done",
        ),
    ],
)
def test_odd_replies_spoil_nothing(replay, response, attempts, status):
    server = replay(batch_seconds=0)
    with relaying(server.base_url) as relay:
        run = news_run(relay.base_url)
        one = run.judgments.order_by("pk")[0]
        line = f'{{"custom_id": "{one.pk}", "response": {response}, "error": null}}\n'
        relay.answers["GET /files/ID/content"] = (200, line.encode() * 2)
        collect(run=run.pk, seconds=60)
        Run.objects.filter(pk=run.pk).update(budget=Decimal("0.0001"))  # so that no other batch is begun
        looked_after(run)
    one.refresh_from_db()
    assert (one.attempts, one.status) == (attempts, status)


# What fails as a whole


def with_one_reply(relay, judgment, *, status):
    """Let the server give a batch of this status with the reply "Score: 3" to a judgment."""
    line = f'{{"custom_id": "{judgment.pk}", "response": {{"status_code": 200, "body": ' + (
        '{"choices": [{"message": {"content": "Score: 3"}}], '
        '"usage": {"prompt_tokens": 100, "completion_tokens": 50}}}}'
    )
    with_batch(relay, status=status, output_file_id="file-1")
    relay.answers["GET /files/ID/content"] = (200, f"{line}\n".encode())


def with_batch(relay, **fields):
    """Let the provider say that of the batch which it was given last."""
    batch = {**relay.batches[-1], **fields}
    relay.answers["GET /batches/ID"] = (200, json.dumps(batch).encode())


def test_rejected_batch_stops_the_run_with_the_provider_message(replay):
    with relaying(replay(batch_seconds=60).base_url) as relay:
        run = news_run(relay.base_url)
        collect(run=run.pk, seconds=60)
        problems = [{"message": "Line 3: the model is not known.", "code": "c", "line": 3, "param": None}]
        with_batch(relay, status="failed", errors={"object": "list", "data": problems})
        looked_after(run)
    assert run.status == "stopped"
    assert run.reason == "The server refuses the batch: Line 3: the model is not known."
    (batch,) = batches(run)
    assert (batch.status, batch.reason) == ("failed", run.reason)
    assert statuses(run) == {"planned": 12}


def test_unprocessed_part_of_an_expired_batch_is_retried(replay):
    with relaying(replay(batch_seconds=0).base_url) as relay:
        run = news_run(relay.base_url)
        collect(run=run.pk, seconds=60)
        with_batch(relay, status="expired", output_file_id=None)
        looked_after(run)
        assert [batch.status for batch in batches(run)] == ["collected", "in_progress"]
        relay.answers.clear()
        assert to_the_end(run).status == "finished"
    assert statuses(run) == {"done": 12}


def test_a_batch_that_someone_cancelled_at_the_provider_stops_the_run(replay):
    with relaying(replay(batch_seconds=60).base_url) as relay:
        run = news_run(relay.base_url)
        collect(run=run.pk, seconds=60)
        with_batch(relay, status="cancelled")
        looked_after(run)
    assert run.status == "stopped"
    assert "was cancelled at the provider" in run.reason
    assert statuses(run) == {"planned": 12}


@pytest.mark.parametrize("step", ["POST /files", "POST /batches"])
def test_server_that_rejects_the_start_stops_the_run(replay, step):
    with relaying(replay().base_url) as relay:
        relay.answers[step] = (400, BAD)
        run = looked_after(news_run(relay.base_url))
    assert (run.status, run.reason) == (
        "stopped",
        "The server refuses the request: Billing hard limit has been reached",
    )
    assert statuses(run) == {"planned": 12}
    assert [batch.status for batch in batches(run)] == ["failed"]


@pytest.mark.parametrize(
    "answer",
    [
        (404, b"{}"),
        (200, b'"Ollama is running"'),
        (200, b'{"id": ""}'),
        (401, b'{"error": {"message": "no"}}'),
    ],
)
def test_a_server_without_a_batch_interface_stops_the_run_and_a_cancelled_one_lets_go(replay, answer):
    with relaying(replay().base_url) as relay:
        relay.answers["POST /files"] = answer
        run = looked_after(news_run(relay.base_url))
        assert run.status == "stopped"
        assert run.reason
        cancel_run(run=run)
        looked_after(run)
    assert not needs_work(run.pk)
    assert statuses(run) == {}


def test_a_connection_that_fails_is_tried_again_more_and_more_rarely_then_the_run_stops():
    run = news_run("http://127.0.0.1:9/v1")
    pauses = []
    for _ in range(5):
        before = timezone.now()
        looked_after(run)
        after = timezone.now()
        (batch,) = batches(run)
        pauses.append((batch.due_at - after, batch.due_at - before))
    for (least, most), seconds in zip(pauses, [5, 10, 20, 40, 60], strict=True):
        assert least <= timedelta(seconds=seconds) <= most
    assert run.status == "running"
    Batch.objects.update(failing_since=timezone.now() - timedelta(minutes=15))
    looked_after(run)
    assert run.status == "stopped"
    assert "for 15 minutes. The last call: No OpenAI-compatible server" in run.reason
    assert statuses(run) == {"leased": 12}


def test_a_run_that_stopped_for_want_of_an_answer_resumes_when_its_batch_is_reached(replay):
    run = news_run("http://127.0.0.1:9/v1")
    looked_after(run)
    Batch.objects.update(failing_since=timezone.now() - timedelta(minutes=15))
    assert looked_after(run).status == "stopped"
    Endpoint.objects.update(base_url=replay().base_url)
    assert looked_after(run).status == "running"
    assert batches(run)[0].failing_since is None


def test_requested_server_wait_is_respected(replay):
    with relaying(replay().base_url) as relay:
        relay.answers["POST /files"] = (429, b'{"error": {"message": "slow down"}}')
        run = looked_after(news_run(relay.base_url))
        assert run.status == "running"
        (batch,) = batches(run)
        assert batch.due_at > timezone.now()
        assert batch.reason == "The server asks to slow down: slow down"
        relay.answers.clear()
        assert to_the_end(run).status == "finished"


def test_lost_batch_is_repeated_only_on_resume(replay):
    with relaying(replay(batch_seconds=0).base_url) as relay:
        run = news_run(relay.base_url)
        collect(run=run.pk, seconds=60)
        relay.answers["GET /batches/ID"] = (404, b'{"error": {"message": "No such batch"}}')
        assert looked_after(run).status == "stopped"
        assert "does not know the batch" in run.reason
        assert statuses(run) == {"leased": 12}
        assert looked_after(run, times=3).status == "stopped"
        start_run(run=run)
        looked_after(run)
        assert [batch.status for batch in batches(run)] == ["failed", "in_progress"]
        relay.answers.clear()
        assert to_the_end(run).status == "finished"


def test_a_missing_key_stops_the_run(replay):
    run = looked_after(news_run(replay().base_url, key_variable="NOWHERE_API_KEY"))
    assert run.status == "stopped"
    assert "This project may not send NOWHERE_API_KEY to 127.0.0.1." in run.reason


# Budget


NOT_ENOUGH = "does not allow one more call; give the run a larger one and resume it."


def test_batch_stays_within_the_budget(replay):
    server = replay(batch_seconds=0)
    run = to_the_end(news_run(server.base_url, documents=5, systems=12, budget=Decimal("0.05")))
    assert (run.status, run.reason) == ("stopped", f"The budget of 0.05 {NOT_ENOUGH}")
    assert Decimal("0.04") < run.spent <= Decimal("0.05")
    assert statuses(run)["planned"] > 0
    assert "leased" not in statuses(run)
    assert server.stats()["repeated"] == 0


def test_open_batches_keep_their_part_of_the_budget(replay, monkeypatch):
    monkeypatch.setattr(batch_commands, "MOST_REQUESTS", 5)
    run = news_run(replay(batch_seconds=60).base_url, budget=Decimal("0.008"))
    collect(run=run.pk, seconds=60)
    kept = [batch.expected_cost or 0 for batch in batches(run)]
    assert 0 < sum(kept) <= Decimal("0.008")
    assert run.judgments.filter(status="planned").exists()
    assert looked_after(run).status == "running"


def test_a_budget_for_not_even_one_request_stops_the_run(replay):
    server = replay()
    run = looked_after(news_run(server.base_url, budget=Decimal("0.0001")))
    assert (run.status, run.reason) == ("stopped", f"The budget of 0.0001 {NOT_ENOUGH}")
    assert server.stats()["status"] == {}


# Pause, resume, cancel


def test_paused_run_is_ignored_until_it_resumes(replay):
    server = replay(batch_seconds=0)
    run = news_run(server.base_url)
    collect(run=run.pk, seconds=60)
    pause_run(run=run)
    assert looked_after(run).status == "paused"
    assert statuses(run) == {"leased": 12}
    assert runs_with_due_batches() == []
    assert not needs_work(run.pk)
    start_run(run=run)
    assert runs_with_due_batches() == [run.pk]
    assert to_the_end(run).status == "finished"
    assert statuses(run) == {"done": 12}
    assert server.stats()["repeated"] == 0


def test_run_paused_earlier_starts_no_batch(replay):
    run = news_run(replay().base_url)
    pause_run(run=run)
    looked_after(run)
    assert batches(run) == []


def test_cancellation_cancels_the_batch_and_keeps_its_answers(replay):
    with relaying(replay(batch_seconds=60).base_url) as relay:
        run = news_run(relay.base_url)
        collect(run=run.pk, seconds=60)
        cancel_run(run=run)
        assert statuses(run) == {"leased": 12}
        assert runs_with_due_batches() == [run.pk]
        looked_after(run)
        assert relay.count("POST /batches/ID/cancel") == 1
        answered = run.judgments.order_by("pk")[0]
        with_one_reply(relay, answered, status="cancelled")
        looked_after(run)
    assert run.status == "cancelled"
    assert statuses(run) == {"done": 1}
    assert run.spent == Decimal("0.0003")  # (100 x 2 + 50 x 8) / 1,000,000, halved
    assert not needs_work(run.pk)
    assert runs_with_due_batches() == []


def test_cost_of_a_reply_before_a_failure_counts(replay):
    with relaying(replay(batch_seconds=60).base_url) as relay:
        run = news_run(relay.base_url)
        collect(run=run.pk, seconds=60)
        answered = run.judgments.order_by("pk")[0]
        # As after a reply, a failure and "try again": the row has tokens, and neither reason nor reply.
        row = run.judgments.filter(pk=answered.pk)
        row.update(input_tokens=7, output_tokens=1, cost=Decimal("0.0001"))
        with_one_reply(relay, answered, status="completed")
        looked_after(run)
    assert row.values_list("input_tokens", "output_tokens", "cost").get() == (107, 51, Decimal("0.0004"))
    assert run.spent == Decimal("0.0003")


def test_new_run_calls_the_remainder_of_a_cancelled_one(replay):
    server = replay(batch_seconds=60)
    run = news_run(server.base_url)
    judge = Judge.objects.get()
    collect(run=run.pk, seconds=60)
    cancel_run(run=run)
    second = planned(run.project, judge)
    assert statuses(second) == {}  # they may still come back from the batch
    looked_after(run, times=2)
    third = planned(run.project, judge)
    assert statuses(third) == {"planned": 12}


# Beside others


def test_batch_occupies_no_call_slot(replay):
    run = news_run(replay(batch_seconds=60).base_url, calls_in_flight=1)
    collect(run=run.pk, seconds=60)
    assert statuses(run) == {"leased": 12}
    endpoint = batches(run)[0].endpoint
    project = run.project
    judge = make_judge(project, endpoint=endpoint)
    other = plan_run(project=project, scope=Scope([judge], DIMENSIONS), by=None)
    Run.objects.filter(pk=other.pk).update(status=Run.Status.RUNNING)
    assert len(lease(run=other.pk, endpoint=endpoint.pk, holder=uuid4(), how_many=1).judgments) == 1


def test_only_one_worker_at_a_time_is_at_a_batch(replay):
    run = news_run(replay(batch_seconds=60).base_url)
    collect(run=run.pk, seconds=60)
    Batch.objects.update(due_at=timezone.now())
    assert batch_commands.take(run=run.pk, holder=uuid4())
    assert batch_commands.take(run=run.pk, holder=uuid4()) is None
    assert runs_with_due_batches() == []
    Batch.objects.update(held_until=timezone.now() - timedelta(seconds=1))
    assert runs_with_due_batches() == [run.pk]
    late, taken = batches(run)[0], batch_commands.take(run=run.pk, holder=uuid4())
    assert taken
    with pytest.raises(batch_commands.HoldLost):
        batch_commands.note(late, status="collecting")


def test_a_step_that_takes_long_keeps_its_hold_and_lets_go_at_the_end(replay, monkeypatch):
    run = news_run(replay(batch_seconds=60).base_url)
    collect(run=run.pk, seconds=60)
    Batch.objects.update(due_at=timezone.now())
    monkeypatch.setattr(batch_commands, "HELD_ANEW_EVERY", 0.1)
    batch = batch_commands.take(run=run.pk, holder=uuid4())
    assert batch
    with batch_commands.hold_batch(batch):
        Batch.objects.update(held_until=timezone.now())  # as if the step had taken so long
        assert wait_until(lambda: Batch.objects.filter(held_until__gt=timezone.now()).exists())
        assert batch_commands.take(run=run.pk, holder=uuid4()) is None
    assert batch_commands.take(run=run.pk, holder=uuid4())


def test_uncollectable_batch_is_abandoned_after_the_retention_time(replay):
    with relaying(replay(batch_seconds=60).base_url) as relay:
        run = news_run(relay.base_url)
        collect(run=run.pk, seconds=60)
        Batch.objects.update(created_at=timezone.now() - timedelta(days=31))
        relay.answers["GET /batches/ID"] = (500, BAD)
        looked_after(run)
    first, second = batches(run)
    assert first.status == "failed"
    assert first.reason.startswith("It could not be collected in 30 days. The server failed: ")
    assert set(run.judgments.values_list("lease", flat=True)) == {second.pk}


def test_runs_of_both_kinds_are_woken_each_by_its_own_rule(replay):
    run = news_run(replay(batch_seconds=60).base_url)
    assert (runs_with_open_judgments(), runs_with_due_batches()) == ([], [run.pk])
    collect(run=run.pk, seconds=60)
    assert (runs_with_open_judgments(), runs_with_due_batches()) == ([], [])
    assert run_progress(run).in_flight == 12


@pytest.mark.parametrize(("age", "pause"), [(0, 5), (60, 5), (120, 10), (600, 50), (721, 60), (86400, 60)])
def test_batch_is_polled_less_and_less_often(age, pause):
    assert pause_before_look(timedelta(seconds=age)) == timedelta(seconds=pause)


# Workers that die


def killed_at(hooks, what, running):
    """Kill a worker at a request; what is returned has something in it as soon as it is dead."""
    died = []

    def kill():
        running.kill()
        died.append(True)

    hooks[what] = kill
    return died


def hurry(run):
    """Let batches that nobody is at be due."""
    Batch.objects.filter(run=run, holder__isnull=True).update(due_at=timezone.now())


def finishes(run, *, hurried):
    """Return whether workers finish a run; hurried, they need not wait for what is only a matter of time."""

    def is_finished():
        if hurried:
            hurry(run)
        return Run.objects.get(pk=run.pk).status == Run.Status.FINISHED

    return wait_until(is_finished)


@pytest.mark.parametrize(
    ("when", "request_", "status", "hurried"),
    [
        pytest.param("before", "POST /batches", "submitting", True, marks=pytest.mark.once),
        pytest.param("after", "POST /files", "prepared", True, marks=pytest.mark.once),
        ("after", "POST /batches", "submitting", True),
        pytest.param("after", "GET /batches/ID", "in_progress", False, marks=pytest.mark.once),
        ("after", "GET /files/ID/content", "collecting", True),
    ],
)
def test_a_worker_killed_anywhere_loses_nothing_and_pays_once(
    replay, tmp_path, when, request_, status, hurried
):
    server = replay(batch_seconds=0)
    with relaying(server.base_url) as relay, worker(tmp_path) as running:
        died = killed_at(getattr(relay, when), request_, running)
        run = news_run(relay.base_url)
        assert wait_until(lambda: hurry(run) or bool(died))
        assert batches(run)[0].status == status
        if hurried:
            Batch.objects.update(held_until=timezone.now() - timedelta(seconds=1))
        running.start()
        assert finishes(run, hurried=hurried)
    assert statuses(run) == {"done": 12}
    assert relay.count("POST /batches") == 1
    assert server.stats()["repeated"] == 0
    run.refresh_from_db()
    assert run.spent == sum(cost or 0 for cost in run.judgments.values_list("cost", flat=True))


@pytest.mark.parametrize(("lists_batches", "made"), [(True, 1), (False, 2)])
def test_batch_without_a_submission_reply_is_recovered_from_a_list(replay, lists_batches, made):
    with relaying(replay(batch_seconds=0).base_url) as relay:
        relay.lists_batches = lists_batches
        run = news_run(relay.base_url)
        collect(run=run.pk, seconds=60)
        Batch.objects.update(status=Batch.Status.SUBMITTING, provider_id="", submitted_at=None)
        assert to_the_end(run).status == "finished"
    assert relay.count("POST /batches") == made
    assert statuses(run) == {"done": 12}


def test_collecting_that_broke_off_half_way_counts_each_reply_once(replay, monkeypatch):
    monkeypatch.setattr(batch_worker, "PORTION", 5)
    run = news_run(replay(batch_seconds=0).base_url)
    collect(run=run.pk, seconds=60)
    store = batch_commands.store
    stored: list[None] = []

    def store_one_portion(**portion):
        if stored:
            raise KeyboardInterrupt
        stored.append(store(**portion))

    with monkeypatch.context() as patched:
        patched.setattr(batch_commands, "store", store_one_portion)
        with pytest.raises(KeyboardInterrupt):
            looked_after(run)
    assert statuses(run) == {"done": 5, "leased": 7}
    assert to_the_end(run).status == "finished"
    assert run.spent == sum(cost or 0 for cost in run.judgments.values_list("cost", flat=True))
