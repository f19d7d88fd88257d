"""One annotator rates items by keyboard in Chromium: the time of each, from its first key to the next item.

python benchmarks/keyboard.py [--items 50] [--thinking 0]

Serves SummEval-OP's size of items from a database of its own (see benchmarks/annotators.py). Every item is
rated on seven dimensions by seven digits, in every fifth a word is found, marked as evidence and a comment
written, and Enter goes on; nothing is touched but keys. `--thinking` seconds pass before each item. In the
end the counter must say that all of them are done. Needs chromium and the development requirements.
"""

import argparse
import os
import platform
import shutil
import sys
import tempfile
import time
from pathlib import Path
from statistics import median, quantiles

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Page, sync_playwright

from benchmarks.annotators import CONCORD, ITEMS, serving
from benchmarks.export import own_database
from benchmarks.judges import run
from benchmarks.page import NAMES
from benchmarks.stopping import clean_up_when_stopped

HERE = Path(__file__).resolve().parent
REMARKED = 5
NEXT_IS_PAINTED = """before => new Promise((done) => {
    const look = () => requestAnimationFrame(location.href === before ? look : () => setTimeout(done));
    look();
})"""


def rate(page: Page, number: int) -> float:
    """Rate the item in view by keys and go on; return the seconds until the next one is painted."""
    begun = time.perf_counter()
    if number % REMARKED == 0:
        for key in ("/", "t", "h", "e", "Escape", "e", "c", "W", "h", "y", "Escape"):
            page.keyboard.press(key)
    for dimension in range(7):
        page.keyboard.press(str((number + dimension) % 5 + 1))
    before = page.url
    page.keyboard.press("Enter")
    page.evaluate(NEXT_IS_PAINTED, before)
    return time.perf_counter() - begun


def report(taken: list[float], waited: float, counter: str) -> None:
    for first in range(0, len(taken), 10):
        times = "  ".join(f"{seconds * 1000:5.0f}" for seconds in taken[first : first + 10])
        print(f"items {first + 1:>3} to {first + len(taken[first : first + 10]):>3}, ms: {times}")
    worst = quantiles(taken, n=20)[-1]
    print(f"an item: median {median(taken) * 1000:.0f} ms, 95 % within {worst * 1000:.0f} ms, 8 keys or more")
    print(
        f"after the last key everything was saved within {waited * 1000:.0f} ms; the counter says: {counter}"
    )


def main() -> None:
    """Fill, rate, report; the exit code is 1 where the counter does not say that all items are done."""
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=50)
    parser.add_argument("--thinking", type=float, default=0, help="seconds before each item")
    asked = parser.parse_args()
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    with tempfile.TemporaryDirectory(prefix="concord-keys-") as name, own_database(Path(name)) as there:
        environment = there | {"PYTHONPATH": str(HERE.parent), "CONCORD_LOG_LEVEL": "ERROR"}
        made = run("annotators_fill.py", environment, 1, ITEMS)
        with serving(environment, CONCORD) as (_, port), sync_playwright() as playwright:
            address = f"http://127.0.0.1:{port}/projects/{made['slug']}/"
            browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
            context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 800})
            context.add_cookies([{"name": "sessionid", "value": made["sessions"][0], "url": address}])
            page = context.new_page()
            page.goto("rate/")
            page.wait_for_selector("body[data-ahead=ready] .row.focused")
            taken = []
            for number in range(asked.items):
                time.sleep(asked.thinking)
                taken.append(rate(page, number))
            begun = time.perf_counter()
            page.wait_for_selector("#save-mark[data-state=saved]")
            waited = time.perf_counter() - begun
            page.goto("rate/")
            counter = " ".join(page.locator("#progress").inner_text().split())
            browser.close()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; {asked.items} items by keyboard.")
    report(taken, waited, counter)
    sys.exit(not counter.startswith(f"{asked.items} of "))


if __name__ == "__main__":
    main()
