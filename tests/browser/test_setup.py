"""SummEval-OP is set up from its raw file, without a manual, and a workbook is rated by who was invited."""

from pathlib import Path

from django.test import Client
from openpyxl import Workbook
from playwright.sync_api import BrowserContext, expect

from annotate.core.models import Assignment, Item, Project, Rating
from tests.browser.dock import turn_to
from tests.browser.people import prove_address, signed_in
from tests.browser.waiting import expect_stored
from tests.factories import PASSWORD, make_project
from tests.rating.rounds import opened
from tests.reference import reference_data


def test_an_admin_is_led_from_the_raw_file_to_an_open_round(context: BrowserContext) -> None:
    raw = reference_data() / "summeval_op" / "summeval-op.jsonl"
    page = signed_in(context, make_project(documents=0, systems=0).admin)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto("/projects/new/")
    page.get_by_label("Name", exact=True).fill("SummEval-OP")
    page.get_by_label("Opinion summaries").check()
    page.get_by_role("button", name="Create the project").click()
    steps = page.get_by_role("navigation", name="Set-up")

    expect(steps).to_contain_text("no items yet")
    page.get_by_label("File").set_input_files(raw)
    page.get_by_role("button", name="Upload and preview").click()
    page.get_by_role("button", name="Check and import").click()
    expect(page.locator("#state")).to_contain_text("Imported 32 documents, 13 systems, 416 items.")
    page.goto("/projects/summeval-op/")  # left, and taken up again where it stands
    page.get_by_role("link", name="Review everything").click()
    expect(steps).to_contain_text("416 items")
    expect(page.get_by_text("No item can be complete until more join")).to_be_visible()

    steps.get_by_role("link", name="Dimensions").click()
    page.get_by_role("button", name="Move Coherence up").click()
    expect(page.get_by_role("button", name="Move Coherence up")).to_be_disabled()
    page.get_by_role("link", name="Specificity").click()
    page.get_by_role("button", name="1 to 7").click()
    expect(page.get_by_label("Highest value")).to_have_value("7")
    page.get_by_label("Offer “not applicable”").check()
    page.get_by_role("button", name="Save the dimension").click()
    expect(page.get_by_text("1 to 7, interval · may be “not applicable”")).to_be_visible()

    steps.get_by_role("link", name="Next: people").click()
    for made in ("1 of 3", "2 of 3", "3 invited"):
        page.get_by_role("button", name="Make a link").click()
        expect(steps).to_contain_text(made)
    steps.get_by_role("link", name="Next: rounds").click()
    page.get_by_label("Raters per item").fill("2")
    steps.get_by_role("button", name="Next: review").click()
    expect(steps).to_contain_text("2 raters per item")

    screen = page.frame_locator("iframe")
    expect(screen.locator(".row")).to_have_count(7)
    expect(screen.get_by_text("Preview: try it")).to_be_visible()
    turn_to(screen, "specificity")
    screen.locator(".row.focused").get_by_role("radio", name="Not applicable").click()
    expect(screen.locator("[data-go=specificity] .says")).to_have_text("Not applicable")
    page.get_by_role("button", name="Open Round I").click()
    expect(page.get_by_text("Round I is open: annotators can rate.")).to_be_visible()
    project = Project.objects.get(slug="summeval-op")
    assert Assignment.objects.filter(round__project=project).count() == 416 * 2


def test_workbook_is_rated_only_by_members_from_the_link(context: BrowserContext, tmp_path: Path) -> None:
    cast = make_project(documents=0, systems=0, annotators=0, raters_per_item=1)
    home = f"/projects/{cast.project.slug}/"
    page = signed_in(context, cast.admin)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{home}imports/")
    page.get_by_label("File").set_input_files(workbook(tmp_path / "shoes.xlsx"))
    page.get_by_role("button", name="Upload and preview").click()
    page.get_by_role("button", name="Check and import").click()
    expect(page.locator("#state")).to_contain_text("Imported 1 document, 2 systems, 2 items.")
    page.goto(f"{home}people/")
    page.get_by_role("button", name="Make a link").click()
    link = page.get_by_label("Link as annotator").input_value()

    context.clear_cookies()
    page.goto(link)
    page.get_by_role("link", name="Make an account").click()
    prove_address(page, "ann@example.org")
    page.get_by_label("Name", exact=True).fill("Ann")
    for field in page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    page.get_by_role("button", name="Make the account and join").click()
    expect(page.get_by_role("heading", level=1)).to_have_text(cast.project.name)

    opened(cast)
    page.goto(f"{home}rate/")
    expect(page.locator(".row.focused")).to_have_count(1)
    page.keyboard.press("4")
    given = Rating.objects.values_list("value", "assignment__annotator__label")
    expect_stored(page, lambda: list(given.all()), [(4, "Ann")])

    outsider = Client()
    outsider.force_login(cast.outsider)
    outsider.post(link)  # which was used
    for path in ("", "people/", "imports/", "rate/1/", "export/", "export/ratings.csv", "judges/"):
        assert outsider.get(home + path).status_code == 404, path
    assert outsider.post(f"{home}rounds/close-1/").status_code == 404
    assert set(Item.objects.values_list("text", flat=True)) == {"They are good.", "They last."}


def workbook(path: Path) -> Path:
    """Write two systems' texts about one document."""
    book = Workbook()
    assert book.active is not None
    for row in (
        ("document_id", "article", "system", "text"),
        ("boots", "Good boots.", "s1", "They are good."),
        ("boots", "Good boots.", "s2", "They last."),
    ):
        book.active.append(row)
    book.save(path)
    return path
