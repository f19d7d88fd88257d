"""What models draft: planned with its cost, asked by a worker, safe to run twice, within a budget."""

from datetime import timedelta
from decimal import Decimal
from threading import Semaphore

import pytest
from django.db import connection
from django.urls import reverse
from django.utils import timezone

from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.jobs import run_job
from judges.core.models import Drafting, Proposal
from judges.laboratory.commands.draftings import discard_drafting, start_drafting
from judges.laboratory.commands.proposals import accept_proposal, draw_parts, propose_examples
from judges.laboratory.queries.searches import state_of_drafting
from tests.jobs import due_keys
from tests.judges.factories import make_endpoint, make_judge
from tests.judges.laboratory.rumours import CLARIFICATION, drafted, judge_all, planned
from tests.judges.pages import text_of
from tests.judges.workers import wait_until, worker

pytestmark = pytest.mark.django_db(transaction=True)

CALL = Decimal("0.0006")  # 100 tokens at 2 and 50 at 8 for a million


@pytest.fixture
def learning(cast, judge):
    """Give the project a development part, and the judge its values."""
    draw_parts(project=cast.project, teach=8, select=0, by=cast.admin)
    judge_all(cast, judge)
    return cast


def asked_of(drafting):
    run_job("drafting", drafting.pk)
    drafting.refresh_from_db()
    return drafting


def died(drafting):
    """Leave a drafting as a worker does that dies during a call."""
    long_ago = timezone.now() - timedelta(hours=1)
    lease = "11111111-1111-1111-1111-111111111111"
    Drafting.objects.filter(pk=drafting.pk).update(status="asking", lease=lease, touched_at=long_ago)
    drafting.proposals.filter(pk=drafting.proposals.first().pk).update(is_in_flight=True)


def test_drafting_sends_no_call_before_its_start_and_shows_its_cost(learning, judge, provider):
    drafting = planned(learning, judge)
    left = state_of_drafting(drafting).left
    assert (left.calls, left.output_tokens) == (1, 400)
    assert left.cost == (Decimal(2) * left.input_tokens + Decimal(8) * 400) / 1_000_000
    assert asked_of(drafting).status == "planned"
    assert not provider.asked
    started = start_drafting(drafting=drafting, by=learning.admin)
    assert start_drafting(drafting=started, by=learning.admin).status == "waiting"
    for _ in range(2):
        drafting = asked_of(drafting)
    assert (drafting.status, drafting.spent, len(provider.asked)) == ("finished", CALL, 1)
    proposal = drafting.proposals.get()
    assert (proposal.status, proposal.text, proposal.cost) == ("proposed", CLARIFICATION, CALL)
    assert provider.asked[0]["messages"][0]["content"] == proposal.request


def test_wording_is_a_whole_prompt_and_needs_its_placeholders(learning, judge, provider):
    (wording,) = drafted(learning, judge, kind="wording", most=1)
    learned = accept_proposal(proposal=wording, text=wording.text, by=learning.admin)
    assert learned.template
    assert learned.template.text_about(learning.dimensions[0].pk) == wording.text
    assert CLARIFICATION in wording.text
    provider.reply_to = lambda _body: "Rate the text."
    (failed,) = drafted(learning, judge, kind="wording", most=1)
    assert failed.status == "failed"
    assert "text" in failed.problem
    with pytest.raises(NotReadyError, match="This proposal is empty"):
        accept_proposal(proposal=failed, text="Rate it.", by=learning.admin)


def test_wording_of_a_prompt_keeps_its_pool_of_examples(learning, judge):
    dimension = learning.dimensions[0]
    proposal = propose_examples(judge=judge, dimension=dimension, count=2, nearest=True, by=learning.admin)
    learned = accept_proposal(proposal=proposal, text=proposal.text, by=learning.admin)
    judge_all(learning, learned)
    (wording,) = drafted(learning, learned, kind="wording", most=1)
    assert proposal.text not in wording.request
    assert proposal.text in wording.text
    assert CLARIFICATION in wording.text


def test_killed_worker_loses_only_its_call_whose_possible_cost_counts(learning, judge, provider):
    drafting = start_drafting(drafting=planned(learning, judge), by=learning.admin)
    died(drafting)
    expected = state_of_drafting(drafting).left.cost
    assert expected
    assert due_keys("drafting") == [drafting.pk]
    assert asked_of(drafting).status == "finished"
    assert drafting.spent == expected + CALL
    assert len(provider.asked) == 1
    assert due_keys("drafting") == []


def test_a_silent_worker_that_comes_back_writes_nothing(learning, judge, provider):
    drafting = start_drafting(drafting=planned(learning, judge), by=learning.admin)

    def take_over(_body):
        Drafting.objects.update(lease="22222222-2222-2222-2222-222222222222")
        connection.close()  # of the provider's thread
        return CLARIFICATION

    provider.reply_to = take_over
    assert asked_of(drafting).status == "asking", "it belongs to the other worker"
    assert drafting.proposals.get().status == "drafting"


def test_a_real_worker_is_killed_in_a_call_and_another_ends_the_drafting(learning, judge, provider, tmp_path):
    provider.answers = Semaphore(0)
    drafting = start_drafting(drafting=planned(learning, judge), by=learning.admin)
    with worker(tmp_path, lease=600) as process:
        assert wait_until(lambda: provider.in_flight.total() == 1), process.story()
        process.kill()
    provider.answers.release(2)
    assert drafting.proposals.get().is_in_flight
    Drafting.objects.update(touched_at=timezone.now() - timedelta(hours=1))
    assert asked_of(drafting).status == "finished"
    assert drafting.proposals.get().text == CLARIFICATION
    assert drafting.spent > CALL


def test_drafting_stops_at_its_budget_and_continues_with_a_larger_one(learning, judge, provider):
    drafting = planned(learning, judge, kind="wording", most=2)
    whole = state_of_drafting(drafting).left.cost
    assert whole
    budget = round(whole / 2, 4) + Decimal("0.0002")  # for one call at the most, and not for one more
    start_drafting(drafting=drafting, budget=budget, by=learning.admin)
    assert asked_of(drafting).status == "stopped"
    assert drafting.reason.startswith(f"The budget of {budget} does not allow one more call")
    assert (len(provider.asked), drafting.proposals.filter(status="proposed").count()) == (1, 1)
    assert drafting.spent <= budget
    start_drafting(drafting=drafting, budget=Decimal(1), by=learning.admin)
    assert asked_of(drafting).status == "finished"
    assert len(provider.asked) == 2


def test_failures_give_one_message_and_can_be_retried(learning, judge, provider):
    provider.reply_to = lambda _body: " "
    (empty,) = drafted(learning, judge)
    assert empty.drafting
    assert (empty.status, empty.problem) == ("failed", "The reply is empty.")
    drafting = empty.drafting
    provider.status, provider.error = 401, "no such key"
    start_drafting(drafting=drafting, by=learning.admin)
    assert asked_of(drafting).status == "stopped"
    assert drafting.reason
    assert "\n" not in drafting.reason
    provider.status, provider.reply_to = 200, lambda _body: CLARIFICATION
    start_drafting(drafting=drafting, by=learning.admin)
    assert asked_of(drafting).status == "finished"
    with pytest.raises(NotReadyError, match="All proposals are drafted"):
        start_drafting(drafting=drafting, by=learning.admin)


def test_dimensions_without_a_draft_can_be_skipped(learning, judge):
    drafting = planned(learning, judge)
    discard_drafting(drafting=drafting, by=learning.admin)
    assert not Proposal.objects.exists()
    drafting.refresh_from_db()
    assert drafting.status == "finished"


def test_a_budget_needs_prices(learning):
    free = make_judge(learning.project, "direct", endpoint=make_endpoint(learning.project, name="Free"))
    with pytest.raises(InvalidValueError, match="The prices of Free are unknown"):
        planned(learning, free, budget=Decimal(1))


def test_page_shows_cost_and_progress_to_readers_and_lets_admins_start(learning, judge, client):
    drafting = planned(learning, judge)
    page = reverse("alignment_drafting", args=[learning.project.slug, drafting.pk])
    client.force_login(learning.outsider)
    assert client.get(page).status_code == 404
    client.force_login(learning.researcher)
    assert "Call the model" not in text_of(client.get(page))
    assert client.post(page).status_code in (403, 404)
    client.force_login(learning.admin)
    assert "Call the model" in text_of(client.get(page))
    assert client.post(page, {"budget": "0"}).status_code == 422
    client.post(page, {"budget": "2"})
    waiting = client.get(page, headers={"HX-Request": "true"}).content.decode()
    assert 'hx-trigger="every 2s"' in waiting
    assert "<html" not in waiting
    asked_of(drafting)
    assert "1 of 1 drafted" in text_of(client.get(page))
    assert "every 2s" not in client.get(page).content.decode()
