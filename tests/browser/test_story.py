"""The whole story: SummEval-OP comes in, three annotators discuss it, agreement is measured, all goes out."""

import csv
import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from agreement import krippendorff_alpha
from annotate.core.models import Dispute, Membership, Project, Rating
from annotate.core.rounds import rounds_of
from annotate.results.queries.reliability_data import reliability_data
from tests.browser.people import prove_address, sign_in_at_the_door
from tests.browser.waiting import read_news
from tests.factories import PASSWORD, make_project
from tests.reference import reference_data


@pytest.fixture
def admin(page: Page) -> Page:
    """An admin, signed in, whose dialogs are agreed to."""
    cast = make_project(annotators=0, documents=0, systems=0)
    page.on("dialog", lambda dialog: dialog.accept())
    sign_in_at_the_door(page, cast.admin.email)
    return page


def make_benchmark(admin: Page) -> None:
    admin.goto("/projects/new/")
    admin.get_by_label("Name").fill("SummEval-OP")
    admin.get_by_label("Opinion summaries").check()
    admin.get_by_role("button", name="Create the project").click()
    admin.get_by_role("link", name="Items", exact=True).first.click()
    admin.get_by_role("link", name="Import", exact=True).first.click()
    admin.get_by_label("File").set_input_files(
        reference_data() / "summeval_op" / "summeval-op-detailed.jsonl"
    )
    admin.get_by_role("button", name="Upload and preview").click()
    admin.get_by_role("button", name="Check and import").click()
    expect(admin.locator("#state")).to_contain_text("8,736 ratings")


def join(admin: Page, new_context: Callable[..., BrowserContext], label: str) -> Page:
    """Take the empty place of a recorded rater by its link, in a browser of one's own."""
    admin.goto("/projects/summeval-op/people/")
    admin.get_by_role("button", name=f"Make a link for {label}").click()
    row = admin.get_by_role("row").filter(has_text=label)
    link = row.get_by_role("textbox").input_value()
    page = new_context().new_page()
    page.clock.install()
    page.goto(link)
    page.get_by_role("link", name="Make an account").click()
    prove_address(page, f"{label.lower()}@example.org")
    page.get_by_label("Name").fill(f"Person of {label}")
    for field in page.locator("input[type=password]").all():
        field.fill(PASSWORD)
    page.get_by_role("button", name="Make the account and join").click()
    expect(page.get_by_role("heading", name="SummEval-OP")).to_be_visible()
    return page


def step(admin: Page, name: str) -> None:
    admin.goto("/projects/summeval-op/")
    if name.startswith("Close"):
        admin.locator("details.menu", has_text=name).locator("summary").click()
    admin.get_by_role("button", name=name).click()


def round_one_values(dispute: Dispute) -> dict[str, float]:
    given = Rating.objects.filter(
        assignment__item=dispute.item, dimension=dispute.dimension, assignment__round__number=1
    )
    return {label: value or 0 for label, value in given.values_list("assignment__annotator__label", "value")}


def one_apart_from_two(dimension: str) -> list[Dispute]:
    """Disputes of a dimension that one rater can settle: the other two hold the same value."""
    found = []
    for dispute in Dispute.objects.filter(dimension__key=dimension).order_by("number"):
        values = sorted(round_one_values(dispute).values())
        if values[0] < values[1] == values[2]:
            found.append(dispute)
    return found


def change(raters: dict[str, Page], dispute: Dispute) -> float:
    """Let the rater who stands alone move to where the others are; return the value."""
    held = round_one_values(dispute)
    alone = min(held, key=lambda label: held[label])
    to = max(held.values())
    page = raters[alone]
    page.goto(f"/projects/summeval-op/disputes/{dispute.number}/")
    page.get_by_label("Reason").fill("I had missed that; you are right.")
    read_news(page)
    page.keyboard.press("Escape")
    page.keyboard.press(str(to))
    page.wait_for_url(lambda url: f"/disputes/{dispute.number}/" not in url)
    return to


def alphas(project: Project, dimension: str) -> list[float]:
    rounds = rounds_of(project)
    found = [krippendorff_alpha(reliability_data(rounds[n])[dimension]).value for n in (1, 2)]
    return [value for value in found if value is not None]


def test_three_annotators_discuss_summeval_op_and_the_export_holds_it_all(
    admin: Page, new_context: Callable[..., BrowserContext]
) -> None:
    make_benchmark(admin)
    raters = {label: join(admin, new_context, label) for label in ("A1", "A2", "A3")}
    step(admin, "Close Round I")
    expect(admin.get_by_text("1,030 units are disputed")).to_be_visible()
    step(admin, "Open Round II")
    first, second, third, fourth = one_apart_from_two("fluency")[:4]

    # A thread that grows without reload, then three disputes that settle.
    for label in ("A1", "A2"):
        raters[label].goto(f"/projects/summeval-op/disputes/{first.number}/")
    raters["A1"].get_by_label("Reason, or a message").fill("Is the second sentence an error?")
    raters["A1"].get_by_role("button", name="Send alone").click()
    thread = raters["A2"].locator(".thread")
    expect(thread).to_contain_text("Is the second sentence an error?")
    expect(thread).to_contain_text("Rater A")
    moved = {dispute.number: change(raters, dispute) for dispute in (first, second, third)}
    for dispute in (first, second, third):
        dispute.refresh_from_db()
        assert dispute.status == "settled"

    # One that the admin decides, which its raters are told.
    admin.goto(f"/projects/summeval-op/disputes/{fourth.number}/")
    admin.get_by_text("Decide this dispute").click()
    admin.get_by_role("radio", name="4").check()
    admin.get_by_label("Reason").fill("One slip only.")
    admin.get_by_role("button", name="Adjudicate").click()
    expect(admin.locator("#discussion")).to_contain_text("Decided by adjudication: 4.")
    raters["A3"].goto(f"/projects/summeval-op/disputes/{fourth.number}/")
    expect(raters["A3"].locator("#discussion")).to_contain_text("Decided by adjudication: 4.")
    expect(raters["A3"].get_by_role("button", name="Keep")).to_have_count(0)

    step(admin, "Close Round II")
    project = Project.objects.get(slug="summeval-op")
    before, after = alphas(project, "fluency")
    assert after > before == pytest.approx(0.551688, abs=5e-7)
    admin.goto("/projects/summeval-op/results/agreement/")
    row = admin.locator("#rounds tbody tr").filter(has_text="Fluency")
    expect(row).to_contain_text(f"{before:.2f}")
    expect(row).to_contain_text(f"{after:.2f}")
    disputes = admin.locator("#rounds tbody tr").filter(has_text="Fluency")
    columns = [head.strip().lower() for head in admin.locator("#rounds thead th").all_inner_texts()]
    expect(disputes.locator("th, td").nth(columns.index("adjudicated"))).to_have_text("1")

    check_export(admin, moved, fourth)


def check_export(admin: Page, moved: dict[int, float], adjudicated: Dispute) -> None:
    admin.get_by_role("link", name="Export", exact=True).click()
    admin.get_by_role("button", name="Export everything").click()
    with admin.expect_download() as download:
        admin.get_by_role("link", name="Download").click()
    archive = zipfile.ZipFile(download.value.path())
    names = [name for name in archive.namelist() if name.endswith(".jsonl")]
    tables = {Path(name).stem: archive.read(name).decode().splitlines() for name in names}
    rows = {name: [json.loads(line) for line in lines] for name, lines in tables.items()}
    assert [len(rows[name]) for name in ("items", "final_values", "disputes")] == [416, 2912, 1030]
    assert sum(row["round"] == 1 for row in rows["ratings"]) == 8736
    assert sum(row["round"] == 2 for row in rows["ratings"]) == 3
    assert [row["text"] for row in rows["posts"]] == ["Is the second sentence an error?"]
    assert {row["value_after"] for row in rows["history"] if row["cause"] == "changed"} == set(moved.values())
    ended = {row["dispute"]: row["status"] for row in rows["disputes"]}
    assert {number: ended[number] for number in moved} == dict.fromkeys(moved, "settled")
    assert ended[adjudicated.number] == "adjudicated"
    decided = [row for row in rows["final_values"] if row["status"] == "adjudicated"]
    assert [row["final_value"] for row in decided] == [4]
    assert "vicuna-7b-v1.5" in {row["system"] for row in rows["items"]}
    everything = "\n".join(line for name, lines in tables.items() if name != "documents" for line in lines)
    for membership in Membership.objects.exclude(user=None).select_related("user"):
        assert membership.user
        assert membership.user.email not in everything
    admin.get_by_role("link", name="Export", exact=True).first.click()
    with admin.expect_download() as download:
        admin.get_by_role("row").filter(has_text="final_values").get_by_role(
            "link", name="CSV", exact=True
        ).click()
    table = list(csv.DictReader(io.StringIO(download.value.path().read_text())))
    assert len(table) == 2912
