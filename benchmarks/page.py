"""The rating page in Chromium: bytes over the wire, requests, when it can be used, going to the next item.

python benchmarks/page.py [--repeats 5]

Serves SummEval-OP's size of items as docs/deployment.md says, from a database of its own (see
benchmarks/annotators.py), and opens an annotator's first item in a new browser profile each time. Bytes are
those that Chromium received, compressed as they came, headers and all; those of the texts to read and to rate
are taken off. Usable: from the start of the navigation until a key rates. Next item: from the key to the
painted item. Needs chromium and the development requirements.
"""

import argparse
import os
import platform
import shutil
import signal
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Browser, Page, sync_playwright

from benchmarks.annotators import CONCORD, ITEMS, serving
from benchmarks.export import own_database
from benchmarks.judges import run

HERE = Path(__file__).resolve().parent
NAMES = ("chromium", "chromium-browser", "google-chrome")
OUR_SCRIPTS = frozenset(path.name for path in (HERE.parent / "static").glob("*.js"))
ITEMS_RATED = 10
MOST_BYTES, MOST_SCRIPT, MOST_USABLE, MOST_NEXT = 150_000, 25 * 1024, 250.0, 50.0
WATCH = """() => new MutationObserver((_, watching) => {
    if (!document.querySelector('.row.focused')) return;
    watching.disconnect();
    window.usable = performance.now();
}).observe(document, {subtree: true, childList: true, attributes: true})"""
NEXT = """() => new Promise((done) => {
    const begun = performance.now();
    const before = location.href;
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));
    const painted = () => setTimeout(() => done(location.href === before ? -1 : performance.now() - begun));
    requestAnimationFrame(painted);
})"""


@dataclass(frozen=True)
class Opened:
    """One opening of the page: bytes, requests, milliseconds."""

    received: int
    requests: int
    usable: float
    next: float
    scripts: tuple[int, int]
    hosts: frozenset[str]


def open_page(browser: Browser, address: str, session: str) -> Opened:
    """Open the first item in a new profile, rate some items by keys, and measure."""
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 800})
    context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
    page = context.new_page()
    page.add_init_script(f"({WATCH})()")
    received = listen(page)
    page.goto("rate/")
    page.wait_for_function("window.usable")
    usable, first = page.evaluate("window.usable"), dict(received)
    texts = page.evaluate(
        "new Blob([...document.querySelectorAll('.document, .summary')].map(e => e.innerText)).size"
    )
    page.wait_for_selector("body[data-ahead=ready]")
    steps = [step(page) for _ in range(ITEMS_RATED)]
    context.close()
    ours = {url: size for url, size in first.items() if script(url) in OUR_SCRIPTS}
    scripts = (sum(ours.values()), sum(written(script(url)) for url in ours))
    hosts = frozenset(url.split("/")[2] for url in received)
    return Opened(sum(first.values()) - texts, len(first), usable, median(steps), scripts, hosts)


def listen(page: Page) -> dict[str, int]:
    """Count the bytes of every response but items loaded ahead; return them by address."""
    received: dict[str, int] = {}
    urls: dict[str, str] = {}
    devtools = page.context.new_cdp_session(page)
    devtools.send("Network.enable")

    def begin(event: dict[str, Any]) -> None:
        if not any(name.lower() == "concord-ahead" for name in event["request"]["headers"]):
            urls[event["requestId"]] = event["request"]["url"]

    def end(event: dict[str, Any]) -> None:
        if event["requestId"] in urls:
            received[urls[event["requestId"]]] = int(event["encodedDataLength"])

    devtools.on("Network.requestWillBeSent", begin)
    devtools.on("Network.loadingFinished", end)
    return received


def step(page: Page) -> float:
    """Rate the item in view and go on; return the milliseconds until the next one is painted."""
    for _ in range(page.locator(".row").count()):
        page.keyboard.press("4")
    page.wait_for_selector("body[data-ahead=ready]")
    took: float = page.evaluate(NEXT)
    if took < 0:
        sys.exit("The next item was not there at once.")
    return took


def script(url: str) -> str:
    """Return the name of the file that an address is of, without what tells its version: "keys.1a2b.js"."""
    file = url.rsplit("/", 1)[-1]
    return f"{file.partition('.')[0]}.{file.rpartition('.')[-1]}"


def written(name: str) -> int:
    """Return the bytes of one of our scripts as it is written."""
    return (HERE.parent / "static" / name).stat().st_size


def main() -> None:
    """Fill, open, report; the exit code is 1 where a figure is not as it should be."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5, help="openings, of which the median is shown")
    repeats = parser.parse_args().repeats
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # as by Ctrl-C: nothing is left running
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    with tempfile.TemporaryDirectory(prefix="concord-page-") as name, own_database(Path(name)) as there:
        environment = there | {"PYTHONPATH": str(HERE.parent), "CONCORD_LOG_LEVEL": "ERROR"}
        made = run("annotators_fill.py", environment, repeats + 1, ITEMS)
        with serving(environment, CONCORD) as (_, port), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
            address = f"http://127.0.0.1:{port}/projects/{made['slug']}/"
            time.sleep(1)
            found = [open_page(browser, address, session) for session in made["sessions"]][1:]
            browser.close()
    received, requests = median(each.received for each in found), median(each.requests for each in found)
    usable, next_item = median(each.usable for each in found), median(each.next for each in found)
    hosts = frozenset[str]().union(*(each.hosts for each in found))
    over_wire, as_written = found[0].scripts
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; medians of {repeats} openings.")
    print(f"first page of work  {received / 1000:>8.1f} kB in {requests:.0f} requests, without the texts")
    print(f"our own scripts     {over_wire / 1000:>8.1f} kB, {as_written / 1000:.1f} kB as written")
    print(f"usable after        {usable:>8.0f} ms")
    print(f"next item           {next_item:>8.1f} ms")
    print(f"hosts               {', '.join(sorted(hosts))}")
    good = received <= MOST_BYTES and over_wire < MOST_SCRIPT and len(hosts) == 1
    sys.exit(not (good and usable <= MOST_USABLE and next_item <= MOST_NEXT))


if __name__ == "__main__":
    main()
