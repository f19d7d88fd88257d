"""Importing recorded ratings into Round I."""

from collections import Counter
from datetime import timedelta
from pathlib import Path

import pytest
from django.utils import timezone

from annotate.core.models import Assignment, Membership, Project, Rating, RatingChange, Role, Round
from annotate.material.commands.imports import import_file
from annotate.material.queries.check import FileCheck
from annotate.material.reading.progress import silent
from annotate.material.reading.report import ImportReport
from annotate.people.commands import add_member
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.rounds import close_round_one, open_round_one
from tests.factories import make_member, make_user
from tests.material.files import empty_project, item, jsonl, rating, released, source

pytestmark = pytest.mark.django_db


@pytest.fixture
def project(tmp_path: Path) -> Project:
    """A project with two items of one document and two dimensions; no round is open."""
    project = empty_project(dimensions=("fluency", "coherence"))
    path = jsonl(tmp_path, item(system="s1"), item(system="s2"), name="items.jsonl")
    import_file(project=project, source=source(path, items=True), by=None)
    return project


def load(project: Project, path: Path) -> ImportReport:
    return import_file(project=project, source=source(path, ratings=True), by=None)


def test_summeval_op_is_imported_with_the_ratings_of_its_annotators() -> None:
    project = empty_project()
    detailed = released(
        "summeval-op-detailed", "summeval_op/summeval-op-detailed.jsonl", items=True, ratings=True
    )
    report = import_file(project=project, source=detailed, by=None)
    assert not report.refused_lines
    assert (report.made.items, report.made.ratings, report.made.raters) == (416, 8736, 3)
    assert Rating.objects.count() == RatingChange.objects.count() == 8736
    assignments = Assignment.objects.filter(round__project=project)
    assert (
        assignments.filter(completed_at__isnull=False, plan="imported").count() == assignments.count() == 1248
    )
    assert not Membership.objects.filter(user__isnull=False).exists()
    assert dict(Membership.objects.values_list("label", "alias")) == {"A1": "A", "A2": "B", "A3": "C"}
    again = import_file(project=project, source=detailed, by=None)
    assert not again.made.total
    assert again.already_there.ratings == 8736
    assert close_round_one(project=project, by=None).disputes.count() == 1030


def test_values_stay_with_their_rater_unit_and_history(project: Project, tmp_path: Path) -> None:
    user = make_user()
    path = jsonl(tmp_path, rating("A1", "4"), rating("A1", 2.0, dimension="Coherence"), rating("A2", 1))
    import_file(project=project, source=source(path, ratings=True), by=user)
    values = Rating.objects.values_list("assignment__annotator__label", "dimension__key", "value", "revision")
    assert sorted(values) == [
        ("A1", "coherence", 2, 1),
        ("A1", "fluency", 4, 1),
        ("A2", "fluency", 1, 1),
    ]
    changes = RatingChange.objects.values_list("cause", "actor", "value_before", "revision").distinct()
    assert list(changes) == [("imported", user.pk, None, 1)]
    assert Assignment.objects.get(annotator__label="A1").completed_at
    assert Assignment.objects.get(annotator__label="A2").completed_at is None


def test_round_one_is_opened_by_the_first_recorded_rating(project: Project, tmp_path: Path) -> None:
    path = jsonl(tmp_path, rating())
    assert FileCheck(project, source(path, ratings=True)).check(None, silent).opens_round_one
    assert not Round.objects.exists()
    assert load(project, path).opens_round_one
    assert Round.objects.get().number == 1
    assert not load(project, jsonl(tmp_path, rating("A2"))).opens_round_one


def test_equal_ratings_already_exist_and_different_ones_are_rejected(
    project: Project, tmp_path: Path
) -> None:
    load(project, jsonl(tmp_path, rating()))
    report = load(project, jsonl(tmp_path, rating(), rating()))
    assert (report.made.total, report.already_there.ratings) == (0, 2)
    report = load(project, jsonl(tmp_path, rating(value=5), rating("A2")))
    assert [refused.line for refused in report.refused_lines] == [1]
    assert "has given 4 for Fluency" in report.refused_lines[0].reason
    assert "never overwritten" in report.refused_lines[0].reason
    assert Rating.objects.get().value == 4


def test_two_values_for_one_unit_in_a_file_are_rejected(project: Project, tmp_path: Path) -> None:
    report = load(project, jsonl(tmp_path, rating(value=4), rating(value=3)))
    assert [refused.line for refused in report.refused_lines] == [2]
    assert not Rating.objects.exists()
    assert not Round.objects.exists()


@pytest.mark.parametrize(
    ("fields", "field", "sentence"),
    [
        ({"value": 6}, "value", "rated from 1 to 5; 6 is not on this scale"),
        ({"value": 0}, "value", "rated from 1 to 5"),
        ({"value": 4.5}, "value", "rated from 1 to 5; 4.5 is not on this scale"),
        ({"value": "good"}, "value", "not a number"),
        ({"dimension": "beauty"}, "dimension", "no dimension “beauty”; it has Fluency, Coherence"),
        ({"system": "s9"}, "document", "no text of “s9” for document “d1”"),
        ({"document_id": "d9"}, "document", "for document “d9”"),
        ({"rater": ""}, "rater", "is empty"),
    ],
)
def test_unknown_value_is_rejected_by_field(
    project: Project, tmp_path: Path, fields: dict[str, object], field: str, sentence: str
) -> None:
    report = load(project, jsonl(tmp_path, rating("A2"), rating() | fields))
    assert [(refused.line, refused.field) for refused in report.refused_lines] == [(2, field)]
    assert sentence in report.refused_lines[0].reason
    assert not Rating.objects.exists()
    assert not Membership.objects.exists()


def test_one_rater_too_many_is_rejected_with_a_remedy(project: Project, tmp_path: Path) -> None:
    raters = [rating(name) for name in ("A1", "A2", "A3", "A4")]
    report = load(project, jsonl(tmp_path, *raters))
    assert [refused.line for refused in report.refused_lines] == [4]
    assert "Each item has 3 raters, and “A4” would be one too many" in report.refused_lines[0].reason
    assert "raise the project's raters per item" in report.refused_lines[0].reason
    load(project, jsonl(tmp_path, *raters[:3]))
    report = load(project, jsonl(tmp_path, raters[3]))
    assert "import into a new project with more raters" in report.refused_lines[0].reason


def test_a_closed_round_takes_no_ratings_but_knows_those_it_has(project: Project, tmp_path: Path) -> None:
    load(project, jsonl(tmp_path, rating()))
    close_round_one(project=project, by=None)
    assert load(project, jsonl(tmp_path, rating())).already_there.ratings == 1
    report = load(project, jsonl(tmp_path, rating(), *[rating("A2", dimension="coherence")] * 5))
    assert [(refused.line, refused.reason) for refused in report.refused_lines] == [
        (
            0,
            "Round I is closed and takes no more ratings; import these as "
            "ratings of Round II, or into a new project.",
        )
    ]


def test_ratings_of_a_person_join_those_given_here(project: Project, tmp_path: Path) -> None:
    round = open_round_one(project=project, by=None)
    membership = make_member(project, user=make_user(name="Ann"))
    reserve_items(round=round, annotator=membership, how_many=1)
    mine = Assignment.objects.get(annotator=membership)
    other = "s2" if mine.item.system.name == "s1" else "s1"
    fields = [rating("Ann", system=name) for name in (mine.item.system.name, other)]
    report = load(project, jsonl(tmp_path, *fields))
    assert (report.made.ratings, report.made.raters) == (2, 0)
    mine.refresh_from_db()
    assert (mine.position, mine.plan, mine.started_at is not None) == (1, "n_of_m", True)
    assert set(Assignment.objects.filter(annotator=membership).values_list("position", flat=True)) == {1, 2}


def reserved(project: Project, *, lapsed: bool) -> list[Membership]:
    """Three annotators hold all places of both items and have rated nothing."""
    round = open_round_one(project=project, by=None)
    memberships = [make_member(project) for _ in range(3)]
    for membership in memberships:
        reserve_items(round=round, annotator=membership)
    if lapsed:
        Assignment.objects.update(reserved_until=timezone.now() - timedelta(seconds=1))
    return memberships


def test_reserved_slots_stay_with_their_annotators(project: Project, tmp_path: Path) -> None:
    reserved(project, lapsed=False)
    assert load(project, jsonl(tmp_path, rating())).is_refused


def test_lapsed_reservations_free_their_slot_for_recorded_ratings(project: Project, tmp_path: Path) -> None:
    places = reserved(project, lapsed=True)
    raters = [places[0].label, "A1", "A2"]
    report = load(project, jsonl(tmp_path, *map(rating, raters)))
    assert (report.made.ratings, report.refused) == (3, ())
    taken = Assignment.objects.filter(item__system__name="s1").values_list("annotator__label", flat=True)
    assert sorted(taken) == sorted(raters)
    assert load(project, jsonl(tmp_path, rating("A3"))).is_refused


def test_wide_files_give_one_rating_per_column(project: Project, tmp_path: Path) -> None:
    path = tmp_path / "wide.csv"
    path.write_text("document_id,system,rater,fluency,coherence\nd1,s1,A1,4,\nd1,s2,A1,3,2\n")
    mapped = source(path, ratings=True, dimensions=("Fluency", "Coherence"))
    report = import_file(project=project, source=mapped, by=None)
    assert (report.made.ratings, report.refused) == (3, ())


def test_rater_names_in_any_script_stay_unchanged(project: Project, tmp_path: Path) -> None:
    names = ["<b>Ann</b>", "שרה", "A" * 150]
    assert not load(project, jsonl(tmp_path, *map(rating, names))).is_refused
    assert set(Membership.objects.values_list("label", flat=True)) == set(names)


def test_existing_empty_membership_is_matched_by_its_label(project: Project, tmp_path: Path) -> None:
    membership = add_member(project=project, role=Role.ANNOTATOR, label="A1")
    assert load(project, jsonl(tmp_path, rating())).made.raters == 0
    assert Counter(Rating.objects.values_list("assignment__annotator", flat=True)) == {membership.pk: 1}


def test_summeval_gives_the_ratings_of_three_experts() -> None:
    project = empty_project(dimensions=("coherence", "consistency", "fluency", "relevance"))
    articles = released("summeval-documents", "news_summeval/documents.jsonl.gz", items=True)
    summaries = released("summeval", "news_summeval/summaries.jsonl.gz", items=True, ratings=True)
    import_file(project=project, source=articles, by=None)
    report = import_file(project=project, source=summaries, by=None)
    assert (report.made.items, report.made.ratings, report.made.raters) == (1200, 14_400, 3)
