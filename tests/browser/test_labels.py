"""What was chosen is read in full at every width, and the counter keeps to its line."""

from collections.abc import Callable

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from annotate.core.guideline import DimensionSpec, PointSpec
from annotate.core.models import Rating, ScalePoint
from annotate.setup.commands import add_dimension
from tests.browser.dock import point, turn_to
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored
from tests.factories import make_project
from tests.rating.rounds import opened

LONG = "Überwiegend zutreffend, mit einzelnen kleineren Ungenauigkeiten"
TONES = (PointSpec(1, LONG), PointSpec(2, "Nicht zu entscheiden"), PointSpec(3, "Unzutreffend"))
# Which words of the points in the dock are cut: by their own box, or by the window.
CUT = """() => [...document.querySelectorAll(".row.focused :is(.point-face, .point-text, .row-name)")]
    .filter((each) => each.scrollWidth > each.clientWidth + 1 && each.clientWidth
        || each.scrollHeight > each.clientHeight + 1 && each.clientHeight
        || each.getBoundingClientRect().right > innerWidth)
    .map((each) => each.textContent.trim())"""
# A counter of somebody who has much to do; and whether its first part is seen whole, on one line.
COUNTER = """() => {
    const counter = document.getElementById("progress");
    for (const [name, count] of Object.entries({ done: 1284, total: 4160 })) {
        counter.querySelector(`[data-${name}]`).textContent = count;
    }
    const { left, right } = counter.querySelector("[data-total]").getBoundingClientRect();
    const line = parseFloat(getComputedStyle(counter).lineHeight);
    return left >= 0 && right <= innerWidth && counter.clientHeight <= line + 1;
}"""


@pytest.mark.parametrize("language", ["en", "de"])
@pytest.mark.parametrize("width", [1280, 768, 390])
def test_chosen_labels_are_not_cut_and_the_counter_is_one_line(
    live_server, new_context: Callable[..., BrowserContext], language: str, width: int
) -> None:
    cast = make_project(documents=1, systems=1)
    ScalePoint.objects.filter(value=5).update(label=LONG, description=f"{LONG}. " * 3)
    tone = DimensionSpec(
        name="Tone",
        definition=".",
        measurement_level="nominal",
        scale_minimum=1,
        scale_maximum=3,
        points=TONES,
    )
    add_dimension(project=cast.project, dimension=tone)
    opened(cast)
    viewport = {"width": width, "height": 844}
    context = new_context(viewport=viewport, has_touch=width < 800, locale=language)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"/projects/{cast.project.slug}/rate/")
    expect(page.locator("html")).to_have_attribute("lang", language)
    expect(page.locator(".row.focused")).to_have_count(1)
    choose(page, "fluency", 5, by_tap=width < 800)
    choose(page, "tone", 1, by_tap=width < 800)
    expect_stored(
        page, lambda: dict(Rating.objects.values_list("dimension__key", "value")), {"fluency": 5, "tone": 1}
    )
    for _ in range(2):
        for key in ("fluency", "tone"):
            expect(page.locator(f"[data-go={key}] .says")).to_contain_text(LONG)
            turn_to(page, key)
            expect(page.locator(f"[data-key={key}] .point:has(:checked) .point-text")).to_contain_text(LONG)
            assert page.evaluate(CUT) == []
        assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
        assert page.evaluate(COUNTER)
        page.reload()  # as the server shows it
        expect(page.locator(".row.focused")).to_have_count(1)


def choose(page: Page, key: str, value: int, *, by_tap: bool) -> None:
    hit = point(page, key, value)
    if by_tap:
        hit.tap()
    else:
        hit.click()
