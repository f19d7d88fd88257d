"""Four questions of a newcomer to the results: clicks, pixels to scroll, seconds until the answer is in view.

python benchmarks/newcomer_tasks.py

Starts the demonstration in a folder of its own and answers each question from "Your projects" of the finished
project, at 1280 and 390 px. Seconds are the browser's: a person's reading comes on top.
"""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "docs"))

from demonstration_server import browser, demonstration, sign_in
from playwright.sync_api import Locator, Page
from screenshots import find_finished_project

WIDTHS = {1280: 800, 390: 844}
PATIENCE = 120_000  # milliseconds, for results that a worker computes first


@dataclass(frozen=True)
class Task:
    """A question, the links that lead to its answer, and where the answer stands."""

    question: str
    links: tuple[str, ...]
    answer: Callable[[Page], Locator]


def _card(page: Page, title: str) -> Locator:
    cards = page.locator("#cards section").filter(has=page.get_by_role("heading", name=title))
    return cards.locator(".answer")


TASKS = (
    Task("alpha of both rounds", ("Results",), lambda page: _card(page, "Agreement")),
    Task("best system, and whether surely", ("Results",), lambda page: _card(page, "Systems")),
    Task("judge A or B", ("Results",), lambda page: _card(page, "Judges and people")),
    Task(
        "ten worst disagreements, with texts",
        ("Results", "Worst disagreements"),
        lambda page: page.locator(".worst .text").first,
    ),
)


def main() -> None:
    with demonstration() as address, browser() as chromium:
        page = chromium.new_page(base_url=address)
        page.set_default_timeout(PATIENCE)
        sign_in(page, "admin@example.org")
        home = find_finished_project(page)
        for width, height in WIDTHS.items():
            page.set_viewport_size({"width": width, "height": height})
            for task in TASKS:
                print(f"{width} px: {task.question}: {_answer(page, home, task, height)}")


def _answer(page: Page, home: str, task: Task, height: int) -> str:
    page.goto("/")
    clicks, begun = 0, time.perf_counter()
    page.locator(f"main a[href='{home}']").first.click()
    for name in task.links:
        link = page.get_by_role("link", name=name, exact=True).first
        if not link.is_visible():
            page.get_by_role("button", name="Menu").click()
            clicks += 1
        link.click()
        clicks += 1
    answer = task.answer(page)
    answer.wait_for()
    seconds = time.perf_counter() - begun
    box = answer.bounding_box()
    assert box
    scroll = max(0, round(box["y"] + box["height"] - height))
    return f"{clicks + 1} clicks, {scroll} px to scroll, {seconds:.1f} s"


if __name__ == "__main__":
    main()
