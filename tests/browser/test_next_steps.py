"""The way through by what each page gives as the next step, and no other click."""

import json
import re
import zipfile
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from operator import ne
from pathlib import Path

from playwright.sync_api import BrowserContext, Locator, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Dispute, Project, Rating
from annotate.setup.commands import create_project
from annotate.setup.presets import TEMPLATES
from concord.management.commands.start import first_account
from judges.core.models import RoutedUnit
from tests.browser.people import prove_address, sign_in_at_the_door, signed_in
from tests.browser.waiting import expect_stored, read_news
from tests.factories import PASSWORD, make_project, make_user
from tests.judges.news import make_items
from tests.judges.replay import Replay, replay
from tests.rating.rounds import opened

__all__ = ["replay"]
NEXT = "main .button-main:visible, main section[aria-label='Next step'] a, .setup .button-main"
DIMENSIONS, ITEMS = 4, 4


def go_on(page: Page, name: str) -> None:
    """Do the step that the page gives; the story knows no other way."""
    step = page.locator(NEXT).filter(has_text=re.compile(name))
    expect(step.first).to_be_visible()
    step.first.click()


def close_round(page: Page, name: str) -> None:
    """Close a round in the menu of steps that cannot be undone."""
    page.locator("details.menu", has_text=name).locator("summary").click()
    page.get_by_role("button", name=name).click()


def test_who_follows_each_next_step_comes_from_nothing_to_an_exported_benchmark(
    page: Page, new_context: Callable[..., BrowserContext], live_server: LiveServer, tmp_path: Path
) -> None:
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(first_account(live_server.url + "/").split()[-1])
    fill(page, {"Name": "Ada", "Email": "ada@example.org"})
    for field in page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    go_on(page, "Make the account")
    go_on(page, "New project")
    page.get_by_label("Name").fill("Shoes")
    page.locator("[name=template][value=news-summaries]").check()
    go_on(page, "Create the project")
    page.get_by_label("File").set_input_files(items_file(tmp_path))
    go_on(page, "Upload and preview")
    go_on(page, "Check and import")
    expect(page.locator("#state")).to_contain_text("4 items")
    go_on(page, "Next: dimensions")
    go_on(page, "Next: people")
    for made in ("1 of 3", "2 of 3", "3 invited"):
        go_on(page, "Make a link")
        expect(page.locator(".setup")).to_contain_text(made)
    links = [field.input_value() for field in page.get_by_label("Link as annotator").all()]
    raters = [join(new_context, link, f"r{number}") for number, link in enumerate(links, start=1)]
    go_on(page, "Next: rounds")
    go_on(page, "Next: review")
    go_on(page, "Open Round I")
    for number, (rater, value) in enumerate(zip(raters, ("2", "4", "4"), strict=True), start=1):
        rate_everything(rater, f"r{number}", value)
    page.reload()
    close_round(page, "Close Round I")
    go_on(page, "Open Round II")
    settle(raters[0])
    page.reload()
    close_round(page, "Close Round II")
    go_on(page, "export")
    go_on(page, "Export")
    with page.expect_download() as download:
        go_on(page, "Download")
    archive = zipfile.ZipFile(download.value.path())
    [benchmark] = [name for name in archive.namelist() if "benchmark" in name]
    assert len(archive.read(benchmark).splitlines()) == ITEMS
    assert Project.objects.get().rounds.filter(status="closed").count() == 2


def test_a_judge_comes_from_its_endpoint_to_units_at_people_within_twelve_clicks(
    context: BrowserContext, live_server: LiveServer, replay: Callable[..., Replay]
) -> None:
    admin = make_user()
    project = create_project(user=admin, name="News", template=TEMPLATES["news-summaries"])
    make_items(project, documents=3, systems=("M11", "M22"))
    page = signed_in(context, admin)
    page.on("dialog", lambda dialog: dialog.accept())
    mouse = Mouse()
    page.goto(f"/projects/{project.slug}/")
    mouse.click(page.get_by_role("link", name="Judges", exact=True))
    mouse.go_on(page, "Add an endpoint")
    fill(page, {"Address": replay().base_url})
    page.get_by_label("Name", exact=True).fill("Replay")
    mouse.go_on(page, "Save the endpoint")
    for name, prompt in (
        ("RTS", "RTS – Reason, then score, as shipped"),
        ("MCQ", "MCQ – Multiple choice, as shipped"),
    ):
        mouse.click(page.get_by_role("link", name="Add a judge"))
        page.get_by_label("Name", exact=True).fill(name)
        page.get_by_label("Model").fill("gpt-3.5-turbo-0301")
        page.get_by_label("Prompt").select_option(prompt)
        mouse.go_on(page, "Save the judge")
        expect(page.get_by_text(f"{name} is saved.")).to_be_visible()
    mouse.go_on(page, "Plan a run")
    expect(page.locator("#plan")).to_contain_text("calls to make")  # the preview moves the button
    mouse.go_on(page, "Start the run")
    expect(page.locator("#run")).to_contain_text("finished")
    mouse.click(page.get_by_role("link", name="send to people", exact=True))
    mouse.go_on(page, "Save the policy")
    mouse.go_on(page, "Route these units")
    expect(page.get_by_text("Round I")).to_be_visible()
    assert RoutedUnit.objects.exists()
    assert mouse.clicks <= 12


class Mouse:
    """Clicks what it is told to, and counts."""

    def __init__(self) -> None:
        self.clicks = 0

    def click(self, what: Locator) -> None:
        what.click()
        self.clicks += 1

    def go_on(self, page: Page, name: str) -> None:
        go_on(page, name)
        self.clicks += 1


def test_recorded_raters_are_joined_to_members(page: Page, live_server: LiveServer, tmp_path: Path) -> None:
    """One is named while their ratings come in, another is joined to a member afterwards."""
    cast = make_project(annotators=2, documents=1, systems=2)
    opened(cast)
    ada, ben = cast.annotators
    page.on("dialog", lambda dialog: dialog.accept())
    sign_in_at_the_door(page, cast.admin.email)
    systems = [item.system.name for item in cast.items]
    unit = {"document_id": cast.items[0].document.key, "dimension": "fluency", "value": 4}
    rows = [{**unit, "rater": rater, "system": system} for rater in ("A1", "A2") for system in systems]
    file = lines_file(tmp_path / "recorded.jsonl", rows)
    page.goto(f"/projects/{cast.project.slug}/imports/")
    page.get_by_label("File").set_input_files(file)
    go_on(page, "Upload and preview")
    page.get_by_label("A1", exact=True).select_option(label=ada.label)
    go_on(page, "Check and import")
    expect(page.locator("#state")).to_contain_text("Imported 1 rater, 4 ratings.")
    page.goto(f"/projects/{cast.project.slug}/people/")
    page.get_by_role("link", name="A2", exact=True).click()
    page.get_by_label("Whose ratings are these?").select_option(label=ben.label)
    page.get_by_role("button", name="Join").click()
    expect(page.get_by_role("heading", level=1)).to_contain_text(ben.label)
    for member in (ada, ben):
        rated = member.assignments.filter(ratings__value=4)
        assert rated.count() == len(systems)
    page.goto(f"/projects/{cast.project.slug}/people/")
    expect(page.get_by_role("link", name=ben.label, exact=True)).to_be_visible()
    expect(page.get_by_role("link", name="A2", exact=True)).to_have_count(0)


def join(new_context: Callable[..., BrowserContext], link: str, name: str) -> Page:
    """Make an account by an invitation, as whoever got it does."""
    page = new_context().new_page()
    page.clock.install()
    page.goto(link)
    go_on(page, "Make an account")
    prove_address(page, f"{name}@example.org")
    page.get_by_label("Name").fill(name)
    for field in page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    go_on(page, "Make the account and join")
    expect(page.get_by_role("heading", level=1)).to_have_text("Shoes")
    return page


def rate_everything(page: Page, name: str, value: str) -> None:
    page.reload()
    go_on(page, "rating")
    page.wait_for_url(re.compile(r"/rate/\d+/|/guideline/"))
    if "/guideline/" in page.url:
        go_on(page, "I have read them: start rating")
    given = Rating.objects.filter(assignment__annotator__label=name, value__isnull=False)
    for number in range(1, ITEMS + 1):
        page.wait_for_url(f"**/rate/{number}/")
        for _ in range(DIMENSIONS):
            expect(page.locator(".row.focused")).to_have_count(1)
            page.keyboard.press(value)
        expect_stored(page, given.count, number * DIMENSIONS)
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()


def settle(page: Page) -> None:
    page.goto("/")
    go_on(page, "Go to the disputes")
    go_on(page, "Begin with the first")
    settled = Dispute.objects.filter(status=Dispute.Status.SETTLED)
    for _ in range(ITEMS * DIMENSIONS):
        shown = page.url
        page.get_by_label("Reason").fill("You are right.")
        read_news(page)
        page.keyboard.press("Escape")
        page.keyboard.press("4")
        page.wait_for_url(partial(ne, shown))  # also waits until the page is loaded and handles keys
    assert settled.count() == ITEMS * DIMENSIONS


def fill(page: Page, entered: dict[str, str]) -> None:
    for label, text in entered.items():
        page.get_by_label(label).fill(text)


def items_file(folder: Path) -> Path:
    rows = [
        {
            "document_id": document,
            "article": f"{document} is new.",
            "system": system,
            "text": f"{system}: {document}",
        }
        for document in ("boots", "sandals")
        for system in ("s1", "s2")
    ]
    return lines_file(folder / "items.jsonl", rows)


def lines_file(path: Path, rows: Sequence[Mapping[str, object]]) -> Path:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    return path
