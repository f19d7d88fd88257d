"""A judge learns: from its errors to a version that holds on documents that it never saw."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connections
from playwright.sync_api import BrowserContext, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.jobs import run_job
from judges.core.models import PromptSearch
from judges.runs.commands.collecting import collect
from tests.browser.people import signed_in
from tests.judges.factories import make_judge, make_priced_endpoint
from tests.judges.laboratory.rumours import CLARIFICATION, answer, make_rumours, run
from tests.judges.provider import providing

pytestmark = pytest.mark.django_db(transaction=True)


def in_thread(work: Callable[..., None], *given: object) -> None:
    """Do what a worker does outside of the browser's event loop."""
    with ThreadPoolExecutor(1) as pool:
        pool.submit(work, *given).result()
        pool.submit(connections.close_all).result()


def end_search() -> None:
    """Do what workers do until the search has ended."""
    search = PromptSearch.objects.get()
    for _ in range(30):
        if search.status != "running":
            return
        if search.run_id:
            collect(run=search.run_id, seconds=60)
        else:
            run_job("drafting", search.draftings.latest("pk").pk)
        run_job("search", search.pk)
        search.refresh_from_db()


def test_a_judge_learns_on_one_screen(context: BrowserContext, live_server: LiveServer) -> None:
    cast = make_rumours()
    with providing(reply_to=answer) as provider:
        endpoint = make_priced_endpoint(cast.project, provider.base_url)
        judge = make_judge(cast.project, "direct", endpoint=endpoint, name="Base")
        in_thread(run, cast, judge)
        page = signed_in(context, cast.admin)
        url = f"/projects/{cast.project.slug}/judges/align/"
        page.goto(url)
        page.get_by_label("Documents for teaching").fill("6")
        page.get_by_label("Documents for selecting").fill("6")
        page.get_by_role("button", name="Split the documents").click()
        expect(page.get_by_text("6 teach · 6 select · 8 held out")).to_be_visible()
        expect(page.get_by_role("region", name="Where it is wrong")).to_contain_text("4 vs 1")
        page.get_by_text("Write your own").click()
        page.get_by_label("Text", exact=True).fill("Be fair.")
        page.get_by_role("button", name="Add proposal").click()
        page.get_by_text("New search").click()
        page.get_by_role("button", name="Show calls and cost").click()
        page.get_by_role("button", name="Start the search").click()
        expect(page.get_by_text("Round 1 of 2, stage 1 of 1")).to_be_visible()
        in_thread(end_search)
        expect(page.get_by_text("was the best candidate")).to_be_visible()
        assert PromptSearch.objects.get().candidates.get(is_chosen=True).text.count(CLARIFICATION) == 1
        page.get_by_role("link", name="Align", exact=True).first.click()
        expect(page.get_by_text("agrees better with people than the judge it comes from")).to_be_visible()
        page.set_viewport_size({"width": 390, "height": 844})
        assert page.evaluate("document.documentElement.scrollWidth") == 390
