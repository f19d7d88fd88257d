from playwright.sync_api import Browser
import pytest
from annotate.core.models import Assignment, Dispute
from annotate.rating.commands.rounds import close_round_one, open_round_two
from tests.browser.people import signed_in
from tests.questions.asking import give, open_questions

A = {
    "labels": ({"labels": ["grammar"]}, {"labels": ["spelling", "grammar"]}),
    "parts": ({"parts": ["yes", "no", "yes"]}, {"parts": ["yes", "no", "no"]}),
    "ranking": ({"ranks": [1, 2, 3]}, {"ranks": [2, 1, 3]}),
    "spans": (
        {"spans": [{"part": 0, "start": 0, "end": 10, "category": "fluency", "severity": "minor"}]},
        {"spans": [{"part": 0, "start": 4, "end": 16, "category": "accuracy", "severity": "major"}]},
    ),
}

@pytest.mark.parametrize("width", [1280, 390])
def test_shots(live_server, browser: Browser, width: int) -> None:
    for kind in ("preference", "labels", "parts", "ranking", "spans"):
        cast = open_questions(kind, documents=1)
        one, other = cast.annotators
        item = Assignment.objects.filter(annotator=one).order_by("item")[0].item_id
        if kind == "preference":
            give(one, item, kind, value=-2); give(other, item, kind, value=1)
        else:
            give(one, item, kind, data=A[kind][0]); give(other, item, kind, data=A[kind][1])
        close_round_one(project=cast.project, by=cast.admin)
        open_round_two(project=cast.project, by=cast.admin)
        d = Dispute.objects.get(round__project=cast.project)
        context = browser.new_context(viewport={"width": width, "height": 900})
        for who, user in (("rater", one.user), ("admin", cast.admin)):
            page = signed_in(context, user)
            errors = []
            page.on("pageerror", lambda e: errors.append(str(e)))
            page.goto(f"{live_server.url}/projects/{cast.project.slug}/disputes/{d.number}/")
            page.wait_for_timeout(700)
            page.screenshot(path=f"/tmp/shots/{kind}-{who}-{width}.png")
            assert not errors, errors
            print(kind, who, width, page.evaluate("document.documentElement.scrollWidth"))
            context.clear_cookies()
        context.close()
