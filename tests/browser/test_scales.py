"""Every kind of scale is rated by keys alone, and an answer is kept by one key after its wording changed."""

from playwright.sync_api import BrowserContext, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.guideline import DimensionSpec, PointSpec
from annotate.core.models import Rating, RatingChange
from annotate.setup.commands import add_dimension, ask_again, reword_guidelines
from tests.browser.dock import point, turn_to
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored, stop_clock
from tests.factories import make_project
from tests.rating.rounds import opened

CATEGORIES = (PointSpec(1, "Praise"), PointSpec(2, "Blame"))
SCALES = (
    DimensionSpec("Tone", "Which tone.", scale_maximum=2, measurement_level="nominal", points=CATEGORIES),
    DimensionSpec("Sentiment", "Is it right?", not_applicable=True),
    DimensionSpec("Ten", "Ten points.", scale_maximum=10),
    DimensionSpec("Share", "In percent.", scale_maximum=100, not_applicable=True),
)


SECOND = 1_000  # milliseconds; so long "1" waits for "0" on a scale that has 10


def given() -> dict[str, float | None]:
    return dict(Rating.objects.values_list("dimension__name", "value"))


def test_keys_take_categories_numbers_and_not_applicable(
    live_server: LiveServer, context: BrowserContext
) -> None:
    cast = make_project(dimensions=(), documents=1, systems=1)
    for dimension in SCALES:
        add_dimension(project=cast.project, dimension=dimension)
    round = opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"{live_server.url}/projects/{cast.project.slug}/rate/")
    expect(page.locator(".row.focused")).to_have_count(1)
    for key in ("2", "n", "0", "8", "5", "Enter"):
        page.keyboard.press(key)
    expect(page.locator("#progress")).to_contain_text("1 of 1")
    expect_stored(page, given, {"Tone": 2, "Sentiment": None, "Ten": 10, "Share": 85})
    assert Rating.objects.get(not_applicable=True).dimension.name == "Sentiment"

    reword_guidelines(project=cast.project, guidelines="Read twice.", note="They skimmed.", by=cast.admin)
    ask_again(round=round, dimension=cast.project.dimensions.get(name="Tone"))
    page.goto(f"{live_server.url}/projects/{cast.project.slug}/rate/")
    expect(page.get_by_text("The wording has changed since you rated this")).to_have_count(1)
    expect(page.locator("#progress")).to_contain_text("0 of 1")
    page.keyboard.press("k")  # not before the new wording was read
    expect(page.get_by_role("button", name="I have read it")).to_be_focused()
    page.keyboard.press("Enter")
    page.keyboard.press("k")
    expect(page.locator("#progress")).to_contain_text("1 of 1")
    kept = RatingChange.objects.filter(rating__dimension__name="Tone").order_by("revision")
    assert list(kept.values_list("value_after", "guideline__version")) == [(2, 1), (2, 2)]


def test_one_waits_a_second_for_zero_on_a_scale_with_ten(
    live_server: LiveServer, context: BrowserContext
) -> None:
    cast = make_project(dimensions=(), documents=1, systems=1)
    for name, least in (("A", 1), ("B", 1), ("C", 1), ("D", 0), ("E", 0)):
        spec = DimensionSpec(name, "Ten points.", scale_minimum=least, scale_maximum=10)
        add_dimension(project=cast.project, dimension=spec)
    opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    page.clock.install()
    page.goto(f"{live_server.url}/projects/{cast.project.slug}/rate/")
    focused = page.locator(".row.focused .row-name")
    expect(focused).to_have_text("A")
    expect(page.locator("[data-name=A] kbd[data-value-key='0']")).to_have_text("0")
    expect(page.locator("[data-name=D] kbd[data-value-key='10']")).to_have_text("1 0")
    stop_clock(page)
    page.keyboard.press("1")
    expect(page.locator("[data-name=A] :checked")).to_have_value("1")
    expect(focused).to_have_text("A")
    page.keyboard.press("0")
    expect(focused).to_have_text("B")
    page.keyboard.press("1")
    page.clock.run_for(SECOND)
    expect(focused).to_have_text("C")
    for key in ("1", "0", "ArrowUp", "1", "3"):  # another key ends the wait, and is the next dimension's
        page.keyboard.press(key)
    expect(focused).to_have_text("E")
    page.keyboard.press("1")
    page.keyboard.press("0")
    expect(page.locator("#next")).to_be_focused()
    page.clock.resume()  # the page sends answers
    expect_stored(page, given, {"A": 10, "B": 1, "C": 1, "D": 3, "E": 10})
    changes = RatingChange.objects.values_list("rating__dimension__name", "value_after").order_by("pk")
    assert list(changes.filter(rating__dimension__name__in="ABE")) == [("A", 10), ("B", 1), ("E", 10)]
    page.keyboard.press("?")
    expect(page.get_by_role("dialog")).to_contain_text("1 waits a second for 0")


def test_value_of_one_is_saved_if_its_rater_leaves(live_server: LiveServer, context: BrowserContext) -> None:
    cast = make_project(dimensions=(), documents=1, systems=2)
    for name in "AB":
        add_dimension(project=cast.project, dimension=DimensionSpec(name, "Ten points.", scale_maximum=10))
    opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    page.clock.install()
    page.goto(f"{live_server.url}/projects/{cast.project.slug}/rate/")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    stop_clock(page)
    page.keyboard.press("1")
    turn_to(page, "b")
    point(page, "b", 7).click()
    page.clock.resume()
    expect_stored(page, given, {"A": 1, "B": 7})
    stop_clock(page)
    page.keyboard.press("1")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rate/2/")
    page.clock.resume()
    expect_stored(page, given, {"A": 1, "B": 1})
