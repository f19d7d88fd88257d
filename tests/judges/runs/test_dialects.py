"""Whole runs in each dialect, by calls and by batches, against servers after the providers' documentation."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from django.urls import reverse
from django.utils import timezone

from judges.core.errors import RunRefusedError
from judges.core.models import Batch, Endpoint, Run
from judges.core.specification import Scope
from judges.core.values import chosen_probabilities
from judges.runs.commands.collecting import collect, needs_work
from judges.runs.commands.runs import cancel_run, plan_run
from tests.api.client import ApiClient
from tests.judges import anthropic_fake, gemini_fake
from tests.judges.anthropic_fake import anthropic_serving, message
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint
from tests.judges.gemini_fake import content, gemini_serving
from tests.judges.http_fake import Answer
from tests.judges.news import news_project
from tests.judges.pages import text_of
from tests.judges.provider import providing
from tests.judges.running import running, statuses, worked
from tests.judges.workers import wait_until

pytestmark = pytest.mark.django_db(transaction=True)
ANTHROPIC, GEMINI = Endpoint.Dialect.ANTHROPIC, Endpoint.Dialect.GEMINI
SERVERS: dict[str, Any] = {ANTHROPIC: anthropic_serving, GEMINI: gemini_serving}
SAYS = {ANTHROPIC: message, GEMINI: content}
ERRORS = {
    ANTHROPIC: lambda: Answer(anthropic_fake.error("rate_limit_error", "Slow."), 429, {"retry-after": "0"}),
    GEMINI: lambda: Answer(
        gemini_fake.error(
            429,
            "RESOURCE_EXHAUSTED",
            "Slow.",
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "0.1s"},
        ),
        429,
    ),
}
UNPAID = {
    ANTHROPIC: Answer(anthropic_fake.error("billing_error", "No credit left."), 402),
    GEMINI: Answer(gemini_fake.error(402, "FAILED_PRECONDITION", "No credit left."), 402),
}
TOO_LONG = {
    ANTHROPIC: Answer(anthropic_fake.error("invalid_request_error", "prompt is too long"), 400),
    GEMINI: Answer(gemini_fake.error(400, "INVALID_ARGUMENT", "The input token count exceeds it."), 400),
}
both = pytest.mark.parametrize("dialect", [ANTHROPIC, GEMINI])


def judge_at(server, dialect, **fields):
    project = news_project(documents=1, systems=3)
    endpoint = make_priced_endpoint(project, server.base_url, dialect=dialect, cached_price=Decimal(1))
    values = {"temperature": None, "model": "m", **fields}
    return make_judge(project, endpoint=endpoint, **values)


def by_batches(judge):
    scope = Scope([judge], ["fluency"])
    run = plan_run(project=judge.project, scope=scope, by=None, budget=None, via=Run.Via.BATCH)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.RUNNING, started_at=timezone.now())
    return run


def looked_after(run):
    Batch.objects.filter(run=run).update(due_at=timezone.now() - timedelta(seconds=1))
    collect(run=run.pk, seconds=60)
    run.refresh_from_db()
    return run


def to_the_end(run):
    assert wait_until(lambda: not needs_work(looked_after(run).pk), seconds=60, every=0.02), run.status
    return looked_after(run)


@both
def test_run_is_called_and_stored(dialect):
    with SERVERS[dialect](first=[ERRORS[dialect]()]) as server:
        judge = judge_at(server, dialect, system_message="You judge.")
        run = worked(running(judge.project, judge, dimensions=["fluency"]))
    assert (run.status, statuses(run)) == ("finished", {"done": 3})
    assert len(server.asked) == 4  # one of which the server asked to wait
    for judgment in run.judgments.all():
        assert (judgment.value, judgment.input_tokens, judgment.output_tokens) == (4, 100, 50)
        assert judgment.cached_tokens is not None
        assert judgment.reasoning_tokens is not None
        assert judgment.parameters["model"] == "m"
        assert not {"messages", "system", "contents", "systemInstruction"} & judgment.parameters.keys()
        cached = judgment.cached_tokens
        assert judgment.cost == Decimal(2 * (100 - cached) + cached + 8 * 50) / 1_000_000


@both
def test_the_same_messages_have_the_same_hash_in_all_dialects(dialect):
    with SERVERS[dialect]() as server, providing() as provider:
        judge = judge_at(server, dialect)
        other = make_judge(judge.project, endpoint=make_endpoint(judge.project, provider.base_url))
        run = worked(running(judge.project, judge, other, dimensions=["fluency"]))
    hashes = run.judgments.order_by("item").values_list("messages_hash", flat=True)
    assert len(hashes) == 6
    assert len(set(hashes)) == 3


@both
def test_an_account_without_money_stops_the_run_at_once_in_the_servers_words(dialect):
    with SERVERS[dialect](of=lambda _: UNPAID[dialect]) as server:
        judge = judge_at(server, dialect)
        run = worked(running(judge.project, judge, dimensions=["fluency"]))
    assert run.status == "stopped"
    assert run.reason == "The account has nothing left to spend: No credit left."


@pytest.mark.parametrize(
    ("dialect", "said", "status", "problem"),
    [
        (ANTHROPIC, message("", stop_reason="refusal"), "unreadable", "refused"),
        (ANTHROPIC, message("The", stop_reason="max_tokens"), "unreadable", "truncated"),
        (GEMINI, content("", reason="SAFETY"), "unreadable", "filtered"),
        (GEMINI, {"promptFeedback": {"blockReason": "OTHER"}}, "unreadable", "filtered"),
        (GEMINI, content("The", reason="MAX_TOKENS"), "unreadable", "truncated"),
    ],
)
def test_withheld_reply_marks_its_judgment(dialect, said, status, problem):
    with SERVERS[dialect](of=lambda _: Answer(said)) as server:
        judge = judge_at(server, dialect, seed=None)
        run = worked(running(judge.project, judge, dimensions=["fluency"]))
    assert {(each.status, each.problem) for each in run.judgments.all()} == {(status, problem)}


@both
def test_too_long_output_marks_its_judgment(dialect):
    with SERVERS[dialect](first=[TOO_LONG[dialect]]) as server:
        judge = judge_at(server, dialect)
        run = worked(running(judge.project, judge, dimensions=["fluency"]))
    assert run.status == "finished"
    assert statuses(run) == {"failed": 1, "done": 2}
    assert run.judgments.get(status="failed").problem == "too_long"


def test_moderated_outputs_mark_their_judgments_in_any_number():
    project = news_project(documents=2, systems=12)
    error = (
        b'{"error": {"code": 403, "message": "Flagged", "metadata": {"reasons": [], "flagged_input": "x"}}}'
    )
    with providing(status=403, body=error.decode()) as provider:
        judge = make_judge(project, endpoint=make_endpoint(project, provider.base_url))
        run = worked(running(project, judge, dimensions=["fluency"]))
    assert run.status == "finished"
    assert set(run.judgments.values_list("status", "problem")) == {("failed", "filtered")}


def test_a_reply_that_calls_a_tool_is_unreadable_for_that_reason():
    project = news_project(documents=1, systems=1)
    call = '{"choices": [{"message": {"tool_calls": [{"function": {"name": "search", "arguments": ""}}]}}]}'
    with providing(body=call) as provider:
        judge = make_judge(project, endpoint=make_endpoint(project, provider.base_url))
        run = worked(running(project, judge, dimensions=["fluency"]))
    assert run.judgments.get().reason.startswith("The model called the tool search instead of answering.")


# Batches


@both
def test_a_batch_is_submitted_collected_and_stored(dialect):
    with SERVERS[dialect](ends_after=2) as server:
        run = to_the_end(by_batches(judge_at(server, dialect)))
    assert (run.status, statuses(run)) == ("finished", {"done": 3})
    assert len(server.batches) == 1
    assert set(run.judgments.values_list("value", "input_tokens", "output_tokens")) == {(4, 100, 50)}
    batch = Batch.objects.get(run=run)
    assert (batch.status, batch.provider_id) == ("collected", next(iter(server.batches)))


@both
def test_batch_without_a_submission_reply_is_recovered_and_paid_once(dialect):
    with SERVERS[dialect](loses_answers=1) as server:
        run = to_the_end(by_batches(judge_at(server, dialect)))
    assert statuses(run) == {"done": 3}
    assert len(server.batches) == 1


@both
def test_failed_batch_requests_are_retried_except_rejected_outputs(dialect):
    failed = {
        ANTHROPIC: Answer(anthropic_fake.error("api_error", "Internal server error"), 500),
        GEMINI: Answer(gemini_fake.error(13, "INTERNAL", "Internal error"), 500),
    }
    with SERVERS[dialect](first=[failed[dialect], TOO_LONG[dialect]]) as server:
        run = to_the_end(by_batches(judge_at(server, dialect)))
    assert statuses(run) == {"done": 2, "failed": 1}
    assert run.judgments.get(status="failed").problem == "too_long"
    assert [len(each["requests"]) for each in server.batches.values()] == [3, 1]


@both
def test_a_cancelled_run_cancels_its_batch(dialect):
    with SERVERS[dialect](ends_after=3) as server:
        run = looked_after(by_batches(judge_at(server, dialect)))
        cancel_run(run=run)
        wait_until(lambda: not needs_work(looked_after(run).pk), seconds=60, every=0.02)
    assert [each["cancelled"] for each in server.batches.values()] == [True]
    assert Batch.objects.get(run=run).status == "collected"


@both
def test_missing_package_stops_a_batch_run_with_a_message(dialect, monkeypatch):
    monkeypatch.setattr("judges.endpoints.dialects.base.find_spec", lambda _: None)
    with SERVERS[dialect]() as server:
        run = looked_after(by_batches(judge_at(server, dialect)))
    assert run.status == "stopped"
    assert f"pip install “concord-eval[{dialect}]”" in run.reason
    assert not server.batches


# What a dialect does not have


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"score_from": "probabilities"}, "Anthropic gives no log-probabilities"),
        ({"temperature": 0}, "Anthropic takes neither temperature nor top p nor seed"),
        ({"seed": 1}, "Anthropic takes neither temperature nor top p nor seed"),
    ],
)
def test_run_with_options_missing_in_anthropic_is_rejected(fields, says):
    with anthropic_serving() as server:
        judge = judge_at(server, ANTHROPIC, **fields)
        with pytest.raises(RunRefusedError, match=says):
            running(judge.project, judge, dimensions=["fluency"])
    assert server.asked == []


# Log-probabilities


def test_log_probabilities_are_stored_shown_and_read(client):
    four, five = {"token": "4", "logProbability": -0.2231}, {"token": "5", "logProbability": -1.6094}
    also = {"token": " 4", "logProbability": -4.6052}
    found = {"chosenCandidates": [four], "topCandidates": [{"candidates": [four, five, also]}]}
    with gemini_serving(of=lambda _: Answer(content("4", logprobsResult=found))) as server:
        judge = judge_at(server, GEMINI, score_from="probabilities", temperature=1)
        run = worked(running(judge.project, judge, dimensions=["fluency"]))
    judgment = run.judgments.order_by("pk")[0]
    assert judgment.log_probabilities == {"4": -0.2107, "5": -1.6094}  # 0.8 + 0.01 of the two fours
    assert judgment.value == pytest.approx((0.81 * 4 + 0.2 * 5) / 1.01, abs=1e-3)
    read = chosen_probabilities([judgment.log_probabilities, None])
    np.testing.assert_allclose(read, [0.81, np.nan], atol=1e-3)
    admin = judge.project.memberships.get(role="admin").user
    client.force_login(admin)
    page = text_of(client.get(reverse("judgment", args=(judge.project.slug, judgment.pk))))
    assert "4: 0.810, 5: 0.200" in page
    rows = ApiClient(admin).get(f"projects/{judge.project.slug}/judgments/").json()["results"]
    assert {"4": -0.2107, "5": -1.6094} in [each["log_probabilities"] for each in rows]
