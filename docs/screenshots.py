"""Take an image of every page of the finished demonstration, 1280 and 390 pixels wide, and check budgets.

Run by `make screenshots`, which takes some minutes. Pages are found as a person finds them: by following
links from the project's overview, one page of each kind. var/screenshots has the images, one contact sheet
for each width, and pages.csv: for each page its height, words, links, buttons, and the errors of its scripts.

The command exits with 1 and lists the pages that are over budget: what a page shows before its reader asks
for more. Elements with `data-own-words` do not count: documents, outputs, and what people wrote.
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
WHOLE_TABLE = re.compile(r"/results/[a-z-]+/[\w-]+/$")  # all rows of a table: its reader asked for them
MOST_HEIGHT = {1280: 2_400, 390: 5_000}  # pixels
MOST_HEIGHT_OF_RESULTS = {1280: 1_950, 390: 4_200}
MOST_WORDS = {1280: 600}
COMPUTED = "() => !document.querySelector('#figures[hx-get], #view[hx-trigger], #cards[hx-trigger]')"
MEASURE = """() => {
  const main = document.querySelector('main') || document.body;
  const count = (element) => element.innerText.split(/\\s+/).filter(Boolean).length;
  const visible = (element) => element.checkVisibility();
  const own = [...main.querySelectorAll('[data-own-words]')]
    .filter((each) => visible(each) && !each.parentElement.closest('[data-own-words]'));
  const steps = [...main.querySelectorAll('.button-main')].filter(visible);
  const page = document.documentElement;
  const cut = [...main.querySelectorAll('.scroll-x')]
    .filter((each) => each.querySelector('table') && each.scrollWidth - each.clientWidth > 2);
  const cue = (each) => each.classList.contains('has-more');
  return {
    height: Math.round(page.scrollHeight - own.reduce((sum, each) => sum + each.offsetHeight, 0)),
    words: count(main) - own.reduce((sum, each) => sum + count(each), 0),
    links: main.querySelectorAll('a[href]').length,
    next: steps.map((each) => each.innerText.trim()).join(' / '),
    main_buttons: steps.length,
    without_cue: cut.filter((each) => !cue(each)).length,
    charts: main.querySelectorAll('.chart svg, [class*=status-]').length,
    empty: main.querySelectorAll('.empty').length,
    wider: page.scrollWidth - page.clientWidth,
  };
}"""
SCROLL = """async () => {
  for (let at = 0; at < document.documentElement.scrollHeight; at += 600) {
    scrollTo(0, at);
    await new Promise((done) => setTimeout(done, 30));
  }
  scrollTo(0, 0);
}"""


@dataclass(frozen=True)
class PageShot:
    """A page of one kind: its path, what was counted on it, and its image."""

    path: str
    width: int
    facts: Mapping[str, object]
    picture: Path

    @property
    def over_budget(self) -> Iterator[str]:
        """Yield a sentence for each budget that the page exceeds; whole tables have none."""
        if WHOLE_TABLE.search(self.path):
            return
        height, words = int(str(self.facts["height"])), int(str(self.facts["words"]))
        most = MOST_HEIGHT[self.width]
        if self._shows_results:
            most = MOST_HEIGHT_OF_RESULTS.get(self.width, most)
        if height > most:
            yield f"{height} px high, at most {most}"
        if words > MOST_WORDS.get(self.width, words):
            yield f"{words} words, at most {MOST_WORDS[self.width]}"
        if self.facts["without_cue"]:
            yield f"{self.facts['without_cue']} tables hide columns without a cue"
        if int(str(self.facts["main_buttons"])) > 1:
            yield f"{self.facts['main_buttons']} primary buttons: {self.facts['next']}"
        if self._shows_results and not self.facts["charts"] and not self.facts["empty"]:
            yield "no chart"
        if int(str(self.facts["wider"])) > 0:
            yield f"{self.facts['wider']} px wider than the window"

    @property
    def _shows_results(self) -> bool:
        return "/results/" in self.path


def main() -> None:
    """Start the demonstration, walk through the finished project, write what was found, check budgets."""
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir(parents=True)
    with demonstration() as address, browser() as chromium:
        page = chromium.new_page(base_url=address, viewport={"width": 1280, "height": 800})
        sign_in(page, ADMIN)
        home = find_finished_project(page)
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
    exceeding = [
        f"{each.path} at {each.width} px: {sentence}.\n" for each in taken for sentence in each.over_budget
    ]
    sys.stdout.write("".join(exceeding))
    if exceeding:
        raise SystemExit(1)


def find_finished_project(page: Page) -> str:
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


def _take(page: Page, path: str, width: int) -> PageShot:
    errors: list[str] = []

    def note(error: Error) -> None:
        errors.append(str(error))

    page.on("pageerror", note)
    page.goto(path)
    page.wait_for_load_state("networkidle")
    page.wait_for_function(COMPUTED, timeout=60_000)  # a worker computes results
    page.evaluate(SCROLL)  # parts that load where they come into view
    page.wait_for_load_state("networkidle")
    page.remove_listener("pageerror", note)
    facts = {**page.evaluate(MEASURE), "errors": "; ".join(errors)}
    name = path.strip("/").replace("/", "-").split("-", 1)[-1]
    picture = FOLDER / str(width) / f"{name[-120:]}.png"
    picture.parent.mkdir(exist_ok=True)
    page.screenshot(path=picture, full_page=True)
    return PageShot(path, width, facts, picture)


def _contact_sheet(taken: list[PageShot], width: int) -> None:
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
