"""An unreadable reply is followed up once, in the same conversation; both calls are paid and kept."""

from decimal import Decimal
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest

from judges.core.models import Batch, Judge, Judgment, Run
from judges.core.specification import Scope
from judges.runs.commands.runs import plan_run
from judges.runs.queries.judgments import rereadings
from judges.runs.queries.plans import plan_of
from tests.factories import Cast, make_project
from tests.judges.batch_provider import batch_providing
from tests.judges.factories import make_judge, make_priced_endpoint
from tests.judges.provider import Provider, providing
from tests.judges.running import running, statuses, worked
from tests.judges.runs.test_several_killed import end_leases
from tests.judges.runs.test_steps import _do_due_work
from tests.judges.workers import wait_until, worker

pytestmark = pytest.mark.django_db(transaction=True)

CALL = Decimal("0.0006")  # 100 tokens at 2 and 50 at 8 for a million
FLUENCY = ["fluency"]
QUESTION = "State only the score of Fluency: a number from 1 to 5."


def follows(request: dict[str, Any]) -> bool:
    is_follow_up: bool = request["messages"][-1]["content"].startswith("State only")
    return is_follow_up


def answering(first: str, second: str) -> Any:
    return lambda request: second if follows(request) else first


def judging(cast: Cast, provider: Provider | Any, method: str = "rts", **fields: Any) -> Judge:
    endpoint = make_priced_endpoint(cast.project, provider.base_url, **fields.pop("endpoint", {}))
    return make_judge(cast.project, method, endpoint=endpoint, **{"asks_again": True, **fields})


def judged(provider: Provider | Any, method: str = "rts", **fields: Any) -> Run:
    cast = make_project(documents=1, systems=1)
    run = worked(running(cast.project, judging(cast, provider, method, **fields), dimensions=FLUENCY))
    assert run.status == "finished"
    return run


def test_value_comes_from_the_follow_up_and_both_calls_are_paid() -> None:
    with providing(reply_to=answering("It flows well.", "4")) as provider:
        run = judged(provider)
    (found,) = run.judgments.all()
    assert (found.status, found.value, found.rationale, found.reply) == ("done", 4, "It flows well.", "4")
    assert [(step["name"], step["reply"]) for step in found.steps] == [("reply", "It flows well.")]
    assert (found.calls_made, found.input_tokens, found.output_tokens) == (2, 200, 100)
    assert run.spent == found.cost == 2 * CALL
    first, second = (request["messages"] for request in provider.asked)
    assert second == [
        *first,
        {"role": "assistant", "content": "It flows well."},
        {"role": "user", "content": QUESTION},
    ]
    assert not list(rereadings([found.judge]))


@pytest.mark.parametrize("temperature", [0, 1])
def test_an_unreadable_follow_up_ends_the_judgment(temperature: float) -> None:
    with providing(reply_to=answering("It flows.", "Hard to say.")) as provider:
        run = judged(provider, temperature=temperature)
    (found,) = run.judgments.all()
    assert (found.status, found.reason, found.reply) == ("unreadable", "No score was found.", "Hard to say.")
    assert (len(provider.asked), found.calls_made, found.cost) == (2, 2, 2 * CALL)


@pytest.mark.parametrize(
    ("says", "fields"),
    [
        ({"reply": "Score: 4"}, {}),
        ({"reply": "It flows."}, {"asks_again": False}),
        ({"reply": "No.", "refusal": "I cannot."}, {}),
        ({"reply": "It", "finish_reason": "content_filter"}, {}),
        ({"reply": " "}, {}),
    ],
)
def test_readable_rejected_or_empty_reply_has_no_follow_up(
    says: dict[str, Any], fields: dict[str, Any]
) -> None:
    with providing(**says) as provider:
        run = judged(provider, **fields)
    assert len(provider.asked) == 1
    assert [each.steps for each in run.judgments.all()] == [[]]


def test_follow_up_of_a_choice_requests_only_its_option() -> None:
    with providing(reply_to=answering("Hm.", "D")) as provider:
        run = judged(provider, "mcq")
    assert provider.asked[1]["messages"][-1]["content"] == (
        "State only the letter of your choice, from A to E."
    )
    assert run.judgments.get().value == 4


def test_a_structured_judge_asks_for_its_shape_again_and_takes_a_bare_score() -> None:
    with providing(reply_to=answering("It flows.", "4")) as provider:
        run = judged(provider, structured=True)
    assert run.judgments.get().value == 4
    assert provider.asked[1]["response_format"] == provider.asked[0]["response_format"]


def test_of_several_dimensions_only_those_without_a_score_are_followed_up() -> None:
    cast = make_project(dimensions=("fluency", "coherence"), documents=1, systems=1)
    with providing(reply_to=answering("Fluency: 4\nCoherence: hm", "2")) as provider:
        judge = judging(cast, provider, "several")
        run = worked(running(cast.project, judge, dimensions=["fluency", "coherence"]))
    assert [each.value for each in run.judgments.order_by("dimension__position")] == [4, 2]
    assert [follows(request) for request in provider.asked] == [False, True]
    assert "Coherence" in provider.asked[1]["messages"][-1]["content"]
    assert run.spent == 2 * CALL


def test_each_unreadable_sample_of_one_call_is_followed_up() -> None:
    with providing(reply_to=answering("It flows.", "4")) as provider:
        run = judged(provider, samples=2, temperature=1, endpoint={"samples_in_one_call": True})
    assert statuses(run) == {"done": 2}
    assert sum(map(follows, provider.asked)) == 2
    assert run.spent == sum(each.cost or 0 for each in run.judgments.all())


def test_a_killed_worker_repeats_only_calls_in_flight(tmp_path: Path) -> None:
    cast = make_project(documents=4, systems=2)
    answers = Semaphore(9)
    with providing(reply_to=answering("It flows.", "4"), answers=answers) as provider:
        judge = judging(cast, provider, endpoint={"calls_in_flight": 3, "timeout_seconds": 120})
        run = running(cast.project, judge, dimensions=FLUENCY)
        judgments = Judgment.objects.filter(run=run)

        def is_stuck() -> bool:
            stored = sum(each.steps_done + (each.status == "done") for each in judgments.all())
            return len(provider.asked) == 9 + 3 and provider.in_flight.total() == 3 and stored == 9

        with worker(tmp_path, lease=600) as process:
            assert wait_until(is_stuck), process.story()
            process.kill()
            end_leases(judgments)
        answers.release(1000)
        assert wait_until(lambda: worked(run).status == "finished")
    assert statuses(run) == {"done": 8}
    assert {(each.value, len(each.steps), each.cost) for each in judgments.all()} == {(4, 1, 2 * CALL)}
    assert len(provider.asked) == 2 * 8 + 3, "calls in flight are repeated, and no others"


def test_a_follow_up_goes_into_the_next_batch() -> None:
    cast = make_project(documents=2, systems=1)
    with batch_providing(reply="It flows.") as provider:
        judge = judging(cast, provider)
        run = plan_run(project=cast.project, scope=Scope([judge], FLUENCY), by=None, via=Run.Via.BATCH)
        Run.objects.filter(pk=run.pk).update(status="running")
        assert wait_until(lambda: _do_due_work(run).status == "finished")
    assert Batch.objects.filter(run=run).count() == 2
    assert {(each.status, len(each.steps), each.input_tokens) for each in run.judgments.all()} == {
        ("unreadable", 1, 200)
    }


def test_plan_states_the_possible_extra_cost_of_follow_ups() -> None:
    cast = make_project(documents=1)
    judge = judging(cast, Provider("http://127.0.0.1:9/v1"), name="Reasoner")
    (remark,) = plan_of(cast.project, Scope([judge], FLUENCY)).remarks(None)
    assert remark == "Reasoner: each unreadable reply takes one more call, so the run may cost more."
    Judge.objects.update(asks_again=False)
    assert plan_of(cast.project, Scope([Judge.objects.get()], FLUENCY)).remarks(None) == []


def test_run_stops_if_the_server_rejects_the_schema() -> None:
    cast = make_project(documents=2)
    error = "Invalid parameter: 'response_format' of type 'json_schema' is not supported with this model."
    with providing(refuses="response_format", error=error) as provider:
        judge = judging(cast, provider, structured=True, endpoint={"calls_in_flight": 1})
        run = worked(running(cast.project, judge, dimensions=FLUENCY))
    assert run.status == "stopped"
    assert run.reason.endswith("Make a judge without structured output, or of another model.")
    assert len(provider.asked) < 4
