"""Take the images of the README: the rating page, and the front page of results.

Run by `make screenshot`.
"""

from demonstration_server import ROOT, browser, demonstration, sign_in
from playwright.sync_api import Page
from screenshots import find_finished_project

IMAGES = ROOT / "docs" / "images"
RATING = "/projects/demonstration-opinions-about-three-products/rate/"


def main() -> None:
    """Rate two dimensions and photograph the page, then the results of the finished project."""
    IMAGES.mkdir(exist_ok=True)
    with demonstration() as address, browser() as chromium:
        page = chromium.new_page(base_url=address, viewport={"width": 1280, "height": 800})
        sign_in(page, "cem@example.org")
        page.goto(RATING)
        page.keyboard.press("5")
        page.keyboard.press("4")
        page.wait_for_selector("#save-mark[data-state=saved]")
        page.screenshot(path=IMAGES / "rating.png")
        admin = chromium.new_page(base_url=address, viewport={"width": 1280, "height": 900})
        sign_in(admin, "admin@example.org")
        photograph_results(admin, find_finished_project(admin))


def photograph_results(page: Page, home: str) -> None:
    """Photograph the front page of results once its four charts are drawn."""
    page.goto(f"{home}results/")
    for number in range(4):  # each card is loaded once a worker has computed it
        page.locator("figure.chart").nth(number).locator("svg").first.wait_for(timeout=120_000)
    page.screenshot(path=IMAGES / "results.png")


if __name__ == "__main__":
    main()
