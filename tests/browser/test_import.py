"""Importing a file, played in a real browser."""

from playwright.sync_api import BrowserContext, expect

from annotate.core.models import Item
from tests.browser.people import signed_in
from tests.factories import make_project

DROP = """([text, name]) => {
  const dropped = new DataTransfer();
  dropped.items.add(new File([text], name));
  const event = new DragEvent("drop", { dataTransfer: dropped, bubbles: true, cancelable: true });
  document.querySelector("[data-drop]").dispatchEvent(event);
}"""
SHOES = "product;opinion;made by;says\nboots;<b>Good</b> boots.;s1;They are good.\n"


def test_admin_drops_a_file_maps_its_columns_imports_and_undoes_it(
    context: BrowserContext,
) -> None:
    cast = make_project(documents=0, systems=0)
    page = signed_in(context, cast.admin)
    page.goto(f"/projects/{cast.project.slug}/")
    page.get_by_role("link", name="Items", exact=True).first.click()
    page.get_by_role("link", name="Import", exact=True).first.click()
    expect(page.get_by_text("Or drop a file here.")).to_be_visible()
    page.wait_for_load_state()  # the text is there before the script that takes what is dropped
    page.evaluate(DROP, [SHOES, "shoes.csv"])
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
    page.once("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Undo this import").click()
    expect(page.locator("#state")).to_contain_text("undid this import")
    assert not Item.objects.exists()
