"""A judge whose model changes behind its name is noticed, and decides nothing until an admin confirms."""

from datetime import timedelta
from decimal import Decimal

import pytest
from django.urls import reverse
from django.utils import timezone

from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.models import Project
from annotate.setup.commands import delete_project
from judges.core.models import DriftCheck, DriftWatch, Judge, Judgment, PromptSearch, Run
from judges.interchange.queries.export import JUDGE_TABLES
from judges.routing.queries.verdicts import evidence_of
from judges.runs.commands.drift import (
    begin_anew,
    finish_check,
    finish_ended_checks,
    start_check,
    start_due_checks,
    start_watch,
    stop_watch,
)
from judges.runs.queries.drift import (
    answering_models,
    choose_units,
    describe_change,
    latest_watch,
    needs_of_drift,
    plan_of_check,
    unconfirmed_alarms,
)
from judges.runs.queries.pages import spending_section
from tests.factories import make_project
from tests.judges.factories import make_endpoint, make_judge, make_judgment, make_priced_endpoint
from tests.judges.running import worked

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def cast():
    return make_project(documents=20, systems=2)


@pytest.fixture
def judge(cast, provider):
    """A judge whose first values are those that its server gives now, which is always a 4."""
    made = make_judge(cast.project, "direct", endpoint=make_priced_endpoint(cast.project, provider.base_url))
    for item in cast.items:
        make_judgment(made, item, cast.dimensions[0], value=4, returned_model="gpt-x-2025-11")
    return made


def watched(judge, **how):
    return start_watch(judge=judge, **{"items": 15, "days": 7, "by": None, **how})


def checked(watch):
    """Let the next check come due, workers ask, and the sweeper compare."""
    DriftWatch.objects.filter(pk=watch.pk).update(next_at=timezone.now())
    start_due_checks()
    check = watch.checks.last()
    worked(check.run)
    finish_ended_checks()
    check.refresh_from_db()
    return check


def test_items_are_spread_over_documents_without_regard_to_values(cast, judge):
    units = choose_units(judge, 15)
    items = units[cast.dimensions[0].pk]
    assert len(items) == 15
    assert len({each.document_id for each in cast.items if each.pk in items}) == 15
    Judgment.objects.filter(judge=judge).update(value=1)
    assert choose_units(judge, 15) == units
    assert len(choose_units(judge, 200)[cast.dimensions[0].pk]) == 40


def test_check_repeats_calls_and_no_page_sees_its_judgments(cast, judge, provider):
    watch = watched(judge)
    plan = plan_of_check(judge, choose_units(judge, 15))
    assert plan.calls == 15
    assert plan.cost
    before = len(provider.asked)
    check = checked(watch)
    assert len(provider.asked) - before == 15
    (figures,) = check.figures.values()
    assert (check.state, figures["units"], figures["value"], figures["is_alarm"]) == (
        "finished",
        15,
        0,
        False,
    )
    copy = Judge.with_candidates.get(rechecks=check)
    assert copy.judgments.filter(reused_from=None, status="done").count() == 15
    assert copy not in Judge.objects.all()
    assert list(cast.project.judges.all()) == [judge]
    tables = {each.name: each for each in JUDGE_TABLES}
    assert len(list(tables["judgments"].rows(cast.project))) == 40
    section = spending_section(cast.project)
    assert section
    assert section.content["spent"] == check.run.spent > 0


def test_checks_start_once_and_only_when_due(judge):
    watch = watched(judge)
    start_due_checks()
    start_due_checks()
    assert start_check(watch=watch) is None
    assert start_check(watch=watch, is_due=False) == watch.checks.get()
    check = watch.checks.get()
    worked(check.run)
    finish_ended_checks()
    finish_check(check=check)
    start_due_checks()
    assert watch.checks.count() == 1  # the next is due in a week
    watch.refresh_from_db()
    assert timedelta(days=6) < watch.next_at - timezone.now() < timedelta(days=8)
    assert watched(judge) == watch
    Judge.objects.filter(pk=judge.pk).update(archived_at=timezone.now())
    DriftWatch.objects.update(next_at=timezone.now())
    start_due_checks()
    assert watch.checks.count() == 1


def test_worker_that_dies_before_the_run_starts_leaves_nothing(judge, monkeypatch):
    watch = watched(judge)

    def die(**_run):
        raise SystemExit("killed")

    with monkeypatch.context() as patched:
        patched.setattr("judges.runs.commands.drift.start_run", die)
        with pytest.raises(SystemExit):
            start_due_checks()
    assert not watch.checks.exists()
    assert Judge.with_candidates.count() == 1
    assert checked(watch).state == "finished"


def test_alarm_rejects_the_judge_until_an_admin_restarts_the_watch(cast, judge, provider):
    watch = watched(judge)
    checked(watch)
    provider.reply = "Score: 2"
    assert next(iter(checked(watch).figures.values()))["is_alarm"]
    watch.refresh_from_db()
    assert not watch.is_active
    (need,) = needs_of_drift(cast.project)
    assert need.is_urgent
    assert judge.name in need.sentence
    with pytest.raises(NotReadyError):
        watched(judge)
    evidence = evidence_of(cast.project, judge)
    assert evidence[cast.dimensions[0].key].has_drifted
    anew = begin_anew(watch=watch, by=cast.admin)
    assert begin_anew(watch=watch, by=cast.admin) == anew
    assert not needs_of_drift(cast.project)
    assert not evidence_of(cast.project, judge)[cast.dimensions[0].key].has_drifted
    (figures,) = checked(anew).figures.values()
    assert (figures["value"], figures["is_alarm"]) == (0, False)  # compared with the last check


def test_alarm_of_an_archived_judge_is_no_need_and_can_be_confirmed(cast, judge):
    alarmed = {"is_active": False, "alarmed_at": timezone.now()}
    watch = watched(judge)
    DriftWatch.objects.update(**alarmed)
    later = DriftWatch.objects.create(judge=judge, units={}, days=1, next_at=timezone.now(), is_active=False)
    assert latest_watch(judge) == watch
    Judge.objects.filter(pk=judge.pk).update(archived_at=timezone.now())
    assert not needs_of_drift(cast.project)
    assert begin_anew(watch=watch, by=cast.admin) is None
    assert not unconfirmed_alarms().exists()
    assert latest_watch(judge) == later


def test_an_error_of_one_watch_keeps_no_other_from_its_check(judge, monkeypatch):
    other = make_unpriced(judge)
    first, second = (
        watched(judge),
        DriftWatch.objects.create(judge=other, units={}, days=1, next_at=timezone.now()),
    )
    tried = []

    def fail(*, watch):
        tried.append(watch)
        raise KeyError(watch.pk)

    monkeypatch.setattr("judges.runs.commands.drift.start_check", fail)
    start_due_checks()
    assert set(tried) == {first, second}


def test_unreadable_replies_count_as_such_and_not_as_drift(judge, provider):
    watch = watched(judge)
    provider.reply = "I cannot say."
    DriftWatch.objects.update(next_at=timezone.now())
    start_due_checks()
    check = watch.checks.get()
    worked(check.run)
    Run.objects.filter(pk=check.run_id).update(status=Run.Status.FINISHED, reason="")
    finish_ended_checks()
    check.refresh_from_db()
    (figures,) = check.figures.values()
    assert (figures["missing"], figures["value"], figures["is_alarm"]) == (15, None, False)


def test_spent_budget_ends_a_watch_and_stopping_cancels_its_run(judge):
    with pytest.raises(InvalidValueError):
        watched(make_unpriced(judge), budget=Decimal(1))
    watch = watched(judge, budget=Decimal(1))
    check = checked(watch)
    Run.objects.filter(pk=check.run_id).update(spent=1)
    DriftWatch.objects.update(next_at=timezone.now())
    start_due_checks()
    watch.refresh_from_db()
    assert not watch.is_active
    assert "is spent" in watch.reason
    second = watched(judge)
    start_due_checks()
    stop_watch(watch=second, by=None)
    stop_watch(watch=second, by=None)
    assert second.checks.get().run.status == Run.Status.CANCELLED
    finish_ended_checks()
    assert second.checks.get().state == DriftCheck.State.CANCELLED


def make_unpriced(judge):
    other = make_judge(judge.project, "direct", endpoint=make_endpoint(judge.project))
    for item in list(judge.project.documents.first().items.all()):
        make_judgment(other, item, judge.project.dimensions.first(), value=3)
    return other


def test_new_model_name_is_reported(cast, judge, client):
    Judgment.objects.filter(judge=judge).update(answered_at=timezone.now() - timedelta(days=90))
    assert describe_change(answering_models(judge)) == ""
    newer = {"returned_model": "gpt-x-2026-03", "system_fingerprint": "fp_12"}
    make_judgment(judge, cast.items[0], cast.dimensions[0], sample=1, value=4, **newer)
    says = describe_change(answering_models(judge))
    assert "answers as gpt-x-2026-03 (fingerprint fp_12); 40 judgments were made by gpt-x-2025-11" in says
    make_judgment(judge, cast.items[0], cast.dimensions[0], sample=2, value=4, returned_model="gpt-x-2025-11")
    assert describe_change(answering_models(judge)) == ""  # both answer
    client.force_login(cast.admin)
    page = client.get(reverse("judge_watch", args=[cast.project.slug, judge.pk])).content.decode()
    assert "gpt-x-2026-03 (fingerprint fp_12)" in page


def test_page_starts_a_watch_after_showing_its_cost(cast, judge, client, provider):
    client.force_login(cast.admin)
    page = reverse("judge_watch", args=[cast.project.slug, judge.pk])
    entered = {"items": 10, "days": 3, "budget": ""}
    shown = client.post(page, {**entered, "show": "1"})
    assert "A check of 10 items takes 10 calls." in shown.content.decode()
    assert not DriftWatch.objects.exists()
    assert client.post(page, {**entered, "items": 1}).status_code == 422
    assert client.post(page, entered).status_code == 302
    watch = DriftWatch.objects.get()
    assert "A worker starts the first check" in client.get(page).content.decode()
    provider.reply = "Score: 1"
    checked(watch)
    said = client.get(page).content.decode()
    assert "-3.00" in said
    assert "Begin anew" in said
    step = reverse("watch_step", args=[cast.project.slug, judge.pk, "anew"])
    assert client.post(step).status_code == 302
    assert DriftWatch.objects.filter(is_active=True).count() == 1


def test_project_with_a_watch_and_a_search_is_deleted(cast, judge):
    search = PromptSearch.objects.create(judge=judge, dimension=cast.dimensions[0], planned_calls=1)
    check = checked(watched(judge))
    Judge.with_candidates.filter(rechecks=check).update(tried_by=search)
    begun = DriftWatch.objects.get()
    DriftWatch.objects.update(baseline=check, is_active=False)
    assert begun.checks.exists()
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    assert not Project.objects.exists()
    assert not Judge.with_candidates.exists()
