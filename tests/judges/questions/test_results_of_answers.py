"""Judges and people on questions of other kinds: the table, its controls, and what other pages say."""

import csv
import io
from typing import Any

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.models import ComparisonSide, Item
from annotate.exports.formats.text import export_table
from annotate.exports.registry import TABLES
from annotate.questions import KINDS
from annotate.results.table import Section
from judges.core.models import DevelopmentDocument, Judge, Judgment
from judges.results.tables.columns import explain_excluded_kinds
from judges.runs.commands.corrections import exclude
from tests.factories import Cast, make_project
from tests.judges.factories import make_answers, make_judge
from tests.judges.pages import address, text_of, text_of_tabs
from tests.judges.questions.projects import answer_everything, answer_of, make_mixed_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast(client: Client) -> Cast:
    cast = make_mixed_project()
    answer_everything(cast)
    client.force_login(cast.admin)
    return cast


def answer(judge: Judge, kind: str, *, item: Item, value: float, data: Any, sample: int = 0) -> None:
    dimension = judge.project.dimensions.get(key=kind)
    make_answers(judge, [(item, dimension, int(value))], data=data, sample=sample)


def answer_as_people(judge: Judge, kind: str) -> None:
    """Give each item that a question is about the answer that all people gave."""
    items = Item.objects.filter(document__project=judge.project, kind=KINDS[kind].item_kind)
    for item in items:
        if kind != "preference":
            answer(judge, kind, item=item, value=1, data=answer_of(kind, item))
        elif ComparisonSide.objects.filter(item=item).count() == 2:
            for sample in (0, 1):
                order = {"order": [sample, 1 - sample]}
                answer(judge, kind, item=item, value=1, data=order, sample=sample)


def rows(client: Client, cast: Cast, **query: str) -> dict[str, dict[str, str]]:
    url = reverse("result_file", args=[cast.project.slug, "judges", "other-questions", "csv"])
    found = client.get(url, query)
    assert found.status_code == 200
    lines = csv.DictReader(io.StringIO(found.content.decode(), newline=""))
    return {line["dimension"].casefold(): line for line in lines}


@pytest.mark.parametrize("kind", ["labels", "parts", "preference", "ranking", "spans"])
def test_the_answers_of_people_agree_with_people(client: Client, cast: Cast, kind: str) -> None:
    answer_as_people(make_judge(cast.project, "questions", name="Answerer"), kind)
    (row,) = rows(client, cast).values()
    assert row["judge"] == "Answerer"
    assert float(row["with_people"]) == float(row["among_people"]) == 1
    assert int(row["items"]) == {"ranking": 3}.get(kind, 9)
    assert bool(row["both_orders"]) == (kind == "preference")


def test_agreement_is_one_minus_the_mean_distance(client: Client, cast: Cast) -> None:
    judge = make_judge(cast.project, "questions")
    near, far, half = cast.items[:3]
    for item, labels in ((near, ["grammar"]), (far, ["spelling"]), (half, ["grammar", "spelling"])):
        answer(judge, "labels", item=item, value=len(labels), data={"labels": labels})
    (row,) = rows(client, cast).values()
    assert float(row["with_people"]) == pytest.approx((1 + 0 + 0.5) / 3)
    assert float(row["among_people"]) == 1
    assert int(row["items"]) == 3


def test_orders_that_disagree_are_a_tie_and_one_order_is_no_answer(client: Client, cast: Cast) -> None:
    judge = make_judge(cast.project, "questions")
    of_two = list(Item.objects.filter(kind="pair"))
    for sample, value in ((0, 1), (1, -1)):
        order = {"order": [sample, 1 - sample]}
        answer(judge, "preference", item=of_two[0], value=value, data=order, sample=sample)
        answer(judge, "preference", item=of_two[1], value=2, data=order, sample=sample)
    answer(judge, "preference", item=of_two[2], value=1, data={"order": [0, 1]})
    (row,) = rows(client, cast).values()
    assert int(row["items"]) == 2
    assert float(row["with_people"]) == pytest.approx((0.5 + 1) / 2)
    assert float(row["both_orders"]) == 0.5


def test_unmatched_quotes_are_tallied(client: Client, cast: Cast) -> None:
    judge = make_judge(cast.project, "questions")
    unmatched = [{"quote": "no such words", "category": "fluency", "severity": "minor"}] * 2
    data = {**(answer_of("spans", cast.items[0]) or {}), "unmatched": unmatched}
    answer(judge, "spans", item=cast.items[0], value=1, data=data)
    assert rows(client, cast)["spans"]["unmatched"] == "2"


def test_free_answers_have_no_agreement(client: Client, cast: Cast) -> None:
    answer_as_people(make_judge(cast.project, "questions"), "text")
    assert rows(client, cast)["text"]["with_people"] == ""


def test_shared_items_corrected_answers_and_development_are_excluded(client: Client, cast: Cast) -> None:
    one, other = (make_judge(cast.project, "questions", name=name) for name in ("One", "Other"))
    answer_as_people(one, "labels")
    answer(other, "labels", item=cast.items[0], value=0, data={"labels": []})
    assert rows(client, cast, units="shared")["labels"]["items"] == "1"
    DevelopmentDocument.objects.create(document=cast.items[-1].document)
    Judgment.objects.filter(judge=other).delete()
    assert int(rows(client, cast)["labels"]["items"]) == 6
    exclude(judgment=Judgment.objects.filter(judge=one, item=cast.items[0]).get(), note="Odd.", by=cast.admin)
    assert int(rows(client, cast)["labels"]["items"]) == 5


REASONS = {
    "reliability": "R compares RTS with MCQ, which only scales have",
    "replacement": "The test is about scales",
    "estimates": "answers to other questions are not estimated",
    "trust": "Verdicts are about scales",
    "verdicts": "Verdicts are about scales",
}


def test_scale_pages_explain_the_exclusion_of_other_questions(client: Client, cast: Cast) -> None:
    for method in ("rts", "mcq"):
        judge = make_judge(cast.project, method, model="m")
        make_answers(judge, [(item, cast.dimensions[0], 1 + item.pk % 5) for item in cast.items])
    answer_as_people(make_judge(cast.project, "questions", name="Answerer"), "labels")
    for page, reason in REASONS.items():
        assert reason in text_of_tabs(client, reverse("results_page", args=[cast.project.slug, page]))


def test_a_project_of_scales_has_no_such_reason() -> None:
    scales_only = make_project()
    section = Section("Title", "It says.", [])
    assert explain_excluded_kinds([section], scales_only.project, "Why.") == [section]
    (changed,) = explain_excluded_kinds([section], make_mixed_project(documents=1).project, "Why.")
    assert changed.says == "It says. Why."


def test_routing_and_certificate_forms_state_the_scale_limit_too(client: Client, cast: Cast) -> None:
    for method in ("rts", "mcq"):
        judge = make_judge(cast.project, method, model="m")
        make_answers(judge, [(item, cast.dimensions[0], 1 + item.pk % 5) for item in cast.items])
    assert "which only scales have" in text_of(client.get(address(cast, "routing/new/")))
    assert "Scales only" in text_of(client.get(address(cast, "certificates/new/")))


def test_a_judge_of_questions_alone_leaves_pages_of_scales_without_judges(client: Client, cast: Cast) -> None:
    answer_as_people(make_judge(cast.project, "questions", name="Answerer"), "labels")
    page = reverse("results_page", args=[cast.project.slug, "judges"])
    said = text_of_tabs(client, page)
    assert "Other questions" in said
    for name in REASONS:
        url = reverse("results_page", args=[cast.project.slug, name])
        assert client.get(url, follow=True).status_code == 200
    assert b"".join(export_table(cast.project, TABLES["indicators"], "jsonl")).strip() == b""
