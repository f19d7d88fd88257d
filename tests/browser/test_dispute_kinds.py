"""Two raters discuss a preference, labels and spans in a browser; an admin decides the rest."""

import pytest
from playwright.sync_api import Browser, Page, expect
from pytest_django.live_server_helper import LiveServer

from annotate.core.models import Dispute, Rating, RatingChange
from annotate.rating.commands.rounds import close_round_one, open_round_two
from tests.browser.axe import PHONE, SCREEN, bring_axe, resize, violations_in_any_theme
from tests.browser.people import signed_in
from tests.factories import Cast
from tests.questions.asking import give, open_questions
from tests.questions.test_disputes_of_kinds import disputed

SPAN = {"part": 0, "start": 0, "end": 4, "category": "fluency", "severity": "minor"}
OTHER_SPAN = {"part": 0, "start": 5, "end": 11, "category": "accuracy", "severity": "major"}


def dispute_each() -> Cast:
    """Open Round II about a preference, labels and spans of one document."""
    cast = open_questions("preference", "labels", "spans", documents=1, systems=2)
    one, other = cast.annotators
    pair = cast.project.documents.get().items.exclude(kind="output").get().pk
    output = cast.items[0].pk
    give(one, pair, "preference", value=-2)
    give(other, pair, "preference", value=1)
    give(one, output, "labels", data={"labels": ["grammar"]})
    give(other, output, "labels", data={"labels": ["spelling", "wrong-word"]})
    give(one, output, "spans", data={"spans": [SPAN]})
    give(other, output, "spans", data={"spans": [OTHER_SPAN]})
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    return cast


def stored_answers(key: str) -> dict[str, object]:
    """Return the raters' answers in Round II, by their aliases."""
    ratings = Rating.objects.filter(assignment__round__number=2, dimension__key=key, value__isnull=False)
    return dict(ratings.values_list("assignment__annotator__alias", "data"))


def change_to_theirs(page: Page) -> None:
    """Press the button for the other rater's preference."""
    expect(page.locator(".side")).to_have_count(2)
    expect(page.locator(".apart")).to_have_text("The raters prefer different outputs.")
    theirs = page.locator(".standpoints li").filter(has_text="Rater B").inner_text().removeprefix("Rater B ")
    page.locator("#stay").check()
    page.locator("#answer-buttons").get_by_role("button", name=theirs).click()
    expect(page.locator(".apart")).to_contain_text("The unit is settled.")


def edit_spans(page: Page) -> None:
    """Add the other's span, make it less severe, mark a third one and remove one's first."""
    expect(page.locator(".marked.span-of-1")).to_contain_text("What")
    expect(page.locator(".marked.span-of-2")).to_contain_text("system")
    page.get_by_role("button", name="Add to mine").click()
    spans = page.locator("[data-span-list] li")
    expect(spans).to_have_count(2)
    spans.last.get_by_label("Severity").select_option("minor")
    select_last_word(page)
    page.locator("[data-severity=minor]").click()
    expect(spans).to_have_count(3)
    spans.first.locator(".span-remove").click()
    expect(spans).to_have_count(2)
    page.locator("[data-change]").click()
    expect(page.locator(".standpoints li").first).to_contain_text("2 spans")


def decide_as_rater_b(page: Page) -> None:
    """Copy an answer into the decision, and write the reason."""
    page.get_by_role("button", name="Use the answer of Rater B").click()
    expect(page.locator("[data-span-list] li")).to_have_count(1)
    expect(page.locator("#note")).to_be_focused()
    page.keyboard.type("It changes the meaning.")
    page.keyboard.press("Enter")
    expect(page.locator(".apart")).to_contain_text("Decided by adjudication")
    expect(page.locator(".held-spans .pill-good")).to_have_text("decided")


@pytest.mark.parametrize("width", [1280, 390])
def test_raters_adopt_keep_and_edit(live_server: LiveServer, browser: Browser, width: int) -> None:
    cast = dispute_each()
    one, other = cast.annotators
    numbers = dict(Dispute.objects.values_list("dimension__key", "number"))
    context = browser.new_context(viewport={"width": width, "height": 900}, has_touch=width < 500)

    def at(page: Page, key: str) -> Page:
        page.goto(f"{live_server.url}/projects/{cast.project.slug}/disputes/{numbers[key]}/")
        expect(page.locator("#discussion")).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        return page

    page = signed_in(context, one.user)
    change_to_theirs(at(page, "preference"))
    assert Rating.objects.get(assignment__round__number=2).value == 1
    at(page, "labels").get_by_role("button", name="Use the answer of Rater B").click()
    expect(page.locator(".apart")).to_contain_text("The unit is settled.")
    assert stored_answers("labels") == {one.alias: {"labels": ["spelling", "wrong-word"]}}
    edit_spans(at(page, "spans"))
    (mine,) = stored_answers("spans").values()
    assert isinstance(mine, dict)
    assert {**OTHER_SPAN, "severity": "minor"} in mine["spans"]
    assert SPAN not in mine["spans"]

    context.clear_cookies()
    page = at(signed_in(context, other.user), "spans")
    page.locator("#stay").check()
    page.locator("#comment").fill("It is wrong, not clumsy.")
    page.locator("#answer-buttons [name=keep]:visible").click()
    expect(page.locator("#answered")).to_contain_text("you kept 1 span")
    kept = RatingChange.objects.get(rating__assignment__annotator=other, cause="kept")
    assert kept.data == {"spans": [OTHER_SPAN]}

    context.clear_cookies()
    decide_as_rater_b(at(signed_in(context, cast.admin), "spans"))
    assert Dispute.objects.get(number=numbers["spans"]).adjudicated_data == {"spans": [OTHER_SPAN]}
    context.close()


def select_last_word(page: Page) -> None:
    """Select the last word of the output."""
    page.evaluate(
        """() => {
            const text = document.querySelector('.summary .text');
            const walker = document.createTreeWalker(text, NodeFilter.SHOW_TEXT);
            let node; while (walker.nextNode()) node = walker.currentNode;
            const range = document.createRange();
            range.setStart(node, node.length - 3); range.setEnd(node, node.length);
            getSelection().removeAllRanges(); getSelection().addRange(range);
        }"""
    )


def test_digits_and_enter_change_labels(live_server: LiveServer, browser: Browser) -> None:
    cast = dispute_each()
    number = Dispute.objects.get(dimension__key="labels").number
    context = browser.new_context(viewport={"width": 1280, "height": 900})
    page = signed_in(context, cast.annotators[0].user)
    page.goto(f"{live_server.url}/projects/{cast.project.slug}/disputes/{number}/")
    page.locator("#stay").check()
    page.locator("#content").focus()
    page.keyboard.press("1")  # takes Grammar away
    page.locator("[data-change]").click()
    expect(page.locator("#ignored")).to_have_text("This answer is not complete; give every part of it.")
    for key in "23":
        page.keyboard.press(key)
    page.keyboard.press("Enter")
    expect(page.locator(".apart")).to_contain_text("The unit is settled.")
    assert stored_answers("labels") == {cast.annotators[0].alias: {"labels": ["spelling", "wrong-word"]}}
    context.close()


@pytest.mark.parametrize("kind", ["preference", "labels", "parts", "ranking", "spans"])
def test_disputes_of_each_kind_are_accessible(
    live_server: LiveServer, browser: Browser, kind: str, transactional_db: None
) -> None:
    scene = disputed(kind)
    context = browser.new_context()
    bring_axe(context)
    seen: set[int] = set()
    for user in (scene.raters[0].user, scene.cast.admin):
        page = signed_in(context, user)
        page.goto(f"{live_server.url}{scene.url('dispute')}")
        for size in (SCREEN, PHONE):
            resize(page, size)
            assert violations_in_any_theme(page, seen) == []
            assert page.evaluate("document.documentElement.scrollWidth") <= size["width"]
        context.clear_cookies()
    context.close()
