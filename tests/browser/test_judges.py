"""An admin lets a model judge: from an endpoint to a finished run, played in a real browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Item, Project, User
from annotate.setup.commands import create_project
from annotate.setup.presets import TEMPLATES
from judges.core.models import Judgment
from tests.browser.axe import bring_axe, every_violation
from tests.browser.people import signed_in
from tests.factories import make_user
from tests.judges.factories import make_template
from tests.judges.news import make_items
from tests.judges.replay import Replay, replay

__all__ = ["replay"]
SYSTEMS = ("M11", "M17", "M22")


@pytest.fixture
def admin(live_server: LiveServer) -> User:
    return make_user()


@pytest.fixture
def project(admin: User) -> Project:
    """A project about news summaries: two articles, three systems."""
    project = create_project(user=admin, name="News", template=TEMPLATES["news-summaries"])
    make_items(project, documents=2, systems=SYSTEMS)
    return project


def test_an_admin_adds_an_endpoint_and_a_judge_and_lets_it_judge(
    context: BrowserContext, project: Project, admin: User, replay: Callable[..., Replay]
) -> None:
    server = replay()
    page = signed_in(context, admin)
    page.goto(f"/projects/{project.slug}/")
    page.get_by_role("link", name="Judges", exact=True).click()
    add_and_test_endpoint(page, server)
    make_judge(page)
    look_at_prompt(page)
    plan_and_start(page)
    expect(page.locator("#run")).to_contain_text("finished")
    expect(page.locator("#run")).to_contain_text("12 of 12")
    assert Judgment.objects.filter(status=Judgment.Status.DONE, value__range=(1, 5)).count() == 12
    assert server.stats()["repeated"] == 0


def add_and_test_endpoint(page: Page, server: Replay) -> None:
    page.get_by_role("link", name="Add an endpoint").click()
    page.get_by_label("Name", exact=True).fill("Replay")
    page.get_by_label("Address").fill(server.base_url)
    page.get_by_label("Price of a million input tokens").fill("2")
    page.get_by_label("Price of a million output tokens").fill("8")
    for name, value in (("Calls at the same time", "4"), ("Timeout of a call in seconds", "20")):
        page.get_by_label(name).fill(value)
    page.get_by_role("button", name="Save the endpoint").click()
    page.get_by_label("Model").fill("gpt-3.5-turbo-0301")
    page.get_by_role("button", name="Test with one call").click()
    expect(page.locator("#trial")).to_contain_text("no summary of this data set stands in the prompt")
    summary = Item.objects.order_by("pk")[0].text
    page.get_by_label("What to ask").fill(f"Is this fluent? {summary} Score its fluency.")
    page.get_by_role("button", name="Test with one call").click()
    expect(page.locator("#trial")).to_contain_text("Answered in")


def make_judge(page: Page) -> None:
    page.get_by_role("link", name="Judges", exact=True).last.click()
    page.get_by_role("link", name="Add a judge").click()
    page.get_by_label("Name", exact=True).fill("GPT-3.5 by RTS")
    page.get_by_label("Model").fill("gpt-3.5-turbo-0301")
    page.get_by_label("Prompt").select_option("RTS – Reason, then score, as shipped")
    page.get_by_role("button", name="Save the judge").click()
    expect(page.get_by_text("GPT-3.5 by RTS is saved.")).to_be_visible()


def look_at_prompt(page: Page) -> None:
    page.get_by_role("link", name="Reason, then score, version 1").click()
    preview = page.locator("#preview")
    expect(preview).to_contain_text("item 1 of 6, Coherence")
    page.get_by_label("Dimension").select_option("Fluency")
    expect(preview).to_contain_text("item 1 of 6, Fluency")
    page.get_by_label("Text", exact=True).fill("Give {{ mood }}.")
    expect(preview).to_contain_text("{{ mood }} is not a placeholder here")
    page.get_by_label("Text", exact=True).fill("Judge the {{ dimension }} of:\n{{ text }}")
    expect(preview).to_contain_text("Judge the Fluency of:")


def plan_and_start(page: Page) -> None:
    page.get_by_role("link", name="Runs", exact=True).click()
    page.get_by_role("link", name="Plan a run").click()
    plan = page.locator("#plan")
    expect(plan).to_contain_text("24")
    for name in ("Fluency", "Relevance"):
        page.get_by_label(name).uncheck()
    expect(plan.locator("dd").first).to_have_text("12")
    page.get_by_label("Budget").fill("1")
    page.get_by_role("button", name="Start the run").click()


def test_dimension_gets_its_own_wording_and_shows_the_model_prompt(
    context: BrowserContext, project: Project, admin: User
) -> None:
    template = make_template(project, name="Paper")
    bring_axe(context)
    page = signed_in(context, admin)
    page.goto(f"/projects/{project.slug}/judges/prompts/{template.pk}/")
    page.get_by_role("link", name="Fluency").click()
    page.get_by_label("Text", exact=True).fill("Does this read well? {{ text }}")
    expect(page.locator("#preview")).to_contain_text("Does this read well?")
    page.get_by_role("button", name="Save the prompt").click()
    expect(page.get_by_role("link", name="Fluency own")).to_have_attribute("aria-current", "true")
    assert every_violation(page) == []
    page.get_by_role("link", name="All dimensions").click()
    page.get_by_label("Dimension").select_option("fluency")
    expect(page.locator("#preview")).to_contain_text("Does this read well?")
    page.get_by_label("Dimension").select_option("coherence")
    expect(page.locator("#preview")).to_contain_text("Judge one quality")
