"""Identical calls are answered from what the project has stored, on request, and counted as saved."""

from decimal import Decimal
from io import StringIO
from typing import Any
from uuid import uuid4

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse
from django.utils import timezone

from judges.core.models import Endpoint, Judge, Judgment, Run
from judges.core.specification import Scope
from judges.runs.commands import leases, reusing
from judges.runs.commands.corrections import ask_again
from judges.runs.commands.runs import plan_run, start_run
from judges.runs.queries.calls import affordable_calls
from judges.runs.queries.work import Questions
from tests.api.client import ApiClient
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_priced_endpoint
from tests.judges.provider import Provider, providing
from tests.judges.running import worked

pytestmark = pytest.mark.django_db(transaction=True)


def judged(cast: Cast, *judges: Judge, **how: Any) -> Run:
    """Let judges judge everything, and whoever is told to reuse stored answers do so."""
    keys = [dimension.key for dimension in cast.dimensions]
    run = plan_run(project=cast.project, scope=Scope(judges, keys), by=None, **how)
    return worked(start_run(run=run))


def endpoint_at(cast: Cast, provider: Provider, **fields: Any) -> Endpoint:
    return make_priced_endpoint(cast.project, provider.base_url, **fields)


def test_identical_calls_use_stored_answers_and_count_as_saved() -> None:
    cast = make_project(documents=2, systems=2)
    with providing() as provider:
        endpoint = endpoint_at(cast, provider)
        first, second = (make_judge(cast.project, endpoint=endpoint) for _ in range(2))
        before = judged(cast, first)
        asked = len(provider.asked)
        run = judged(cast, second, reuses_answers=True)
        assert len(provider.asked) == asked
    sources = list(before.judgments.order_by("item"))
    copies = list(run.judgments.order_by("item"))
    assert (run.status, run.reused, run.looked_up_to) == ("finished", len(sources), None)
    assert run.spent == 0
    assert run.reused_cost == before.spent > 0
    assert [copy.reused_from_id for copy in copies] == [source.pk for source in sources]
    for copy, source in zip(copies, sources, strict=True):
        assert (copy.status, copy.value, copy.reply) == ("done", source.value, source.reply)
        assert (copy.messages_hash, copy.parameters) == (source.messages_hash, source.parameters)
        assert (copy.attempts, copy.input_tokens) == (0, None)
        assert copy.cost == 0


def test_a_run_that_does_not_ask_for_it_pays_each_call() -> None:
    cast = make_project(documents=1, systems=2)
    with providing() as provider:
        endpoint = endpoint_at(cast, provider)
        judged(cast, make_judge(cast.project, endpoint=endpoint))
        run = judged(cast, make_judge(cast.project, endpoint=endpoint))
        assert len(provider.asked) == 4
    assert (run.reused, run.judgments.filter(reused_from__isnull=False).count()) == (0, 0)


@pytest.mark.parametrize(
    "other",
    [
        {"temperature": 0.7},
        {"temperature": None},
        {"samples": 2},
        {"model": "another"},
        {"max_tokens": 99},
        {"seed": 3},
    ],
    ids=["sampled", "no temperature", "samples", "model", "parameters", "seed"],
)
def test_other_calls_run(other: dict[str, Any]) -> None:
    cast = make_project(documents=1, systems=1)
    with providing() as provider:
        endpoint = endpoint_at(cast, provider)
        same = {name: value for name, value in other.items() if name in ("temperature", "samples")}
        judged(cast, make_judge(cast.project, endpoint=endpoint, **same))
        run = judged(cast, make_judge(cast.project, endpoint=endpoint, **other), reuses_answers=True)
    assert (run.status, run.reused) == ("finished", 0)
    assert {each.attempts for each in run.judgments.all()} == {1}


@pytest.mark.parametrize(
    "says",
    [{"finish_reason": "length"}, {"reply": "Hm."}, {"refusal": "No."}],
    ids=["cut off", "unreadable", "refused"],
)
def test_only_complete_answers_are_reused(says: dict[str, Any]) -> None:
    cast = make_project(documents=1, systems=1)
    with providing(**says) as provider:
        endpoint = endpoint_at(cast, provider)
        judged(cast, make_judge(cast.project, endpoint=endpoint))
        asked = len(provider.asked)
        run = judged(cast, make_judge(cast.project, endpoint=endpoint), reuses_answers=True)
        assert len(provider.asked) == 2 * asked
    assert run.reused == 0


def test_corrected_or_foreign_answers_are_not_reused() -> None:
    cast, elsewhere = make_project(documents=1, systems=1), make_project(documents=1, systems=1)
    with providing() as provider:
        endpoint = endpoint_at(cast, provider)
        source = judged(cast, make_judge(cast.project, endpoint=endpoint))
        judged(elsewhere, make_judge(elsewhere.project, endpoint=endpoint_at(elsewhere, provider)))
        other = make_judge(cast.project, endpoint=endpoint_at(cast, provider))
        assert judged(cast, other, reuses_answers=True).reused == 0
        source.judgments.update(is_corrected=True)
        assert judged(cast, make_judge(cast.project, endpoint=endpoint), reuses_answers=True).reused == 0
        Judgment.objects.update(is_corrected=False)
        Endpoint.objects.filter(pk=endpoint.pk).update(moved_at=timezone.now())
        assert judged(cast, make_judge(cast.project, endpoint=endpoint), reuses_answers=True).reused == 0


def test_a_worker_that_dies_leaves_the_rest_to_the_next_and_nothing_is_leased_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    cast = make_project(documents=3, systems=2)
    monkeypatch.setattr(reusing, "AT_ONCE", 2)
    with providing() as provider:
        endpoint = endpoint_at(cast, provider)
        judged(cast, make_judge(cast.project, endpoint=endpoint))
        asked = len(provider.asked)
        judge = make_judge(cast.project, endpoint=endpoint)
        scope = Scope([judge], [each.key for each in cast.dimensions])
        run = start_run(run=plan_run(project=cast.project, scope=scope, by=None, reuses_answers=True))
        assert reusing._look_up_some(run.pk, Questions())  # and then it was killed
        run.refresh_from_db()
        assert run.reused == 2
        held = leases.lease(run=run.pk, endpoint=endpoint.pk, holder=uuid4(), how_many=9)
        assert (list(held.judgments), held.come_back) == ([], False)
        worked(run)
        assert len(provider.asked) == asked
    assert (run.status, run.reused) == ("finished", run.judgments.count())


def test_looking_up_takes_as_many_queries_for_many_judgments_as_for_few() -> None:
    counts = []
    for documents in (2, 12):
        cast = make_project(documents=documents, systems=2)
        with providing() as provider:
            endpoint = endpoint_at(cast, provider)
            judged(cast, make_judge(cast.project, endpoint=endpoint))
        judge = make_judge(cast.project, endpoint=endpoint)
        scope = Scope([judge], [each.key for each in cast.dimensions])
        run = start_run(run=plan_run(project=cast.project, scope=scope, by=None, reuses_answers=True))
        with CaptureQueriesContext(connection) as queries:
            assert reusing.reuse_answers(run=run.pk, seconds=60)
        run.refresh_from_db()
        assert (run.status, run.reused) == ("finished", 2 * documents * len(cast.dimensions))
        counts.append(sum("AS target SET" not in each["sql"] for each in queries))
    assert counts[0] == counts[1]


def test_multi_dimension_call_is_reused_and_a_batch_run_sends_no_file() -> None:
    cast = make_project(dimensions=("fluency", "coherence"), documents=2, systems=1)
    with providing(reply="Fluency: 4\nCoherence: 2") as provider:
        endpoint = endpoint_at(cast, provider)
        first, second = (make_judge(cast.project, "several", endpoint=endpoint) for _ in range(2))
        before = judged(cast, first)
        asked = len(provider.asked)
        run = judged(cast, second, reuses_answers=True, via=Run.Via.BATCH)
        assert len(provider.asked) == asked
    by_unit = ("item", "dimension", "value", "asked_dimensions")
    assert (run.status, run.reused, run.batches.count()) == ("finished", 4, 0)
    assert list(run.judgments.order_by(*by_unit[:2]).values_list(*by_unit)) == list(
        before.judgments.order_by(*by_unit[:2]).values_list(*by_unit)
    )
    assert run.reused_cost == before.spent


def test_reused_answer_is_retried_and_restored_with_its_origin() -> None:
    cast = make_project(documents=1, systems=1)
    with providing() as provider:
        endpoint = endpoint_at(cast, provider)
        judged(cast, make_judge(cast.project, endpoint=endpoint))
        copy = judged(cast, make_judge(cast.project, endpoint=endpoint), reuses_answers=True).judgments.get()
        asked, source = len(provider.asked), copy.reused_from_id
        again = Judgment.objects.filter(pk=copy.pk)
        worked(ask_again(project=cast.project, judgments=again, by=cast.admin))
        assert len(provider.asked) == asked + 1
        copy.refresh_from_db()
        assert (copy.reused_from_id, copy.attempts) == (None, 1)
        assert copy.changes.get().answer_before["reused_from_id"] == source
    with providing(status=400, error="Too strange.") as provider:
        Endpoint.objects.filter(pk=endpoint.pk).update(base_url=provider.base_url)
        Judgment.objects.filter(pk=copy.pk).update(reused_from=source)
        worked(ask_again(project=cast.project, judgments=again, by=cast.admin))
    copy.refresh_from_db()
    assert (copy.status, copy.reused_from_id) == ("done", source)


def test_reused_answers_do_not_enter_the_cost_estimate_of_a_call() -> None:
    cast = make_project(documents=2, systems=2)
    with providing() as provider:
        endpoint = endpoint_at(cast, provider)
        judged(cast, make_judge(cast.project, endpoint=endpoint))
        copies = judged(cast, make_judge(cast.project, endpoint=endpoint), reuses_answers=True)
    Run.objects.filter(pk=copies.pk).update(budget=Decimal("0.0100"))
    copies.refresh_from_db()
    # As before any answer, a call is taken to send 2,000 tokens at 2 and to get 200 at 8 for a million.
    assert affordable_calls(copies, endpoint, 99, {}) == int(Decimal("0.01") / Decimal("0.0056"))


def test_pages_api_and_command_report_savings_and_the_source_judgment(client: Client) -> None:
    cast = make_project(documents=1, systems=2)
    with providing() as provider:
        endpoint = endpoint_at(cast, provider)
        judged(cast, make_judge(cast.project, endpoint=endpoint))
        judge = make_judge(cast.project, endpoint=endpoint)
        asked, out = len(provider.asked), StringIO()
        call_command("judge", cast.project.slug, "--judge", judge.name, "--reuse", "--here", stdout=out)
        assert len(provider.asked) == asked
    copy = judge.judgments.order_by("pk")[0]
    assert "2 stored answers reused; saved 0.0012 USD." in out.getvalue()
    client.force_login(cast.admin)
    page = client.get(reverse("run", args=[cast.project.slug, copy.run_id])).content.decode()
    assert "0.0012 USD for 2 calls not made" in " ".join(page.split())
    page = client.get(reverse("judgment", args=[cast.project.slug, copy.pk])).content.decode()
    source = reverse("judgment", args=[cast.project.slug, copy.reused_from_id])
    assert page.count(f'href="{source}"') == 2  # in how it was asked, and in its history
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}"
    told = program.get(f"{home}/runs/{copy.run_id}/").json()["run"]
    assert (told["reuses_answers"], told["reused"], told["reused_cost"]) == (True, 2, "0.00120000")
    listed = program.get(f"{home}/judgments/?run={copy.run_id}").json()
    assert listed["results"][0]["reused_from"] == copy.reused_from_id
    overview = client.get(reverse("project", args=[cast.project.slug])).content.decode()
    assert "Stored answers and caches saved 0.0012 USD." in " ".join(overview.split())
