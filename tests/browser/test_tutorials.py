"""The tutorials for the browser: every control and key that they name is used, in their order."""

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import BrowserContext, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Item, Project, Rating
from annotate.management.demonstration import load_demonstration
from annotate.setup.commands import create_project
from annotate.setup.presets import TEMPLATES
from judges.core.models import RoutedUnit
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored
from tests.documentation.tutorials import Reader, blocks
from tests.factories import PASSWORD, make_project, make_user
from tests.judges.news import make_items
from tests.judges.replay import Replay, replay

__all__ = ["replay"]
pytestmark = pytest.mark.once
ANSWERS = 16  # of each rater: four items with four dimensions


def test_first_benchmark(
    page: Page,
    context: BrowserContext,
    new_context: Callable[..., BrowserContext],
    settings: Any,
    tmp_path: Path,
) -> None:
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"  # as `make run` has it
    (content,) = blocks("first-benchmark", "text")
    file = tmp_path / "summaries.csv"
    file.write_text(content)
    admin = signed_in(context, make_project(documents=0, systems=0).admin)
    admin.on("dialog", lambda dialog: dialog.accept())
    reader = Reader("first-benchmark", admin)
    admin.goto("/")
    reader.click("New project")
    admin.get_by_label("Name").fill("First")
    admin.locator("[name=template][value=news-summaries]").check()
    reader.click("Create the project")
    admin.get_by_label("File").set_input_files(file)
    for name in ("Upload and preview", "Check and import"):
        reader.click(name)
    expect(admin.locator("#state")).to_contain_text("2 documents, 2 systems, 4 items")
    reader.click("Next: dimensions")
    reader.click("Next: people")
    for made in ("1 of 3", "2 of 3", "3 invited"):
        reader.click("Make a link")
        expect(admin.locator(".setup")).to_contain_text(made)
    links = [field.input_value() for field in admin.get_by_label("Link as annotator").all()]
    reader.click("Next: rounds")
    reader.click("Next: review")
    reader.click("Open Round I")
    expect(admin.get_by_text("Round I is open: annotators can rate.")).to_be_visible()
    for number, (link, value) in enumerate(zip(links, "244", strict=True)):
        rate_everything(reader, new_context().new_page(), link, f"rater{number}", value)
    admin.goto("/projects/first/")
    admin.locator("details.menu", has_text="Close Round I").locator("summary").click()
    reader.click("Close Round I")
    expect(admin.get_by_text("16 units are disputed")).to_be_visible()
    reader.click("Open Round II")
    reader.click("Results")
    expect(admin.get_by_role("heading", level=1, name="Results")).to_be_visible()
    assert reader.has_followed_every_step()


def rate_everything(reader: Reader, page: Page, link: str, name: str, value: str) -> None:
    """Join by a link, and give one value to everything."""
    page.goto(link)
    reader.click("Make an account", page)
    page.get_by_label("mail").fill(f"{name}@example.org")
    page.get_by_label("Name").fill(name)
    for field in page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    reader.click("Make the account and join", page)
    page.wait_for_url("**/projects/first/")
    page.goto("/projects/first/rate/")
    reader.click("I have read them: start rating", page)
    given = Rating.objects.filter(assignment__annotator__label=name, value__isnull=False)
    for number in range(1, 5):
        page.wait_for_url(f"**/rate/{number}/")
        for _ in range(4):
            expect(page.locator(".row.focused")).to_have_count(1)
            page.keyboard.press(value)
        expect_stored(page, given.count, number * 4)
        reader.press("Enter", page)
    assert given.count() == ANSWERS


def test_for_raters(context: BrowserContext, live_server: LiveServer) -> None:
    project = load_demonstration()
    bo = project.memberships.get(user__email="bo@example.org")
    page = signed_in(context, bo.user)
    reader = Reader("for-raters", page)
    page.goto(f"/projects/{project.slug}/rate/")
    if "/guideline" in page.url:
        page.get_by_role("button", name="I have read them").click()
    page.wait_for_url(re.compile(r"/rate/\d+/"))
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    shown = page.url
    mine = Rating.objects.filter(assignment__annotator=bo)
    before = mine.filter(value__isnull=False).count()
    for key in ("4", "Z", "2", "U", "3"):
        reader.press(key)
    page.locator(".trail [data-go]").nth(2).click()
    reader.press("X")
    page.keyboard.press("c")
    page.keyboard.type("Written in a language that I do not read.")
    page.keyboard.press("Escape")
    page.locator(".trail [data-go]").last.click()
    page.keyboard.press("5")
    expect_stored(page, mine.filter(value__isnull=False).count, before + 3)
    assert mine.filter(cannot_rate=True, comment__startswith="Written").exists()
    assert mine.filter(unsure=True, value=2).exists()
    expect(page.locator("#save-mark")).to_have_attribute("data-state", "saved")
    reader.note("Saved ✓")
    reader.press("Enter")
    expect(page).not_to_have_url(shown)
    reader.press("?")
    expect(page.get_by_role("dialog")).to_be_visible()
    page.keyboard.press("Escape")
    page.goto("/projects/" + project.slug + "/")
    reader.click("My work")
    expect(page.get_by_role("heading", level=1, name="My work")).to_be_visible()
    assert reader.has_followed_every_step()


def test_trusted_judge(
    context: BrowserContext, live_server: LiveServer, replay: Callable[..., Replay]
) -> None:
    """A server of recorded replies takes the place of the small model."""
    admin = make_user()
    project = create_project(user=admin, name="News", template=TEMPLATES["news-summaries"])
    make_items(project, documents=3, systems=("M11", "M22"))
    page = signed_in(context, admin)
    page.on("dialog", lambda dialog: dialog.accept())
    reader = Reader("trusted-judge", page)
    page.goto(f"/projects/{project.slug}/")
    reader.click("Judges")
    reader.click("Add an endpoint")
    page.get_by_label("Name", exact=True).fill("Local")
    page.get_by_label("Address").fill(replay().base_url)
    reader.click("Save the endpoint")
    reader.click("Add a judge")
    page.get_by_label("Name", exact=True).fill("Small")
    page.get_by_label("Model").fill("gpt-3.5-turbo-0301")
    page.get_by_label("Prompt").select_option("pair")
    reader.click("Save the judge")
    expect(page.get_by_text("Small RTS and Small MCQ are saved.")).to_be_visible()
    expect(page.locator("#plan")).to_contain_text("calls to make")  # the preview moves the button
    reader.click("Start the run")
    expect(page.locator("#run")).to_contain_text("finished")
    reader.click("send to people")
    reader.click("Save the policy")
    reader.click("Route these units")
    expect_stored(page, RoutedUnit.objects.exists, True)
    assert Item.objects.filter(document__project=Project.objects.get()).count() == 6
    page.goto(f"/projects/{project.slug}/results/trust/")
    expect(page.get_by_role("heading", level=1, name="Verdicts")).to_be_visible()
    assert reader.has_followed_every_step()
