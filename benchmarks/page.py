"""The rating page in Chromium: bytes, requests, when it can be used, going to the next item, processor time.

python benchmarks/page.py [--repeats 5]

Serves SummEval-OP's size of items as docs/how-to/deployment.md says, from a database of its own (see
benchmarks/annotators.py), and opens an annotator's first item in a new browser profile each time, after
other annotators have warmed the server up. Bytes are those that Chromium received, compressed as they came,
headers and all; those of the texts to read and to rate are taken off. Usable: from the start of the
navigation until a key rates. Next item: from the key to the painted item. Processor time: of the page's
thread until it can be used, and of the web server for a first page with the items loaded ahead; these hardly
depend on what else the machine does. The yardstick, opened in turn: the same page and stylesheet from memory
under the same server, without a script, until it is painted. Needs chromium and the development requirements.
"""

import argparse
import os
import platform
import re
import shutil
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Browser, BrowserContext, CDPSession, Page, sync_playwright

from benchmarks.annotators import CONCORD, ITEMS, WARM_UP, WARM_UP_ITEMS, crowd, rate, serving
from benchmarks.annotators_process import cpu_seconds, family
from benchmarks.export import own_database
from benchmarks.judges import run
from benchmarks.stopping import clean_up_when_stopped
from concord.scripts import JOINED

HERE = Path(__file__).resolve().parent
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
BARE = "granian --interface wsgi benchmarks.page_yardstick:application"
STATIC = HERE.parent / "static"
SCRIPTS = {path.name: (path.name,) for path in STATIC.glob("*.js")} | JOINED  # of which files each is made
STYLESHEET = re.compile(r"/static/concord[.\w]*\.css")
FURTHER = re.compile(r"<script.*?</script>|<link(?![^>]*concord)[^>]*>", re.DOTALL)
ITEMS_RATED = 10
WARMING = 8  # annotators
MOST_BYTES, MOST_SCRIPT, MOST_USABLE, MOST_NEXT = 100_000, 25 * 1024, 250.0, 50.0
WATCH = """() => new MutationObserver((_, watching) => {
    if (!document.querySelector('.row.focused')) return;
    watching.disconnect();
    window.usable = performance.now();
}).observe(document, {subtree: true, childList: true, attributes: true})"""
PAINTED = """() => new Promise((done) => new PerformanceObserver((list, watching) => {
    watching.disconnect();
    done(list.getEntries()[0].startTime);
}).observe({type: 'paint', buffered: true}))"""
NEXT = """() => new Promise((done) => {
    const begun = performance.now();
    const before = location.href;
    document.activeElement.dispatchEvent(new KeyboardEvent('keydown', {key: 'Enter', bubbles: true}));
    const painted = () => setTimeout(() => done(location.href === before ? -1 : performance.now() - begun));
    requestAnimationFrame(painted);
})"""

USABLE = """() => new Promise((done) => {
    const look = () => (window.usable ? done() : requestAnimationFrame(look));
    look();
})"""


@dataclass(frozen=True)
class Opened:
    """One opening of the page: bytes, requests, milliseconds, milliseconds of processor time."""

    received: int
    requests: int
    usable: float
    next: float
    thread: float
    server: float
    scripts: tuple[int, int]
    hosts: frozenset[str]


def profile(browser: Browser, address: str, session: str) -> BrowserContext:
    """Return a new profile in which the annotator of a session is signed in."""
    context = browser.new_context(base_url=address, viewport={"width": 1280, "height": 800})
    context.add_cookies([{"name": "sessionid", "value": session, "url": address}])
    return context


def open_page(browser: Browser, address: str, session: str, server: int) -> Opened:
    """Open the first item in a new profile, rate some items by keys, and measure."""
    context = profile(browser, address, session)
    page = context.new_page()
    page.add_init_script(f"({WATCH})()")
    devtools = context.new_cdp_session(page)
    devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
    received, before = listen(devtools), cpu_seconds(family(server))
    page.goto("rate/")
    page.evaluate(USABLE)
    thread, first = thread_time(devtools), dict(received)
    usable, texts = page.evaluate(
        "[usable, new Blob([...document.querySelectorAll('.document, .summary')].map(e => e.innerText)).size]"
    )
    page.wait_for_selector("body[data-ahead=ready]")
    spent = (cpu_seconds(family(server)) - before) * 1000
    steps = [step(page) for _ in range(ITEMS_RATED)]
    context.close()
    ours = {url: size for url, size in first.items() if script(url) in SCRIPTS}
    scripts = (sum(ours.values()), sum(written(script(url)) for url in ours))
    hosts = frozenset(url.split("/")[2] for url in received)
    size = sum(first.values()) - texts
    return Opened(size, len(first), usable, median(steps), thread, spent, scripts, hosts)


def thread_time(devtools: CDPSession) -> float:
    """Return the processor time of the page's thread so far, in milliseconds."""
    told = devtools.send("Performance.getMetrics")["metrics"]
    return next(float(each["value"]) for each in told if each["name"] == "TaskDuration") * 1000


def save_bare(browser: Browser, address: str, session: str, folder: Path) -> None:
    """Save the page and its stylesheet without anything else that it loads."""
    with profile(browser, address, session) as context:
        html = context.request.get("rate/").text()
        style = STYLESHEET.search(html)
        assert style is not None
        (folder / "page.html").write_text(FURTHER.sub("", html).replace(style[0], "page.css"))
        (folder / "page.css").write_bytes(context.request.get(style[0]).body())


def open_bare(browser: Browser, address: str) -> tuple[float, float]:
    """Open the yardstick in a new profile; return milliseconds until painted and of its thread."""
    with browser.new_context(viewport={"width": 1280, "height": 800}) as context:
        page = context.new_page()
        devtools = context.new_cdp_session(page)
        devtools.send("Performance.enable", {"timeDomain": "threadTicks"})
        page.goto(f"{address}page.html")
        painted: float = page.evaluate(PAINTED)
        return painted, thread_time(devtools)


def listen(devtools: CDPSession) -> dict[str, int]:
    """Count the bytes of every response but items loaded ahead; return them by address."""
    received: dict[str, int] = {}
    urls: dict[str, str] = {}
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
    return sum((STATIC / each).stat().st_size for each in SCRIPTS[name])


def main() -> None:
    """Fill, open, report; the exit code is 1 where a figure is not as it should be."""
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--repeats", type=int, default=5, help="openings, of which the median is shown")
    repeats = parser.parse_args().repeats
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    with tempfile.TemporaryDirectory(prefix="concord-page-") as name, own_database(Path(name)) as there:
        folder = Path(name, "bare")
        folder.mkdir()
        environment = there | {"PYTHONPATH": str(HERE.parent), "CONCORD_LOG_LEVEL": "ERROR"}
        environment["YARDSTICK_FOLDER"] = str(folder)
        made = run("annotators_fill.py", environment, WARMING + 1 + repeats, ITEMS)
        others, first, sessions = split(made["sessions"])
        with serving(environment, CONCORD) as (server, port), sync_playwright() as playwright:
            rate(crowd(port, others), f"/projects/{made['slug']}/rate/", WARM_UP, WARM_UP_ITEMS)
            browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
            address = f"http://127.0.0.1:{port}/projects/{made['slug']}/"
            save_bare(browser, address, first, folder)
            with serving(environment, BARE, 1) as (_, bare_port):
                bare_address = f"http://127.0.0.1:{bare_port}/"
                open_page(browser, address, first, server.pid)
                open_bare(browser, bare_address)
                found, bare = [], []
                for session in sessions:
                    bare.append(open_bare(browser, bare_address))
                    found.append(open_page(browser, address, session, server.pid))
            browser.close()
    sys.exit(not report(found, bare))


def split(sessions: list[str]) -> tuple[list[str], str, list[str]]:
    """Return the sessions that warm the server up, the one that warms the browser up, and those measured."""
    return sessions[:WARMING], sessions[WARMING], sessions[WARMING + 1 :]


def report(found: list[Opened], bare: list[tuple[float, float]]) -> bool:
    received, requests = median(each.received for each in found), median(each.requests for each in found)
    usable, next_item = median(each.usable for each in found), median(each.next for each in found)
    hosts = frozenset[str]().union(*(each.hosts for each in found))
    over_wire, as_written = found[0].scripts
    painted, bare_thread = (median(each) for each in zip(*bare, strict=True))
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores; medians of {len(found)} openings.")
    print(f"first page of work  {received / 1000:>8.1f} kB in {requests:.0f} requests, without the texts")
    print(f"our own scripts     {over_wire / 1000:>8.1f} kB, {as_written / 1000:.1f} kB as written")
    print(f"usable after        {usable:>8.0f} ms (bare page painted: {painted:.0f} ms)")
    thread = median(each.thread for each in found)
    print(f"the page's thread   {thread:>8.0f} ms of processor time (bare page: {bare_thread:.0f} ms)")
    print(f"the web server      {sum(each.server for each in found) / len(found):>8.0f} ms, with items ahead")
    print(f"next item           {next_item:>8.1f} ms")
    print(f"hosts               {', '.join(sorted(hosts))}")
    good = received <= MOST_BYTES and over_wire < MOST_SCRIPT and len(hosts) == 1
    return good and usable <= MOST_USABLE and next_item <= MOST_NEXT


if __name__ == "__main__":
    main()
