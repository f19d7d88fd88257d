"""The effort of rating an item: actions, scrolls, eye travel and seconds, by keyboard, mouse and touch.

python benchmarks/rating_effort.py [--items 10]

Serves items of SummEval-OP's size from a database of its own (see benchmarks/annotators.py) and rates them
as a person does: read the text, look at each question, choose a value, continue. Needs chromium.

- An action is a key, a click or a tap. A scroll is a swipe or a turn of the wheel over most of the window.
- Eye travel is the sum of distances between the centres of what a person looks at, in pixels.
- Seconds follow a model, so that machines do not matter: .3 a key, 1.1 a click, .9 a tap, .8 a scroll,
  .23 for each place that is looked at. Reading and deciding are the same everywhere and left out.

To measure an older version, copy this file into a worktree of that version and run it there. It knows the
pages of commit 5718a00f, where all dimensions are rows and a panel explains the focused one.
"""

import argparse
import math
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from benchmarks.annotators import CONCORD, ITEMS, serving
from benchmarks.export import own_database
from benchmarks.judges import run
from benchmarks.page import NAMES
from benchmarks.stopping import clean_up_when_stopped

HERE = Path(__file__).resolve().parent
SECONDS = {"key": 0.3, "click": 1.1, "tap": 0.9}
SCROLL_SECONDS, LOOK_SECONDS = 0.8, 0.23
WAYS = (
    ("keyboard", "key", 1280, 800),
    ("mouse", "click", 1280, 800),
    ("touch, 768 px", "tap", 768, 1024),
    ("touch, 390 px", "tap", 390, 844),
)
# Scroll an element into view; return its centre and the number of scrolls that a person needs for it.
LOOK = """(selector) => {
    const element = document.querySelector(selector);
    const bar = document.querySelector(".dock, .steps");
    const isOver = getComputedStyle(bar).position === "sticky" && !bar.contains(element);
    const bottom = isOver ? bar.getBoundingClientRect().top : innerHeight;
    const fits = ({ bottom: end, height }) => end <= bottom + 1 || height > bottom;
    const isSeen = (box) => box.top >= -1 && fits(box);
    let scrolls = 0;
    const before = element.getBoundingClientRect();
    if (!isSeen(before)) {
        element.scrollIntoView({ block: "center", behavior: "instant" });
        const moved = Math.abs(element.getBoundingClientRect().top - before.top);
        scrolls = Math.max(1, Math.round(moved / (innerHeight * 0.7)));
    }
    const { left, right, top, height } = element.getBoundingClientRect();
    return { x: (left + right) / 2, y: top + Math.min(height, innerHeight) / 2, scrolls };
}"""
# How many scrolls the text to rate needs to be read to its end, inside its own box.
HIDDEN = """() => {
    const { scrollHeight, clientHeight } = document.querySelector(".summary");
    return Math.ceil(Math.max(0, scrollHeight - clientHeight - 4) / (clientHeight * 0.8));
}"""


@dataclass
class Effort:
    action: str
    actions: int = 0
    scrolls: int = 0
    looks: int = 0
    travel: float = 0
    eye: tuple[float, float] | None = None

    def look(self, page: Page, selector: str) -> None:
        """Move the eye to the centre of an element, scrolling to it if needed."""
        found = page.evaluate(LOOK, selector)
        self.scrolls += found["scrolls"]
        self.looks += 1
        if self.eye:
            self.travel += math.dist(self.eye, (found["x"], found["y"]))
        self.eye = (found["x"], found["y"])

    def act(self, page: Page, key: str, selector: str) -> None:
        self.actions += 1
        if self.action == "key":
            page.keyboard.press(key)
        elif self.action == "tap":
            page.locator(selector).tap()
        else:
            page.locator(selector).click()

    @property
    def seconds(self) -> float:
        """The time by the model."""
        acted = self.actions * SECONDS[self.action]
        return acted + self.scrolls * SCROLL_SECONDS + self.looks * LOOK_SECONDS


def words_of(page: Page, key: str, action: str) -> Iterator[str]:
    """Yield what a person looks at before choosing a value of a dimension."""
    if page.locator(".dock").count():
        yield f'.row[data-key="{key}"] .points'
        return
    if action == "key":
        yield ".panel.focused"
    yield f'.row[data-key="{key}"] .points'


def rate(page: Page, action: str, number: int) -> Effort:
    effort = Effort(action)
    effort.look(page, ".summary .text")
    effort.scrolls += page.evaluate(HIDDEN)
    keys = page.locator(".row").evaluate_all("rows => rows.map((row) => row.dataset.key)")
    for index, key in enumerate(keys):
        value = (number + index) % 5 + 1
        for selector in words_of(page, key, action):
            effort.look(page, selector)
        effort.act(page, str(value), f'.row[data-key="{key}"] input[type=radio][value="{value}"]')
        page.wait_for_timeout(30)
    if action != "key":
        effort.look(page, "#next")
        page.wait_for_timeout(600)  # longer than a double click
    before = page.url
    effort.act(page, "Enter", "#next")
    page.wait_for_url(lambda url: url != before)
    page.wait_for_timeout(600)
    return effort


def open_browser(
    browser: Browser, address: str, session: str, action: str, width: int, height: int
) -> BrowserContext:
    """Return a browser of this size, with touch for taps, whose person is signed in."""
    context = browser.new_context(
        base_url=address,
        viewport={"width": width, "height": height},
        has_touch=action == "tap",
        is_mobile=action == "tap",
        reduced_motion="reduce",
    )
    context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
    return context


def main() -> None:
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=10)
    items = parser.parse_args().items
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    with tempfile.TemporaryDirectory(prefix="concord-effort-") as name, own_database(Path(name)) as there:
        environment = there | {"PYTHONPATH": str(HERE.parent), "CONCORD_LOG_LEVEL": "ERROR"}
        made = run("annotators_fill.py", environment, len(WAYS), ITEMS)
        with serving(environment, CONCORD) as (_, port), sync_playwright() as playwright:
            address = f"http://127.0.0.1:{port}/projects/{made['slug']}/"
            browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
            print("| way | actions | scrolls | eye travel, px | seconds |\n|---|---|---|---|---|")
            for (way, action, width, height), session in zip(WAYS, made["sessions"], strict=False):
                context = open_browser(browser, address, session, action, width, height)
                page = context.new_page()
                page.goto("rate/")
                page.wait_for_selector("body[data-ahead=ready] .row.focused")
                found = [rate(page, action, number) for number in range(items)]
                cells = (
                    f"{mean(each.actions for each in found):.1f}",
                    f"{mean(each.scrolls for each in found):.1f}",
                    f"{mean(each.travel for each in found):,.0f}",
                    f"{mean(each.seconds for each in found):.1f}",
                )
                print(f"| {way} | {' | '.join(cells)} |")
                context.close()
            browser.close()


if __name__ == "__main__":
    main()
