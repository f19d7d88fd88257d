"""A project with a question of every kind: each page opens, and numbers are from scales only."""

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.models import Assignment, Document
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.formats.datasheet import datasheet
from annotate.rating.queries.own_items import progress
from annotate.results.commands import current_page
from annotate.results.queries.pages import OWN_PAGES
from annotate.results.registry import PAGES, result_of
from annotate.watching.queries.round_progress import round_progress
from tests.factories import Cast, make_project
from tests.questions.asking import give, make_questions, open_questions
from tests.questions.everything import answer_every_kind, discuss_every_kind, make_every_kind

pytestmark = pytest.mark.django_db

READ_BY_PEOPLE = (
    *("project", "exports", "results", "disagreements", "disputes", "guideline", "round_one", "quality"),
    *("gold", "items", "people", "audit", "plan", "dimensions", "datasheet", "guideline_versions"),
    *("dispute_rules", "adjudicate", "project_delete", "settings"),
)
OF_SCALES = {"fluency", "harm", "sort"}


def read_pages(client: Client, cast: Cast) -> None:
    """Read every page of results and about the project; each must have something to show."""
    client.force_login(cast.admin)
    for name in READ_BY_PEOPLE:
        assert client.get(reverse(name, args=[cast.project.slug])).status_code == 200, name
    for page in OWN_PAGES:
        kept = current_page(project=cast.project, result=result_of(cast.project, page.name))
        assert kept.tables or page.name == "so-far", page.name
    for name in PAGES:
        url = reverse("results_page", args=[cast.project.slug, name])
        assert client.get(url, follow=True).status_code == 200, name


def test_each_page_opens_in_both_rounds(client: Client) -> None:
    cast = make_every_kind(documents=3)
    Document.objects.update(metadata={"genre": "news"})
    answer_every_kind(cast)
    read_pages(client, cast)
    discuss_every_kind(cast)
    read_pages(client, cast)
    page = current_page(project=cast.project, result=result_of(cast.project, "agreement"))
    rounds = page.table("rounds")
    assert rounds is not None
    assert {row[0].key for row in rounds.rows} == OF_SCALES
    means = current_page(project=cast.project, result=result_of(cast.project, "systems")).table("means")
    assert means is not None
    assert [row[0].value for row in means.rows] == ["system-1", "system-2", "system-3"]
    sheet = datasheet(cast.project, ExportChoice(Format.HUGGING_FACE))
    assert "9 texts of 3 systems about 3 documents." in sheet
    assert "12 comparisons set several of these texts side by side." in sheet


def test_progress_counts_the_questions_of_each_item() -> None:
    cast = make_every_kind(documents=1, annotators=1)
    answer_every_kind(cast, most=0)
    round = cast.project.rounds.get()
    outputs, pairs, comparisons = 3, 3, 1

    def asked() -> dict[str, tuple[int, int]]:
        found = round_progress(round, with_labels=False).dimensions
        return {each.name: (each.rated, each.asked) for each in found}

    before = asked()
    assert before["Labels"] == before["Fluency"] == (0, outputs)
    assert before["Preference"] == (0, pairs)
    assert before["Ranking"] == (0, comparisons)
    assert before["Harm"] == (0, 0)
    (one,) = cast.annotators
    give(one, cast.items[0].pk, "labels", data={"labels": []})
    assert asked()["Harm"] == (0, 0)
    give(one, cast.items[0].pk, "labels", data={"labels": ["grammar"]})
    assert asked()["Harm"] == (0, 1)
    give(one, cast.items[0].pk, "harm", 2)
    assert asked()["Harm"] == (1, 1)
    assert progress(round, one).total == outputs + pairs + comparisons


def test_a_round_is_complete_although_hidden_questions_have_no_answer() -> None:
    cast = make_every_kind(documents=1, annotators=2)
    answer_every_kind(cast)
    assert not Assignment.objects.filter(completed_at=None).exists()
    found = round_progress(cast.project.rounds.get(), with_labels=False)
    assert found.is_complete
    assert all(each.rated == each.asked for each in found.dimensions)
    harm = next(each for each in found.dimensions if each.name == "Harm")
    assert 0 < harm.rated < 6


@pytest.mark.parametrize("kind", ["labels", "preference", "text"])
def test_a_project_with_one_question_of_another_kind_has_all_pages(client: Client, kind: str) -> None:
    cast = open_questions(kind, documents=1, systems=2)
    client.force_login(cast.admin)
    for name in (*READ_BY_PEOPLE, "results"):
        assert client.get(reverse(name, args=[cast.project.slug])).status_code == 200, name
    for name in PAGES:
        url = reverse("results_page", args=[cast.project.slug, name])
        assert client.get(url, follow=True).status_code == 200, name


def test_only_a_project_with_other_questions_lists_their_page(client: Client) -> None:
    for cast, is_listed in ((make_project(), False), (make_questions("labels"), True)):
        client.force_login(cast.researcher)
        listed = client.get(reverse("results", args=[cast.project.slug])).content.decode()
        url = reverse("results_page", args=[cast.project.slug, "questions"])
        assert (url in listed) == is_listed
    shown = client.get(reverse("results_page", args=[cast.project.slug, "questions"]))
    assert "There is nothing to measure yet." in shown.content.decode()
