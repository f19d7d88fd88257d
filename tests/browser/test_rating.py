"""Rating in a real browser: keys, and everything that must not lose an answer."""

import json
import re
from collections.abc import Callable
from functools import partial
from itertools import cycle
from urllib.parse import parse_qs, urlencode

import pytest
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotate.core.models import Assignment, Dimension, Document, Item, Rating, RatingChange, System
from annotate.core.rounds import round_one
from annotate.rating.commands.rounds import close_round_one
from annotate.setup.presets import TEMPLATES
from tests.browser.dock import point, start_rating, turn_to
from tests.browser.long_texts import make_long_project
from tests.browser.people import signed_in
from tests.browser.waiting import expect_stored, wait_until
from tests.factories import Cast, make_dimension, make_project
from tests.rating.rounds import assigned, opened, rate

SEVEN = tuple(each.name.lower() for each in TEMPLATES["opinion-summaries"].dimensions)
SAVES = re.compile(r".*/rate/(answers/\d+|\d+/[a-z-]+)/$")


@pytest.fixture
def cast(live_server) -> Cast:
    cast = make_project(dimensions=("fluency", "coherence"), documents=2, systems=2)
    opened(cast)
    return cast


@pytest.fixture
def rating(cast: Cast, context: BrowserContext) -> Page:
    """The first item, before an annotator."""
    return first_item(context, cast)


def first_item(context: BrowserContext, cast: Cast) -> Page:
    """Open the first item, with the others loaded ahead."""
    page = signed_in(context, cast.annotators[0].user)
    # Chromium holds requests up from the next page on, not from the moment it is told to: it is told here.
    page.route("**/nothing-asks-for-this", lambda route: route.continue_())
    page.goto(f"/projects/{cast.project.slug}/rate/")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    return page


def mark(page: Page):
    return page.locator("#save-mark")


def values(position: int = 1) -> dict[str, float | None]:
    ratings = Rating.objects.filter(assignment__position=position)
    return dict(ratings.values_list("dimension__key", "value"))


def given() -> list[tuple[str, int | None, bool, bool, str]]:
    """Return key, value, unsure, "cannot rate" and comment of every answer."""
    fields = ("dimension__key", "value", "unsure", "cannot_rate", "comment")
    return list(Rating.objects.order_by("dimension__position").values_list(*fields))


def test_digits_rate_and_move_on_and_enter_goes_to_the_next_item(rating: Page) -> None:
    rating.keyboard.press("4")
    rating.keyboard.press("5")
    expect_stored(rating, values, {"fluency": 4, "coherence": 5})
    expect(mark(rating)).to_have_text("Saved")
    rating.keyboard.press("Enter")
    rating.wait_for_url("**/rate/2/")
    expect(rating.locator("#progress")).to_contain_text("1 of 4")
    rating.keyboard.press("Shift+Enter")
    rating.wait_for_url("**/rate/1/")
    expect(rating.get_by_label("4 ", exact=False).first).to_be_checked()


def test_enter_points_at_the_unanswered_dimension_before_it_continues(rating: Page) -> None:
    rating.keyboard.press("4")
    rating.keyboard.press("Enter")
    expect(rating.get_by_role("alert").first).to_contain_text("no answer yet")
    rating.keyboard.press("Enter")
    rating.wait_for_url("**/rate/2/")


def test_typing_a_comment_never_rates_and_escape_goes_back_to_the_keys(
    cast: Cast, context: BrowserContext
) -> None:
    context.clock.install()
    rating = first_item(context, cast)
    rating.keyboard.press("c")
    rating.keyboard.type("3 aspects, 1 missing")
    rating.keyboard.press("Escape")
    rating.keyboard.press("2")
    expect_stored(rating, given, [("fluency", 2, False, False, "3 aspects, 1 missing")])
    expect(mark(rating)).to_have_text("Saved")
    rating.clock.run_for(1_000)  # what was typed would be saved now, had it not been
    expect(mark(rating)).to_have_text("Saved")
    assert given() == [("fluency", 2, False, False, "3 aspects, 1 missing")]


def test_unsure_and_cannot_rate_by_key(rating: Page) -> None:
    rating.keyboard.press("u")
    rating.keyboard.press("ArrowDown")
    rating.keyboard.press("x")
    expect_stored(rating, given, [("fluency", None, True, False, ""), ("coherence", None, False, True, "")])


def test_key_opens_the_guidelines_next_to_the_work(rating: Page, cast: Cast) -> None:
    rating.keyboard.press("4")
    with rating.context.expect_page() as opened_by_key:
        rating.keyboard.press("i")
    guidelines = opened_by_key.value
    expect(guidelines.get_by_role("heading", name="Coherence")).to_be_visible()
    expect(guidelines.get_by_text("How good the coherence is.")).to_be_visible()
    guidelines.close()
    rating.keyboard.press("2")
    expect_stored(rating, values, {"fluency": 4, "coherence": 2})


def test_remark_after_a_digit_belongs_to_the_last_rated_dimension(rating: Page) -> None:
    rating.keyboard.press("4")
    rating.keyboard.press("u")
    rating.keyboard.press("c")
    rating.keyboard.type("Why so.")
    rating.keyboard.press("Escape")
    expect_stored(rating, given, [("fluency", 4, True, False, "Why so.")])


def test_on_a_train_one_rates_on_with_the_items_loaded_ahead_and_everything_arrives(
    live_server, context
) -> None:
    cast = make_project(dimensions=("fluency", "coherence"), documents=3, systems=4)
    opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"/projects/{cast.project.slug}/rate/")
    expect(page.locator("body[data-ahead=ready]")).to_be_visible()
    context.set_offline(True)
    for position in range(1, 10):
        page.wait_for_url(f"**/rate/{position}/")
        page.keyboard.press("4")
        page.keyboard.press("2")
        page.keyboard.press("Enter")
    expect(mark(page)).to_contain_text("18 waiting")
    expect(page.locator("#notices")).to_contain_text("no connection")
    page.keyboard.press("Shift+Enter")
    page.wait_for_url("**/rate/8/")
    expect(page.locator('[data-key=fluency] input[value="4"]')).to_be_checked()
    context.set_offline(False)
    for position in range(1, 10):
        expect_stored(page, partial(values, position), {"fluency": 4, "coherence": 2})
    expect(page.locator("#progress")).to_contain_text("9 of 12")
    page.go_back()
    page.wait_for_url("**/rate/9/")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rate/10/")


def test_the_next_item_is_there_at_once_with_the_keys_and_nothing_of_the_last(rating: Page) -> None:
    text = rating.locator(".summary")
    first = text.inner_text()
    rating.get_by_role("button", name="Note").click()
    rating.get_by_label("Private note").fill("Ask about 5.")
    rating.keyboard.press("Escape")
    expect(rating.get_by_label("Private note")).to_be_hidden()
    rating.keyboard.press("3")
    rating.keyboard.press("3")
    expect(rating.locator("#progress")).to_contain_text("1 of 4")
    rating.keyboard.press("Enter")
    rating.wait_for_url("**/rate/2/")
    assert rating.evaluate("performance.getEntriesByType('navigation')[0].name").endswith("/rate/1/")
    expect(text).not_to_have_text(first, use_inner_text=True)
    expect(rating.locator("input:checked")).to_have_count(0)
    rating.keyboard.press("5")
    expect_stored(rating, lambda: values(2), {"fluency": 5})
    rating.keyboard.press("Shift+Enter")
    rating.wait_for_url("**/rate/1/")
    expect(text).to_have_text(first, use_inner_text=True)
    expect(rating.locator('[data-key=fluency] input[value="3"]')).to_be_checked()
    rating.reload()
    expect(rating.locator('[data-key=fluency] input[value="3"]')).to_be_checked()
    expect(rating.get_by_label("Private note")).to_have_value("Ask about 5.")


def test_click_rates_and_moves_on_and_the_trail_shows_the_answer(rating: Page) -> None:
    expect(point(rating, "coherence", 5)).to_be_hidden()
    turn_to(rating, "coherence")
    expect(rating.locator(".row.focused .point").last).to_contain_text("coherence 5 What 5 means.")
    turn_to(rating, "fluency")
    point(rating, "fluency", 5).click()
    expect(rating.locator(".row.focused")).to_have_attribute("data-key", "coherence")
    expect(rating.locator("[data-go=fluency] .says")).to_have_text("5 fluency 5")
    expect(rating.locator("#said")).to_have_text("Fluency: 5 fluency 5.")
    expect_stored(rating, values, {"fluency": 5})
    point(rating, "coherence", 2).click()
    expect(rating.locator("#next")).to_be_focused()
    expect_stored(rating, values, {"fluency": 5, "coherence": 2})


def test_z_and_the_button_undo_the_last_values(rating: Page) -> None:
    for key in ("4", "2", "5"):
        rating.keyboard.press(key)
    expect_stored(rating, values, {"fluency": 4, "coherence": 5})
    rating.keyboard.press("z")
    expect(rating.locator("#said")).to_have_text("Undone. Coherence: 2.")
    expect_stored(rating, values, {"fluency": 4, "coherence": 2})
    rating.get_by_role("button", name="Undo").click()
    expect(rating.locator(".row.focused")).to_have_attribute("data-key", "coherence")
    expect_stored(rating, values, {"fluency": 4, "coherence": None})
    expect(rating.locator("#progress")).to_contain_text("0 of 4")
    rating.keyboard.press("3")
    rating.keyboard.press("z")
    rating.keyboard.press("z")
    expect(rating.locator("#said")).to_have_text("Undone. Fluency: no value.")
    expect_stored(rating, values, {"fluency": None, "coherence": None})
    rating.keyboard.press("z")
    expect(rating.locator("#said")).to_have_text("There is nothing to undo on this item.")


def test_row_and_not_its_first_point_has_the_focus(rating: Page) -> None:
    expect(rating.locator(".row.focused")).to_be_focused()
    rating.keyboard.press("ArrowRight")
    expect(point(rating, "fluency", 1)).to_be_focused()
    expect(rating.locator("input:checked")).to_have_count(0)
    rating.keyboard.press("ArrowRight")  # as in any group of radio buttons
    expect(point(rating, "fluency", 2)).to_be_checked()
    expect(rating.locator(".row.focused")).to_have_attribute("data-key", "fluency")
    expect_stored(rating, values, {"fluency": 2})


# Where the question in the dock has its points and remarks.
BOXES = """() => [...document.querySelectorAll(".row.focused :is(.point, .remark, textarea), .steps #next")]
    .map((each) => {
        const { left, top, right, bottom } = each.getBoundingClientRect();
        return [left, top, right, bottom].map(Math.round);
    })"""


def test_scale_has_one_position_and_all_questions_are_in_view(live_server, context) -> None:
    cast = make_long_project(documents=1, systems=2)
    short, long = Item.objects.order_by("pk")
    Item.objects.filter(pk=short.pk).update(text="Good boots.")
    Item.objects.filter(pk=long.pk).update(text="Many reviewers say so. " * 58)
    opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    start_rating(page, cast.project.slug)
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    boxes = page.evaluate(BOXES)
    assert len(boxes) == 5 + 3 + 1
    assert all(0 <= top < bottom <= 800 for _, top, _, bottom in boxes)
    for key in Dimension.objects.values_list("key", flat=True):
        turn_to(page, key)
        assert page.evaluate(BOXES)[:7] == boxes[:7]  # "not applicable" is wider on one of them
    turn_to(page, "fluency")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    page.locator("#next").dblclick()
    expect(page.locator("#notices")).to_contain_text("Some dimensions have no answer yet.")
    page.wait_for_timeout(600)  # longer than a double click
    page.locator("#next").dblclick()  # goes on once, and skips nothing
    page.wait_for_url("**/rate/2/")
    expect(page.locator(".row.focused")).to_have_count(1)
    assert page.evaluate(BOXES) == boxes
    expect(page.locator("#notices")).to_be_empty()


def test_on_a_phone_nothing_scrolls_sideways_and_every_point_can_be_tapped(
    cast: Cast, phone: BrowserContext
) -> None:
    rating = first_item(phone, cast)
    assert rating.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for each in rating.locator(".row.focused .point").all():
        box = each.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
    rating.locator('[data-key=fluency] input[value="2"]').tap()
    expect_stored(rating, values, {"fluency": 2})
    controls = ".steps :is(a, button), .menu summary, .trail button, .row.focused :is(.remark, textarea)"
    for control in rating.locator(controls).all():
        box = control.bounding_box()
        assert box is not None
        assert box["height"] >= 44, control.inner_text()
    rating.get_by_role("button", name="Document", exact=True).tap()
    expect(rating.get_by_text("Review 2 of product").first).to_be_in_viewport()
    rating.get_by_role("button", name="Document", exact=True).tap()
    expect(rating.get_by_text("Review 2 of product").first).to_be_hidden()
    rating.locator(".menu summary").tap()
    rating.get_by_role("link", name="Flagged").tap()
    rating.wait_for_url("**/rate/mine/?marked=flagged")


def sent_by(page: Page) -> list[list[str]]:
    """What the page sends from now on: for each request the keys of its answers."""
    requests: list[list[str]] = []

    def note(route: Route) -> None:
        body = parse_qs(route.request.post_data or "")
        answers = json.loads(body["answers"][0]) if "answers" in body else [{"key": body["key"][0]}]
        requests.append([each["key"] for each in answers])
        route.continue_()

    page.route(SAVES, note)
    return requests


def test_no_time_remains_at_the_last_item(context: BrowserContext, cast: Cast) -> None:
    round, annotator = round_one(cast.project), cast.annotators[0]
    assert round
    boxes = [assigned(cast, round, annotator, item) for item in cast.items]
    for assignment in boxes:
        if assignment.position != 4:
            for key in ("fluency", "coherence"):
                rate(cast, round, annotator, assignment.item, 3, key=key)
    Rating.objects.update(active_seconds=60)
    page = first_item(context, cast)
    expect(page.locator("#progress")).to_have_text("3 of 4 · about 2 min to go")
    page.keyboard.press("4")
    page.keyboard.press("5")
    expect(page.locator("#progress")).to_have_text("4 of 4")
    expect(page.locator("[data-to-go]")).to_have_count(0)


def test_digits_typed_quickly_go_in_one_request_and_one_transaction(live_server, context) -> None:
    cast = make_project(dimensions=SEVEN)
    opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"/projects/{cast.project.slug}/rate/")
    expect(page.locator(".row.focused")).to_have_count(1)
    requests = sent_by(page)
    # All seven in one task of the page, as a test's keys arrive too slowly on a busy machine.
    page.evaluate(
        """() => { for (const key of "1234543") document.activeElement.dispatchEvent(
            new KeyboardEvent("keydown", { key, code: `Digit${key}`, bubbles: true, cancelable: true })); }"""
    )
    keys = list(cast.project.dimensions.order_by("position").values_list("key", flat=True))
    expect_stored(page, values, dict(zip(keys, (1, 2, 3, 4, 5, 4, 3), strict=True)))
    assert requests == [keys]
    assert RatingChange.objects.count() == 7
    turn_to(page, keys[0])
    point(page, keys[0], 5).click()
    expect_stored(page, lambda: values()[keys[0]], 5)
    assert requests[1:] == [[keys[0]]]


def test_queued_answers_go_together_and_a_rejected_one_shows_alone(rating: Page, cast: Cast) -> None:
    def spoil(route: Route) -> None:
        body = parse_qs(route.request.post_data or "", keep_blank_values=True)
        answers = json.loads(body["answers"][0])
        answers[0]["value"] = "9"
        body["answers"] = [json.dumps(answers)]
        route.continue_(post_data=urlencode(body, doseq=True))

    # Spoiling stands behind what is cut off, so that it is there whenever the page tries again by itself.
    rating.route(re.compile(r".*/rate/answers/\d+/$"), spoil)
    rating.route(SAVES, lambda route: route.abort())
    rating.keyboard.press("4")
    rating.keyboard.press("2")
    expect(mark(rating)).to_contain_text("2 waiting")
    rating.unroute(SAVES)
    rating.evaluate("window.dispatchEvent(new Event('online'))")
    expect(rating.locator("#refused")).to_contain_text("Fluency: 4")
    assert values() == {"coherence": 2}
    expect(rating.locator("#refused")).to_contain_text("rated from 1 to 5")
    expect(rating.locator("[data-go=fluency] .says")).to_have_text("Not stored")
    expect(rating.locator("[data-go=coherence] .says")).not_to_have_text("Not stored")


def test_failed_save_appears_and_stays_stored_until_the_retry(rating: Page) -> None:
    rating.route(SAVES, lambda route: route.abort())
    rating.keyboard.press("4")
    rating.keyboard.press("2")
    expect(mark(rating)).to_contain_text("Not saved")
    expect(mark(rating)).to_contain_text("2 waiting")
    assert values() == {}
    rating.unroute(SAVES)
    expect_stored(rating, values, {"fluency": 4, "coherence": 2})


def test_a_server_error_is_no_reason_to_lose_an_answer(rating: Page) -> None:
    statuses = cycle([500, 502])
    rating.route(SAVES, lambda route: route.fulfill(status=next(statuses), body="oops"))
    rating.keyboard.press("4")
    expect(mark(rating)).to_contain_text("Not saved")
    assert values() == {}
    rating.unroute(SAVES)
    expect_stored(rating, values, {"fluency": 4})


def test_unacknowledged_answer_goes_out_again_and_is_stored_once(rating: Page) -> None:
    def die_after_saving(route: Route) -> None:
        route.fetch()
        route.abort("connectionreset")

    rating.route(SAVES, die_after_saving)
    rating.keyboard.press("4")
    expect(mark(rating)).to_contain_text("1 waiting")
    rating.unroute(SAVES)
    expect(mark(rating)).to_have_text("Saved")
    changes = RatingChange.objects.values_list("value_before", "value_after")
    assert list(changes) == [(None, 4)]


def test_a_clock_that_was_set_back_neither_loses_nor_shortens_anything(rating: Page) -> None:
    rating.keyboard.press("4")
    expect(mark(rating)).to_have_text("Saved")
    rating.add_init_script("{ const now = Date.now; Date.now = () => now() - 86_400_000; }")
    rating.reload()
    rating.keyboard.press("ArrowUp")
    rating.keyboard.press("2")
    expect_stored(rating, values, {"fluency": 2})
    expect(rating.locator("#notices")).not_to_contain_text("50 minutes")
    rating.evaluate("{ const now = Date.now; Date.now = () => now() - 86_400_000; }")
    rating.keyboard.press("ArrowUp")
    rating.keyboard.press("5")
    expect_stored(rating, values, {"fluency": 5})
    assert 0 < Rating.objects.get().active_seconds < 60


def test_unsent_answers_outlive_the_page(rating: Page) -> None:
    rating.route(SAVES, lambda route: route.abort())
    rating.keyboard.press("4")
    expect(mark(rating)).to_contain_text("Not saved")
    rating.unroute(SAVES)
    rating.close()
    again = rating.context.new_page()
    again.goto(rating.url)
    expect(again.locator('[data-key=fluency] input[value="4"]')).to_be_checked()
    expect_stored(again, values, {"fluency": 4})


def test_another_tab_gets_a_notice_and_the_later_save_wins(rating: Page) -> None:
    other = rating.context.new_page()
    other.goto(rating.url)
    rating.keyboard.press("4")
    expect(other.locator('[data-key=fluency] input[value="4"]')).to_be_checked()
    expect(other.get_by_role("alert").first).to_contain_text("just changed to 4 in another window")
    other.keyboard.press("2")
    expect(rating.get_by_role("alert").first).to_contain_text("just changed to 2")
    expect_stored(other, values, {"fluency": 2})


def test_tab_of_another_browser_shows_the_replaced_value(
    rating: Page, cast: Cast, new_context: Callable[..., BrowserContext]
) -> None:
    other = signed_in(new_context(), cast.annotators[0].user)
    other.goto(rating.url)
    rating.keyboard.press("4")
    expect(mark(rating)).to_have_text("Saved")
    other.keyboard.press("1")
    expect(other.get_by_role("alert").first).to_contain_text(
        "changed to 4 in another window; your 1 is saved now"
    )
    assert values() == {"fluency": 1}


def test_a_scale_of_a_hundred_is_typed(live_server, context) -> None:
    cast = make_project(dimensions=(), documents=1, systems=1)
    make_dimension(cast.project, "fluency", minimum=1, maximum=100)
    opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"/projects/{cast.project.slug}/rate/")
    page.get_by_label("Fluency, 1 to 100").fill("87")
    page.keyboard.press("Enter")
    expect(page.get_by_role("link", name="Next")).to_be_focused()
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    expect_stored(page, values, {"fluency": 87})


def test_full_storage_loses_nothing_and_shows_a_notice(rating: Page) -> None:
    full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
    rating.evaluate(f"() => {{ {full} }}")
    rating.route(SAVES, lambda route: route.abort())
    rating.keyboard.press("4")
    expect(mark(rating)).to_contain_text("This device keeps no copy")
    rating.unroute(SAVES)
    expect_stored(rating, values, {"fluency": 4})


def test_a_page_of_someone_in_between_is_not_taken_for_a_save(rating: Page) -> None:
    rating.route(SAVES, lambda route: route.fulfill(status=200, body="<html>Welcome to the hotel</html>"))
    rating.keyboard.press("4")
    expect(mark(rating)).to_contain_text("Not saved")
    rating.unroute(SAVES)
    expect_stored(rating, values, {"fluency": 4})


def test_rejected_answer_of_another_page_appears_until_dismissed(rating: Page, cast: Cast) -> None:
    rating.route(SAVES, lambda route: route.abort())
    rating.keyboard.press("c")
    rating.keyboard.type("A long thought.")
    rating.keyboard.press("Escape")
    expect(mark(rating)).to_contain_text("Not saved")
    close_round_one(project=cast.project, by=cast.admin)
    rating.unroute(SAVES)
    rating.goto(f"/projects/{cast.project.slug}/")
    expect(rating.locator("#refused")).to_contain_text("A long thought.")
    expect(rating.locator("#refused")).to_contain_text("Round I was closed")
    rating.reload()
    rating.get_by_role("button", name="Put away").click()
    expect(rating.locator("#refused")).to_be_empty()
    assert rating.evaluate("document.activeElement.id") == "content"


def test_sign_out_warns_of_unsent_answers_and_any_page_sends_them(rating: Page, cast: Cast) -> None:
    rating.route(SAVES, lambda route: route.abort())
    rating.keyboard.press("4")
    expect(mark(rating)).to_contain_text("Not saved")
    rating.goto("/accounts/logout/")
    expect(rating.locator("[data-unsent]")).to_contain_text("1 of your answers did not reach the server")
    rating.unroute(SAVES)
    rating.goto(f"/projects/{cast.project.slug}/")
    expect(rating.locator("#save-mark")).to_be_empty()
    wait_until(rating, "Unsent.count() === 0")
    assert values() == {"fluency": 4}


def test_correcting_oneself_on_a_slow_line_is_not_another_window(rating: Page) -> None:
    under_way: list[Route] = []
    rating.route(SAVES, lambda route: under_way.append(route))
    with rating.expect_request(SAVES):
        rating.keyboard.press("3")
    rating.keyboard.press("ArrowUp")
    rating.keyboard.press("4")
    rating.unroute(SAVES)
    for route in under_way:
        route.continue_()
    expect_stored(rating, values, {"fluency": 4})
    expect(rating.locator("#notices")).not_to_contain_text("50 minutes")


def test_repeating_key_answers_once(rating: Page) -> None:
    rating.keyboard.down("3")
    for _ in range(5):
        rating.keyboard.down("3")
    rating.keyboard.up("3")
    expect_stored(rating, values, {"fluency": 3})


def test_no_byte_that_the_browser_receives_names_a_system_or_another_value(cast: Cast, context) -> None:
    System.objects.filter(name="system-1").update(name="UNSEEN-SYSTEM-1")
    System.objects.filter(name="system-2").update(name="UNSEEN-SYSTEM-2")
    Item.objects.update(text="A text that names nobody.")
    first = signed_in(context, cast.annotators[0].user)
    first.goto(f"/projects/{cast.project.slug}/rate/")
    first.keyboard.press("c")
    first.keyboard.type("OTHERS-COMMENT")
    first.keyboard.press("Escape")
    expect(mark(first)).to_have_text("Saved")
    page = signed_in(context, cast.annotators[1].user)
    bodies: list[str] = []
    page.on("response", lambda response: bodies.append(response.url + response.text()))
    page.goto(f"/projects/{cast.project.slug}/")
    page.get_by_role("link", name="Begin rating").click()
    for position in range(1, 5):
        page.wait_for_url(f"**/rate/{position}/")
        page.keyboard.press("3")
        page.keyboard.press("3")
        expect(mark(page)).to_have_text("Saved")
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="All done")).to_be_visible()
    complete = Assignment.objects.filter(annotator=cast.annotators[1], completed_at__isnull=False)
    expect_stored(page, complete.count, 4)
    assert len(bodies) > 10
    for body in bodies:
        assert "UNSEEN-SYSTEM" not in body
        assert "OTHERS-COMMENT" not in body


def leave_unanswered(page: Page) -> None:
    page.locator("#next").evaluate("link => { link.click(); link.click(); }")


def test_source_keeps_its_state_between_items_of_a_document(cast: Cast, context: BrowserContext) -> None:
    long = [{"label": f"Review {n}", "text": f"Review {n}. " + "Many words. " * 400} for n in (1, 2, 3)]
    Document.objects.update(parts=long)
    page = first_item(context, cast)
    source = page.locator(".document")
    source.locator("summary").nth(1).click()
    expect(source.locator("details[open]")).to_have_count(2)
    source.evaluate("element => { element.scrollTop = 120; }")
    expect(source.get_by_text("item 1 of")).to_be_visible()
    leave_unanswered(page)
    expect(source.get_by_text("item 2 of")).to_be_visible()
    expect(source.locator("details[open]")).to_have_count(2)
    expect_stored(page, lambda: source.evaluate("element => element.scrollTop"), 120)
    leave_unanswered(page)
    expect(source.get_by_text("document 2")).to_be_visible()  # another document begins at its beginning
    expect(source.locator("details[open]")).to_have_count(3)
    expect_stored(page, lambda: source.evaluate("element => element.scrollTop"), 0)
    page.get_by_role("link", name="Back").click()
    expect(source.get_by_text("document 1")).to_be_visible()
    expect(source.locator("details[open]")).to_have_count(2)  # as it was left
    expect_stored(page, lambda: source.evaluate("element => element.scrollTop"), 120)


def test_pause_is_suggested_after_fifty_minutes(rating: Page) -> None:
    rating.evaluate(
        "localStorage.setItem('concord-active', JSON.stringify({ active: 50 * 60_000 - 1, at: Date.now() }))"
    )
    rating.keyboard.press("4")
    expect(rating.locator("#notices")).to_contain_text("You have rated for 50 minutes.")
    expect(mark(rating)).to_have_text("Saved")
    rating.reload()
    rating.keyboard.press("3")
    expect(mark(rating)).to_have_text("Saved")
    expect(rating.locator("#notices")).not_to_contain_text("50 minutes")


def test_page_without_scripts_shows_all_questions_and_a_save_button(
    new_context: Callable[..., BrowserContext], cast: Cast
) -> None:
    page = signed_in(new_context(java_script_enabled=False), cast.annotators[0].user)
    start_rating(page, cast.project.slug)
    for key, value in (("fluency", 4), ("coherence", 2)):
        point(page, key, value).check()
    page.get_by_label("Comment").last.fill("It breaks off.")
    page.get_by_role("button", name="Save and go on").click()
    page.wait_for_url("**/rate/2/")
    assert values() == {"fluency": 4, "coherence": 2}
    page.get_by_role("link", name="Back").click()
    expect(point(page, "fluency", 4)).to_be_checked()
    expect(page.get_by_label("Comment").last).to_have_value("It breaks off.")


def test_double_click_on_a_point_rates_two_questions_and_leaves_no_item(cast: Cast, rating: Page) -> None:
    box = point(rating, "fluency", 4).bounding_box()
    assert box
    for _ in range(2):
        rating.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
        rating.wait_for_timeout(120)  # a double click of a person
    expect_stored(rating, values, {"fluency": 4, "coherence": 4})
    rating.wait_for_timeout(600)
    assert rating.url.endswith("/rate/1/")
