"""A search over combinations of proposals: it finds what helps within its budget, and claims no more."""

from decimal import Decimal
from typing import Any

import pytest
from django.urls import reverse

from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.jobs import run_job
from concord_client import RefusedError
from judges.core.models import DevelopmentDocument, Judge, Judgment, PromptSearch, PromptTemplate, Run
from judges.laboratory.commands.proposals import accept_proposal, draw_parts, propose_text
from judges.laboratory.commands.searches import cancel_search, plan_search, start_search
from judges.laboratory.queries.cases import proposals_of
from judges.laboratory.queries.searches import state_of_search
from judges.laboratory.tables.alignment import alignment_sections
from judges.laboratory.tables.experiments import RUN
from judges.runs.commands.collecting import collect
from judges.runs.commands.runs import cancel_run
from tests.api.client import concord
from tests.factories import make_user
from tests.judges.factories import make_endpoint, make_judge, make_priced_endpoint
from tests.judges.laboratory.rumours import CLARIFICATION, NOISE, SECOND, answer_in_two_steps, run
from tests.judges.news import imported_news
from tests.judges.pages import text_of
from tests.judges.replay import replay

__all__ = ["replay"]
pytestmark = pytest.mark.django_db(transaction=True)
# "once" marks tests of computed values; stopped, repeated and killed work is played on both databases.

CALL = Decimal("0.0006")  # 100 tokens at 2 and 50 at 8 for a million


@pytest.fixture
def learning(cast, judge):
    """Give the project a development part of eight documents, and the judge its values."""
    draw_parts(project=cast.project, teach=0, select=8, by=cast.admin)
    run(cast, judge)
    return cast


def proposed(cast, judge, *texts):
    return [
        propose_text(
            judge=judge, dimension=cast.dimensions[0], kind="clarification", text=text, by=cast.admin
        )
        for text in texts
    ]


def planned(cast, judge, proposals, *, most_candidates=7, **how):
    return plan_search(
        judge=judge,
        dimension=cast.dimensions[0],
        proposals=proposals,
        most_candidates=most_candidates,
        by=cast.admin,
        **how,
    )


def searched(cast, search):
    """Let a worker ask and go on until the search ends."""
    search = start_search(search=search, by=cast.admin)
    for _ in range(40):
        if search.status != "running":
            return search
        if search.run_id:
            collect(run=search.run_id, seconds=60)
        else:
            run_job("drafting", search.draftings.latest("pk").pk)
        run_job("search", search.pk)
        search.refresh_from_db()
    raise AssertionError(state_of_search(search).progress)


def chosen_by(search):
    return search.candidates.get(is_chosen=True)


def learned_rows(cast) -> dict[str, dict[str, Any]]:
    """Return the cells of each judge that learned, by its name and column."""
    section, _ = alignment_sections(cast.project, {"judge": str(cast.project.judges.first().pk)})
    (table,) = section.tables
    keys = [column.key for column in table.columns]
    rows = [dict(zip(keys, row, strict=True)) for row in table.rows]
    return {str(row["judge"].value): row for row in rows}


@pytest.mark.once
def test_it_finds_the_clarification_within_its_budget_and_looks_at_held_out_documents_once(
    learning, judge, provider
):
    before = len(provider.asked)
    proposals = proposed(learning, judge, "Read slowly.", CLARIFICATION, "Be fair.")
    search = planned(learning, judge, proposals, budget=Decimal("0.2"))
    # 7 candidates on 2 documents, 4 on 4, 2 on 8; 3 texts each; then one on 12 documents held out.
    assert search.stages == [[7, 2], [4, 4], [2, 8]]
    assert search.planned_calls == 3 * (7 * 2 + 4 * 2 + 2 * 4 + 12)
    assert len(provider.asked) == before
    search = searched(learning, search)
    assert (search.status, search.reason) == ("finished", "")
    assert [each.text for each in chosen_by(search).parts.all()] == [CLARIFICATION], (
        "the simplest that has it"
    )
    assert len(provider.asked) - before == search.planned_calls
    state = state_of_search(search)
    assert state.spent == search.planned_calls * CALL <= Decimal("0.2")
    held_out = Judgment.objects.exclude(
        item__document__in=DevelopmentDocument.objects.values("document")
    ).exclude(judge=judge)
    assert set(held_out.values_list("judge", flat=True)) == {chosen_by(search).candidate_id}
    rows = learned_rows(learning)
    chosen = rows[chosen_by(search).candidate.name]
    assert (chosen["select_after"].value, chosen["after"].value) == (1, 1)
    assert chosen["gain"].low > 0
    assert chosen["p"].value < 0.05
    assert len(rows) == 1, "Candidates that were not chosen are no judges of the project"


@pytest.mark.once
def test_candidates_are_judges_of_the_search_alone_until_one_is_chosen(learning, judge, client):
    search = planned(learning, judge, proposed(learning, judge, CLARIFICATION, "Be fair."))
    search = start_search(search=search, by=learning.admin)
    assert search.run_id
    collect(run=search.run_id, seconds=60)
    tried = Judge.with_candidates.filter(tried_by=search)
    assert tried.count() == 3
    assert list(learning.project.judges.all()) == [judge]
    assert [key for key, _ in RUN.choices(learning.project)] == ["all"], "its runs are no experiments"
    client.force_login(learning.admin)
    slug = learning.project.slug
    for section in ("judges", "templates", "run_plan"):
        assert "search" not in text_of(client.get(reverse(section, args=[slug]))).lower().replace(
            "research", ""
        )
    assert client.get(reverse("judge", args=[slug, tried.earliest("pk").pk])).status_code == 404
    search = searched(learning, search)
    chosen = chosen_by(search).candidate
    assert set(learning.project.judges.all()) == {judge, chosen}
    versions = PromptTemplate.objects.filter(project=learning.project).values_list("name", "version")
    assert set(versions) == {(judge.template.name, 1), (judge.template.name, 2)}


@pytest.mark.once
def test_each_round_learns_from_the_errors_of_the_best_candidate(cast, provider):
    """Each clarification mends one error; the model names the second once the first is gone."""
    draw_parts(project=cast.project, teach=8, select=6, by=cast.admin)
    provider.reply_to = answer_in_two_steps
    endpoint = make_priced_endpoint(cast.project, provider.base_url)
    judge = make_judge(cast.project, "direct", endpoint=endpoint, name="Base")
    run(cast, judge)
    search = planned(cast, judge, proposed(cast, judge, "Be fair."), rounds=4, budget=Decimal(1))
    drafts = 3 * (3 * 8 + 3 + 4 * 3 * 6)
    assert search.planned_calls == 3 * 6 + drafts + 3 * 6  # 6 documents held out
    search = searched(cast, search)
    assert (search.status, search.reason) == ("finished", "")
    chosen = chosen_by(search)
    assert {CLARIFICATION, SECOND} <= set(chosen.parts.values_list("text", flat=True))
    assert search.round == 3, "In the third round nothing is wrong any more"
    assert [each["alpha"] for each in chosen.ranks] == [1.0]
    assert {each.drafting.search for each in chosen.parts.exclude(drafting=None)} == {search}
    assert state_of_search(search).spent <= Decimal(1)
    assert not proposals_of(cast.project).filter(drafting__search=search).exists()
    (row,) = learned_rows(cast).values()
    assert (row["before"].value < row["after"].value, row["after"].value) == (True, 1)


def test_search_out_of_budget_between_rounds_continues_with_more(cast, judge, provider):
    draw_parts(project=cast.project, teach=8, select=6, by=cast.admin)
    provider.reply_to = answer_in_two_steps
    run(cast, judge)
    first = 3 * 6 * CALL  # the first round: one candidate on six documents
    search = planned(
        cast, judge, proposed(cast, judge, "Be fair."), rounds=2, budget=first + Decimal("0.003")
    )
    search = searched(cast, search)
    assert (search.status, search.step) == ("stopped", "draft")
    assert "does not allow one more call" in search.reason
    search = start_search(search=search, budget=Decimal(1), by=cast.admin)
    assert searched(cast, search).status == "finished"
    assert chosen_by(search).parts.filter(text=CLARIFICATION).exists()


def test_failed_calls_are_repeated_before_candidates_are_ranked(learning, judge, provider):
    search = planned(learning, judge, proposed(learning, judge, CLARIFICATION))
    search = start_search(search=search, by=learning.admin)
    assert search.run_id
    collect(run=search.run_id, seconds=60)
    asked = Judgment.objects.filter(run=search.run_id)
    asked.update(status="failed", value=None, reason="The server was away.", answered_at=None)
    run_job("search", search.pk)
    search.refresh_from_db()
    assert (search.step, search.status) == ("repeat", "running")
    search = searched(learning, search)
    assert search.status == "finished"
    assert chosen_by(search).ranks[0]["alpha"] == 1


def test_search_reports_the_reason_for_its_pause_and_continues(learning, judge):
    search = start_search(
        search=planned(learning, judge, proposed(learning, judge, CLARIFICATION)), by=learning.admin
    )
    Run.objects.filter(searches=search).update(status="paused", reason="11 of 39 replies are unreadable.")
    state = state_of_search(PromptSearch.objects.get())
    assert state.progress == (
        f"Run {search.run_id} is paused, so the search waits. 11 of 39 replies are unreadable."
    )
    assert searched(learning, search).status == "finished"


@pytest.mark.once
def test_every_look_at_held_out_documents_is_corrected_for(learning, judge):
    first = searched(learning, planned(learning, judge, proposed(learning, judge, CLARIFICATION)))
    (row,) = learned_rows(learning).values()
    alone = row["p"].value
    other = f"{CLARIFICATION} Always."
    searched(learning, planned(learning, judge, proposed(learning, judge, other)))
    rows = learned_rows(learning)
    assert len(rows) == 2
    assert rows[chosen_by(first).candidate.name]["p"].value == pytest.approx(min(1, 2 * alone))


@pytest.mark.once
def test_among_noise_it_claims_no_improvement(learning, judge):
    """The judge as it is has noise of the same law; what is claimed how often is in test_halving.py."""
    (own,) = proposed(learning, judge, f"{NOISE} 0.")
    noisy = accept_proposal(proposal=own, text=own.text, by=learning.admin)
    run(learning, noisy)
    others = proposed(learning, noisy, *(f"{NOISE} {letter}." for letter in "abcd"))
    search = searched(learning, planned(learning, noisy, others, most_candidates=4))
    assert search.status == "finished"
    rows = learned_rows(learning)
    gains = [each.ranks[-1]["alpha"] - each.ranks[-1]["base"] for each in search.candidates.all()]
    assert max(gains) > 0, "The best of many looks better"
    chosen = rows[chosen_by(search).candidate.name]
    assert chosen["p"].value >= 0.05 or chosen["gain"].value <= 0


@pytest.mark.once
def test_search_without_improvement_skips_held_out_documents(learning, judge, provider):
    search = searched(learning, planned(learning, judge, proposed(learning, judge, "Be fair.")))
    assert (search.status, state_of_search(search).chosen) == ("finished", None)
    assert search.reason.startswith("No candidate agrees better with people")
    drawn = DevelopmentDocument.objects.values("document")
    assert not Judgment.objects.exclude(judge=judge).exclude(item__document__in=drawn).exists()


@pytest.mark.once
def test_fewer_calls_take_fewer_development_documents(learning, judge):
    proposals = proposed(learning, judge, CLARIFICATION, "Be fair.")
    search = planned(learning, judge, proposals, most_candidates=2, most_calls=70)
    assert search.stages == [[2, 5]]
    assert search.planned_calls == 3 * (2 * 5 + 12) <= 70
    with pytest.raises(InvalidValueError, match="takes 48 calls at least"):
        planned(learning, judge, proposals, most_candidates=2, most_calls=20)


def test_search_stops_at_its_budget_and_continues_with_a_larger_one(learning, judge):
    proposals = proposed(learning, judge, CLARIFICATION)
    search = searched(learning, planned(learning, judge, proposals, budget=Decimal("0.0100")))
    assert search.status == "stopped"
    assert search.reason.startswith("The budget of 0.01 does not allow one more call")
    assert state_of_search(search).spent <= Decimal("0.0100")
    start_search(search=search, budget=Decimal(1), by=learning.admin)
    search.refresh_from_db()
    assert search.status == "running"
    assert searched(learning, search).status == "finished"


def test_duplicate_or_crashed_worker_changes_nothing_twice(learning, judge):
    search = planned(learning, judge, proposed(learning, judge, CLARIFICATION, "Be fair.", "Be quick."))
    search = start_search(search=search, by=learning.admin)
    assert start_search(search=search, by=learning.admin).run_id == search.run_id
    run_job("search", search.pk)  # its run goes on
    search.refresh_from_db()
    assert search.stage == 0
    assert search.run_id
    collect(run=search.run_id, seconds=60)
    for _ in range(2):
        run_job("search", search.pk)
    search.refresh_from_db()
    assert search.stage == 1
    assert search.runs.count() == 2
    assert search.candidates.filter(dropped_after=0).count() == 3


def test_cancelled_run_stops_its_search_which_then_restarts_the_stage(learning, judge):
    search = start_search(
        search=planned(learning, judge, proposed(learning, judge, CLARIFICATION)), by=learning.admin
    )
    assert search.run
    cancel_run(run=search.run)
    run_job("search", search.pk)
    search.refresh_from_db()
    assert (search.status, search.reason) == ("stopped", f"Run {search.run_id} was cancelled.")
    assert searched(learning, search).status == "finished"
    with pytest.raises(NotReadyError, match="is over"):
        start_search(search=search, by=learning.admin)


def test_ended_search_sends_no_call(learning, judge):
    search = start_search(
        search=planned(learning, judge, proposed(learning, judge, CLARIFICATION)), by=learning.admin
    )
    for _ in range(2):
        search = cancel_search(search=search, by=learning.admin)
    assert search.status == "cancelled"
    assert list(Run.objects.filter(searches=search).values_list("status", flat=True)) == ["cancelled"]
    run_job("search", search.pk)
    search.refresh_from_db()
    assert search.attempts == 0


@pytest.mark.once
def test_unsearchable_input_is_rejected_with_a_message(learning, judge):
    (proposal,) = proposed(learning, judge, CLARIFICATION)
    other = make_judge(learning.project, "direct", endpoint=make_endpoint(learning.project, name="Free"))
    for whose, proposals in ((judge, []), (other, [proposal])):
        with pytest.raises(InvalidValueError, match="Choose drafted proposals for"):
            planned(learning, whose, proposals)
    with pytest.raises(InvalidValueError, match="The prices of Free are unknown"):
        planned(learning, other, proposed(learning, other, CLARIFICATION), budget=Decimal(1))
    with pytest.raises(InvalidValueError, match="A second round needs documents for teaching"):
        planned(learning, judge, [proposal], rounds=2)
    assert not PromptSearch.objects.exists()


@pytest.mark.once
def test_pages_plan_start_and_show_the_search(learning, judge, client):
    proposals = proposed(learning, judge, CLARIFICATION, "Be fair.")
    client.force_login(learning.admin)
    home = reverse("alignment", args=[learning.project.slug])
    assert client.post(f"{home}search/", {"most_candidates": 2}).status_code == 422
    form = {"proposals": [each.pk for each in proposals], "most_candidates": 2, "rounds": 1}
    page = client.post(f"{home}search/", form).headers["Location"]
    assert "Up to 84 calls. They cost about 0." in text_of(client.get(page))
    client.post(page)
    search = PromptSearch.objects.get()
    part = client.get(page, headers={"HX-Request": "true"}).content.decode()
    assert "Round 1 of 1, stage 1 of 1: 2 candidates, 8 documents." in " ".join(part.split())
    assert "<html" not in part
    searched(learning, search)
    assert "was the best candidate on the documents for selecting" in text_of(client.get(page))
    assert f"Search {search.pk}" in text_of(client.get(home))
    client.force_login(learning.researcher)
    assert "Go on" not in text_of(client.get(page))
    assert client.post(page).status_code in (403, 404)
    client.force_login(learning.outsider)
    assert client.get(page).status_code == 404


def test_the_command_shows_the_cost_and_searches(learning, judge):
    (proposal,) = proposed(learning, judge, CLARIFICATION, "Be fair.")[:1]
    proposals = list(proposals_of(learning.project).values_list("pk", flat=True))
    assert proposal.pk in proposals
    wanted = ("--proposals", *proposals, "--most-candidates", 2, "--rounds", 1)
    slug = learning.project.slug
    planned = concord(learning.admin, "searches", "add", slug, *wanted, "--budget", "1")["search"]
    assert (planned["planned_calls"], planned["status"]) == (84, "planned")
    assert Decimal(planned["planned_cost"]) > 0
    assert not Run.objects.filter(pk=planned["run"]).exists()
    concord(learning.admin, "searches", "start", slug, planned["id"])
    searched(learning, PromptSearch.objects.get())
    found = concord(learning.admin, "searches", "show", slug, planned["id"])
    assert found["search"]["status"] == "finished"
    assert found["chosen"] == found["candidates"][0]["judge"] is not None
    assert Decimal(found["spent"]) == 84 * CALL
    with pytest.raises(SystemExit):
        concord(learning.admin, "searches", "add", slug, *wanted, "--budget", "x")
    with pytest.raises(RefusedError, match="budget"):
        concord(learning.admin, "searches", "add", slug, *wanted, "--budget", "0")


@pytest.mark.once
def test_a_model_that_does_not_learn_is_not_said_to(replay):
    """Recorded replies stay as they were, whatever stands in the prompt."""
    admin = make_user()
    project = imported_news(admin)
    relevance = project.dimensions.get(key="relevance")
    draw_parts(project=project, teach=2, select=4, by=admin)
    server = replay()
    endpoint = make_priced_endpoint(project, server.base_url)
    judge = make_judge(project, "rts", endpoint=endpoint, name="Recorded", model="gpt-3.5-turbo-0301")
    proposal = propose_text(judge=judge, dimension=relevance, kind="clarification", text="Be fair.", by=admin)
    search = plan_search(judge=judge, dimension=relevance, proposals=[proposal], most_candidates=1, by=admin)
    search = start_search(search=search, by=admin)
    assert search.run_id
    collect(run=search.run_id, seconds=60)
    run_job("search", search.pk)
    search.refresh_from_db()
    (rank,) = search.candidates.get().ranks or []
    assert (rank["items"], rank["alpha"]) == (48, rank["base"])
    assert (search.status, state_of_search(search).chosen) == ("finished", None)
    assert (
        not Judgment.objects.filter(judge__project=project)
        .exclude(item__document__development__part="select")
        .exists()
    )


def test_a_worker_that_dies_after_drafting_costs_no_draft(cast, judge, provider):
    draw_parts(project=cast.project, teach=8, select=6, by=cast.admin)
    provider.reply_to = answer_in_two_steps
    run(cast, judge)
    search = start_search(
        search=planned(cast, judge, proposed(cast, judge, "Be fair."), rounds=2), by=cast.admin
    )
    for _ in range(10):
        if search.step == "draft":
            break
        assert search.run_id
        collect(run=search.run_id, seconds=60)
        run_job("search", search.pk)
        search.refresh_from_db()
    run_job("drafting", search.draftings.get().pk)
    asked = len(provider.asked)
    PromptSearch.objects.update(status="stopped", reason="The worker died three times.")
    search = start_search(search=PromptSearch.objects.get(), by=cast.admin)
    run_job("search", search.pk)
    search.refresh_from_db()
    assert (search.step, search.round, search.draftings.count()) == ("select", 2, 1)
    assert len(provider.asked) == asked, "what was drafted is not drafted again"
    assert searched(cast, search).status == "finished"


def test_unranked_stage_runs_again(learning, judge):
    search = start_search(
        search=planned(learning, judge, proposed(learning, judge, CLARIFICATION)), by=learning.admin
    )
    for _ in range(2):  # the calls fail, and once more
        assert search.run_id
        collect(run=search.run_id, seconds=60)
        Judgment.objects.filter(run=search.run_id).update(
            status="failed", value=None, reason="The server was away.", answered_at=None
        )
        run_job("search", search.pk)
        search.refresh_from_db()
    assert search.status == "stopped"
    assert "values are missing" in search.reason
    assert searched(learning, search).status == "finished"
    assert chosen_by(search).ranks[-1]["alpha"] == 1
