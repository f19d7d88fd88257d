"""Discussing a dispute in a browser: keys, other windows, the end of a session, and following others."""

import re
from collections.abc import Callable

import pytest
from django.contrib.sessions.models import Session
from playwright.sync_api import BrowserContext, Page, Request, expect

from annotate.core.models import Acknowledgement, Dimension, Dispute, Rating, RatingChange, User
from annotate.disputes.commands.disputes import adjudicate, post_message
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.setup.commands import reword_guidelines
from tests.browser.people import signed_in
from tests.browser.waiting import read_news, stop_clock, wait_until
from tests.factories import PASSWORD, Cast, make_project
from tests.rating.rounds import opened, rate


@pytest.fixture
def cast(transactional_db: None) -> Cast:
    """Four disputes of the values 1, 5 and 5."""
    cast = make_project()
    dispute_all(cast)
    return cast


def dispute_all(cast: Cast) -> None:
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 5, 5), strict=True):
        for item in cast.items:
            rate(cast, round, annotator, item, value)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)


def address(cast: Cast, number: int = 1) -> str:
    return f"/projects/{cast.project.slug}/disputes/{number}/"


def at_dispute(context: BrowserContext, cast: Cast, number: int = 1) -> Page:
    """Open a dispute and read it; other windows of this browser have the same clock."""
    page = signed_in(context, cast.annotators[0].user)
    page.clock.install()
    page.goto(address(cast, number))
    read_news(page)
    return page


def answers() -> int:
    return RatingChange.objects.filter(rating__assignment__round__number=2).count()


def test_pressed_down_key_answers_one_dispute(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.keyboard.down("d")
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    read_news(page)
    for _ in range(5):
        page.keyboard.down("d")  # these are repetitions
    page.keyboard.up("d")
    page.keyboard.press("d")
    page.wait_for_url(f"**{address(cast, 3)}?after=2")
    assert answers() == 2


def test_a_key_that_comes_as_soon_as_the_page_is_there_is_not_meant_for_it(
    context: BrowserContext, cast: Cast
) -> None:
    page = signed_in(context, cast.annotators[0].user)
    page.add_init_script(
        "document.addEventListener('DOMContentLoaded', () => document.body.dispatchEvent("
        "new KeyboardEvent('keydown', {key: 'd', bubbles: true})))"
    )
    page.clock.install()
    page.goto(address(cast))
    read_news(page)
    page.keyboard.press("d")
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert answers() == 1


def test_a_key_lists_the_keys_and_another_leads_to_the_reason(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keys")).to_contain_text("we differ: keep your value")
    page.keyboard.press("d")  # what lies under the list takes no answer
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.keyboard.press("c")
    expect(page.get_by_label("Reason")).to_be_focused()
    page.keyboard.type("kd")
    page.keyboard.press("Escape")
    assert answers() == 0
    page.keyboard.press("k")
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert Rating.objects.get(assignment__round__number=2).comment == "kd"


def test_keep_keeps_what_this_window_showed_or_nothing(context: BrowserContext, cast: Cast) -> None:
    one, other = at_dispute(context, cast), at_dispute(context, cast)
    one.keyboard.press("2")
    one.wait_for_url(f"**{address(cast, 2)}?after=1")
    other.get_by_label("Reason").fill("I stay with it.")
    other.get_by_role("button", name="Keep 1").click()
    expect(other.get_by_role("alert")).to_contain_text("your value is now 2")
    expect(other.get_by_label("Reason")).to_have_value("I stay with it.")
    assert answers() == 1
    other.get_by_role("button", name="Keep 2").click()
    other.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert Rating.objects.get(assignment__round__number=2).comment == "I stay with it."


def test_typed_input_outlives_the_session(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.get_by_label("Reason").fill("A long and careful reason.")
    Session.objects.all().delete()
    page.get_by_role("button", name="4", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("You are signed out, so nothing was saved.")
    expect(page.get_by_label("Reason")).to_have_value("A long and careful reason.")
    with context.expect_page() as opened_page:
        page.get_by_role("link", name="sign in").click()
    door = opened_page.value
    user = cast.annotators[0].user
    assert user
    door.get_by_label("Email").fill(user.email)
    door.get_by_label("Password").fill(PASSWORD)
    door.get_by_role("button", name="Sign in").click()
    door.wait_for_url(f"**{address(cast)}")
    page.get_by_role("button", name="4", exact=True).click()
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    given = Rating.objects.get(assignment__round__number=2)
    assert (given.value, given.comment) == (4, "A long and careful reason.")


def test_offline_answer_is_stored_and_sent_on_reconnection(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.get_by_label("Reason").fill("Because.")
    context.set_offline(True)
    page.get_by_role("button", name="4", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("This device keeps your answer")
    context.set_offline(False)
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    expect(page.locator("#answered")).to_contain_text("Dispute 1: you changed to 4.")
    given = Rating.objects.get(assignment__round__number=2)
    assert (answers(), given.value, given.comment) == (1, 4, "Because.")
    wait_until(page, "!Object.keys(localStorage).some((key) => key.includes('kept-answer'))")


def test_outdated_offline_answer_is_rejected_and_keeps_its_note(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.get_by_label("Reason").fill("A long and careful reason.")
    context.set_offline(True)
    page.get_by_role("button", name="4", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("This device keeps your answer")
    adjudicate(dispute=Dispute.objects.get(number=1), value=3, note="So it is.", by=cast.admin)
    context.set_offline(False)
    said = page.locator(".notice", has_text="Your answer to dispute 1 was not taken: 4: A long and careful")
    expect(said).to_contain_text("adjudicated")
    context.grant_permissions(["clipboard-read", "clipboard-write"])
    said.get_by_role("button", name="Copy the unsaved input").click()
    expect(said.get_by_role("button", name="Copied")).to_be_visible()
    copied = page.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("not taken: 4: A long and careful reason.")
    assert answers() == 0


def test_an_answer_waits_while_somebody_else_is_signed_in(
    context: BrowserContext, new_context: Callable[..., BrowserContext], cast: Cast
) -> None:
    page = at_dispute(context, cast)
    context.set_offline(True)
    page.get_by_role("button", name="4", exact=True).click()
    expect(page.get_by_role("alert")).to_contain_text("This device keeps your answer")
    other = new_context()
    signed_in(other, cast.annotators[1].user)
    for each in other.cookies():  # the same machine, somebody else
        held = {"name": each["name"], "value": each["value"], "domain": each["domain"], "path": "/"}
        context.add_cookies([held])  # type: ignore[list-item]  # these are the four of its fields that matter
    with page.expect_response(lambda response: response.url.endswith("/answer/") and response.status == 422):
        context.set_offline(False)
    assert page.evaluate("Object.keys(localStorage).filter((key) => key.includes('kept-answer')).length") == 1
    assert answers() == 0


def test_undelivered_message_shows_an_error(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.get_by_label("Reason").fill("Is it an error?")
    context.set_offline(True)
    page.get_by_role("button", name="Send alone").click()
    expect(page.get_by_role("alert")).to_contain_text("This was not saved")
    context.set_offline(False)
    page.get_by_role("button", name="Send alone").click()
    expect(page.locator(".thread")).to_contain_text("Is it an error?")


def test_answer_without_scripts_leads_to_the_next_dispute(
    new_context: Callable[..., BrowserContext], cast: Cast
) -> None:
    page = signed_in(new_context(java_script_enabled=False), cast.annotators[0].user)
    page.goto(address(cast))
    page.get_by_label("Reason").fill("Plainly.")
    page.get_by_role("button", name="Keep 1").click()
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert Rating.objects.get(assignment__round__number=2).comment == "Plainly."


def test_digit_key_pauses_for_a_zero_before_it_answers_a_dispute(
    context: BrowserContext, transactional_db: None
) -> None:
    cast = make_project()
    Dimension.objects.filter(project=cast.project).update(scale_maximum=10)
    dispute_all(cast)
    page = at_dispute(context, cast)
    stop_clock(page)
    page.keyboard.press("1")
    page.keyboard.press("0")
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    assert Rating.objects.get(assignment__round__number=2).value == 10
    read_news(page)
    page.locator("#comment").fill("I stay with my value.")
    page.keyboard.press("Escape")
    page.keyboard.press("1")
    page.keyboard.press("k")  # not meant for the next dispute
    page.wait_for_url(f"**{address(cast, 3)}?after=2")
    assert list(Rating.objects.filter(assignment__round__number=2).order_by("pk").values_list("value")) == [
        (10,),
        (1,),
    ]


def test_a_stalemate_is_argued_then_left_open_and_an_admin_decides_it(
    context: BrowserContext, new_context: Callable[..., BrowserContext], cast: Cast
) -> None:
    page = at_dispute(context, cast)
    page.get_by_role("button", name="The definition reads so").click()
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    kept = Rating.objects.get(assignment__round__number=2)
    assert kept.changes.get().short_reason == "The definition reads so"
    for rater in cast.annotators[1:]:
        other = signed_in(new_context(), rater.user)
        other.goto(address(cast))
        read_news(other)
        other.get_by_role("button", name="We differ").click()
        other.wait_for_url(f"**{address(cast, 2)}?after=1")
    page.goto(address(cast))
    expect(page.locator("#discussion")).to_contain_text("It waits for an adjudicator")
    admin = signed_in(new_context(), cast.admin)
    admin.goto(address(cast))
    admin.get_by_role("radio", name="4").check()
    admin.get_by_label("Reason").fill("One slip only.")
    admin.get_by_role("button", name="Adjudicate").click()
    expect(admin.locator("#discussion")).to_contain_text("Decided by adjudication: 4.")
    assert Dispute.objects.get(number=1).status == "adjudicated"


def test_new_wording_is_read_before_the_next_dispute_is_answered(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    reword_guidelines(project=cast.project, guidelines="Read twice.", note="Clearer.", by=cast.admin)
    page.keyboard.press("d")  # the answer to what was at work is given under the old wording
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    read_news(page)
    news = page.locator("#reworded")
    expect(news.locator("ins")).to_have_text("Read twice.")
    page.keyboard.press("d")
    page.keyboard.press("5")
    expect(page.locator("#answer")).to_have_count(0)
    assert answers() == 1
    page.keyboard.press("Enter")  # "I have read it" has the focus
    expect(news).to_have_count(0)
    read_news(page)
    page.keyboard.press("d")
    page.wait_for_url(f"**{address(cast, 3)}?after=2")
    given = RatingChange.objects.filter(rating__assignment__round__number=2).order_by("pk")
    assert list(given.values_list("guideline__version", flat=True)) == [1, 2]
    read = Acknowledgement.objects.get()
    assert (read.annotator, read.guideline.version) == (cast.annotators[0], 2)
    expect(news).to_have_count(0)
    with context.expect_page() as opened_by_key:
        page.keyboard.press("i")
    expect(opened_by_key.value.get_by_text("Read twice.")).to_be_visible()


def test_disputes_of_one_output_share_a_page(context: BrowserContext, transactional_db: None) -> None:
    cast = make_project(dimensions=("fluency", "coherence", "relevance"), documents=2, systems=1)
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 5, 5), strict=True):
        for item in cast.items:
            for key in ("fluency", "coherence", "relevance"):
                rate(cast, round, annotator, item, value, key=key)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    page = at_dispute(context, cast)
    page.evaluate("window.isTheSame = true")
    page.locator("[data-fold]").click()
    at_work = page.locator(".dispute-title")
    expect(at_work).to_contain_text("Fluency")
    page.locator("h1").click()  # in a text the arrows scroll
    page.keyboard.press("ArrowDown")
    expect(at_work).to_contain_text("Coherence")
    page.get_by_label("Reason, or a message").fill("Half a thought.")
    page.locator(".folded", has_text="Fluency").click()
    expect(at_work).to_contain_text("Fluency")
    expect(page.get_by_label("Reason, or a message")).to_have_value("")
    read_news(page)
    page.locator("body").click(position={"x": 5, "y": 5})
    page.keyboard.press("d")
    page.wait_for_url(f"**{address(cast, 2)}?after=1")
    expect(at_work).to_contain_text("Coherence")
    expect(page).to_have_title(re.compile("Dispute 2"))
    expect(page.locator("#left")).to_contain_text("4 others need you")
    expect(page.get_by_label("Reason, or a message")).to_have_value("Half a thought.")
    expect(page.locator(".document details[open]")).to_have_count(0)  # the text is as it was left
    read_news(page)
    page.get_by_role("button", name="4", exact=True).click()
    page.wait_for_url(f"**{address(cast, 3)}?after=2")
    expect(at_work).to_contain_text("Relevance")
    expect(page.locator("#answered")).to_contain_text("Dispute 2: you changed to 4.")
    read_news(page)
    page.get_by_role("button", name="Undo").click()
    expect(at_work).to_contain_text("Coherence")
    assert page.evaluate("window.isTheSame")
    given = Rating.objects.get(assignment__round__number=2, dimension__key="coherence")
    assert [each.comment for each in given.changes.order_by("revision")] == ["Half a thought.", ""]
    page.goto(address(cast, 3))
    read_news(page)
    page.get_by_role("button", name="We differ").click()
    page.wait_for_url(f"**{address(cast, 2)}?after=3")  # what is left about the text comes first
    read_news(page)
    page.get_by_role("button", name="We differ").click()
    page.wait_for_url(f"**{address(cast, 4)}?after=2")
    assert page.evaluate("window.isTheSame") is None


# --- Following others


def refreshes(page: Page) -> list[str]:
    found: list[str] = []

    def note(request: Request) -> None:
        if "hx-request" in request.headers:
            found.append(request.url)

    page.on("request", note)
    return found


COUNT_LOOKS = """() => {
    window.looks = 0;
    document.addEventListener("htmx:afterRequest", () => { window.looks += 1; });
}"""
PHONE = {"viewport": {"width": 390, "height": 700}, "has_touch": True, "is_mobile": True}


def on_a_call(context: BrowserContext, cast: Cast, user: User | None) -> Page:
    """Open the first dispute on a phone whose time goes on only when the test says so."""
    page = signed_in(context, user)
    page.clock.install()
    page.goto(address(cast))
    page.evaluate(COUNT_LOOKS)
    stop_clock(page)
    return page


def two_seconds_later(*pages: Page) -> None:
    """Let two seconds of each page's time pass, in which it looks twice at what the others do.

    The first look may have begun before they did it.
    """
    for page in pages:
        for _ in range(2):
            before = page.evaluate("looks")
            page.clock.run_for(1_000)
            wait_until(page, "before => looks > before", before)


def test_three_people_on_a_call_see_each_others_changes_within_two_seconds(
    new_context: Callable[..., BrowserContext], cast: Cast
) -> None:
    a, b, c = (on_a_call(new_context(**PHONE), cast, membership.user) for membership in cast.annotators)
    box = a.get_by_label("Reason, or a message")
    box.fill("I am in the middle of")
    before = box.bounding_box()
    b.get_by_label("Reason, or a message").fill("Is it an error?")
    b.get_by_role("button", name="Send alone").tap()
    expect(b.locator(".thread")).to_contain_text("Is it an error?")
    two_seconds_later(a, c)
    for page in (a, c):
        expect(page.locator(".thread")).to_contain_text("Is it an error?")
        expect(page.locator("#news")).to_contain_text("Rater B wrote: Is it an error?")
    assert box.bounding_box() == pytest.approx(before, abs=0.5)
    a.keyboard.type(" a sentence.")  # the focus has stayed
    expect(box).to_have_value("I am in the middle of a sentence.")
    c.get_by_label("Stay on this dispute").tap()
    c.get_by_role("button", name="2", exact=True).tap()
    expect(c.locator("#answered")).to_contain_text("Dispute 1: you changed to 2.")
    two_seconds_later(a, b)
    for page, said in ((a, "You and Rater B are 4 apart."), (b, "Rater A and you are 4 apart.")):
        expect(page.locator(".apart")).to_have_text(said)
        expect(page.locator("#news")).to_contain_text("Rater C: 5 → 2")
    read_news(b)
    b.keyboard.press("2")
    b.wait_for_url(f"**{address(cast, 2)}?after=1")
    two_seconds_later(a, c)
    for page in (a, c):
        expect(page.locator(".apart")).to_have_text("The values have met. The unit is settled.")
    read_news(b)
    b.keyboard.press("z")
    b.wait_for_url(f"**{address(cast)}")
    two_seconds_later(c)
    expect(c.locator(".apart")).to_contain_text(
        "Rater A and Rater B are 4 apart. Your value lies between the others"
    )
    expect(box).to_have_value("I am in the middle of a sentence.")


def test_others_are_followed_until_the_dispute_is_decided(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    dispute = Dispute.objects.get(number=1)
    post_message(dispute=dispute, author=cast.annotators[1], text="Is it an error?")
    expect(page.locator(".thread")).to_contain_text("Is it an error?")
    adjudicate(dispute=dispute, value=3, note="So it is.", by=cast.admin)
    expect(page.locator("#discussion")).to_contain_text("Decided by adjudication: 3.")
    asked = refreshes(page)
    page.clock.run_for(60_000)
    assert asked == []


def test_a_hidden_window_asks_for_nothing_until_it_is_seen_again(context: BrowserContext, cast: Cast) -> None:
    page = at_dispute(context, cast)
    page.evaluate("Object.defineProperty(document, 'hidden', {get: () => window.away, configurable: true})")
    turn = "window.away = {}; document.dispatchEvent(new Event('visibilitychange'))"
    page.evaluate(turn.format("true"))
    asked = refreshes(page)
    page.clock.run_for(60_000)
    assert asked == []
    with page.expect_request(lambda request: "seen=" in request.url):
        page.evaluate(turn.format("false"))


def passages(alias: str) -> list[dict[str, int]]:
    """Return the evidence of a rater's one answer."""
    answer = Rating.objects.get(assignment__round__number=2, assignment__annotator__alias=alias)
    return answer.evidence or []


def test_words_become_evidence_for_an_answer_and_others_see_it_at_once(
    context: BrowserContext, new_context: Callable[..., BrowserContext], cast: Cast
) -> None:
    other = signed_in(new_context(), cast.annotators[1].user)
    other.clock.install()
    other.goto(address(cast))
    page = at_dispute(context, cast)
    page.get_by_label("Stay on this dispute").check()
    page.locator("h1").click()
    page.keyboard.press("o")
    expect(page.locator(".document details[open]")).to_have_count(0)
    page.keyboard.press("/")
    page.keyboard.type("review")
    expect(page.locator("[data-find-count]")).to_have_text(re.compile("1 of"))
    page.keyboard.press("Escape")
    page.keyboard.press("e")
    expect(page.locator("#answer .evidence-quote")).to_have_text(["❝ Review"])
    page.reload()  # nothing is lost before it is sent
    read_news(page)
    page.keyboard.press("k")
    expect(other.locator(".document .marked")).to_have_text(["Reviewmarked by A"])
    assert passages("A") == [{"part": 1, "start": 0, "end": 6}]
    # Beside a mark, places are counted without who made it.
    read_news(other)
    other.evaluate("getSelection().selectAllChildren(document.querySelector('.text[data-part=\"1\"]'))")
    other.keyboard.press("e")
    other.keyboard.press("k")
    expect(page.locator(".document .marked").first).to_have_text("Reviewmarked by you B")
    length = len(cast.items[0].document.parts[0]["text"])
    assert passages("B") == [{"part": 1, "start": 0, "end": length}]
    page.get_by_role("button", name="Undo").click()
    expect(page.locator("#answer .evidence")).to_be_hidden()
    expect(page.locator(".document .marked").first).not_to_contain_text("you")
