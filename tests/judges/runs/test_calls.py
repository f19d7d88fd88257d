"""What a judgment keeps of its call: parameters as sent, the messages or their hash, what the server says."""

import hashlib
import json
import math
from decimal import Decimal
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from judges.core.models import Judge, Judgment, Run
from judges.core.specification import Scope
from judges.endpoints.work import Prices
from judges.runs.commands.runs import plan_run, start_run
from judges.runs.queries.runs import run_progress
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_priced_endpoint, make_template
from tests.judges.provider import COMPLETION, Provider, providing
from tests.judges.running import running, statuses, worked

pytestmark = pytest.mark.django_db(transaction=True)

SAID = {
    **COMPLETION,
    "model": "small-2026-01-01",
    "system_fingerprint": "fp_1",
    "usage": {
        "prompt_tokens": 1000,
        "completion_tokens": 50,
        "prompt_tokens_details": {"cached_tokens": 600},
        "completion_tokens_details": {"reasoning_tokens": 30},
    },
}


def completion(content: str, **choice: Any) -> str:
    message = {"role": "assistant", "content": content, "refusal": None}
    return json.dumps(
        {**SAID, "choices": [{"index": 0, "message": message, "finish_reason": "stop", **choice}]}
    )


def judging(cast: Cast, provider: Provider, **how: Any) -> tuple[Judge, Run]:
    endpoint = make_priced_endpoint(cast.project, provider.base_url, cached_price=Decimal("0.5"))
    judge = make_judge(cast.project, endpoint=endpoint, seed=7, max_tokens_name="max_completion_tokens")
    scope = Scope([judge], ["fluency"])
    run = plan_run(project=cast.project, scope=scope, by=None, **how)
    start_run(run=run)
    return judge, worked(run)


def test_call_keeps_its_request_and_the_server_metadata(client: Client) -> None:
    cast = make_project(documents=1, systems=1)
    with providing(body=completion("It reads well. Score: 4")) as provider:
        _, run = judging(cast, provider, keeps_messages=True)
    (judgment,) = Judgment.objects.all()
    (asked,) = provider.asked
    messages = asked.pop("messages")
    assert judgment.parameters == asked
    assert (asked["seed"], asked["max_completion_tokens"]) == (7, 256)
    assert judgment.messages == messages
    written = json.dumps(messages, ensure_ascii=False, sort_keys=True, separators=(",", ":"))
    assert judgment.messages_hash == hashlib.sha256(written.encode()).hexdigest()
    assert (judgment.finish_reason, judgment.refusal) == ("stop", "")
    assert (judgment.returned_model, judgment.system_fingerprint) == ("small-2026-01-01", "fp_1")
    assert (judgment.input_tokens, judgment.cached_tokens) == (1000, 600)
    assert (judgment.output_tokens, judgment.reasoning_tokens) == (50, 30)
    # 400 tokens at 2, 600 at 0.50, 50 at 8 for a million.
    assert judgment.cost == Decimal("0.0015")
    assert run_progress(run).run.spent == judgment.cost
    # 600 tokens at 0.50 instead of 2 for a million.
    assert (run.cached_tokens, run.saved_by_cache) == (600, Decimal("0.0009"))
    client.force_login(cast.researcher)
    html = client.get(reverse("judgment", args=[cast.project.slug, judgment.pk])).content.decode()
    for shown in ("small-2026-01-01", "fp_1", "600 of those sent were cached", "Messages as sent", "Seed"):
        assert shown in html


def test_call_keeps_a_message_hash_by_default_and_the_rejection_words() -> None:
    cast = make_project(documents=1, systems=1)
    message = {"role": "assistant", "content": "", "refusal": "I will not rate this."}
    with providing(body=completion("", message=message)) as provider:
        judging(cast, provider)
    (judgment,) = Judgment.objects.all()
    assert (judgment.status, judgment.refusal) == ("unreadable", "I will not rate this.")
    assert judgment.messages is None
    assert len(judgment.messages_hash) == 64


def test_failed_call_keeps_its_request() -> None:
    cast = make_project(documents=1, systems=1)
    with providing(status=400, error="Too strange.") as provider:
        judging(cast, provider)
    (judgment,) = Judgment.objects.all()
    assert judgment.status == "failed"
    assert judgment.parameters["model"] == provider.asked[0]["model"]


def test_tokens_of_an_unreadable_reply_and_of_the_second_one_are_added() -> None:
    cast = make_project(documents=1, systems=1)
    with providing(body=completion("Hm.")) as provider:
        endpoint = make_priced_endpoint(cast.project, provider.base_url)
        judge = make_judge(cast.project, endpoint=endpoint, temperature=1)
        run = plan_run(project=cast.project, scope=Scope([judge], ["fluency"]), by=None)
        start_run(run=run)
        worked(run)
    (judgment,) = Judgment.objects.all()
    assert (judgment.status, judgment.attempts) == ("unreadable", 2)
    assert (judgment.input_tokens, judgment.cached_tokens, judgment.reasoning_tokens) == (2000, 1200, 60)


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        (completion("Score: 4"), "The endpoint has no price of cached input tokens."),
        (None, "No server has said how many input tokens it had cached."),
    ],
)
def test_what_caches_saved_is_undefined_with_its_reason(
    client: Client, body: str | None, reason: str
) -> None:
    cast = make_project(documents=1, systems=1)
    with providing(body=body) as provider:
        judge = make_judge(cast.project, endpoint=make_priced_endpoint(cast.project, provider.base_url))
        run = worked(running(cast.project, judge, dimensions=["fluency"]))
    assert (run.saved_by_cache, run.saved_by_cache_reason) == (None, reason)
    client.force_login(cast.admin)
    page = client.get(reverse("run", args=[cast.project.slug, run.pk])).content.decode()
    assert f"undefined: {reason}" in " ".join(page.split())


def test_cached_tokens_without_their_price_cost_as_others() -> None:
    usual = Prices(Decimal(2), Decimal(8))
    assert usual.cost(1_000_000, 0, 400_000) == 2
    cheaper = Prices(Decimal(2), Decimal(8), Decimal(1))
    assert cheaper.cost(1_000_000, 0, 400_000) == Decimal("1.6")
    assert cheaper.cost(1_000_000, 0, None) == 2
    assert cheaper.cost(1_000_000, 0, 3_000_000) == 1
    assert cheaper.in_batches().cost(1_000_000, 0, 400_000) == Decimal("0.8")
    assert Prices(Decimal(2), None, Decimal(1)).cost(1, 1, 1) is None


def test_unnamed_choice_comes_from_the_first_token_after_the_thinking() -> None:
    cast = make_project(documents=1, systems=1)
    likely = [
        ("<think>", {"A": 0.0}),
        ("\n</think>", {"A": 0.0}),
        ("The", {"The": math.log(0.6), "D": math.log(0.3), "B": math.log(0.1)}),
        (" text is fine.", {}),
    ]
    content = [
        {"token": token, "top_logprobs": [{"token": each, "logprob": x} for each, x in top.items()]}
        for token, top in likely
    ]
    text = "".join(token for token, _ in likely)
    with providing(body=completion(text, logprobs={"content": content})) as provider:
        endpoint = make_priced_endpoint(cast.project, provider.base_url)
        judge = make_judge(cast.project, "mcq", endpoint=endpoint, score_from="probabilities")
        run = plan_run(project=cast.project, scope=Scope([judge], ["fluency"]), by=None)
        start_run(run=run)
        worked(run)
    judgment = Judgment.objects.get()
    assert judgment.value == pytest.approx(3.5)
    assert judgment.rationale == "The options carry 0.4 of the probability."


def choices(*contents: str) -> str:
    """Return a completion with several choices."""
    said = [json.loads(completion(content))["choices"][0] for content in contents]
    return json.dumps({**SAID, "choices": said})


def sampled(cast: Cast, provider: Provider, **fields: Any) -> list[Judgment]:
    """Ask a judge of three samples, at an endpoint that gives them in one call, about one item."""
    endpoint = make_priced_endpoint(cast.project, provider.base_url, samples_in_one_call=True)
    judge = make_judge(cast.project, endpoint=endpoint, samples=3, temperature=1, **fields)
    run = plan_run(project=cast.project, scope=Scope([judge], ["fluency"]), by=None)
    start_run(run=run)
    assert worked(run).status == "finished"
    return list(run.judgments.order_by("sample"))


def test_samples_of_one_unit_come_in_one_call_each_with_its_share_of_the_tokens() -> None:
    cast = make_project(documents=1, systems=1)
    with providing(body=choices("Score: 2", "Score: 3", "Score: 5")) as provider:
        found = sampled(cast, provider)
    assert [body["n"] for body in provider.asked] == [3]
    assert [each.value for each in found] == [2, 3, 5]
    assert [each.input_tokens for each in found] == [334, 333, 333]
    assert sum(each.output_tokens or 0 for each in found) == 50
    # 1,000 tokens at 2 and 50 at 8 for a million; cached ones cost the same here.
    assert sum(each.cost or 0 for each in found) == Decimal("0.0024")
    assert found[0].run is not None
    assert found[0].run.spent == Decimal("0.0024")
    assert {each.parameters["n"] for each in found} == {3}
    assert {(each.status, each.attempts, each.lease) for each in found} == {("done", 1, None)}


def test_server_with_single_replies_gets_a_call_per_sample() -> None:
    cast = make_project(documents=1, systems=1)
    with providing(body=choices("Score: 4")) as provider:
        found = sampled(cast, provider)
    assert [body.get("n", 1) for body in provider.asked] == [3, 1, 1]
    assert [(each.value, each.input_tokens) for each in found] == [(4, 1000)] * 3


def test_server_that_rejects_n_gets_a_call_per_sample() -> None:
    cast = make_project(documents=1, systems=1)
    with providing(refuses="n", error="There is no n.") as provider:
        found = sampled(cast, provider)
    assert [body.get("n", 1) for body in provider.asked] == [3, 1, 1, 1]
    assert [each.value for each in found] == [4, 4, 4]


def test_rejected_multi_sample_calls_stop_no_run_and_are_not_repeated() -> None:
    cast = make_project(dimensions=("fluency", "coherence"), documents=12, systems=2)
    with providing(refuses="n", error="There is no n.") as provider:
        how = {"samples_in_one_call": True, "calls_in_flight": 48}
        endpoint = make_priced_endpoint(cast.project, provider.base_url, **how)
        judge = make_judge(cast.project, endpoint=endpoint, samples=2, temperature=1)
        asked = []
        for dimension in ("fluency", "coherence"):
            run = worked(running(cast.project, judge, dimensions=[dimension]))
            assert (run.status, statuses(run)) == ("finished", {"done": 48})
            asked.append(sum("n" in body for body in provider.asked))
    assert 0 < asked[0] == asked[1]


def test_paid_call_is_stored_although_the_next_one_ends_the_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cast = make_project(documents=1, systems=1)
    with providing(body=choices("Score: 2", "Hm.")) as provider:
        monkeypatch.setattr(provider, "status_for", lambda request: 200 if "n" in request else 401)
        endpoint = make_priced_endpoint(cast.project, provider.base_url, samples_in_one_call=True)
        judge = make_judge(cast.project, endpoint=endpoint, samples=3, temperature=1)
        run = worked(running(cast.project, judge, dimensions=["fluency"]))
    assert run.status == "stopped"
    found = run.judgments.order_by("sample").values_list("status", "reply", "input_tokens", "attempts")
    assert list(found) == [
        ("done", "Score: 2", 500, 1),
        ("planned", "Hm.", 500, 1),
        ("planned", "", None, 0),
    ]
    assert run.spent == Decimal("0.0024")


def test_sample_without_a_score_is_retried_alone_once() -> None:
    cast = make_project(documents=1, systems=1)
    with providing(body=choices("Hm.", "Score: 3", "Score: 5")) as provider:
        found = sampled(cast, provider)
    assert [body.get("n", 1) for body in provider.asked] == [3, 1]
    assert [(each.status, each.attempts) for each in found] == [("unreadable", 2), ("done", 1), ("done", 1)]
    assert found[0].input_tokens == 334 + 1000


def test_samples_with_their_seeds_use_separate_calls() -> None:
    cast = make_project(documents=1, systems=1)
    with providing() as provider:
        sampled(cast, provider, seed=5)
    assert sorted(body["seed"] for body in provider.asked) == [5, 6, 7]
    assert not any("n" in body for body in provider.asked)


def test_a_reply_is_read_by_the_pattern_of_its_prompt() -> None:
    cast = make_project(documents=1, systems=1)
    with providing(reply="Score: 4. Grade = 2") as provider:
        endpoint = make_priced_endpoint(cast.project, provider.base_url)
        template = make_template(cast.project, pattern=r"grade = (\d)")
        judge = make_judge(cast.project, endpoint=endpoint, template=template)
        run = plan_run(project=cast.project, scope=Scope([judge], ["fluency"]), by=None)
        start_run(run=run)
        worked(run)
    judgment = Judgment.objects.get()
    assert (judgment.value, judgment.rationale) == (2, "Score: 4.")
