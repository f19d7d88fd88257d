"""Rating in a real browser: keys, and everything that must not lose an answer."""

import re

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import BrowserContext, Page, Route, expect

from annotate.commands.rounds import close_round_one
from annotate.models import Assignment, Item, Rating, RatingChange, System
from annotate.presets import TEMPLATES
from tests.annotate.rounds import opened
from tests.browser.people import sign_in_at_the_door, signed_in
from tests.factories import Cast, make_dimension, make_project

SEVEN = tuple(each.name.lower() for each in TEMPLATES["opinion-summaries"].dimensions)
SAVES = re.compile(r".*/rate/\d+/[a-z-]+/$")


@pytest.fixture
def cast(live_server) -> Cast:
    cast = make_project(dimensions=("fluency", "coherence"), documents=2, systems=2)
    opened(cast)
    return cast


@pytest.fixture
def rating(cast: Cast, context: BrowserContext) -> Page:
    """The first item, before an annotator, with the others loaded ahead."""
    page = signed_in(context, cast.annotators[0].user)
    # Chromium holds requests up from the next page on, not from the moment it is told to: it is told here.
    page.route("**/nothing-asks-for-this", lambda route: route.continue_())
    page.goto(f"/projects/{cast.project.slug}/rate/")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    return page


def mark(page: Page):
    return page.locator("#save-mark")


def values(position: int = 1) -> dict[str, int | None]:
    ratings = Rating.objects.filter(assignment__position=position)
    return dict(ratings.values_list("dimension__key", "value"))


def test_digits_rate_and_move_on_and_enter_goes_to_the_next_item(rating: Page) -> None:
    rating.keyboard.press("4")
    rating.keyboard.press("5")
    expect(mark(rating)).to_have_text("Saved")
    assert values() == {"fluency": 4, "coherence": 5}
    rating.keyboard.press("Enter")
    rating.wait_for_url("**/rate/2/")
    expect(rating.locator("#progress")).to_contain_text("1 of 4")
    rating.keyboard.press("Shift+Enter")
    rating.wait_for_url("**/rate/1/")
    expect(rating.get_by_label("4 ", exact=False).first).to_be_checked()


def test_enter_points_at_what_is_unanswered_before_it_goes_on(rating: Page) -> None:
    rating.keyboard.press("4")
    expect(mark(rating)).to_have_text("Saved")
    rating.keyboard.press("Enter")
    expect(rating.get_by_role("alert").first).to_contain_text("no answer yet")
    rating.keyboard.press("Enter")
    rating.wait_for_url("**/rate/2/")


def test_typing_a_comment_never_rates_and_escape_goes_back_to_the_keys(rating: Page) -> None:
    rating.keyboard.press("c")
    rating.keyboard.type("3 aspects, 1 missing")
    rating.keyboard.press("Escape")
    rating.keyboard.press("2")
    expect(mark(rating)).to_have_text("Saved")
    rating.wait_for_timeout(1000)
    expect(mark(rating)).to_have_text("Saved")
    assert list(Rating.objects.values_list("dimension__key", "value", "comment")) == [
        ("fluency", 2, "3 aspects, 1 missing")
    ]


def test_unsure_and_cannot_rate_by_key(rating: Page) -> None:
    rating.keyboard.press("u")
    rating.keyboard.press("ArrowDown")
    rating.keyboard.press("x")
    expect(mark(rating)).to_have_text("Saved")
    assert list(Rating.objects.order_by("dimension__position").values_list("unsure", "cannot_rate")) == [
        (True, False),
        (False, True),
    ]


def test_a_remark_right_after_a_digit_is_about_what_was_just_rated(rating: Page) -> None:
    rating.keyboard.press("4")
    rating.keyboard.press("u")
    rating.keyboard.press("c")
    rating.keyboard.type("Why so.")
    rating.keyboard.press("Escape")
    expect(mark(rating)).to_have_text("Saved")
    given = Rating.objects.values_list("dimension__key", "value", "unsure", "comment")
    assert list(given) == [("fluency", 4, True, "Why so.")]


def test_on_a_train_one_rates_on_with_the_items_loaded_ahead_and_everything_arrives(
    live_server, context
) -> None:
    cast = make_project(dimensions=("fluency", "coherence"), documents=3, systems=4)
    opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"/projects/{cast.project.slug}/rate/")
    expect(page.locator("body[data-ahead=ready]")).to_be_visible()
    context.set_offline(True)
    for position in range(1, 7):
        page.wait_for_url(f"**/rate/{position}/")
        page.keyboard.press("4")
        page.keyboard.press("2")
        page.keyboard.press("Enter")
    expect(mark(page)).to_contain_text("12 waiting")
    expect(page.locator("#notices")).to_contain_text("no connection")
    page.keyboard.press("Shift+Enter")
    page.wait_for_url("**/rate/5/")
    expect(page.locator('[data-key=fluency] input[value="4"]')).to_be_checked()
    context.set_offline(False)
    expect(mark(page)).to_have_text("Saved")
    expect(page.locator("#progress")).to_contain_text("6 of 12")
    for position in range(1, 7):
        assert values(position) == {"fluency": 4, "coherence": 2}
    page.go_back()
    page.wait_for_url("**/rate/6/")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rate/7/")


def test_the_next_item_is_there_at_once_with_the_keys_and_nothing_of_the_last(rating: Page) -> None:
    first = rating.locator(".summary").inner_text()
    rating.get_by_label("Private note").fill("Ask about 5.")
    rating.keyboard.press("Escape")
    rating.keyboard.press("3")
    rating.keyboard.press("3")
    expect(mark(rating)).to_have_text("Saved")
    expect(rating.locator("#progress")).to_contain_text("1 of 4")
    rating.keyboard.press("Enter")
    rating.wait_for_url("**/rate/2/")
    assert rating.evaluate("performance.getEntriesByType('navigation')[0].name").endswith("/rate/1/")
    assert rating.locator(".summary").inner_text() != first
    expect(rating.locator("input:checked")).to_have_count(0)
    rating.keyboard.press("5")
    expect(mark(rating)).to_have_text("Saved")
    assert values(2) == {"fluency": 5}
    rating.keyboard.press("Shift+Enter")
    rating.wait_for_url("**/rate/1/")
    assert rating.locator(".summary").inner_text() == first
    expect(rating.locator('[data-key=fluency] input[value="3"]')).to_be_checked()
    rating.reload()
    expect(rating.locator('[data-key=fluency] input[value="3"]')).to_be_checked()
    expect(rating.get_by_label("Private note")).to_have_value("Ask about 5.")


def test_a_click_rates_and_the_points_meaning_stands_behind_the_row(rating: Page) -> None:
    rating.locator('[data-key=coherence] input[value="5"]').click()
    expect(rating.locator("[data-key=coherence] .says")).to_have_text("coherence 5: What 5 means.")
    expect(mark(rating)).to_have_text("Saved")
    assert values() == {"coherence": 5}


def test_all_seven_dimensions_and_the_whole_summary_are_in_view(live_server, context) -> None:
    cast = make_project(dimensions=SEVEN, documents=1, systems=1)
    longest = "Many reviewers say so. " * 58
    Item.objects.update(text=longest)
    opened(cast)
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"/projects/{cast.project.slug}/rate/")
    assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
    hidden = page.evaluate("(e => e.scrollHeight - e.clientHeight)(document.querySelector('.summary'))")
    assert hidden == 0
    for row in page.locator("fieldset.row").all():
        box = row.bounding_box()
        assert box is not None
        assert box["y"] >= 0
        assert box["y"] + box["height"] <= 800
        middle = f"document.elementFromPoint({box['x'] + 30}, {box['y'] + box['height'] / 2})"
        assert row.evaluate(f"row => row.contains({middle})")


def test_on_a_phone_nothing_scrolls_sideways_and_every_point_can_be_hit(rating: Page) -> None:
    rating.set_viewport_size({"width": 390, "height": 844})
    rating.reload()
    assert rating.evaluate("document.documentElement.scrollWidth <= innerWidth")
    for point in rating.locator(".point").all():
        box = point.bounding_box()
        assert box is not None
        assert min(box["width"], box["height"]) >= 44
    rating.locator('[data-key=coherence] input[value="2"]').click()
    expect(mark(rating)).to_have_text("Saved")
    for control in rating.locator(".steps :is(a, button), .jumps a, .row.focused .remarks label").all():
        box = control.bounding_box()
        assert box is not None
        assert box["height"] >= 44, control.inner_text()
    rating.get_by_role("button", name="Document", exact=True).click()
    expect(rating.get_by_text("Review 2 of product").first).to_be_in_viewport()
    rating.get_by_role("button", name="Document", exact=True).click()
    expect(rating.get_by_text("Review 2 of product").first).to_be_hidden()
    rating.get_by_role("link", name="Flagged").click()
    rating.wait_for_url("**/rate/flagged/")


def test_a_failed_save_is_shown_kept_and_sent_again(rating: Page) -> None:
    rating.route(SAVES, lambda route: route.abort())
    rating.keyboard.press("4")
    rating.keyboard.press("2")
    expect(mark(rating)).to_contain_text("Not saved")
    expect(mark(rating)).to_contain_text("2 waiting")
    assert values() == {}
    rating.unroute(SAVES)
    expect(mark(rating)).to_have_text("Saved")
    assert values() == {"fluency": 4, "coherence": 2}


def test_a_server_error_is_no_reason_to_lose_an_answer(rating: Page) -> None:
    answers = [500, 502]

    def fail(route: Route) -> None:
        route.fulfill(status=answers.pop(), body="oops") if answers else route.continue_()

    rating.route(SAVES, fail)
    rating.keyboard.press("4")
    expect(mark(rating)).to_contain_text("Not saved")
    expect(mark(rating)).to_have_text("Saved")
    assert values() == {"fluency": 4}


def test_an_answer_whose_acknowledgement_was_lost_is_sent_again_and_stands_once(rating: Page) -> None:
    lost = [True]

    def die_after_saving(route: Route) -> None:
        if not lost:
            return route.continue_()
        lost.pop()
        route.fetch()
        return route.abort("connectionreset")

    rating.route(SAVES, die_after_saving)
    rating.keyboard.press("4")
    expect(mark(rating)).to_contain_text("1 waiting")
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
    expect(mark(rating)).to_have_text("Saved")
    expect(rating.locator("#notices")).to_be_empty()
    assert values() == {"fluency": 2}
    rating.evaluate("{ const now = Date.now; Date.now = () => now() - 86_400_000; }")
    rating.keyboard.press("ArrowUp")
    rating.keyboard.press("5")
    expect(mark(rating)).to_have_text("Saved")
    assert values() == {"fluency": 5}
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
    expect(mark(again)).to_have_text("Saved")
    assert values() == {"fluency": 4}


def test_after_the_session_ended_the_page_asks_to_sign_in_and_sends_the_answers(
    rating: Page, cast: Cast
) -> None:
    Session.objects.all().delete()
    rating.keyboard.press("3")
    expect(rating.get_by_role("dialog")).to_contain_text("Your answers are kept")
    with rating.context.expect_page() as opened_page:
        rating.get_by_role("link", name="Sign in").click()
    door = opened_page.value
    assert cast.annotators[0].user is not None
    sign_in_at_the_door(door, cast.annotators[0].user.email)
    door.close()
    rating.bring_to_front()
    rating.evaluate("window.dispatchEvent(new Event('focus'))")
    expect(mark(rating)).to_have_text("Saved")
    expect(rating.get_by_role("dialog")).to_be_hidden()
    assert values() == {"fluency": 3}


def test_someone_elses_sign_in_does_not_get_my_answers(rating: Page, cast: Cast) -> None:
    Session.objects.all().delete()
    rating.keyboard.press("3")
    expect(rating.get_by_role("dialog")).to_be_visible()
    signed_in(rating.context, cast.annotators[1].user)
    rating.get_by_role("button", name="Send again").click()
    expect(rating.get_by_role("dialog")).to_contain_text("given by someone else")
    expect(rating.get_by_role("link", name="Sign out").last).to_be_visible()
    assert values() == {}
    signed_in(rating.context, cast.annotators[0].user)
    rating.get_by_role("button", name="Send again").click()
    expect(mark(rating)).to_have_text("Saved")
    assert values() == {"fluency": 3}


def test_another_tab_is_told_and_the_later_save_wins(rating: Page) -> None:
    other = rating.context.new_page()
    other.goto(rating.url)
    rating.keyboard.press("4")
    expect(other.locator('[data-key=fluency] input[value="4"]')).to_be_checked()
    expect(other.get_by_role("alert").first).to_contain_text("just changed to 4 in another window")
    other.keyboard.press("2")
    expect(mark(other)).to_have_text("Saved")
    expect(rating.get_by_role("alert").first).to_contain_text("just changed to 2")
    assert values() == {"fluency": 2}


def test_a_tab_of_another_browser_learns_what_it_replaced(
    rating: Page, cast: Cast, browser, live_server
) -> None:
    elsewhere = browser.new_context(base_url=live_server.url)
    other = signed_in(elsewhere, cast.annotators[0].user)
    other.goto(rating.url)
    rating.keyboard.press("4")
    expect(mark(rating)).to_have_text("Saved")
    other.keyboard.press("1")
    expect(other.get_by_role("alert").first).to_contain_text(
        "changed to 4 in another window; your 1 now stands"
    )
    assert values() == {"fluency": 1}
    elsewhere.close()


def test_a_round_closed_meanwhile_refuses_in_a_sentence_and_keeps_the_answer_in_view(
    rating: Page, cast: Cast
) -> None:
    close_round_one(project=cast.project, by=cast.admin)
    rating.keyboard.press("4")
    expect(rating.locator("[data-key=fluency] .row-refusal")).to_contain_text("Round I was closed")
    expect(mark(rating)).to_have_text("Not saved")
    expect(rating.locator('[data-key=fluency] input[value="4"]')).to_be_checked()


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
    assert values() == {"fluency": 87}


def test_a_full_storage_loses_nothing_and_is_told(rating: Page) -> None:
    full = "Storage.prototype.setItem = () => { throw new DOMException('full', 'QuotaExceededError') }"
    rating.evaluate(f"() => {{ {full} }}")
    rating.route(SAVES, lambda route: route.abort())
    rating.keyboard.press("4")
    expect(mark(rating)).to_contain_text("not kept on this device")
    rating.unroute(SAVES)
    expect(mark(rating)).to_have_text("Saved")
    assert values() == {"fluency": 4}


def test_a_page_of_someone_in_between_is_not_taken_for_a_save(rating: Page) -> None:
    rating.route(SAVES, lambda route: route.fulfill(status=200, body="<html>Welcome to the hotel</html>"))
    rating.keyboard.press("4")
    expect(mark(rating)).to_contain_text("Not saved")
    rating.unroute(SAVES)
    expect(mark(rating)).to_have_text("Saved")
    assert values() == {"fluency": 4}


def test_a_refused_answer_of_another_page_is_shown_with_its_text_until_put_away(
    rating: Page, cast: Cast
) -> None:
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


def test_what_is_unsent_is_told_when_signing_out_and_sent_from_any_page(rating: Page, cast: Cast) -> None:
    rating.route(SAVES, lambda route: route.abort())
    rating.keyboard.press("4")
    expect(mark(rating)).to_contain_text("Not saved")
    rating.goto("/accounts/logout/")
    expect(rating.locator("[data-unsent]")).to_contain_text("1 of your answers did not reach the server")
    rating.unroute(SAVES)
    rating.goto(f"/projects/{cast.project.slug}/")
    expect(rating.locator("#save-mark")).to_be_empty()
    rating.wait_for_function("Unsent.count() === 0")
    assert values() == {"fluency": 4}


def test_correcting_oneself_on_a_slow_line_is_not_another_window(rating: Page) -> None:
    def slowly(route: Route) -> None:
        rating.wait_for_timeout(400)
        route.continue_()

    rating.route(SAVES, slowly)
    rating.keyboard.press("3")
    rating.keyboard.press("ArrowUp")
    rating.keyboard.press("4")
    expect(mark(rating)).to_have_text("Saved")
    assert values() == {"fluency": 4}
    expect(rating.locator("#notices")).to_be_empty()


def test_a_key_that_is_held_down_answers_once(rating: Page) -> None:
    rating.keyboard.down("3")
    for _ in range(5):
        rating.keyboard.down("3")
    rating.keyboard.up("3")
    expect(mark(rating)).to_have_text("Saved")
    assert values() == {"fluency": 3}


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
    assert Assignment.objects.filter(annotator=cast.annotators[1], completed_at__isnull=False).count() == 4
    assert len(bodies) > 10
    for body in bodies:
        assert "UNSEEN-SYSTEM" not in body
        assert "OTHERS-COMMENT" not in body
