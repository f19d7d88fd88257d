"""Passages that a rater marks as evidence: what is kept of them, and what is refused."""

import json
from random import Random
from typing import Any

import pytest
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotate.core.access import token_of
from annotate.core.errors import InvalidValueError
from annotate.core.models import Assignment, Dispute, Item, Project, Rating, RatingChange
from annotate.disputes.commands.disputes import answer_dispute
from annotate.exports.formats.text import export_table
from annotate.exports.registry import TABLES
from annotate.rating.commands.ratings import Answer, SaveOrigin, SaveOutcome, save_rating
from annotate.rating.commands.rounds import close_round_one, open_round_two
from annotate.rating.evidence import Passage, check_passages, passages_from_json, passages_to_json
from tests.factories import make_project
from tests.rating.rounds import assigned, frozen, opened

TEXTS = ["A summary.", "Great boots.", "They pinch."]


@pytest.mark.parametrize(
    ("passages", "says"),
    [
        ([(0, 2, 11)], "from character 2 to 11 of the text, which has 10"),
        ([(2, 4, 4)], "from character 4 to 4 of part 2"),
        ([(1, -1, 4)], "from character -1 to 4"),
        ([(3, 0, 1)], "part 3, but the document has 2"),
        ([(-1, 0, 1)], "part -1, but the document has 2"),
        ([(2, 4, 8), (1, 0, 5), (1, 4, 6)], "overlap in part 1"),
        ([(0, 0, 1)] * 51, "51 passages are marked; at most 50"),
    ],
)
def test_passages_missing_from_the_output_are_rejected_with_a_message(passages, says):
    with pytest.raises(InvalidValueError, match=says) as refused:
        check_passages([Passage(*each) for each in passages], TEXTS)
    assert list(refused.value.fields) == ["evidence"]


def test_passages_that_touch_do_not_overlap():
    check_passages([Passage(1, 5, 12), Passage(1, 0, 5), Passage(2, 0, 11)], TEXTS)


def test_stored_evidence_follows_the_output_order():
    passages = [Passage(part, start, start + 1) for part in range(3) for start in range(5)]
    Random(7).shuffle(passages)
    assert list(passages_from_json(passages_to_json(passages))) == sorted(passages)
    assert passages_to_json([]) is None


@pytest.fixture
def scene(db, client):
    """An open round; the first annotator, signed in, before the first item."""
    cast = make_project(dimensions=("fluency", "coherence"))
    round = opened(cast)
    client.force_login(cast.annotators[0].user)
    return client, cast, round, assigned(cast, round, cast.annotators[0], cast.items[0])


def save(scene, evidence: object, **answer: object):
    client, cast, _, assignment = scene
    url = reverse("save_rating", args=[cast.project.slug, assignment.position, "fluency"])
    who = {"annotator": assignment.annotator_id, "assignment": token_of(assignment)}
    return client.post(url, {**who, "evidence": json.dumps(evidence), **answer})


def kept(assignment: Assignment) -> list[object]:
    changes = RatingChange.objects.filter(rating__assignment=assignment).order_by("revision")
    return list(changes.values_list("revision", "evidence"))


def test_evidence_is_stored_with_its_history_and_reappears(scene):
    client, cast, _, assignment = scene
    assert save(scene, [[2, 0, 6], [0, 5, 13]], value=4).json()["revision"] == 1
    assert save(scene, [[2, 0, 6]], value=4).json()["revision"] == 2
    assert save(scene, [[2, 0, 6]], value=4).json()["revision"] == 2
    html = client.get(reverse("rate_item", args=[cast.project.slug, assignment.position])).content.decode()
    assert 'name="fluency-evidence" value="[[2,0,6]]"' in html
    assert 'name="coherence-evidence" value="[]"' in html
    assert save(scene, [], value=4).json()["revision"] == 3
    second, first = {"part": 2, "start": 0, "end": 6}, {"part": 0, "start": 5, "end": 13}
    assert kept(assignment) == [(1, [first, second]), (2, [second]), (3, None)]


def test_a_request_overtaken_by_a_later_one_takes_no_evidence_back(scene):
    assignment = scene[-1]

    def sent(number: int, *passages: Passage) -> SaveOutcome:
        answer = Answer(value=4, evidence=passages)
        by = assignment.annotator.user
        how = SaveOrigin(client="one browser", sequence=number)
        return save_rating(assignment=assignment, dimension=frozen(scene[2]), answer=answer, by=by, sent=how)

    sent(2, Passage(1, 0, 6))
    assert sent(1).revision == 1
    assert kept(assignment) == [(1, [{"part": 1, "start": 0, "end": 6}])]


@pytest.mark.parametrize(
    "evidence", ["words", 7, [7], [[1, 2]], [[1, 2, 3.5]], [[1, 2, "3"]], {"abc": 1}, [[True, 0, 1]]]
)
def test_invalid_passages_are_rejected(scene, evidence):
    reply = save(scene, evidence)
    assert (reply.status_code, list(reply.json()["fields"])) == (422, ["evidence"])
    assert "its part, its start and its end" in reply.json()["message"]
    assert not Rating.objects.exists()


def test_passage_outside_the_output_is_rejected_and_changes_nothing(scene):
    save(scene, [], value=4)
    reply = save(scene, [[1, 0, 500]], value=2)
    assert (reply.status_code, reply.json()["code"]) == (422, "invalid_value")
    assert "from character 0 to 500 of part 1" in reply.json()["message"]
    assert Rating.objects.get().value == 4


def test_characters_count_as_on_the_page(scene):
    assignment = scene[-1]
    Item.objects.filter(pk=assignment.item_id).update(text="🥾\r\nfits")
    assert save(scene, [[0, 2, 6]]).status_code == 200
    assert save(scene, [[0, 2, 7]]).status_code == 422


def test_form_without_scripts_keeps_its_evidence(scene):
    client, cast, _, assignment = scene
    save(scene, [[1, 0, 6]], value=4)
    url = reverse("rate_item", args=[cast.project.slug, assignment.position])
    fields = {"fluency-value": 5, "fluency-evidence": "[[1,0,6]]", "fluency-revision": 1}
    assert client.post(url, {"assignment": token_of(assignment), **fields}).status_code == 302
    rating = Rating.objects.get()
    assert (rating.value, rating.evidence) == (5, [{"part": 1, "start": 0, "end": 6}])


def test_saving_costs_one_query_more_where_evidence_changed(scene, django_assert_max_num_queries):
    save(scene, [], value=4)
    with django_assert_max_num_queries(14) as without:
        save(scene, [], value=3)
    with django_assert_max_num_queries(len(without.captured_queries) + 1):
        save(scene, [[1, 0, 6]], value=3)
    with django_assert_max_num_queries(len(without.captured_queries)):
        save(scene, [[1, 0, 6]], value=2)


@pytest.mark.parametrize("stored", [[], [{}], {"part": 1}, "words"])
def test_the_database_holds_nothing_but_passages(scene, stored):
    save(scene, [], value=4)
    with pytest.raises(IntegrityError), transaction.atomic():
        Rating.objects.update(evidence=stored)


@pytest.mark.django_db
def test_round_one_evidence_survives_round_two_changes_and_is_exported():
    cast = make_project()
    round = opened(cast)
    mark = Answer(value=1, evidence=(Passage(1, 0, 6),))
    for rater, answer in zip(cast.annotators, (mark, Answer(value=3), Answer(value=5)), strict=True):
        assignment = assigned(cast, round, rater, cast.items[0])
        save_rating(assignment=assignment, dimension=frozen(round), answer=answer, by=rater.user)
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    answer_dispute(dispute=Dispute.objects.get(), rater=cast.annotators[0], value=3)
    marked, unmarked = [{"part": 1, "start": 0, "end": 6}], None
    expected = [("A", 1, marked), ("A", 2, unmarked), ("B", 1, unmarked), ("C", 1, unmarked)]
    letters = {membership.pseudonym: membership.alias for membership in cast.annotators}
    for table in ("ratings", "history"):
        rows = exported(cast.project, table)
        assert sorted((letters[row["rater"]], row["round"], row["evidence"]) for row in rows) == expected


def exported(project: Project, table: str) -> list[dict[str, Any]]:
    lines = b"".join(export_table(project, TABLES[table], "jsonl")).splitlines()
    return [json.loads(line) for line in lines]
