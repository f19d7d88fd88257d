"""Importing a file, played in a real browser."""

from pathlib import Path

from playwright.sync_api import Page, expect

from annotate.models import Item
from tests.browser.people import sign_in_at_the_door
from tests.factories import make_project


def test_an_admin_uploads_a_file_says_what_its_columns_mean_and_imports_it(
    page: Page, tmp_path: Path
) -> None:
    cast = make_project(documents=0, systems=0)
    path = tmp_path / "shoes.csv"
    path.write_text("product;opinion;made by;says\nboots;<b>Good</b> boots.;s1;They are good.\n")
    sign_in_at_the_door(page, cast.admin.email)
    page.goto(f"/projects/{cast.project.slug}/")
    page.get_by_role("link", name="Import", exact=True).click()
    page.get_by_label("File").set_input_files(path)
    page.get_by_role("button", name="Upload and look at it").click()
    expect(page.get_by_role("cell", name="<b>Good</b> boots.").first).to_be_visible()
    for column, meaning in (
        ("product", "document: key"),
        ("opinion", "document: part"),
        ("made by", "system"),
    ):
        page.get_by_label(f"Meaning of {column}").select_option(meaning)
    page.get_by_label("Heading of opinion as a part").fill("Review")
    page.get_by_label("Meaning of says").select_option("text to rate")
    expect(page.locator("#preview")).to_contain_text("1 document, 1 system, 1 item")
    page.get_by_role("button", name="Check and import").click()
    expect(page.locator("#state")).to_contain_text("Imported 1 document, 1 system, 1 item.")
    item = Item.objects.get()
    assert (item.text, item.document.parts) == (
        "They are good.",
        [{"label": "Review", "text": "<b>Good</b> boots."}],
    )
