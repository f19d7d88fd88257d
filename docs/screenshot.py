"""Take the images of the README and the tutorials: rating, a dispute, verdicts, results, sign-in.

Run by `make screenshot`, and before the other images by `make screenshots`.
"""

import re

from demonstration_server import ROOT, browser, demonstration, sign_in
from playwright.sync_api import Page
from screenshots import find_finished_project

IMAGES = ROOT / "docs" / "images"
MANY_POSTS = 3
OPEN = "/projects/demonstration-opinions-about-three-products/"


def main() -> None:
    """Photograph pages for annotators and admins; the open project's agreement before anyone rates."""
    IMAGES.mkdir(exist_ok=True)
    with demonstration() as address, browser() as chromium:
        page = chromium.new_page(base_url=address, viewport={"width": 1280, "height": 800})
        page.goto("/accounts/login/")
        page.screenshot(path=IMAGES / "sign-in.png", clip={"x": 0, "y": 0, "width": 1280, "height": 500})
        admin = chromium.new_page(base_url=address, viewport={"width": 1280, "height": 900})
        sign_in(admin, "admin@example.org")
        photograph(admin, f"{OPEN}results/agreement/", "agreement.png")
        sign_in(page, "cem@example.org")
        page.goto(f"{OPEN}rate/")
        page.keyboard.press("5")
        page.keyboard.press("4")
        page.wait_for_selector("#save-mark[data-state=saved]")
        page.screenshot(path=IMAGES / "rating.png")
        home = find_finished_project(admin)
        wait_for_export(admin, home)
        photograph_dispute(admin, home)
        photograph(admin, f"{home}results/verdicts/", "trust.png")
        photograph(admin, f"{home}results/", "results.png")


def wait_for_export(page: Page, home: str) -> None:
    """Wait for the export, the last thing that a worker adds to the finished demonstration."""
    for _ in range(180):
        page.goto(f"{home}export/")
        if page.locator(f"main a[href^='{home}export/']").evaluate_all(
            "found => found.some(each => /[0-9]+\\/$/.test(each.getAttribute('href')))"
        ):
            return
        page.wait_for_timeout(2_000)
    raise SystemExit("The finished project had no export after six minutes.")


def photograph_dispute(page: Page, home: str) -> None:
    """Photograph the first dispute with a discussion of three posts or more, else the longest one."""
    page.goto(f"{home}disputes/")
    links = page.locator("main a[href]").evaluate_all("found => found.map(each => each.getAttribute('href'))")
    disputes = [link for link in dict.fromkeys(links) if re.fullmatch(rf"{home}disputes/\d+/.*", link)]
    posts = {}
    for link in disputes[:12]:
        page.goto(link)
        posts[link] = page.locator("ol.thread > li").count()
        if posts[link] >= MANY_POSTS:
            break
    page.goto(max(posts, key=lambda link: posts[link]))
    page.screenshot(path=IMAGES / "dispute.png")


def photograph(page: Page, path: str, name: str) -> None:
    """Photograph a page of results once a worker has computed it."""
    page.goto(path)
    page.locator("figure.chart svg").first.wait_for(timeout=120_000)
    page.wait_for_selector("#figures[hx-get], #cards[hx-trigger]", state="detached", timeout=120_000)
    page.screenshot(path=IMAGES / name)


if __name__ == "__main__":
    main()
