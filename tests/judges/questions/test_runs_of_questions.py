"""One run for each kind of question against an endpoint inside the test: asked, stored, exported."""

import json
import re
from typing import Any

import pytest
from django.test import Client

from annotate.core.errors import InvalidValueError
from annotate.core.models import Item, ItemPart
from annotate.exports.formats.text import export_table
from annotate.exports.registry import TABLES
from judges.core.models import Judge, Judgment
from judges.core.specification import Scope
from judges.endpoints.queries import preview_of
from judges.methods import METHODS
from judges.runs.commands.corrections import exclude, include, read_again, set_value
from judges.runs.queries.plans import plan_of
from tests.factories import Cast
from tests.judges.factories import make_endpoint, make_judge
from tests.judges.pages import address, text_of
from tests.judges.provider import Provider, providing
from tests.judges.questions.projects import make_mixed_project
from tests.judges.running import running, worked

pytestmark = pytest.mark.django_db(transaction=True)

SPAN = {"quote": "It is  short", "category": "fluency", "severity": "minor"}
REPLIES: dict[str, dict[str, Any]] = {
    "labels": {"labels": ["spelling"]},
    "parts": {"parts": ["yes", "no", "no"]},
    "preference": {"better": "A", "strength": 2},
    "ranking": {"ranking": [["B"], ["A", "C"]]},
    "spans": {"spans": [SPAN, {**SPAN, "quote": "It is long"}]},
    "text": {"text": "It reads well."},
}


def run_questions(kind: str, reply: object, **fields: Any) -> tuple[Cast, Judge, Provider]:
    cast = make_mixed_project(documents=1)
    with providing(reply=reply if isinstance(reply, str) else json.dumps(reply)) as provider:
        endpoint = make_endpoint(cast.project, provider.base_url)
        judge = make_judge(cast.project, "questions", endpoint=endpoint, **fields)
        planned = plan_of(cast.project, Scope([judge], [kind]))
        run = worked(running(cast.project, judge, dimensions=[kind]))
    assert planned.problems == []
    assert planned.calls == Judgment.objects.filter(run=run).count() > 0
    assert run.status == "finished"
    return cast, judge, provider


@pytest.mark.parametrize("kind", REPLIES)
def test_a_run_stores_an_answer_of_its_kind(kind: str) -> None:
    said = REPLIES[kind]
    cast, judge, provider = run_questions(kind, {"reason": "Because.", **said}, structured=True)
    of_kind = {"preference": "pair", "ranking": "comparison"}.get(kind, "output")
    judgments = list(Judgment.objects.filter(judge=judge).order_by("item", "sample"))
    assert {each.item.kind for each in judgments} == {of_kind}
    done = [each for each in judgments if each.status == "done"]
    assert {each.rationale for each in done} == {"Because."}
    assert len(provider.asked) >= len(judgments)
    assert "reason" in json.dumps(provider.asked[0]["response_format"])
    expected = {
        "labels": [(1, {"labels": ["spelling"]})] * 3,
        "parts": [(pytest.approx(1 / 3, abs=0.01), {"parts": ["yes", "no", "no"]})] * 3,
        "preference": [(-2, {"order": [0, 1]}), (2, {"order": [1, 0]})] * 3,
        "ranking": [(2, {"ranks": [2, 1, 2], "order": [0, 1, 2]})],
        "text": [(14, {"text": "It reads well."})] * 3,
    }
    if kind == "spans":
        (first, *_) = done
        assert first.data
        (span,) = first.data["spans"]
        assert first.item.text[span["start"] : span["end"]] == "It is short"
        assert [each["quote"] for each in first.data["unmatched"]] == ["It is long"]
        assert {each.value for each in done} == {1}
    else:
        assert [(each.value, each.data) for each in done] == expected[kind]
    assert not [each.reason for each in judgments if each.status == "unreadable"]
    rows = [
        json.loads(line)
        for line in b"".join(export_table(cast.project, TABLES["judgments"], "jsonl")).splitlines()
    ]
    exported = [row["data"] for row in rows if row["status"] == "done"]
    assert sorted(map(str, exported)) == sorted(str(each.data) for each in done)


def test_preference_has_one_call_in_either_order() -> None:
    _, judge, provider = run_questions("preference", REPLIES["preference"])
    assert Judgment.objects.filter(judge=judge).count() == 2 * 3 == len(provider.asked)
    item = Item.objects.filter(kind="pair").first()
    assert item
    assert set(Judgment.objects.filter(item=item).values_list("sample", "value")) == {(0, -2.0), (1, 2.0)}


def test_items_without_parts_are_not_asked_about_parts() -> None:
    cast = make_mixed_project(documents=1)
    ItemPart.objects.filter(item=cast.items[0]).delete()
    judge = make_judge(cast.project, "questions")
    assert plan_of(cast.project, Scope([judge], ["parts"])).judgments == 2
    run = running(cast.project, judge, dimensions=["parts"])
    assert set(Judgment.objects.filter(run=run).values_list("item", flat=True)) == {
        item.pk for item in cast.items[1:]
    }


def test_answers_are_read_again_and_asked_again_and_excluded_with_their_data() -> None:
    cast, judge, _ = run_questions("labels", REPLIES["labels"])
    judgment = Judgment.objects.filter(judge=judge).order_by("pk")[0]
    Judgment.objects.filter(pk=judgment.pk).update(data={"labels": []}, value=0)
    assert read_again(judges=[judge], by=cast.admin) == 1
    judgment.refresh_from_db()
    assert (judgment.value, judgment.data) == (1, {"labels": ["spelling"]})
    with pytest.raises(InvalidValueError, match="A number alone is no answer"):
        set_value(judgment=judgment, value=2, note="So it says.", by=cast.admin)
    exclude(judgment=judgment, note="Odd.", by=cast.admin)
    included = include(judgment=judgment, note="Not odd.", by=cast.admin)
    assert (included.value, included.data) == (1, {"labels": ["spelling"]})


def test_a_prompt_is_previewed_on_what_its_question_is_about() -> None:
    cast = make_mixed_project(documents=1)
    text = METHODS["questions"].default_template
    for kind in REPLIES:
        shown = preview_of(cast.project, "questions", text, dimension=kind, number=1)
        assert not shown.problem
        assert shown.dimension
        assert shown.dimension.key == kind
        tags = set(re.findall(r"<(\w+)>\n", shown.messages[0].content))
        compared = {"text_A", "text_B"} if kind in ("preference", "ranking") else {"text"}
        assert compared <= tags
    assert preview_of(cast.project, "rts", "{{ text }}", dimension="", number=1).items == 3


def test_pages_show_answers_in_words(client: Client) -> None:
    cast, judge, _ = run_questions("spans", REPLIES["spans"])
    client.force_login(cast.admin)
    judgment = Judgment.objects.filter(judge=judge).order_by("pk")[0]
    page = text_of(client.get(address(cast, f"judgment/{judgment.pk}/")))
    assert "Answer: 1 span" in page
    assert "1 quote of the reply is in no text and is not counted: It is long" in page
    assert "1 span" in text_of(client.get(address(cast, "judgments/"), {"judge": judge.pk}))
    unit = client.get(address(cast, f"of-unit/{judgment.item_id}/spans/"))
    assert "1 span" in text_of(unit)
