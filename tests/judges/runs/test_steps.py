"""Values that take several calls: each is stored, paid once, and gone on from by whoever comes next."""

from decimal import Decimal
from pathlib import Path
from threading import Semaphore
from typing import Any

import pytest
from django.db.models import QuerySet
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.core.models import Document, Item
from judges.core.models import Batch, DocumentUnits, Judgment, Run
from judges.core.specification import Scope
from judges.endpoints.queries import was_asked
from judges.runs.commands.corrections import ask_again
from judges.runs.commands.runs import plan_run
from judges.runs.queries.plans import plan_of
from tests.factories import Cast, make_project
from tests.judges.batch_provider import batch_providing
from tests.judges.factories import make_judge, make_priced_endpoint
from tests.judges.pages import text_of
from tests.judges.provider import Provider, providing
from tests.judges.running import running, statuses, worked
from tests.judges.runs.test_several_killed import end_leases
from tests.judges.workers import wait_until, worker

pytestmark = pytest.mark.django_db(transaction=True)

CALL = Decimal("0.0006")  # 100 tokens at 2 and 50 at 8 for a million
FLUENCY = ["fluency"]
STEPS = ["key points", "completeness", "questions", "informativeness", "consistency"]


def content_of(request: dict[str, Any]) -> str:
    content: str = request["messages"][-1]["content"]
    return content


def by_summequal(request: dict[str, Any]) -> str:
    """What a model says to each of the five steps: C = 1/2, I = 1, S = 1/2, so the score is 1/3."""
    content = content_of(request)
    if content.startswith("List the key points"):
        return '{"who": ["Smith came."], "what": ["He left."]}'
    if content.startswith("Which of these key points"):
        return "[true, false]"
    if content.startswith("Write questions"):
        return '[{"question": "Did he come?", "answer": true}, {"question": "Did he stay?", "answer": false}]'
    return "[true, false]" if "from these key points" in content else "[true, true]"


def judged(cast: Cast, provider: Provider | Any, method: str, **fields: Any) -> Any:
    endpoint = make_priced_endpoint(cast.project, provider.base_url, **fields.pop("endpoint", {}))
    return make_judge(cast.project, method, endpoint=endpoint, **fields)


def test_key_points_need_one_call_per_document_and_the_score_has_parts() -> None:
    cast = make_project(documents=2, systems=3)
    with providing(reply_to=by_summequal) as provider:
        judge = judged(cast, provider, "summequal")
        run = worked(running(cast.project, judge, dimensions=FLUENCY))
        assert (run.status, statuses(run)) == ("finished", {"done": 6})
        starts = [content_of(each)[:8] for each in provider.asked]
        assert len(starts) == 2 + 4 * 6
        assert starts.count("List the") == 2
    for each in run.judgments.all():
        assert each.value == pytest.approx(1 + 4 / 3)
        assert each.rationale.endswith("score 0.333.")
        assert [step["name"] for step in each.steps] == STEPS[:4]
        assert (each.steps_done, each.attempts, each.reply) == (4, 1, "[true, true]")
    assert run.spent == len(provider.asked) * CALL == sum(each.cost or 0 for each in run.judgments.all())
    assert sum(each.input_tokens or 0 for each in run.judgments.all()) == 100 * len(provider.asked)


def test_new_output_of_a_document_reuses_its_key_points() -> None:
    cast = make_project(documents=1, systems=2)
    with providing(reply_to=by_summequal) as provider:
        judge = judged(cast, provider, "summequal")
        worked(running(cast.project, judge, dimensions=FLUENCY))
        system = cast.project.systems.create(name="A new one")
        Item.objects.create(document=cast.items[0].document, system=system, text="New.", digest="new")
        provider.asked.clear()
        run = worked(running(cast.project, judge, dimensions=FLUENCY))
        assert len(provider.asked) == 4
        again = worked(ask_again(project=cast.project, judgments=run.judgments.all(), by=cast.admin))
    (found,) = again.judgments.all()
    assert found.status == "done"
    assert len(provider.asked) == 4 + 5, "who asks again, asks everything again"


def test_unreadable_step_is_retried_once_and_earlier_steps_stay(client: Client) -> None:
    cast = make_project(documents=1, systems=1)
    replies = iter(["yes", "Perhaps.", "no", "Perhaps.", "Perhaps."])
    Item.objects.update(text="He came. He left. Nobody saw him.")
    with providing(reply_to=lambda _: next(replies)) as provider:
        judge = judged(cast, provider, "facts_share", temperature=1)
        run = worked(running(cast.project, judge, dimensions=FLUENCY))
    (found,) = run.judgments.all()
    assert (found.status, found.reason) == ("unreadable", "The reply says neither yes nor no.")
    assert [(step["reply"], step["calls"]) for step in found.steps] == [("yes", 1), ("no", 2)]
    assert (found.attempts, found.calls_made) == (2, 5)
    assert (found.input_tokens, run.spent) == (500, 5 * CALL)
    client.force_login(cast.admin)
    page = text_of(client.get(reverse("judgment", args=[cast.project.slug, found.pk])))
    assert "sentence 2 of 3 200 tokens sent, 100 received" in page
    assert "Repeats all of its calls in a separate run" in page


def test_a_plan_counts_the_calls_of_a_value() -> None:
    cast = make_project(documents=2, systems=2)
    Item.objects.update(text="He came. He left. Nobody saw him.")
    judge = judged(cast, Provider("http://127.0.0.1:9/v1"), "facts_share")
    (plan,) = plan_of(cast.project, Scope([judge], FLUENCY)).judges
    assert (plan.missing, plan.calls) == (4, 12)
    assert plan.cost is not None


def test_killed_worker_repeats_no_more_than_its_calls_in_flight(tmp_path: Path) -> None:
    cast = make_project(documents=4, systems=2)
    answers = Semaphore(9)
    with providing(reply_to=by_summequal, answers=answers) as provider:
        judge = judged(cast, provider, "summequal", endpoint={"calls_in_flight": 3, "timeout_seconds": 120})
        run = running(cast.project, judge, dimensions=FLUENCY)
        judgments = Judgment.objects.filter(run=run)

        def is_stuck() -> bool:
            """Whether what was answered is stored, and every place waits for the provider."""
            return (
                len(provider.asked) == 9 + 3
                and provider.in_flight.total() == 3
                and _answers_stored(judgments) == 9
            )

        with worker(tmp_path, lease=600) as process:
            assert wait_until(is_stuck), process.story()
            process.kill()
            end_leases(judgments)
        before = dict(judgments.values_list("pk", "steps"))
        assert was_asked(judge.template)
        answers.release(1000)
        assert wait_until(lambda: worked(run).status == "finished")
    assert statuses(run) == {"done": 8}
    whole = 4 + 4 * 8  # key points once for a document, four calls for each text
    assert len(provider.asked) == whole + 3, "calls in flight are repeated, and no others"
    for each in judgments.all():
        assert each.value == pytest.approx(1 + 4 / 3)
        assert each.steps[: len(before[each.pk])] == before[each.pk], "what was stored is not asked again"


def test_steps_go_through_the_batch_interface_one_batch_after_the_other() -> None:
    cast = make_project(documents=2, systems=2)
    Item.objects.update(text="He came. He left.")
    with batch_providing(reply="yes") as provider:
        judge = judged(cast, provider, "facts_share")
        run = plan_run(project=cast.project, scope=Scope([judge], FLUENCY), by=None, via=Run.Via.BATCH)
        Run.objects.filter(pk=run.pk).update(status="running")
        assert wait_until(lambda: _do_due_work(run).status == "finished")
    assert statuses(run) == {"done": 4}
    assert {each.value for each in run.judgments.all()} == {5}
    assert {len(each.steps) for each in run.judgments.all()} == {1}
    assert Batch.objects.filter(run=run).count() == 2
    assert {each.input_tokens for each in run.judgments.all()} == {200}


def _answers_stored(judgments: QuerySet[Judgment]) -> int:
    """Count the calls whose answers are stored: those for key points once for all texts of a document."""
    begun = judgments.filter(steps_done__gt=0).values_list("item__document", "steps_done", "status")
    documents = {document for document, _steps, _status in begun}
    return len(documents) + sum(steps - 1 + (status == "done") for _document, steps, status in begun)


def _do_due_work(run: Run) -> Run:
    """Let a worker do what is due; batches are looked after at once."""
    Batch.objects.filter(run=run, closed_at__isnull=True).update(due_at=timezone.now())
    return worked(run)


def test_project_units_replace_the_first_call() -> None:
    cast = make_project(documents=2, systems=1)
    units = [{"text": "He came.", "weight": 3}, {"text": "He left.", "weight": 1}]
    with_units, without = Document.objects.order_by("pk")
    DocumentUnits.objects.create(document=with_units, units=units)

    def reply(request: dict[str, Any]) -> str:
        content = content_of(request)
        if content.startswith("List the content units"):
            return '["It rained."]'
        return '["yes"]' if "It rained" in content else '["yes", "no"]'

    with providing(reply_to=reply) as provider:
        judge = judged(cast, provider, "content_units")
        run = worked(running(cast.project, judge, dimensions=FLUENCY))
    assert len(provider.asked) == 3
    values = dict(run.judgments.values_list("item__document", "value"))
    assert values == {with_units.pk: 1 + 4 * 3 / 4, without.pk: 5}
