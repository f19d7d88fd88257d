"""Evaluation steps asked for on a prompt's page: written by a worker, taken up when one dies."""

from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.test import Client
from django.utils import timezone

from annotate.core.jobs import GAVE_UP, MAX_TAKES, SILENT_AFTER, run_job
from annotate.core.models import Role
from judges.core.models import Judge, PromptTemplate, StepsWriting
from tests.factories import Cast, make_member, make_project
from tests.judges.factories import make_judge, make_judgment, make_priced_endpoint
from tests.judges.pages import text_of
from tests.judges.provider import Provider, providing

pytestmark = pytest.mark.django_db(transaction=True)
STEPS = "1. Read the document.\n2. Compare.\n3. Decide."


@pytest.fixture
def cast() -> Cast:
    return make_project(dimensions=("fluency", "coherence"))


def judge_at(cast: Cast, provider: Provider) -> Judge:
    endpoint = make_priced_endpoint(cast.project, provider.base_url)
    return make_judge(cast.project, "g_eval", endpoint=endpoint, name="G")


def page_of(judge: Judge, ending: str = "") -> str:
    assert judge.template
    return f"/projects/{judge.project.slug}/judges/prompts/{judge.template.pk}/{ending}"


def asked_for(client: Client, judge: Judge) -> StepsWriting:
    client.post(page_of(judge, "steps/"), {"judge": judge.pk})
    return StepsWriting.objects.get()


def test_an_admin_asks_and_a_worker_writes_the_next_version(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    with providing(reply=STEPS) as provider:
        judge = judge_at(cast, provider)
        make_judgment(judge, cast.items[0], cast.dimensions[0])
        assert "2 calls, one for each dimension" in text_of(client.get(page_of(judge)))
        writing = asked_for(client, judge)
        assert "waiting for a worker" in text_of(client.get(page_of(judge)))
        assert asked_for(client, judge) == writing, "one at a time"
        run_job("steps", writing.pk)
        run_job("steps", writing.pk)
    writing.refresh_from_db()
    assert (writing.status, writing.template.version, len(provider.asked)) == ("finished", 2, 2)
    assert writing.spent == 2 * cost_of_call(judge)
    assert set(writing.template.wordings) == {str(each.pk) for each in cast.dimensions}
    shown = text_of(client.get(page_of(judge, "steps/"), headers={"HX-Request": "true"}))
    assert "See version 2" in shown


def cost_of_call(judge: Judge) -> Decimal:
    """What the provider's 100 tokens in and 50 out cost at the endpoint."""
    assert judge.endpoint
    assert judge.endpoint.input_price is not None
    assert judge.endpoint.output_price is not None
    return (judge.endpoint.input_price * 100 + judge.endpoint.output_price * 50) / 10**6


def test_a_worker_that_died_is_followed_by_one_that_asks_for_the_rest(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    with providing(reply=STEPS) as provider:
        judge = judge_at(cast, provider)
        writing = asked_for(client, judge)
        first = str(cast.dimensions[0].pk)
        PromptTemplate.objects.filter(pk=writing.template_id).update(wordings={first: "Steps of before"})
        dead = {"status": "asking", "lease": uuid4(), "attempts": 1}
        StepsWriting.objects.update(**dead, touched_at=timezone.now())
        run_job("steps", writing.pk)
        assert provider.asked == [], "the other worker may be alive"
        StepsWriting.objects.update(touched_at=timezone.now() - SILENT_AFTER - timedelta(seconds=1))
        assert "No worker is running" in text_of(client.get(page_of(judge)))
        run_job("steps", writing.pk)
    writing.refresh_from_db()
    assert (writing.status, len(provider.asked)) == ("finished", 1)
    assert writing.template.wordings[first] == "Steps of before"


def test_document_without_steps_has_a_reason_and_can_be_retried(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    with providing(reply="I cannot.") as provider:
        judge = judge_at(cast, provider)
        writing = asked_for(client, judge)
        run_job("steps", writing.pk)
        shown = text_of(client.get(page_of(judge)))
        assert "Fluency: " in shown
        assert "stopped" in shown
        client.post(page_of(judge, "steps/"), {"judge": judge.pk})
        assert StepsWriting.objects.count() == 2


def test_job_that_ends_its_workers_is_abandoned(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    with providing(reply=STEPS) as provider:
        writing = asked_for(client, judge_at(cast, provider))
        StepsWriting.objects.update(attempts=MAX_TAKES)
        run_job("steps", writing.pk)
    writing.refresh_from_db()
    assert (writing.status, writing.reason, provider.asked) == ("stopped", GAVE_UP, [])


def test_a_worker_writes_the_proposed_schema_of_summequal(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    with providing(reply='{"who": "Who is it about?", "why": "Why?"}') as provider:
        endpoint = make_priced_endpoint(cast.project, provider.base_url)
        judge = make_judge(cast.project, "summequal", endpoint=endpoint, name="S")
        shown = text_of(client.get(page_of(judge)))
        assert "Let a model propose the schema" in shown
        assert "1 call." in shown
        writing = asked_for(client, judge)
        run_job("steps", writing.pk)
    writing.refresh_from_db()
    assert (writing.status, writing.spent, len(provider.asked)) == ("finished", cost_of_call(judge), 1)
    assert "=== schema ===\nwho: Who is it about?\nwhy: Why?\n\n===" in writing.template.text


def test_prompts_without_steps_and_readers_are_not_asked(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    with providing(reply=STEPS) as provider:
        stepped = judge_at(cast, provider)
        plain = make_judge(cast.project, "rts", endpoint=stepped.endpoint, name="R")
        assert "Let a model write the steps" not in text_of(client.get(page_of(plain)))
        client.post(page_of(plain, "steps/"), {"judge": stepped.pk})
        assert "no numbered steps" in text_of(client.get(page_of(plain)))
        researcher = make_member(cast.project, Role.RESEARCHER)
        assert researcher.user
        client.force_login(researcher.user)
        assert client.post(page_of(stepped, "steps/"), {"judge": stepped.pk}).status_code == 404
        assert "Write the steps" not in text_of(client.get(page_of(stepped)))
    assert not StepsWriting.objects.exists()
