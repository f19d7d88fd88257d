from datetime import timedelta
from decimal import Decimal
from uuid import uuid4

import pytest
from django.utils import timezone

from annotate.core.models import Role
from judges.core.models import Batch, Endpoint, Judgment, Run
from judges.runs.commands.endings import stop_run, used_up
from judges.runs.commands.runs import pause_run, start_run
from judges.runs.commands.silence import note_failure
from tests.factories import make_member, make_project
from tests.judges.factories import make_endpoint, make_judge, make_judgment, make_priced_endpoint, make_run
from tests.judges.pages import HTMX, address, html_of, text_of
from tests.rating.rounds import opened

pytestmark = pytest.mark.django_db

FAILED = {"status": Judgment.Status.FAILED, "value": None, "reply": "", "reason": "No answer within 10 s."}
UNREADABLE = {
    "status": Judgment.Status.UNREADABLE,
    "value": None,
    "reply": "I cannot.",
    "reason": "A refusal.",
}


@pytest.fixture
def cast(client):
    cast = make_project()
    client.force_login(cast.admin)
    return cast


def outcomes(run, *outcomes):
    """Give the first judgments of a run these outcomes; one without reason is done."""
    for judgment, outcome in zip(Judgment.objects.filter(run=run).order_by("pk"), outcomes, strict=False):
        done = {"status": Judgment.Status.DONE, "value": 3}
        values = {"answered_at": timezone.now(), "attempts": 1, **(outcome or done)}
        Judgment.objects.filter(pk=judgment.pk).update(**values)


def plan(client, cast, **sent):
    judges = [judge.pk for judge in cast.project.judges.all()]
    headers = sent.pop("headers", {})
    sent = {"judges": judges, "dimensions": ["fluency"], **sent}
    return client.post(address(cast, "runs/new/"), sent, headers=headers)


def show(client, cast, **sent):
    return text_of(plan(client, cast, show="plan", **sent))


def step(client, cast, run, step):
    reply = client.post(address(cast, f"runs/{run.pk}/{step}/"))
    run.refresh_from_db()
    return reply


# The plan


def test_plan_appears_and_writes_nothing(client, cast):
    make_judge(cast.project, endpoint=make_priced_endpoint(cast.project, requests_per_minute=2))
    shown = show(client, cast)
    assert "judgments 4 there already 0 calls to make 4" in shown
    assert "time 2 min" in shown
    assert "2 min at its limits, its pace is not measured yet" in shown
    assert not Run.objects.exists()


def test_unknown_prices_appear_as_unknown(client, cast):
    make_judge(cast.project)
    assert "cost unknown time unknown" in show(client, cast)


def test_the_fragment_of_the_plan_is_its_part_of_the_page(client, cast):
    make_judge(cast.project)
    fragment = html_of(plan(client, cast, show="plan", headers=HTMX))
    assert fragment.startswith('<div class="preview judge-plan"')
    assert fragment in html_of(plan(client, cast, show="plan"))


def test_a_plan_is_started_within_its_budget(client, cast):
    make_judge(cast.project, endpoint=make_priced_endpoint(cast.project))
    reply = plan(client, cast, budget="1.5")
    run = Run.objects.get()
    assert reply.url == address(cast, f"runs/{run.pk}/")
    assert (run.status, run.budget, run.created_by) == (Run.Status.RUNNING, Decimal("1.5"), cast.admin)
    assert run.judgments.count() == 4


@pytest.mark.parametrize(
    ("sent", "says"),
    [
        ({"judges": []}, "Judges: Choose at least one."),
        ({"dimensions": []}, "Dimensions: Choose at least one."),
        ({"dimensions": ["style"]}, "Select a valid choice."),
        ({"budget": "-1"}, "greater than or equal to"),
        ({"budget": "5"}, "so Concord cannot enforce a budget"),
        ({"pairs": "chosen"}, "Choose at least one pair of systems."),
        ({"pairs": "neighbours"}, "need ratings by people"),
    ],
)
def test_unrunnable_choice_is_rejected_with_a_message(client, cast, sent, says):
    make_judge(cast.project, "h2h")
    reply = plan(client, cast, **sent)
    assert reply.status_code == 422
    assert says in text_of(reply)
    assert not Run.objects.exists()


def test_dimension_unsupported_by_a_judge_is_rejected(client, cast):
    cast.project.dimensions.update(measurement_level="nominal")
    make_judge(cast.project, "stars")
    assert "has named categories" in show(client, cast)
    assert plan(client, cast).status_code == 422
    assert not Run.objects.exists()


def test_chosen_pairs_are_the_only_ones_asked(client):
    cast = make_project(systems=3)
    client.force_login(cast.admin)
    make_judge(cast.project, "h2h")
    first, second = (item.system_id for item in cast.items[:2])
    plan(client, cast, pairs="chosen", chosen_pairs=[f"{first}-{second}"])
    asked = Judgment.objects.values_list("item__system", "other__system").distinct()
    assert set(asked) == {(first, second), (second, first)}


def test_complete_judgments_create_no_run(client, cast):
    judge = make_judge(cast.project)
    make_run(cast.project, judge)
    reply = plan(client, cast)
    assert reply.status_code == 422
    assert "nothing is missing" in text_of(reply)
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("prices", "budget", "says"),
    [
        (False, "5", "A price is unknown, so no budget can be kept"),
        (True, "0.0001", "It may cost more than the budget"),
    ],
)
def test_insufficient_budget_is_reported_before_the_start(client, cast, prices, budget, says):
    endpoint = make_priced_endpoint(cast.project) if prices else make_endpoint(cast.project)
    make_judge(cast.project, endpoint=endpoint)
    assert says in show(client, cast, budget=budget)
    assert says not in show(client, cast, budget="")


def test_complete_plan_is_reported_before_the_start(client, cast):
    make_run(cast.project, make_judge(cast.project))
    shown = show(client, cast)
    assert "nothing is missing" in shown
    assert "4 existing judgments have no answer yet" in shown


def test_rejection_is_not_replaced_by_the_plan_on_page_load(client, cast):
    make_judge(cast.project)
    assert 'hx-trigger="load, ' in client.get(address(cast, "runs/new/")).content.decode()
    assert 'hx-trigger="change' in plan(client, cast, budget="5").content.decode()


def test_judges_of_another_project_cannot_be_planned(client, cast):
    make_judge(cast.project)
    other = make_judge(make_project().project)
    assert plan(client, cast, judges=[other.pk]).status_code == 422
    assert not Run.objects.exists()


def test_without_a_judge_there_is_nothing_to_plan(client, cast):
    assert "No judge has an endpoint." in text_of(client.get(address(cast, "runs/new/")))


# A run


def test_run_reports_its_progress(client, cast):
    judge = make_judge(cast.project, endpoint=make_priced_endpoint(cast.project))
    run = start_run(run=make_run(cast.project, judge, budget=Decimal(3)))
    outcomes(run, None, FAILED, UNREADABLE)
    Judgment.objects.filter(run=run).update(cost=Decimal("0.1"))
    Run.objects.filter(pk=run.pk).update(spent=Decimal("1.234"))
    shown = text_of(client.get(address(cast, f"runs/{run.pk}/")))
    assert "running done 1 of 4 failed 1 unreadable 1" in shown
    assert "spent 1.23 USD of 3.00 USD" in shown
    assert "Pause Retry 1 failed Cancel" in shown
    assert "1 failed No answer within 10 s." in shown
    assert "1 unreadable A refusal." in shown


@pytest.mark.parametrize("path", ["runs/", "runs/{run}/"])
def test_run_names_its_judge_even_if_it_is_the_only_one(client, cast, path):
    run = make_run(cast.project, make_judge(cast.project, name="The only one"))
    assert "The only one" in text_of(client.get(address(cast, path.format(run=run.pk))))


def test_finished_run_links_to_its_results(client, cast):
    run = make_run(cast.project, make_judge(cast.project))
    Run.objects.filter(pk=run.pk).update(status=Run.Status.FINISHED)
    page = client.get(address(cast, f"runs/{run.pk}/")).content.decode()
    assert f"/projects/{cast.project.slug}/results/judges/" in page.split('id="run"')[1]


def test_spending_is_unknown_if_prices_are_unknown(client, cast):
    run = start_run(run=make_run(cast.project, make_judge(cast.project)))
    outcomes(run, None, None)
    assert "spent unknown" in text_of(client.get(address(cast, f"runs/{run.pk}/")))


@pytest.mark.parametrize("path", ["runs/", "runs/{run}/"])
def test_buttons_keep_their_focus_on_page_refresh(client, cast, path):
    run = start_run(run=make_run(cast.project, make_judge(cast.project)))
    page = client.get(address(cast, path.format(run=run.pk))).content.decode()
    assert f'id="pause-{run.pk}"' in page
    assert f'id="cancel-{run.pk}"' in page


def test_a_page_looks_again_only_while_something_can_change(client, cast):
    run = start_run(run=make_run(cast.project, make_judge(cast.project)))
    looks_again = 'hx-trigger="every 2s"'
    for path in (f"runs/{run.pk}/", "runs/"):
        assert looks_again in client.get(address(cast, path)).content.decode()
    pause_run(run=run)
    for path in (f"runs/{run.pk}/", "runs/"):
        assert looks_again not in client.get(address(cast, path)).content.decode()


@pytest.mark.parametrize("path", ["runs/", "runs/{run}/"])
def test_the_fragment_is_its_part_of_the_page(client, cast, path):
    run = start_run(run=make_run(cast.project, make_judge(cast.project)))
    Judgment.objects.filter(run=run)[0]
    outcomes(run, FAILED)
    where = address(cast, path.format(run=run.pk))
    fragment = html_of(client.get(where, headers=HTMX))
    assert fragment.startswith(("<section", "<div"))
    assert fragment in html_of(client.get(where))
    assert "HX-Request" in client.get(where).headers["Vary"]


def test_steps_pause_resume_and_cancel_a_run(client, cast):
    run = start_run(run=make_run(cast.project, make_judge(cast.project)))
    statuses = []
    for each in ("pause", "start", "cancel"):
        assert step(client, cast, run, each).url == address(cast, f"runs/{run.pk}/")
        statuses.append(run.status)
    assert statuses == ["paused", "running", "cancelled"]
    assert not run.judgments.exists()


def test_failed_judgments_are_retried(client, cast):
    run = start_run(run=make_run(cast.project, make_judge(cast.project)))
    outcomes(run, None, FAILED, UNREADABLE, None)
    Run.objects.filter(pk=run.pk).update(status=Run.Status.FINISHED)
    step(client, cast, run, "retry")
    assert run.status == Run.Status.RUNNING
    assert run.judgments.filter(status=Judgment.Status.PLANNED).count() == 1


def test_impossible_action_has_an_explanation(client, cast):
    run = make_run(cast.project, make_judge(cast.project))
    step(client, cast, run, "pause")
    shown = text_of(client.get(address(cast, f"runs/{run.pk}/")))
    assert "This run is planned; only a running one can be paused." in shown


def test_stopped_run_has_a_reason_and_can_be_resumed(client, cast):
    run = start_run(run=make_run(cast.project, make_judge(cast.project)))
    stop_run(run, "The server refuses the key: no such key.")
    for path in ("runs/", f"runs/{run.pk}/"):
        assert "The server refuses the key: no such key." in text_of(client.get(address(cast, path)))
    step(client, cast, run, "start")
    assert (run.status, run.reason) == ("running", "")


def test_run_without_a_worker_reports_it(client, cast):
    run = start_run(run=make_run(cast.project, make_judge(cast.project)))
    where = address(cast, f"runs/{run.pk}/")
    assert "No worker is running" not in text_of(client.get(where))
    Run.objects.filter(pk=run.pk).update(started_at=timezone.now() - timedelta(minutes=1))
    assert "No worker is running" in text_of(client.get(where))
    outcomes(run, None)
    assert "No worker is running" not in text_of(client.get(where))


def test_page_names_the_server_that_requested_a_pause(client, cast):
    endpoint = make_endpoint(cast.project, name="Busy")
    run = start_run(run=make_run(cast.project, make_judge(cast.project, endpoint=endpoint)))
    Endpoint.objects.update(resting_until=timezone.now() + timedelta(minutes=1))
    assert "Busy asked everyone to wait until" in text_of(client.get(address(cast, f"runs/{run.pk}/")))


def test_silent_server_appears_with_its_start_time_and_the_next_action(client, cast, clock):
    endpoint = make_endpoint(cast.project, name="Lab")
    run = start_run(run=make_run(cast.project, make_judge(cast.project, endpoint=endpoint)))
    where = address(cast, f"runs/{run.pk}/")
    for seconds in (0, 30):
        clock.advance(seconds=seconds)
        note_failure(endpoint=endpoint.pk, sentence="The server failed: busy")
    going_on = text_of(client.get(where))
    assert "No answer from Lab since 12:00; tried again at 12:00:30. The server failed: busy" in going_on
    assert "The run continues when it answers, and stops at 12:15 if it does not." in going_on
    for _ in range(3):
        clock.advance(minutes=5)
        note_failure(endpoint=endpoint.pk, sentence="The server failed: busy")
    waiting = client.get(where)
    assert "No answer from Lab for 15 minutes. The last call: The server failed: busy" in text_of(waiting)
    assert "The run resumes by itself when it answers before" in text_of(waiting)
    assert "every 2s" in waiting.content.decode()


def test_run_out_of_budget_continues_with_a_larger_one(client, cast):
    judge = make_judge(cast.project, endpoint=make_priced_endpoint(cast.project))
    run = start_run(run=make_run(cast.project, judge, budget=Decimal(1)))
    stop_run(run, used_up(Decimal("1.0000")))
    stopped = text_of(client.get(address(cast, f"runs/{run.pk}/")))
    assert "The budget of 1 does not allow one more call; give the run a larger one and resume it." in stopped
    client.post(address(cast, f"runs/{run.pk}/budget/"), {"budget": "2.5"})
    page = client.get(address(cast, f"runs/{run.pk}/"))
    assert "The budget is changed. Resume the run to go on." in text_of(page)
    assert 'value="2.5"' in page.content.decode()
    step(client, cast, run, "start")
    assert (run.status, run.budget) == (Run.Status.RUNNING, Decimal("2.5"))
    client.post(address(cast, f"runs/{run.pk}/budget/"), {"budget": ""})
    run.refresh_from_db()
    assert run.budget is None


@pytest.mark.parametrize(
    ("sent", "status", "says"),
    [
        ("much", Run.Status.RUNNING, "This is no budget: Enter a number."),
        ("0", Run.Status.RUNNING, "This is no budget"),
        ("3", Run.Status.FINISHED, "This run is finished, so its budget does not matter any more."),
        ("3", Run.Status.PAUSED, "so Concord cannot enforce a budget."),
    ],
)
def test_impossible_budget_is_rejected(client, cast, sent, status, says):
    run = make_run(cast.project, make_judge(cast.project))
    Run.objects.filter(pk=run.pk).update(status=status)
    client.post(address(cast, f"runs/{run.pk}/budget/"), {"budget": sent})
    assert says in text_of(client.get(address(cast, f"runs/{run.pk}/")))
    run.refresh_from_db()
    assert run.budget is None


# Through the batch interface


def make_batch(run, **fields):
    """Make a batch that the provider works on; it holds nothing."""
    now = timezone.now()
    values = {"status": "in_progress", "provider_id": f"batch_{uuid4().hex}", "submitted_at": now, **fields}
    return Batch.objects.create(
        run=run,
        endpoint=run.judgments.first().judge.endpoint,
        model="m-2026",
        input_file="file-1",
        requests=1500,
        due_at=values.pop("due_at", now),
        **values,
    )


def test_the_batch_interface_is_chosen_on_the_plan_at_half_the_price(client, cast):
    judge = make_judge(cast.project, endpoint=make_priced_endpoint(cast.project))
    make_judgment(judge, cast.items[0], cast.dimensions[0], input_tokens=100_000, output_tokens=50_000)
    assert "cost 1.80 USD time unknown" in show(client, cast)  # 3 x (0.1 x 2 + 0.05 x 8)
    shown = show(client, cast, via="batch")
    assert "cost 0.90 USD time ≤ 24 h 0 min" in shown
    assert "The cost is half" in shown
    plan(client, cast, via="batch")
    assert Run.objects.latest("pk").via == Run.Via.BATCH


def test_unknown_call_mode_is_rejected(client, cast):
    make_judge(cast.project)
    assert plan(client, cast, via="letter").status_code == 422


def test_run_shows_its_batch_progress(client, cast):
    run = batch_run(cast)
    make_batch(run, completed=700, failed=2)
    reason = "The server refuses the batch: too long."
    make_batch(run, status="failed", closed_at=timezone.now(), reason=reason)
    where = address(cast, f"runs/{run.pk}/")
    shown = text_of(client.get(where))
    assert "m-2026 1,500 in progress, 702 of 1,500 2 " in shown
    assert f"m-2026 1,500 failed {reason} 0 " in shown
    assert html_of(client.get(where, headers=HTMX)) in html_of(client.get(where))


def batch_run(cast):
    run = start_run(run=make_run(cast.project, make_judge(cast.project)))
    Run.objects.filter(pk=run.pk).update(via=Run.Via.BATCH)
    run.refresh_from_db()
    return run


def test_a_paused_run_waits_with_its_batches(client, cast):
    run = batch_run(cast)
    batch = make_batch(run)
    end = timezone.now() + timedelta(days=30)
    run.judgments.update(status=Judgment.Status.LEASED, lease=batch.pk, leased_until=end)
    step(client, cast, run, "pause")
    page = client.get(address(cast, f"runs/{run.pk}/"))
    assert "Batches at the provider continue. They are collected when the run is resumed." in text_of(page)
    assert 'hx-trigger="every 2s"' not in page.content.decode()


def test_batches_without_a_worker_are_reported(client, cast):
    run = batch_run(cast)
    long_ago = timezone.now() - timedelta(minutes=1)
    Run.objects.filter(pk=run.pk).update(started_at=long_ago)
    where = address(cast, f"runs/{run.pk}/")
    assert "No worker is running" in text_of(client.get(where))
    batch = make_batch(run, due_at=long_ago)
    assert "No worker is running" in text_of(client.get(where))
    Batch.objects.update(holder=uuid4(), held_until=timezone.now() + timedelta(seconds=20))
    assert "No worker is running" not in text_of(client.get(where))
    Batch.objects.update(holder=None, held_until=None, due_at=timezone.now())
    assert "No worker is running" not in text_of(client.get(where))
    Batch.objects.filter(pk=batch.pk).update(status="collected", closed_at=timezone.now())
    assert "No worker is running" not in text_of(client.get(where))


# Judgments without a value


def test_judgments_without_a_value_are_listed_with_reply_and_reason(client, cast):
    run = make_run(cast.project, make_judge(cast.project))
    outcomes(run, FAILED, UNREADABLE, None)
    failed = text_of(client.get(address(cast, f"runs/{run.pk}/judgments/failed/")))
    assert "1 failed" in failed
    assert "Product 1 · system-1 No answer within 10 s." in failed
    assert "I cannot." not in failed
    unreadable = text_of(client.get(address(cast, f"runs/{run.pk}/judgments/unreadable/")))
    unread = Judgment.objects.get(status="unreadable").pk
    assert unreadable.endswith(f"Product 1 · system-2 A refusal. Judgment {unread} I cannot.")


def test_reply_appears_as_plain_characters(client, cast):
    run = make_run(cast.project, make_judge(cast.project))
    outcomes(run, {**UNREADABLE, "reply": "<script>alert(1)</script>"})
    page = client.get(address(cast, f"runs/{run.pk}/judgments/unreadable/")).content.decode()
    assert "&lt;script&gt;alert(1)" in page
    assert "<script>alert" not in page


def test_long_lists_have_pages(client):
    cast = make_project(documents=10)
    client.force_login(cast.admin)
    run = make_run(cast.project, make_judge(cast.project))
    outcomes(run, *[FAILED] * 20)
    where = address(cast, f"runs/{run.pk}/judgments/failed/")
    assert "Page 1 of 2" in text_of(client.get(where))
    assert text_of(client.get(where, {"page": 2})).count("No answer within 10 s.") == 5


@pytest.mark.parametrize("status", ["done", "planned", "x"])
def test_only_judgments_without_value_are_listed(client, cast, status):
    run = make_run(cast.project, make_judge(cast.project))
    assert client.get(address(cast, f"runs/{run.pk}/judgments/{status}/")).status_code == 404


# Access and queries


def test_a_researcher_follows_runs_and_steers_none(client, cast):
    run = start_run(run=make_run(cast.project, make_judge(cast.project)))
    client.force_login(cast.researcher)
    for path in ("runs/", f"runs/{run.pk}/", f"runs/{run.pk}/judgments/failed/"):
        page = client.get(address(cast, path))
        assert page.status_code == 200
        assert "<button" not in page.content.decode().split("<main")[1]
    assert client.get(address(cast, "runs/new/")).status_code == 404
    for each in ("start", "pause", "cancel", "retry", "budget"):
        assert step(client, cast, run, each).status_code == 404
    assert run.status == Run.Status.RUNNING


def test_a_run_of_another_project_is_not_there(client, cast):
    other = make_project().project
    run = make_run(other, make_judge(other))
    for path in (f"runs/{run.pk}/", f"runs/{run.pk}/judgments/failed/"):
        assert client.get(address(cast, path)).status_code == 404
    assert step(client, cast, run, "start").status_code == 404


def test_rater_in_an_open_round_sees_progress_but_no_replies(client, cast):
    make_member(cast.project, Role.ANNOTATOR, user=cast.admin)
    opened(cast)
    run = make_run(cast.project, make_judge(cast.project))
    assert client.get(address(cast, f"runs/{run.pk}/")).status_code == 200
    assert client.get(address(cast, f"runs/{run.pk}/judgments/unreadable/")).status_code == 403


def test_an_unknown_step_is_not_there(client, cast):
    run = make_run(cast.project, make_judge(cast.project))
    assert step(client, cast, run, "explode").status_code == 404


def test_more_runs_and_judgments_need_no_more_queries(client, cast, django_assert_max_num_queries):
    def queries(path):
        with django_assert_max_num_queries(25) as counted:
            assert client.get(address(cast, path)).status_code == 200
        return len(counted)

    run = make_run(cast.project, make_judge(cast.project))
    outcomes(run, FAILED)
    paths = ("runs/", f"runs/{run.pk}/", f"runs/{run.pk}/judgments/failed/", "runs/new/")
    before = [queries(path) for path in paths]
    outcomes(run, FAILED, FAILED, UNREADABLE, None)
    for _ in range(3):
        judge = make_judge(cast.project)
        make_judgment(judge, cast.items[0], cast.dimensions[0])
        make_batch(run)
    assert [queries(path) for path in paths] == before
