"""Take a picture of every page of the finished demonstration, 1280 and 390 pixels wide, and list the pages.

Run by `make screenshots`, which takes some minutes. Pages are found as a person finds them: by following
links from the project's overview, one page of each kind. var/screenshots has the pictures, one contact sheet
for each width, and pages.csv: for each page its words, its links, what stands out to be pressed, how far it
is wider than the window, and the errors of its scripts.
"""

import csv
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import urlsplit

from demonstration_server import ROOT, browser, demonstration, sign_in
from PIL import Image, ImageDraw
from playwright.sync_api import Error, Page

FOLDER = ROOT / "var" / "screenshots"
WIDTHS = {1280: 800, 390: 844}
FINISHED = "finished"
ADMIN = "admin@example.org"
NUMBERS = re.compile(r"/\d+(?=/)")
MEASURE = """() => {
  const main = document.querySelector('main') || document.body;
  const shown = main.innerText.split(/\\s+/).filter(Boolean).length;
  const step = main.querySelector('.button-main');
  const wider = document.documentElement.scrollWidth - document.documentElement.clientWidth;
  return {words: shown, links: main.querySelectorAll('a[href]').length,
          next: step ? step.innerText.trim() : '', wider};
}"""


@dataclass(frozen=True)
class Taken:
    """A page of one kind: where it is, what was counted on it, and its picture."""

    path: str
    width: int
    facts: Mapping[str, object]
    picture: Path


def main() -> None:
    """Start the demonstration, walk through the finished project, and write what was found."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with demonstration() as address, browser() as chromium:
        page = chromium.new_page(base_url=address, viewport={"width": 1280, "height": 800})
        sign_in(page, ADMIN)
        home = _finished_project(page)
        paths = list(_pages_of(page, home))
        taken = []
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            taken += [_take(page, path, width) for path in paths]
    for width in WIDTHS:
        _contact_sheet([each for each in taken if each.width == width], width)
    with (FOLDER / "pages.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["path", "width", *taken[0].facts])
        writer.writerows([each.path, each.width, *each.facts.values()] for each in taken)
    sys.stdout.write(f"{len(paths)} pages are in {FOLDER.relative_to(ROOT)}, and listed in pages.csv.\n")


def _finished_project(page: Page) -> str:
    """Wait until a worker has made the finished project, and return the path of its overview."""
    for _ in range(180):
        page.goto("/")
        links = page.locator("main a[href^='/projects/']").evaluate_all(
            "found => found.map(each => each.getAttribute('href'))"
        )
        if found := [link for link in links if FINISHED in link]:
            return str(urlsplit(found[0]).path)
        time.sleep(1)
    raise SystemExit("The finished project was not there after three minutes.")


def _pages_of(page: Page, home: str) -> Iterator[str]:
    """Yield one path of each kind below a project, in the order in which links lead there."""
    waiting, seen = [home], set()
    while waiting:
        path = waiting.pop(0)
        kind = NUMBERS.sub("/N", path)
        if kind in seen:
            continue
        seen.add(kind)
        answer = page.request.get(path)
        if not answer.ok or "attachment" in answer.headers.get("content-disposition", ""):
            continue
        page.goto(path)
        yield path
        links = page.locator("a[href]").evaluate_all("found => found.map(each => each.getAttribute('href'))")
        inside = (urlsplit(link).path for link in links if link.startswith(home))
        waiting += [each for each in dict.fromkeys(inside) if each.endswith("/")]


def _take(page: Page, path: str, width: int) -> Taken:
    errors: list[str] = []

    def note(error: Error) -> None:
        errors.append(str(error))

    page.on("pageerror", note)
    page.goto(path)
    page.wait_for_load_state("networkidle")
    page.remove_listener("pageerror", note)
    facts = {**page.evaluate(MEASURE), "errors": "; ".join(errors)}
    name = path.strip("/").replace("/", "-").split("-", 1)[-1]
    picture = FOLDER / str(width) / f"{name[-120:]}.png"
    picture.parent.mkdir(exist_ok=True)
    page.screenshot(path=picture, full_page=True)
    return Taken(path, width, facts, picture)


def _contact_sheet(taken: list[Taken], width: int) -> None:
    """Put the heads of all pages on one sheet, each with its path below."""
    across, scale = (6, 0.25) if width > 1000 else (12, 0.4)
    tile = (int(width * scale), int(1600 * scale))
    rows = -(-len(taken) // across)
    sheet = Image.new("RGB", (across * (tile[0] + 10), rows * (tile[1] + 30)), "white")
    for place, each in enumerate(taken):
        with Image.open(each.picture) as picture:
            head = picture.convert("RGB").crop((0, 0, width, min(picture.height, 1600)))
        small = head.resize((tile[0], int(head.height * scale)))
        corner = (place % across * (tile[0] + 10), place // across * (tile[1] + 30))
        sheet.paste(small, corner)
        text = each.path.split("/", 3)[-1] or "overview"
        ImageDraw.Draw(sheet).text((corner[0], corner[1] + tile[1] + 5), text[-50:], fill="black")
    sheet.save(FOLDER / f"{width}.png")


if __name__ == "__main__":
    main()
