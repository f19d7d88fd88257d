"""What stops the saving is told once for each cause, above the work, with what was not stored to copy."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.contrib.sessions.models import Session
from django.utils import timezone
from playwright.sync_api import BrowserContext, Locator, Page, expect

from annotate.core.models import Acknowledgement, Assignment, AuditEntry, Rating, RatingChange
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.rounds import close_round_one
from annotate.setup.commands import reword_dimension
from annotate.setup.queries import spec_of
from tests.browser.dock import point, turn_to
from tests.browser.people import sign_in_at_the_door, signed_in
from tests.browser.test_rating import SAVES, first_item
from tests.browser.waiting import expect_stored
from tests.factories import Cast, make_project
from tests.rating.rounds import opened

# What is shown of the message, and of what it must not cover: nothing of the one lies over the other.
COVERED = """() => {
    const message = document.querySelector("#refused").getBoundingClientRect();
    return [...document.querySelectorAll(".rows, .summary, .document, .steps")]
        .filter((each) => each.checkVisibility({ visibilityProperty: true }))
        .filter((each) => each.getBoundingClientRect().top < message.bottom - 1)
        .map((each) => each.className);
}"""


@pytest.fixture
def cast(live_server) -> Cast:
    cast = make_project(dimensions=("fluency", "coherence"), documents=2, systems=2)
    opened(cast)
    return cast


def messages(page: Page) -> Locator:
    return page.locator("#refused .cause")


def stored() -> dict[tuple[int | None, str], float | None]:
    """Return every stored value by the position of its item and the key of its dimension."""
    found = Rating.objects.values_list("assignment__position", "dimension__key", "value")
    return {(position, key): value for position, key, value in found}


def copied(page: Page) -> str:
    """Copy what a message lists, and return it as it is pasted."""
    page.get_by_role("button", name="Copy the unsaved input").click()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    found: str = page.evaluate("navigator.clipboard.readText()")
    return found


def test_closed_round_appears_once_and_locks_every_preloaded_item(
    cast: Cast, context: BrowserContext
) -> None:
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    page = first_item(context, cast)
    page.keyboard.press("4")
    expect_stored(page, stored, {(1, "fluency"): 4})
    page.route(SAVES, lambda route: route.abort())
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rate/2/")
    page.keyboard.press("5")
    page.keyboard.press("c")
    page.keyboard.type("Two errors.")
    page.keyboard.press("Escape")
    expect(page.locator("#save-mark")).to_contain_text("2 waiting")
    close_round_one(project=cast.project, by=cast.admin)
    page.unroute(SAVES)
    page.evaluate("window.dispatchEvent(new Event('online'))")
    expect(messages(page)).to_have_count(1)
    expect(messages(page)).to_contain_text("Round I was closed")
    expect(messages(page).get_by_role("listitem")).to_have_count(2)
    assert page.evaluate(COVERED) == []
    expect(page.locator(".fields:not(:disabled)")).to_have_count(0)
    expect(page.locator("[data-go=fluency] .says")).to_have_text("Not stored")
    told, what, *answers = copied(page).splitlines()
    assert (told, what) == ("Round I was closed, so ratings can no longer be changed.", "Not stored:")
    assert [each.split(", ", 1)[1] for each in answers] == ["Coherence: 2", "Fluency: 5, “Two errors.”"]
    page.locator("#next").press("Enter")
    page.wait_for_url("**/rate/3/")  # loaded while the round was open
    expect(page.locator(".fields:not(:disabled)")).to_have_count(0)
    page.keyboard.press("3")
    expect(messages(page)).to_have_count(1)
    expect(page.locator("input:checked")).to_have_count(0)
    assert stored() == {(1, "fluency"): 4}
    page.get_by_role("button", name="Put away").click()
    expect(messages(page)).to_have_count(0)


def test_after_the_session_ended_one_rates_on_and_everything_arrives_after_signing_in(
    cast: Cast, context: BrowserContext
) -> None:
    page = first_item(context, cast)
    Session.objects.all().delete()
    page.keyboard.press("3")
    expect(messages(page)).to_contain_text("You are signed out.")
    expect(messages(page)).to_contain_text("Fluency: 3")
    page.keyboard.press("4")
    expect(messages(page)).to_contain_text("Coherence: 4")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rate/2/")
    page.keyboard.press("1")
    expect(messages(page).get_by_role("listitem")).to_have_count(3)
    expect(messages(page)).to_have_count(1)
    assert page.evaluate(COVERED) == []
    assert stored() == {}
    with context.expect_page() as opened_page:
        page.get_by_role("link", name="Sign in").click()
    door = opened_page.value
    assert cast.annotators[0].user is not None
    sign_in_at_the_door(door, cast.annotators[0].user.email)
    expect(messages(page)).to_have_count(0)  # the window that was signed in has sent all, and tells this one
    expect_stored(page, stored, {(1, "fluency"): 3, (1, "coherence"): 4, (2, "fluency"): 1})


def test_someone_elses_sign_in_does_not_get_my_answers(cast: Cast, context: BrowserContext) -> None:
    page = first_item(context, cast)
    Session.objects.all().delete()
    page.keyboard.press("3")
    expect(messages(page)).to_be_visible()
    other = signed_in(context, cast.annotators[1].user)
    page.get_by_role("button", name="Send again").click()
    expect(messages(page)).to_contain_text("belongs to another person")
    expect(messages(page)).to_have_count(1)
    expect(messages(page).get_by_role("link", name="Sign out")).to_be_visible()
    other.goto(f"/projects/{cast.project.slug}/rate/")
    expect(other.locator(".row.focused")).to_have_count(1)
    expect(other.locator("#refused")).not_to_contain_text("Fluency: 3")
    assert stored() == {}
    signed_in(context, cast.annotators[0].user)
    page.get_by_role("button", name="Send again").click()
    expect_stored(page, stored, {(1, "fluency"): 3})
    assert RatingChange.objects.get().rating.assignment.annotator == cast.annotators[0]


def test_closed_membership_appears_on_a_phone_without_a_clipboard(cast: Cast, phone: BrowserContext) -> None:
    phone.add_init_script("Object.defineProperty(navigator, 'clipboard', { value: undefined })")
    page = first_item(phone, cast)
    page.locator('[data-key=fluency] input[value="2"]').tap()
    expect_stored(page, stored, {(1, "fluency"): 2})
    cast.annotators[0].active = False
    cast.annotators[0].save(update_fields=["active"])
    page.locator('[data-key=coherence] input[value="5"]').tap()
    expect(messages(page)).to_contain_text("Your membership in this project was closed")
    expect(messages(page)).to_contain_text("Coherence: 5")
    expect(messages(page)).to_be_in_viewport()
    assert page.evaluate(COVERED) == []
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    expect(page.locator(".fields:not(:disabled)")).to_have_count(0)
    page.evaluate("addEventListener('copy', () => { window.copied = getSelection().toString(); })")
    page.get_by_role("button", name="Copy the unsaved input").tap()
    expect(page.get_by_role("button", name="Copied")).to_be_visible()
    assert "Coherence: 5" in page.evaluate("window.copied")
    assert stored() == {(1, "fluency"): 2}


@pytest.fixture
def shared(live_server) -> Cast:
    """A queue in which each item has one rater."""
    cast = make_project(dimensions=("fluency", "coherence"), annotators=2, raters_per_item=1, documents=4)
    opened(cast)
    return cast


def let_reservations_lapse(cast: Cast, *positions: int) -> None:
    """Give items of the first annotator that nobody began to the second."""
    first, second = cast.annotators
    lapsed = Assignment.objects.filter(annotator=first, position__in=positions)
    assert lapsed.update(reserved_until=timezone.now() - timedelta(seconds=1)) == len(positions)
    taken = reserve_items(round=lapsed[0].round, annotator=second, how_many=20)
    assert taken
    assert not lapsed.exists()


def come_back(page: Page) -> None:
    page.evaluate("window.dispatchEvent(new Event('focus'))")


def test_a_reservation_is_renewed_while_the_page_is_used(shared: Cast, context: BrowserContext) -> None:
    context.clock.install()
    page = first_item(context, shared)
    ends = timezone.now() + timedelta(minutes=1)
    Assignment.objects.filter(annotator=shared.annotators[0]).update(reserved_until=ends)
    ahead = Assignment.objects.filter(annotator=shared.annotators[0], position__lte=6)
    page.keyboard.press("ArrowDown")
    page.clock.fast_forward(61_000)
    assert set(ahead.values_list("reserved_until", flat=True)) == {ends}  # seen, and not used
    page.keyboard.press("ArrowDown")
    expect_stored(page, lambda: ahead.filter(reserved_until__gt=ends).count(), 6)


def test_rater_back_at_a_lost_item_gets_a_notice_and_can_continue(
    shared: Cast, context: BrowserContext
) -> None:
    page = first_item(context, shared)
    let_reservations_lapse(shared, 1, 2)
    come_back(page)
    expect(messages(page)).to_contain_text("another rater has it now")
    come_back(page)
    expect(page.locator(".fields:not(:disabled)")).to_have_count(0)
    page.keyboard.press("4")
    expect(messages(page)).to_have_count(1)
    assert page.evaluate(COVERED) == []
    page.get_by_role("link", name="Next item").click()
    page.wait_for_url("**/rate/3/")
    expect(page.locator("body[data-ahead=ready] .row.focused")).to_have_count(1)
    expect(messages(page)).to_have_count(0)
    page.keyboard.press("5")
    expect_stored(page, stored, {(3, "fluency"): 5})


def test_lost_preloaded_item_is_hidden_and_offline_input_is_listed(
    shared: Cast, phone: BrowserContext
) -> None:
    page = first_item(phone, shared)
    page.locator('[data-key=fluency] input[value="3"]').tap()
    page.locator('[data-key=coherence] input[value="3"]').tap()
    expect_stored(page, stored, {(1, "fluency"): 3, (1, "coherence"): 3})
    let_reservations_lapse(shared, 2)
    with page.expect_response("**/rate/hold/1/"):
        come_back(page)
    expect(page.locator("body[data-ahead=ready]")).to_be_visible()
    page.locator("#next").tap()
    page.wait_for_url("**/rate/3/")
    let_reservations_lapse(shared, 3)
    turn_to(page, "coherence")
    point(page, "coherence", 2).tap()
    expect(messages(page)).to_contain_text("Item 3, Coherence: 2")
    expect(messages(page)).to_be_in_viewport()
    expect(page.locator(".fields:not(:disabled)")).to_have_count(0)
    page.get_by_role("link", name="Next item").tap()
    page.wait_for_url("**/rate/4/")
    expect(messages(page)).to_contain_text("Item 3, Coherence: 2")  # until it is put away
    page.get_by_role("button", name="Put away").tap()
    expect(messages(page)).to_have_count(0)
    assert stored() == {(1, "fluency"): 3, (1, "coherence"): 3}


def reword(cast: Cast, key: str, definition: str) -> None:
    dimension = cast.project.dimensions.get(key=key)
    to = replace(spec_of(dimension), definition=definition)
    reword_dimension(dimension=dimension, to=to, note="They asked.", by=cast.admin)


def versions() -> dict[tuple[int | None, str], float | None]:
    """Return the version of the wording that each answer was given under."""
    found = Rating.objects.values_list("assignment__position", "dimension__key", "guideline__version")
    return {(position, key): version for position, key, version in found}


def test_new_wording_appears_next_to_the_old_before_the_next_item(
    cast: Cast, context: BrowserContext
) -> None:
    page = first_item(context, cast)
    page.keyboard.press("4")
    expect_stored(page, stored, {(1, "fluency"): 4})
    reword(cast, "coherence", "Whether sentences build on each other.")
    page.keyboard.press("2")
    expect_stored(page, stored, {(1, "fluency"): 4, (1, "coherence"): 2})
    expect(page.locator("#save-mark")).to_have_text("Saved")
    expect(page.locator("body[data-ahead=ready]")).to_be_visible()
    expect(page.locator("#reworded")).to_have_count(0)  # not in the middle of an item
    page.keyboard.press("Enter")
    page.wait_for_url("**/rate/2/")
    news = page.locator("#reworded")
    expect(news.get_by_role("heading", level=3)).to_have_text(["Coherence, definition"])
    expect(news.locator("del")).to_have_text("How good the coherence is.")
    expect(news.locator("ins")).to_have_text("Whether sentences build on each other.")
    assert page.evaluate(COVERED.replace("#refused", "#reworded")) == []
    page.keyboard.press("5")
    expect(page.locator("input:checked")).to_have_count(0)
    page.keyboard.press("Enter")  # "I have read it" has the focus
    expect(news).to_have_count(0)
    page.keyboard.press("5")
    given = {(1, "fluency"): 4, (1, "coherence"): 2, (2, "fluency"): 5}
    expect_stored(page, stored, given)
    assert versions() == {(1, "fluency"): 1, (1, "coherence"): 1, (2, "fluency"): 2}
    read = Acknowledgement.objects.get()
    assert (read.annotator, read.guideline.version) == (cast.annotators[0], 2)
    assert AuditEntry.objects.get(act="guideline.acknowledged").actor == cast.annotators[0].user
    page.keyboard.press("2")
    page.keyboard.press("Enter")
    page.wait_for_url("**/rate/3/")
    page.reload()
    expect(page.locator(".row.focused")).to_have_count(1)
    expect(news).to_have_count(0)


def test_rater_without_ratings_reads_new_wording_even_offline(cast: Cast, phone: BrowserContext) -> None:
    page = first_item(phone, cast)
    reword(cast, "fluency", "Whether it reads well.")
    with page.expect_response("**/rate/2/"):  # coming back tells of it, and loads the items ahead anew
        come_back(page)
    expect(page.locator("body[data-ahead=ready]")).to_be_visible()
    phone.set_offline(True)
    page.locator("#next").tap()
    expect(page.locator("#notices")).to_contain_text("no answer yet")
    page.wait_for_timeout(600)  # longer than a double click
    page.locator("#next").tap()
    page.wait_for_url("**/rate/2/")
    expect(page.locator("#reworded ins")).to_have_text("Whether it reads well.")
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
    page.get_by_role("button", name="I have read it").tap()
    page.locator('[data-key=fluency] input[value="1"]').tap()
    assert not Acknowledgement.objects.exists()
    phone.set_offline(False)
    expect_stored(page, stored, {(2, "fluency"): 1})
    expect_stored(page, Acknowledgement.objects.count, 1)
    assert versions() == {(2, "fluency"): 2}
