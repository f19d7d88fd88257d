"""The first judgment of each judge of a run, asked alone before the others."""

from dataclasses import replace
from decimal import Decimal
from typing import Any
from uuid import uuid4

import pytest

from annotate.core.models import Project
from judges.core.models import Batch, Judge, Judgment, Run
from judges.core.specification import Scope
from judges.endpoints.work import Outcome
from judges.runs.commands import leases, outcomes
from judges.runs.commands.runs import plan_run, retry_failed, start_run
from tests.judges.batch_provider import batch_providing
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint, unpriced
from tests.judges.news import news_project
from tests.judges.provider import Provider, providing
from tests.judges.running import statuses, worked
from tests.judges.runs.test_calls import choices

pytestmark = pytest.mark.django_db(transaction=True)
OLD_NAME = "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead."
NO_TEMPERATURE = "Unsupported value: 'temperature' does not support 0 with this model."


def started(
    project: Project, *judges: Judge, budget: Decimal | None = None, via: Run.Via = Run.Via.CALLS
) -> Run:
    """Plan a run of one dimension and start it as a person does."""
    scope = Scope(judges, ["fluency"])
    return start_run(run=plan_run(project=project, scope=scope, by=None, budget=budget, via=via))


def asked_about(provider: Provider, model: str) -> list[dict[str, Any]]:
    return [each for each in provider.asked if each["model"] == model]


@pytest.fixture(autouse=True)
def no_messages(monkeypatch):
    """Leave runs to the worker of the test."""
    monkeypatch.setattr("judges.runs.commands.runs.collect_judgments.delay", lambda _: None)


def test_first_judgment_is_called_normally_stored_and_paid_once():
    project = news_project(documents=2, systems=4)
    with providing(seconds=0.05) as provider:
        endpoint = make_priced_endpoint(project, provider.base_url)
        judge = make_judge(project, endpoint=endpoint, temperature=0.5, structured=True, seed=7)
        run = worked(started(project, judge))
    assert (run.status, len(provider.asked)) == ("finished", 8)
    names = {"model", "messages", "max_tokens", "temperature", "seed", "response_format"}
    assert provider.asked[0].keys() == names
    assert {frozenset(asked) for asked in provider.asked} == {frozenset(names)}
    assert float(run.spent) == pytest.approx(8 * 0.0006)
    assert run.untried_judges == []


def test_several_samples_in_one_call_answer_the_first_judgment():
    project = news_project(documents=2, systems=2)
    with providing(body=choices("Score: 2", "Score: 3", "Score: 5")) as provider:
        endpoint = make_priced_endpoint(project, provider.base_url, samples_in_one_call=True)
        judge = make_judge(project, endpoint=endpoint, samples=3, temperature=1)
        run = worked(started(project, judge))
    assert (run.status, run.untried_judges) == ("finished", [])
    assert [asked["n"] for asked in provider.asked] == [3] * 4
    assert statuses(run) == {"done": 12}


def test_second_judgment_is_pending_until_the_first_is_answered():
    project = news_project(documents=2, systems=4)
    judge = make_judge(project, endpoint=make_endpoint(project, calls_in_flight=128))
    run, holder = started(project, judge), uuid4()
    arguments: dict[str, Any] = {"run": run.pk, "endpoint": judge.endpoint_id, "how_many": 8}
    first = leases.lease(holder=holder, **arguments)
    assert (len(first.judgments), first.come_back) == (1, True)
    again = leases.lease(holder=holder, **arguments)
    assert (again.judgments, again.come_back) == ([], True), "the worker waits for it"
    outcome = Outcome(first.judgments[0], "failed", 8, reason="The server failed.", first_of=judge.pk)
    store: dict[str, Any] = {"run": run.pk, "endpoint": judge.endpoint_id, "holder": holder}
    outcomes.store(outcomes=[outcome], prices_of=unpriced, **store)
    second = leases.lease(holder=holder, **arguments)
    assert len(second.judgments) == 1, "the first call had no answer"
    answered = replace(outcome, judgment=second.judgments[0], status="done", reason="", value=3)
    outcomes.store(outcomes=[answered], prices_of=unpriced, **store)
    assert len(leases.lease(holder=holder, **arguments).judgments) == 6


@pytest.mark.parametrize(("status", "error"), [(400, NO_TEMPERATURE), (422, "no schema"), (404, "no model")])
def test_impossible_judge_is_called_once_and_the_other_finishes(monkeypatch, status, error):
    project = news_project(documents=3, systems=4)
    with providing() as provider:
        monkeypatch.setattr(
            provider, "status_for", lambda request: status if request["model"] == "impossible" else 200
        )
        provider.error = error
        endpoint = make_endpoint(project, provider.base_url)
        impossible = make_judge(project, endpoint=endpoint, name="Strict", model="impossible")
        good = make_judge(project, endpoint=endpoint, model="good")
        run = started(project, impossible, good)
        run = worked(run)
        assert len(asked_about(provider, "impossible")) == 1
        assert len(asked_about(provider, "good")) == 12
        assert statuses(run) == {"done": 12, "failed": 12}
        assert run.status == "stopped"
        assert run.reason.startswith("Strict was stopped")
        assert error in run.reason

        monkeypatch.setattr(provider, "status_for", lambda _: 200)
        run = worked(start_run(run=run))
    assert (run.status, statuses(run)) == ("finished", {"done": 24}), "resumed after it was mended"


def test_impossible_judge_without_a_max_tokens_name_is_called_twice():
    project = news_project(documents=2, systems=4)
    with providing(status=400, error=OLD_NAME) as provider:
        judge = make_judge(project, endpoint=make_endpoint(project, provider.base_url), max_tokens_name="")
        run = worked(started(project, judge))
    assert (run.status, len(provider.asked)) == ("stopped", 2)
    assert statuses(run) == {"failed": 8}


def test_name_of_max_tokens_comes_out_of_the_first_judgment():
    project = news_project(documents=2, systems=4)
    with providing(refuses="max_tokens", error=OLD_NAME) as provider:
        endpoint = make_priced_endpoint(project, provider.base_url)
        judge = make_judge(project, endpoint=endpoint, max_tokens_name="")
        twin = make_judge(project, endpoint=endpoint, max_tokens_name="")
        run = worked(started(project, judge))
        assert statuses(run) == {"done": 8}
        refused, *asked = provider.asked
        assert refused["max_tokens"] == 256
        assert [each["max_completion_tokens"] for each in asked] == [256] * 8
        assert set(Judge.objects.values_list("max_tokens_name", flat=True)) == {"max_completion_tokens"}
        worked(started(project, twin))
        assert len(provider.asked) == 17, "it is known of the model"
    assert float(run.spent) == pytest.approx(8 * 0.0006), "a refused call is not paid"


def test_too_long_output_stops_no_judge(monkeypatch):
    project = news_project(documents=2, systems=4)
    with providing() as provider:
        provider.error = "This model's maximum context length is 10 tokens."
        monkeypatch.setattr(provider, "status_for", lambda _: 400 if len(provider.asked) == 1 else 200)
        judge = make_judge(project, endpoint=make_endpoint(project, provider.base_url))
        run = worked(started(project, judge))
    assert (run.status, statuses(run)) == ("finished", {"done": 7, "failed": 1})


def test_rejected_key_stops_the_run_and_keeps_its_plan():
    project = news_project(documents=2, systems=4)
    with providing(status=401, error="bad key") as provider:
        endpoint = make_endpoint(project, provider.base_url)
        judges = [make_judge(project, endpoint=endpoint) for _ in range(2)]
        run = worked(started(project, *judges))
    assert run.status == "stopped"
    assert "bad key" in run.reason
    assert len(provider.asked) <= 2
    assert statuses(run) == {"planned": 16}


def test_retrying_tries_the_first_judgment_alone_again():
    project = news_project(documents=2, systems=4)
    with providing(status=400, error=NO_TEMPERATURE) as provider:
        judge = make_judge(project, endpoint=make_endpoint(project, provider.base_url))
        run = worked(started(project, judge))
        run = worked(retry_failed(run=run))
    assert (run.status, len(provider.asked)) == ("stopped", 2)


def test_budget_too_small_for_the_first_judgment_asks_nothing():
    project = news_project(documents=1, systems=4)
    with providing() as provider:
        judge = make_judge(project, endpoint=make_priced_endpoint(project, provider.base_url))
        run = worked(started(project, judge, budget=Decimal("0.0001")))
    assert (run.status, provider.asked) == ("stopped", [])


def test_judge_of_a_batch_is_called_once_before_its_batch():
    project = news_project(documents=2, systems=4)
    with batch_providing("Score: 4") as server:
        judge = make_judge(project, endpoint=make_priced_endpoint(project, server.base_url))
        run = worked(started(project, judge, via=Run.Via.BATCH))
    assert [len(requests) for requests in server.files] == [7]
    (called,), sent = server.called, server.files[0][0]["body"]
    assert called.keys() == sent.keys(), "with every parameter of the others"
    assert statuses(run) == {"done": 1, "leased": 7}
    assert float(run.spent) == pytest.approx(0.0006)


def test_impossible_judge_of_a_batch_is_called_once_and_has_no_batch():
    project = news_project(documents=2, systems=4)
    with providing(status=400, error=NO_TEMPERATURE) as provider:
        judge = make_judge(project, endpoint=make_endpoint(project, provider.base_url))
        run = worked(started(project, judge, via=Run.Via.BATCH))
    assert (run.status, len(provider.asked), Batch.objects.count()) == ("stopped", 1, 0)
    assert Judgment.objects.filter(problem="rejected").count() == 8


def test_inactive_run_sends_no_call():
    project = news_project(documents=1, systems=1)
    with providing() as provider:
        judge = make_judge(project, endpoint=make_endpoint(project, provider.base_url))
        run = started(project, judge)
        Run.objects.update(status="paused")
        worked(run)
    assert provider.asked == []
