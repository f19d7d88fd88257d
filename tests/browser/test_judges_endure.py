"""Stories: a worker dies, replies are not read, values are mended, a provider is away."""

import re
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from pathlib import Path
from threading import Semaphore

import pytest
from django.core import mail
from django.db import connections
from django.test import override_settings
from django.utils import timezone
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.jobs import run_job
from annotate.core.models import Project, User
from judges.core.models import Endpoint, Judgment, Run
from judges.runs.commands.endings import stop_run
from judges.runs.commands.silence import note_failure
from tests.browser.people import signed_in
from tests.factories import make_user
from tests.judges.factories import make_endpoint, make_judge, make_judgment
from tests.judges.news import news_project
from tests.judges.provider import providing
from tests.judges.running import running, worked
from tests.judges.workers import worker

SMTP = "django.core.mail.backends.locmem.EmailBackend"


@pytest.fixture
def admin(live_server: LiveServer) -> User:
    return make_user()


def open_run(context: BrowserContext, admin: User, run: Run) -> Page:
    page = signed_in(context, admin)
    page.goto(f"/projects/{run.project.slug}/judges/runs/{run.pk}/")
    return page


def work(run: Run) -> None:
    """Let a worker ask until nothing is left for it, beside the thread in which Playwright has its loop."""

    def ask() -> None:
        try:
            worked(run)
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as thread:
        thread.submit(ask).result()


def test_run_at_a_slow_server_continues_after_its_worker_dies(
    context: BrowserContext, admin: User, tmp_path: Path
) -> None:
    answers = Semaphore(0)
    with providing(answers=answers) as provider:
        project = news_project(documents=1, systems=1, user=admin)
        endpoint = make_endpoint(project, provider.base_url, calls_in_flight=1, timeout_seconds=300)
        page = open_run(context, admin, running(project, make_judge(project, endpoint=endpoint)))
        state = page.locator("#run")
        with worker(tmp_path) as at_work:
            expect(state.locator("dt", has_text="in flight")).to_be_visible()
            at_work.kill()
            answers.release(10)
            at_work.start()
            expect(state).to_contain_text("finished")
    expect(state).to_contain_text("4 of 4")
    assert len(provider.asked) == 5, "the call of the killed worker was repeated, and no other"


def test_run_pauses_for_unreadable_replies_and_results_list_the_gaps(
    context: BrowserContext, admin: User
) -> None:
    with providing(reply="No number.") as provider:
        project = news_project(documents=1, systems=6, user=admin)
        endpoint = make_endpoint(project, provider.base_url, calls_in_flight=1)
        judge = make_judge(project, endpoint=endpoint, name="Echo")
        run = running(project, judge)
        work(run)
        page = open_run(context, admin, run)
        expect(page.get_by_role("alert")).to_contain_text("replies are unreadable. The last one: No score")
        provider.reply = "Score: 4"
        page.get_by_role("button", name="Resume anyway").click()
        expect(page.locator("#run")).to_contain_text("finished")
    page.get_by_role("link", name="compared with people").click()
    gap = page.get_by_role("alert").filter(has_text=re.compile(r"Echo on \w+: \d of 6 read")).first
    expect(gap).to_be_visible()
    expect(gap).to_have_class("notice notice-warn")  # red is for failures


def test_replies_are_read_again_set_and_excluded(context: BrowserContext, admin: User) -> None:
    project = news_project(documents=1, systems=4, user=admin)
    first, second, third, fourth = answered(project, "Score: 2", "Hm.", "Well.", "So so.")
    page = signed_in(context, admin)
    page.goto(f"/projects/{project.slug}/judges/runs/")
    page.get_by_role("link", name="Read replies again").click()
    page.get_by_role("button", name="Show what would change").click()
    expect(page.get_by_text("1 judgment would change.")).to_be_visible()
    assert Judgment.objects.get(pk=first.pk).status == "unreadable"
    page.get_by_role("button", name="Change them").click()
    expect(page.get_by_text("1 judgment was changed.")).to_be_visible()
    page.goto(f"/projects/{project.slug}/judges/judgment/{second.pk}/")
    page.get_by_label("Value").fill("3")
    page.get_by_label("Reason").fill("Neither good nor bad.")
    page.get_by_role("button", name="Set this value").click()
    expect(page.locator(".entries")).to_contain_text("Neither good nor bad.")
    page.goto(f"/projects/{project.slug}/judges/judgments/?which=unreadable")
    expect(page.get_by_role("heading", name="2 judgments")).to_be_visible()
    page.get_by_label("Reason").fill("No answers.")
    page.get_by_role("button", name="Exclude all of them").click()
    expect(page.get_by_role("heading", name="2 judgments")).to_be_hidden()
    values = Judgment.objects.order_by("pk").values_list("value", "status")
    assert list(values) == [(2, "done"), (3, "done"), (None, "excluded"), (None, "excluded")]
    page.goto(f"/projects/{project.slug}/judges/judgment/{third.pk}/")
    page.get_by_label("Reason").fill("It may count.")
    page.get_by_role("button", name="Include again").click()
    expect(page.locator("main")).to_contain_text("Unreadable: No score.")
    assert Judgment.objects.get(pk=fourth.pk).changes.get().note == "No answers."


def answered(project: Project, *replies: str) -> list[Judgment]:
    """Make replies of a judge that older rules could not read."""
    judge, dimension = make_judge(project), project.dimensions.all()[0]
    unread = {"status": "unreadable", "value": None, "reason": "No score."}
    items = project.documents.get().items.order_by("pk")
    return [
        make_judgment(judge, item, dimension, reply=reply, **unread)
        for item, reply in zip(items, replies, strict=True)
    ]


@override_settings(EMAIL_BACKEND=SMTP)
def test_run_pauses_at_a_silent_server_and_resumes_when_it_answers(
    context: BrowserContext, admin: User
) -> None:
    with providing() as provider:
        project = news_project(documents=1, systems=1, user=admin)
        endpoint = make_endpoint(project, provider.base_url, name="Lab")
        run = running(project, make_judge(project, endpoint=endpoint))
        Run.objects.update(created_by=admin)
        note_failure(endpoint=endpoint.pk, sentence="The server failed: busy")
        Endpoint.objects.update(next_probe_at=timezone.now() + timedelta(hours=1))
        stop_run(run, "No answer from Lab for 15 minutes.", waits_for=endpoint)
        run_job("stopped_run", run.pk)
        assert "It resumes by itself when the server answers before" in mail.outbox[0].body
        page = open_run(context, admin, run)
        expect(page.get_by_role("alert")).to_have_text("No answer from Lab for 15 minutes.")
        expect(page.locator("#run")).to_contain_text("The run resumes by itself when it answers before")
        Endpoint.objects.update(next_probe_at=timezone.now() - timedelta(seconds=1))
        work(run)
        expect(page.locator("#run")).to_contain_text("finished")
        expect(page.get_by_role("alert")).to_have_count(0)
