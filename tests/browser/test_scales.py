"""Every kind of scale is rated by keys alone, and an answer is kept by one key after its wording changed."""

from playwright.sync_api import BrowserContext, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Rating, RatingChange
from annotate.core.specification import DimensionSpec, PointSpec
from annotate.setup.commands import add_dimension, ask_again, reword_guidelines
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored
from tests.factories import make_project
from tests.rating.rounds import opened

CATEGORIES = (PointSpec(1, "Praise"), PointSpec(2, "Blame"))
SCALES = (
    DimensionSpec("Tone", "Which tone.", scale_maximum=2, measurement_level="nominal", points=CATEGORIES),
    DimensionSpec("Sentiment", "Is it right?", not_applicable=True),
    DimensionSpec("Ten", "Ten points.", scale_maximum=10),
    DimensionSpec("Share", "In percent.", scale_maximum=100, not_applicable=True),
)


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
