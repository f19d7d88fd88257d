"""The effort of answering one item by kind of question: actions and seconds, by keyboard and by touch.

python benchmarks/question_effort.py [--items 5]

Serves a project for each kind from a separate database and answers items as a person does. Each item has
one question. Actions and seconds are those of benchmarks/rating_effort.py; a scale in the same run is the
yardstick. Labels: two of five. Parts: four. Spans: one word, selected by a double click or a double
tap. Answers in words: without the typing. Needs chromium.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path
from statistics import mean

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from playwright.sync_api import Page, sync_playwright

from benchmarks.annotators import CONCORD, serving
from benchmarks.export import own_database
from benchmarks.judges import run
from benchmarks.page import NAMES
from benchmarks.rating_effort import Effort, open_browser
from benchmarks.stopping import clean_up_when_stopped

HERE = Path(__file__).resolve().parent
WAYS = (("keyboard", "key", 1280, 800), ("touch, 390 px", "tap", 390, 844))
NEXT = ".row.focused [data-move-on]"
SELECT_A_WORD = """() => {
    const node = document.querySelector(".summary .text").firstChild;
    const end = node.data.indexOf(" ") > 0 ? node.data.indexOf(" ") : node.data.length;
    getSelection().setBaseAndExtent(node, 0, node, end);
    document.dispatchEvent(new Event("selectionchange"));
}"""


def choose(page: Page, effort: Effort, kind: str) -> None:
    effort.look(page, ".row.focused .row-head")
    if kind in ("scale", "category", "preference"):
        effort.act(page, "2", ".row.focused .point >> nth=1")
    elif kind == "labels":
        for digit in ("1", "3"):
            effort.act(page, digit, f".row.focused .point:has([data-digit='{digit}'])")
        effort.act(page, "Enter", NEXT)
    elif kind in ("parts", "ranking"):
        for number in range(page.locator(".row.focused [data-entry]").count()):
            digit = str(number + 1) if kind == "ranking" else "1"
            entry = f".row.focused [data-entry] >> nth={number}"
            effort.look(page, f".row.focused [data-entry]:nth-child({number + 1})")
            effort.act(page, digit, f"{entry} >> .point:has([data-digit='{digit}'])")
        if effort.action != "key":
            effort.act(page, "Enter", NEXT)
    elif kind == "spans":
        page.evaluate(SELECT_A_WORD)
        effort.actions += 2  # a double click or a double tap
        effort.act(page, "1", ".row.focused [data-severity] >> nth=0")
        effort.act(page, "Enter", NEXT)
    else:
        page.locator(".row.focused .question-text").fill("Shorter.")
        effort.actions += 1  # into the field
        effort.act(page, "Escape", NEXT)
        if effort.action == "key":
            effort.act(page, "Enter", NEXT)


def answer(page: Page, action: str, kind: str) -> Effort:
    effort = Effort(action)
    effort.look(page, ".summary .text")
    choose(page, effort, kind)
    page.wait_for_timeout(600)  # longer than a double click
    before = page.url
    effort.act(page, "Enter", "#next")
    page.wait_for_url(lambda url: url != before)
    page.wait_for_timeout(600)
    return effort


def main() -> None:
    clean_up_when_stopped()
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--items", type=int, default=5)
    items = parser.parse_args().items
    executable = next(filter(None, map(shutil.which, NAMES)), None)
    with tempfile.TemporaryDirectory(prefix="concord-effort-") as name, own_database(Path(name)) as there:
        environment = there | {"PYTHONPATH": str(HERE.parent), "CONCORD_LOG_LEVEL": "ERROR"}
        made = run("question_fill.py", environment, len(WAYS), 60)
        with serving(environment, CONCORD) as (_, port), sync_playwright() as playwright:
            browser = playwright.chromium.launch(executable_path=executable, args=["--no-sandbox"])
            print("| kind | way | actions | seconds | of a scale |\n|---|---|---|---|---|")
            yardstick: dict[str, float] = {}
            for kind, project in made.items():
                address = f"http://127.0.0.1:{port}/projects/{project['slug']}/"
                for (way, action, width, height), session in zip(WAYS, project["sessions"], strict=True):
                    context = open_browser(browser, address, session, action, width, height)
                    page = context.new_page()
                    page.goto("rate/")
                    page.wait_for_selector(".row.focused")
                    page.wait_for_timeout(1000)
                    found = [answer(page, action, kind) for _ in range(items)]
                    seconds = mean(each.seconds for each in found)
                    yardstick.setdefault(way, seconds)
                    actions = mean(each.actions for each in found)
                    ratio = seconds / yardstick[way]
                    print(f"| {kind} | {way} | {actions:.1f} | {seconds:.1f} | {ratio:.1f} |", flush=True)
                    context.close()
            browser.close()


if __name__ == "__main__":
    main()
