"""One call gives the values of several dimensions: each a judgment of its own, and the call paid once."""

import json
from datetime import timedelta
from decimal import Decimal
from itertools import groupby
from typing import Any
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from annotate.core.guidelines import current_guideline
from judges.core.errors import RunRefusedError
from judges.core.models import Batch, CallOrder, Judge, Judgment, LeaseHolder, Run
from judges.core.specification import Scope
from judges.endpoints.dialects.chat_completions import ChatCompletions
from judges.endpoints.questions import Reply
from judges.methods.several import rotate
from judges.runs.batch_worker import write_requests
from judges.runs.commands.batches import begin, store
from judges.runs.commands.collecting import collect
from judges.runs.commands.corrections import ask_again
from judges.runs.commands.leases import lease, sweep
from judges.runs.commands.runs import cancel_run, plan_run, start_run
from judges.runs.queries.calls import group_by_call, shared_calls
from judges.runs.queries.judgments import rereadings
from judges.runs.queries.plans import plan_of
from judges.runs.queries.work import work_of
from tests.factories import Cast, make_dimension, make_project
from tests.judges.batch_provider import batch_providing
from tests.judges.factories import make_endpoint, make_judge, make_judgment, make_priced_endpoint, make_run
from tests.judges.pages import address, text_of
from tests.judges.provider import Provider, providing
from tests.judges.running import running, statuses, worked

pytestmark = pytest.mark.django_db(transaction=True)

THREE = ("fluency", "coherence", "style")
ALL = "Fluency: 4\nCoherence: 2\nStyle: 5"


def judging(provider: Provider | Any, cast: Cast | None = None, **fields: Any) -> tuple[Cast, Judge]:
    """Return a judge of three dimensions in one call, about two items unless a cast is given."""
    cast = cast or make_project(dimensions=THREE, documents=1)
    endpoint = make_priced_endpoint(cast.project, provider.base_url, **fields.pop("endpoint", {}))
    return cast, make_judge(cast.project, "several", endpoint=endpoint, **fields)


def asked(provider: Provider | Any, **fields: Any) -> tuple[Cast, Run]:
    """Let the judge judge all items, and return its finished run."""
    cast, judge = judging(provider, **fields)
    run = worked(running(cast.project, judge, dimensions=THREE))
    assert run.status == "finished"
    return cast, run


def of_item(run: Run, item: Any) -> list[Judgment]:
    return list(run.judgments.filter(item=item).order_by("dimension__position", "sample"))


def test_one_call_gives_all_dimensions_and_is_paid_once() -> None:
    with providing(reply=ALL) as provider:
        cast, run = asked(provider)
    assert len(provider.asked) == 2
    for item in cast.items:
        found = of_item(run, item)
        assert [each.value for each in found] == [4, 2, 5]
        assert [each.input_tokens for each in found] == [34, 33, 33]
        assert [each.output_tokens for each in found] == [17, 17, 16]
        ids = [dimension.pk for dimension in cast.dimensions]
        assert all(each.asked_dimensions == ids for each in found)
        assert len({each.messages_hash for each in found}) == 1
        assert {(each.reply, each.attempts, each.lease) for each in found} == {(ALL, 1, None)}
    # Twice 100 tokens at 2 and 50 at 8 for a million.
    assert run.spent == Decimal("0.0012")
    assert sum(each.cost or 0 for each in run.judgments.all()) == Decimal("0.0012")


def test_what_lacks_one_score_leaves_that_one_unreadable() -> None:
    with providing(reply="Fluency: 4\nStyle: 5") as provider:
        cast, run = asked(provider)
    assert len(provider.asked) == 2
    assert [each.value for each in of_item(run, cast.items[0])] == [4, None, 5]
    (first, *_) = Judgment.objects.filter(run=run, status="unreadable")
    assert first.reason == "The reply gives no score of Coherence."


def test_only_the_missing_score_is_retried_once_and_stored(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    replies = iter(["Fluency: 4\nStyle: 5", "Fluency: 1\nCoherence: 3\nStyle: 1"])
    with providing() as provider:
        cast = make_project(dimensions=THREE, documents=1, systems=1)

        def answer(status: int) -> str:
            provider.reply = next(replies)
            return Provider.answer(provider, status)

        monkeypatch.setattr(provider, "answer", answer)
        _, run = asked(provider, cast=cast, temperature=1)
    found = of_item(run, cast.items[0])
    assert [(each.value, each.attempts, each.input_tokens) for each in found] == [
        (4, 1, 34),
        (3, 2, 33 + 100),
        (5, 1, 33),
    ]
    assert len(provider.asked) == 2
    assert run.spent == Decimal("0.0012")


def test_a_call_without_an_answer_is_repeated_once_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("judges.runs.asking.FIRST_PAUSE", 0.01)
    with providing(reply=ALL) as provider:
        cast = make_project(dimensions=THREE, documents=1, systems=1)
        statuses_in_turn = iter([500, 500, 200])
        monkeypatch.setattr(provider, "status_for", lambda _: next(statuses_in_turn))
        _, run = asked(provider, cast=cast)
    assert len(provider.asked) == 3
    assert {each.attempts for each in run.judgments.all()} == {3}
    assert statuses(run) == {"done": 3}


def test_rejected_request_fails_for_all_its_dimensions() -> None:
    with providing(status=400, error="No.") as provider:
        cast = make_project(dimensions=THREE, documents=1, systems=1)
        _, run = asked(provider, cast=cast)
    assert len(provider.asked) == 1
    assert statuses(run) == {"failed": 3}


def test_schema_is_requested_and_read_by_key() -> None:
    reply = json.dumps({"fluency": 4, "coherence": 2})
    with providing(reply=reply) as provider:
        cast, run = asked(provider, structured=True)
    schema = provider.asked[0]["response_format"]["json_schema"]["schema"]
    assert list(schema["properties"]) == list(THREE)
    assert [each.value for each in of_item(run, cast.items[0])] == [4, 2, None]


def test_each_sample_is_a_call_even_if_an_endpoint_gives_several() -> None:
    with providing(reply=ALL) as provider:
        fields = {"samples": 2, "temperature": 1, "endpoint": {"samples_in_one_call": True}}
        cast, run = asked(provider, **fields)
    assert [body.get("n", 1) for body in provider.asked] == [1] * 4
    assert [each.value for each in of_item(run, cast.items[0])] == [4, 4, 2, 2, 5, 5]


# Which dimensions, and in which order


def order_in(prompt: str) -> list[str]:
    return sorted(THREE, key=lambda name: prompt.index(f"The scale of {name.capitalize()}:"))


def test_the_order_is_rotated_by_item_and_recorded() -> None:
    # The order is a hash of the item's id, which depends on earlier tests: 24 items never share one.
    cast = make_project(dimensions=THREE, documents=24)
    with providing(reply=ALL) as provider:
        _, run = asked(provider, cast=cast, call_order=CallOrder.ROTATED)
    dimensions = current_guideline(cast.project).dimensions
    keys = {each.id: each.key for each in dimensions}
    orders = set()
    for item in cast.items:
        (recorded,) = {tuple(each.asked_dimensions) for each in of_item(run, item)}
        assert list(recorded) == [each.id for each in rotate(dimensions, item.pk)]
        prompts = [body["messages"][0]["content"] for body in provider.asked]
        (prompt,) = [each for each in prompts if f"<text>\n{item.text}\n</text>" in each]
        assert order_in(prompt) == [keys[pk] for pk in recorded]
        orders.add(recorded)
    assert len(orders) > 1


def test_chosen_dimensions_are_called_in_sequence_and_a_run_covers_all() -> None:
    with providing(reply=ALL) as provider:
        cast, judge = judging(provider)
        Judge.objects.update(asked_together=[cast.dimensions[2].pk, cast.dimensions[0].pk])
        judge.refresh_from_db()
        sentence = "choose all of them and no others: Style, Fluency."
        for scope in (THREE, ["style"]):
            assert sentence in plan_of(cast.project, Scope([judge], scope)).problems[0]
            with pytest.raises(RunRefusedError, match=sentence):
                make_run(cast.project, judge, dimensions=scope)
        run = worked(running(cast.project, judge, dimensions=["fluency", "style"]))
    prompt = provider.asked[0]["messages"][0]["content"]
    assert prompt.index("The scale of Style:") < prompt.index("The scale of Fluency:")
    assert "Coherence" not in prompt
    assert [each.value for each in of_item(run, cast.items[0])] == [4, 5]


@pytest.mark.parametrize(
    ("name", "structured", "refusal"),
    [
        ("text_Fluency", False, "Two dimensions have the same name, but for case"),
        ("Style", False, ""),
        ("Coherence two", True, ""),
        ("Style", True, "The key of one dimension is the name of another"),
    ],
)
def test_indistinguishable_dimensions_are_rejected(name: str, structured: bool, refusal: str) -> None:
    with providing(reply=ALL) as provider:
        cast, judge = judging(provider, structured=structured)
    for dimension, new_name in zip(cast.dimensions, ("Text fluency", name, "Manner"), strict=True):
        dimension.name = new_name
        dimension.save(update_fields=["name"])
    problems = plan_of(cast.project, Scope([judge], THREE)).problems
    assert [refusal in problem for problem in problems] == ([True] if refusal else [])


# Plans, leases, budgets


def test_a_plan_counts_calls_and_pays_each_once() -> None:
    with providing(reply=ALL) as provider:
        cast, judge = judging(provider, max_tokens=30)
        before = plan_of(cast.project, Scope([judge], THREE))
        assert (before.judgments, before.calls) == (6, 2)
        assert before.judges[0].output_tokens == 60
        run = worked(running(cast.project, judge, dimensions=THREE))
        assert plan_of(cast.project, Scope([judge], THREE)).calls == 0
        doubled = make_judge(cast.project, "several", endpoint=judge.endpoint, template=judge.template)
        assert plan_of(cast.project, Scope([doubled], THREE)).calls == 2
    assert run.judgments.count() == 6


def test_a_plan_pays_whole_calls_for_the_one_dimension_that_is_missing() -> None:
    with providing(reply=ALL) as provider:
        cast, run = asked(provider)
    run.judgments.filter(dimension=cast.dimensions[1]).delete()
    judge = Judge.objects.select_related("endpoint", "template").get()
    (plan,) = plan_of(cast.project, Scope([judge], THREE)).judges
    assert (plan.missing, plan.calls) == (2, 2)
    # Each call as before: 100 tokens in, 50 out, as far as shares of 34 and 33 or 17 and 16 tell it.
    assert plan.input_tokens == round(2 * 3 * 33.5)
    assert plan.output_tokens == round(2 * 3 * 16.5)
    assert plan.cost == Decimal("0.001194"), "201 tokens at 2 and 99 at 8 for a million"


def test_a_lease_counts_calls_and_divides_none() -> None:
    cast = make_project(dimensions=THREE, documents=4)
    judge = make_judge(cast.project, "several", endpoint=make_endpoint(cast.project, calls_in_flight=200))
    run = running(cast.project, judge, dimensions=THREE)
    holder = uuid4()
    taken = [
        lease(run=run.pk, endpoint=judge.endpoint_id or 0, holder=holder, how_many=3).judgments
        for _ in range(3)
    ]
    items = [sorted(Judgment.objects.filter(pk__in=each).values_list("item", flat=True)) for each in taken]
    assert [len(each) for each in taken] == [9, 9, 6]
    assert [[len(list(group)) for _, group in groupby(each)] for each in items] == [[3] * 3, [3] * 3, [3] * 2]


def test_calls_of_a_run_give_what_its_guideline_has_whatever_is_added_later() -> None:
    cast = make_project(dimensions=THREE)
    judge = make_judge(cast.project, "several")
    chosen = make_judge(cast.project, "several", asked_together=[each.pk for each in cast.dimensions[:2]])
    run = running(cast.project, judge, dimensions=THREE)
    make_judgment(chosen, cast.items[0], cast.dimensions[0], run=run)
    make_dimension(cast.project, "depth")
    assert shared_calls(run).sizes == {judge.pk: 3, chosen.pk: 2}


def test_leases_of_a_dead_worker_are_repeated_in_one_call() -> None:
    with providing(reply=ALL) as provider:
        cast, judge = judging(provider)
        run = running(cast.project, judge, dimensions=THREE)
        lease(run=run.pk, endpoint=judge.endpoint_id or 0, holder=uuid4(), how_many=1)
        long_ago = timezone.now() - timedelta(hours=1)
        Judgment.objects.filter(status="leased").update(leased_until=long_ago)
        LeaseHolder.objects.update(alive_until=long_ago)
        assert sweep() == 3
        assert worked(run).status == "finished"
    assert len(provider.asked) == 2
    assert statuses(run) == {"done": 6}


def test_a_budget_allows_whole_calls_only() -> None:
    cast = make_project(dimensions=THREE, documents=6)
    with providing(reply=ALL) as provider:
        _, judge = judging(provider, cast, endpoint={"calls_in_flight": 1})
        # A call costs 0.0006. The first may cost 0.0056 as far as is known.
        run = running(cast.project, judge, dimensions=THREE, budget=Decimal("0.006"))
        run = worked(run)
    assert run.status == "stopped"
    calls = len(provider.asked)
    assert run.spent == calls * Decimal("0.0006") <= Decimal("0.006")
    assert statuses(run) == {"done": 3 * calls, "planned": 3 * (12 - calls)}
    assert calls >= 8


def test_a_budget_counts_each_call_as_calls_of_its_kind_cost() -> None:
    """What is left near the end allows one more call, though not one at three times its price."""
    cast = make_project(dimensions=THREE, documents=2)
    with providing(reply=ALL) as provider:
        _, judge = judging(provider, cast, endpoint={"calls_in_flight": 1})
        single = make_judge(cast.project, endpoint=judge.endpoint)
        # 4 calls for three dimensions and 12 for one, 0.0006 each, and half a call in reserve.
        budget = 16 * Decimal("0.0006") + Decimal("0.0004")
        run = worked(running(cast.project, judge, single, dimensions=THREE, budget=budget))
    assert (run.status, run.spent, len(provider.asked)) == ("finished", Decimal("0.0096"), 16)


def test_a_budget_counts_calls_to_one_server_without_the_shares_of_another() -> None:
    """Calls for one judgment were never answered: each may cost as much as one for three has cost."""
    cast = make_project(dimensions=THREE, documents=2)
    with providing(reply=ALL) as provider:
        _, judge = judging(provider, cast)
        single = make_judge(cast.project, endpoint=make_priced_endpoint(cast.project))
        run = running(cast.project, judge, single, dimensions=THREE, budget=Decimal("0.0043"))
        Judgment.objects.filter(run=run, judge=judge).update(
            status="done", value=4, cost=Decimal("0.0002"), answered_at=timezone.now()
        )
        Run.objects.filter(pk=run.pk).update(spent=Decimal("0.0024"))
    # 0.0019 is left. A call counts 1.5 x 0.0006.
    taken = lease(run=run.pk, endpoint=single.endpoint_id or 0, holder=uuid4(), how_many=9)
    assert len(taken.judgments) == 2


def test_a_budget_counts_calls_that_give_fewer_judgments_than_others_as_whole_ones() -> None:
    """One dimension is missing of each item, so a call gives one judgment and is paid for it alone."""
    cast = make_project(dimensions=THREE, documents=3)
    with providing(reply=ALL) as provider:
        _, judge = judging(provider, cast)
    for item in cast.items:
        for dimension in cast.dimensions[:2]:
            make_judgment(judge, item, dimension)
    run = running(cast.project, judge, dimensions=THREE, budget=Decimal("0.0045"))
    answered, leased, *planned = run.judgments.order_by("pk")
    assert len(planned) == 4
    now = timezone.now()
    ended = {"status": "done", "value": 4, "cost": Decimal("0.0006"), "answered_at": now}
    Judgment.objects.filter(pk=answered.pk).update(**ended)
    later = now + timedelta(hours=1)
    Judgment.objects.filter(pk=leased.pk).update(status="leased", lease=uuid4(), leased_until=later)
    Run.objects.filter(pk=run.pk).update(spent=Decimal("0.0006"))
    # 0.0039 is left, 0.0009 of it for the call in flight: each counts 1.5 x 0.0006.
    taken = lease(run=run.pk, endpoint=judge.endpoint_id or 0, holder=uuid4(), how_many=9)
    assert len(taken.judgments) == 3


def test_a_cancelled_run_leaves_nothing_leased() -> None:
    with providing(reply=ALL) as provider:
        cast, judge = judging(provider)
        run = running(cast.project, judge, dimensions=THREE)
        cancel_run(run=run)
        assert not run.judgments.exists()
        assert worked(running(cast.project, judge, dimensions=THREE)).status == "finished"
    assert len(provider.asked) == 2


# Afterwards


def test_stored_replies_are_read_again_each_for_its_dimension() -> None:
    with providing(reply=ALL) as provider:
        cast, run = asked(provider)
    judge = run.judgments.earliest("pk").judge
    assert list(rereadings([judge])) == []
    wrong = of_item(run, cast.items[0])[1]
    Judgment.objects.filter(pk=wrong.pk).update(value=5)
    assert [(each.judgment.pk, each.value) for each in rereadings([judge])] == [(wrong.pk, 2)]


def test_retry_of_one_dimension_calls_about_all(client: Client) -> None:
    with providing(reply=ALL) as provider:
        cast, run = asked(provider)
        provider.reply = "Fluency: 1\nCoherence: 3\nStyle: 1"
        one = of_item(run, cast.items[0])[1]
        client.force_login(cast.admin)
        page = text_of(client.get(address(cast, f"judgment/{one.pk}/")))
        assert "One call in a separate run; expected cost: 0.00060 USD" in page
        assert "Asked in one call Fluency, Coherence, Style" in page
        again = ask_again(project=cast.project, judgments=Judgment.objects.filter(pk=one.pk), by=cast.admin)
        assert worked(again).status == "finished"
    assert len(provider.asked) == 3
    assert provider.asked[2]["messages"] == provider.asked[0]["messages"] or (
        provider.asked[2]["messages"] == provider.asked[1]["messages"]
    )
    assert [
        each.value for each in Judgment.objects.filter(item=cast.items[0]).order_by("dimension__position")
    ] == [4, 3, 5]
    one.refresh_from_db()
    assert (one.input_tokens, one.asked_dimensions) == (100, [each.pk for each in cast.dimensions])


# Through the batch interface


def batched(cast: Cast, judge: Judge, budget: Decimal | None = None) -> Run:
    scope = Scope([judge], THREE)
    run = plan_run(project=cast.project, scope=scope, by=None, via=Run.Via.BATCH, budget=budget)
    return worked_in_batches(run)


def worked_in_batches(run: Run) -> Run:
    """Let a worker look after the batches of a planned run."""
    start_run(run=run)
    Run.objects.update(untried_judges=None)  # their first judgments were answered before
    for _ in range(6):
        Batch.objects.filter(run=run).update(due_at=timezone.now() - timedelta(seconds=1))
        collect(run=run.pk, seconds=60)
    run.refresh_from_db()
    return run


def test_a_batch_has_a_request_for_each_item_and_its_reply_gives_all_dimensions() -> None:
    with batch_providing(ALL) as provider:
        cast, judge = judging(provider)
        run = batched(cast, judge)
    assert run.status == "finished"
    (file,) = provider.files
    assert len(file) == 2
    assert Batch.objects.get().requests == 2
    for item in cast.items:
        found = of_item(run, item)
        assert [(each.value, each.input_tokens) for each in found] == [(4, 34), (2, 33), (5, 33)]
    assert run.spent == Decimal("0.0006"), "half of what calls cost"


def test_missing_part_of_a_batch_is_retried_once_in_one_request() -> None:
    with batch_providing("Fluency: 4") as provider:
        cast, judge = judging(provider, temperature=1)
        run = batched(cast, judge)
    assert [len(file) for file in provider.files] == [2, 2]
    assert [each.value for each in of_item(run, cast.items[0])] == [4, None, None]
    assert statuses(run) == {"done": 2, "unreadable": 4}
    assert run.spent == 4 * Decimal("0.0003")
    assert sum(each.cost or 0 for each in run.judgments.all()) == run.spent


def test_a_batch_that_a_budget_or_a_file_cuts_has_whole_requests(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    cast = make_project(dimensions=THREE, documents=4)
    with batch_providing(ALL) as provider:
        _, judge = judging(provider, cast)
        with monkeypatch.context() as patched:
            patched.setattr("judges.runs.commands.batches.MOST_REQUESTS", 7)
            patched.setattr("judges.runs.batch_worker.PORTION", 2)
            run = batched(cast, judge)
    assert run.status == "finished"
    assert [len(file) for file in provider.files] == [2, 2, 2, 2]
    run = running(cast.project, make_judge(cast.project, "several"), dimensions=THREE)
    monkeypatch.setattr(ChatCompletions, "batch_bytes", 5000)
    calls = list(group_by_call(run.judgments.order_by("pk"), shared_calls(run).judges).values())
    assert [len(call) for call in calls] == [3] * 8
    with (tmp_path / "requests").open("wb") as file:
        requests = write_requests(calls, file, ChatCompletions(), str(run.pk))
    assert 0 < requests < 8


@pytest.mark.parametrize("fits", [10, 1])
def test_judgments_planned_apart_are_requested_together(fits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """As when a failed judgment of an ended run joins the new ones of its item."""
    monkeypatch.setattr("judges.runs.batch_worker.PORTION", 2)
    cast = make_project(dimensions=THREE, documents=2, systems=2)
    with batch_providing(ALL) as provider:
        _, judge = judging(provider, cast)
        run = plan_run(project=cast.project, scope=Scope([judge], THREE), by=None, via=Run.Via.BATCH)
        last = list(run.judgments.filter(dimension=cast.dimensions[0]).order_by("pk"))
        run.judgments.filter(pk__in=[each.pk for each in last]).delete()
        for each in last:
            each.pk = None
            each.save(force_insert=True)
        length = len(json.dumps(ChatCompletions().batch_request("1" * 40, work_of([last[0].pk])[0].question)))
        monkeypatch.setattr(ChatCompletions, "batch_bytes", fits * length)
        worked_in_batches(run)
    assert (run.status, statuses(run)) == ("finished", {"done": 12})
    assert [len(file) for file in provider.files] == ([4] if fits == 10 else [1] * 4)
    assert run.spent == 4 * Decimal("0.0003")


def test_two_replies_about_one_item_are_both_stored() -> None:
    """As in an older batch, which may have two requests about an item."""
    cast = make_project(dimensions=THREE, documents=1, systems=1)
    with batch_providing(ALL) as provider:
        _, judge = judging(provider, cast)
        run = plan_run(project=cast.project, scope=Scope([judge], THREE), by=None, via=Run.Via.BATCH)
        Run.objects.filter(pk=run.pk).update(status="running")
        batch = begin(run=run.pk, holder=uuid4())
        assert batch is not None
        first, _, third = run.judgments.order_by("pk").values_list("pk", flat=True)
        replies = {first: Reply(ALL, 100, 50, None), third: Reply(ALL.replace("5", "3"), 60, 50, None)}
        store(batch=batch, said=replies)
    run.refresh_from_db()
    assert [each.value for each in of_item(run, cast.items[0])] == [4, 2, 3]
    assert [each.input_tokens for each in of_item(run, cast.items[0])] == [50, 50, 60]
    assert run.spent == Decimal("0.00056")


def test_a_budget_pays_whole_requests_for_the_one_dimension_that_is_missing() -> None:
    cast = make_project(dimensions=THREE, documents=4)
    with batch_providing(ALL) as provider:
        _, judge = judging(provider, cast)
        first = batched(cast, judge)
        first.judgments.filter(dimension=cast.dimensions[1]).delete()
        # A request takes 0.0003, and counts as three shares of 34 and 17 tokens and a tenth: 0.0003366.
        run = batched(cast, judge, budget=Decimal("0.0011"))
    assert [len(file) for file in provider.files] == [8, 3]
    assert Batch.objects.get(run=run).expected_cost == Decimal("0.0010098")
    assert (run.status, run.spent) == ("stopped", Decimal("0.0009"))
    assert statuses(run) == {"done": 3, "planned": 5}
