"""What is decided about and what records it, on the screen together: on SummEval-OP's longest texts."""

import re
from collections.abc import Callable

import pytest
from django.core.management import call_command
from django.db.models.functions import Length
from playwright.sync_api import BrowserContext, expect

from annotate.core.models import Assignment, Membership
from annotate.rating.commands.plans import choose_plan
from annotate.rating.commands.rounds import open_round_one
from annotate.setup.commands import create_project
from annotate.setup.presets import TEMPLATES
from tests.browser.people import signed_in
from tests.factories import make_member, make_user
from tests.reference import reference_data

LONGEST = 12
# For each dimension at work: what cannot be seen whole of scales, descriptions, remarks and comment.
HIDDEN = """async () => {
    const clips = (each) => getComputedStyle(each).overflowY !== "visible";
    const isSeen = (each) => {
        const { top, bottom, height } = each.getBoundingClientRect();
        let [from, to] = [0, innerHeight];
        for (let around = each.parentElement; around; around = around.parentElement) {
            if (!clips(around)) continue;
            const box = around.getBoundingClientRect();
            [from, to] = [Math.max(from, box.top), Math.min(to, box.bottom)];
        }
        return height > 0 && top >= from - 0.5 && bottom <= to + 0.5;
    };
    const hidden = [];
    for (const step of document.querySelectorAll("[data-go]")) {
        step.click();
        await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
        const row = document.querySelector(".row.focused");
        const parts = [...row.querySelectorAll(".point, small, .remark, textarea")];
        if (row.dataset.key !== step.dataset.go || parts.length < 5 + 5 + 3) hidden.push(step.dataset.go);
        hidden.push(...[step, ...parts].filter((each) => !isSeen(each)).map((each) => each.textContent));
    }
    return hidden;
}"""


@pytest.fixture
def annotator(transactional_db: None) -> Membership:
    """An annotator of SummEval-OP, of whom nothing is rated."""
    admin = make_user()
    project = create_project(user=admin, name="SummEval-OP", template=TEMPLATES["opinion-summaries"])
    items = reference_data() / "summeval_op" / "summeval-op.jsonl"
    call_command("import_items", project.slug, str(items), verbosity=0)
    membership = make_member(project)
    choose_plan(project=project, kind="everyone")
    open_round_one(project=project, by=admin)
    return membership


def test_points_remarks_and_comment_share_one_visible_position(
    annotator: Membership, context: BrowserContext
) -> None:
    page = signed_in(context, annotator.user)
    assignments = Assignment.objects.filter(annotator=annotator).order_by(Length("item__text").desc())
    tops = set()
    for position in assignments.values_list("position", flat=True)[:LONGEST]:
        page.goto(f"/projects/{annotator.project.slug}/rate/{position}/")
        expect(page.locator(".row.focused")).to_have_count(1)
        assert page.evaluate(HIDDEN) == []
        assert page.evaluate("document.documentElement.scrollHeight <= innerHeight")
        tops.add(page.evaluate("document.querySelector('.row').getBoundingClientRect().top"))
    assert len(tops) == 1


# How many texts are cut, each put into the page in its turn.
CUT = """(texts) => {
    const box = document.querySelector(".summary");
    const text = box.querySelector(".text");
    return texts.filter((each) => {
        text.textContent = each;
        return box.scrollHeight > box.clientHeight + 1;
    }).length;
}"""


def test_few_summaries_are_cut_on_a_laptop(
    annotator: Membership, new_context: Callable[..., BrowserContext]
) -> None:
    page = signed_in(new_context(viewport={"width": 1366, "height": 625}), annotator.user)
    page.goto(f"/projects/{annotator.project.slug}/rate/1/")
    expect(page.locator(".row.focused")).to_have_count(1)
    texts = list(Assignment.objects.filter(annotator=annotator).values_list("item__text", flat=True))
    assert len(texts) == 416
    assert page.evaluate(CUT, texts) <= 41


def test_cut_output_fades_and_shows_the_number_of_hidden_lines(
    annotator: Membership, new_context: Callable[..., BrowserContext]
) -> None:
    page = signed_in(new_context(viewport={"width": 1366, "height": 625}), annotator.user)
    assignments = Assignment.objects.filter(annotator=annotator).order_by(Length("item__text").desc())
    page.goto(f"/projects/{annotator.project.slug}/rate/{assignments[0].position}/")
    more = page.locator("[data-more]")
    expect(more).to_have_text(re.compile(r"^\d+ more lines? ↓$"))
    expect(page.locator(".summary[data-cut]")).to_have_count(1)
    more.click()
    page.locator(".summary").evaluate("box => box.scrollTo({ top: box.scrollHeight, behavior: 'instant' })")
    expect(more).to_be_hidden()
    expect(page.locator(".summary[data-cut]")).to_have_count(0)
