"""Assignments for some dimensions of an item only: opened, rated, counted, disputed, exported, taken back."""

import json
from io import StringIO

import pytest
from django.core.management import call_command
from django.db import IntegrityError, transaction
from django.urls import reverse

from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.models import AssignedUnit, Assignment, Dispute, Item, Rating
from annotate.exports.formats.text import export_table
from annotate.exports.registry import TABLES
from annotate.rating.commands.assignments import reserve_items
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.commands.rounds import (
    close_round_one,
    open_round_one,
    open_round_one_for_units,
    open_round_two,
)
from annotate.rating.commands.units import WantedUnit, ask_for_units, change_probabilities, withdraw_units
from annotate.rating.queries.assignments import UnitProgress, unit_progress
from annotate.rating.queries.own_items import progress
from annotate.rating.queries.work import item_page
from annotate.results.queries.reliability_data import rated_items
from annotate.watching.queries.round_progress import round_progress
from tests.factories import make_project
from tests.rating.rounds import frozen

pytestmark = pytest.mark.django_db
ORIGIN = "policy 1"


@pytest.fixture
def cast():
    """Two dimensions, four items, three annotators; no round yet."""
    return make_project(dimensions=("fluency", "coherence"))


def ask(cast, *wanted, raters=2, origin=ORIGIN):
    """Ask for units given as (number of the item, key, probability)."""
    round = open_round_one_for_units(project=cast.project, by=cast.admin)
    ids = {dimension.key: dimension.pk for dimension in cast.dimensions}
    units = [WantedUnit(cast.items[item].pk, ids[key], probability) for item, key, probability in wanted]
    return round, ask_for_units(round=round, units=units, raters=raters, origin=origin, seed=7)


def unit(cast, item, key):
    return cast.items[item].pk, next(each.pk for each in cast.dimensions if each.key == key)


def assignment_of(cast, round, annotator, item):
    reserve_items(round=round, annotator=annotator, how_many=9)
    return Assignment.objects.get(round=round, annotator=annotator, item=cast.items[item])


def rate(round, assignment, key, value):
    by = assignment.annotator.user
    dimension = frozen(round, key)
    return save_rating(assignment=assignment, dimension=dimension, answer=Answer(value=value), by=by)


def test_round_for_units_has_assignments_for_exactly_these(cast):
    round, lacking = ask(cast, (0, "fluency", 1.0), (0, "coherence", 0.05), (1, "coherence", 1.0))
    assert lacking == 3
    assert not round.every_item
    assignments = Assignment.objects.filter(round=round)
    assert set(
        assignments.values_list("item", "plan", "origin", "partial", "seed", "inclusion_probability")
    ) == {
        (cast.items[0].pk, "routed", ORIGIN, True, 7, None),
        (cast.items[1].pk, "routed", ORIGIN, True, 7, None),
    }
    assert assignments.count() == 4
    found = AssignedUnit.objects.filter(assignment__slot=0).order_by(
        "assignment__item", "dimension__position"
    )
    assert list(found.values_list("dimension__key", "inclusion_probability")) == [
        ("fluency", 1.0),
        ("coherence", 0.05),
        ("coherence", 1.0),
    ]


def test_asking_twice_adds_nothing(cast):
    ask(cast, (0, "fluency", 1.0))
    _, lacking = ask(cast, (0, "fluency", 1.0))
    assert lacking == 0
    assert AssignedUnit.objects.count() == 2


def test_assignments_for_all_dimensions_count(cast):
    open_round_one(project=cast.project, by=cast.admin)
    round, lacking = ask(cast, (0, "fluency", 1.0), raters=3)
    assert (lacking, round.every_item) == (0, True)
    _, lacking = ask(cast, (0, "fluency", 1.0), raters=4)
    assert lacking == 1
    assert AssignedUnit.objects.get().assignment.slot == 3


def test_the_page_shows_the_asked_dimensions_only(client, cast):
    round, _ = ask(cast, (0, "coherence", 1.0))
    memberships = assignment_of(cast, round, cast.annotators[0], 0)
    assert [row.dimension.key for row in item_page(memberships).rows] == ["coherence"]
    client.force_login(cast.annotators[0].user)
    html = client.get(reverse("rate_item", args=[cast.project.slug, memberships.position])).content.decode()
    assert 'data-key="coherence"' in html
    assert "Fluency" not in html
    assert ORIGIN not in html


def test_another_dimension_is_rejected_with_a_message(cast):
    round, _ = ask(cast, (0, "coherence", 1.0))
    memberships = assignment_of(cast, round, cast.annotators[0], 0)
    with pytest.raises(InvalidValueError, match="You are not asked to rate Fluency of this item"):
        rate(round, memberships, "fluency", 3)


def test_without_scripts_the_asked_dimensions_are_saved(client, cast):
    round, _ = ask(cast, (0, "coherence", 1.0))
    memberships = assignment_of(cast, round, cast.annotators[0], 0)
    url = reverse("rate_item", args=[cast.project.slug, memberships.position])
    client.force_login(cast.annotators[0].user)
    token = client.get(url).context["token"]
    client.post(url, {"assignment": token, "coherence-value": 4, "fluency-value": 2})
    assert list(memberships.ratings.values_list("dimension__key", "value")) == [("coherence", 4)]


def test_assignment_is_complete_with_its_requested_units(cast):
    round, _ = ask(cast, (0, "coherence", 1.0), (1, "fluency", 1.0), (1, "coherence", 1.0))
    annotator = cast.annotators[0]
    assert rate(round, assignment_of(cast, round, annotator, 0), "coherence", 3).assignment_complete
    assert not rate(round, assignment_of(cast, round, annotator, 1), "coherence", 3).assignment_complete
    assert (progress(round, annotator).done, progress(round, annotator).total) == (1, 2)
    assert (
        round_progress(round, with_labels=False).done,
        round_progress(round, with_labels=False).assignments,
    ) == (
        1,
        4,
    )


def test_another_dimension_asked_later_comes_back_to_who_rated_the_item(cast):
    round, _ = ask(cast, (0, "coherence", 1.0))
    memberships = assignment_of(cast, round, cast.annotators[0], 0)
    rate(round, memberships, "coherence", 3)
    _, lacking = ask(cast, (0, "fluency", 1.0))
    assert lacking == 1
    assert Assignment.objects.count() == 2
    memberships.refresh_from_db()
    assert memberships.completed_at is None
    assert [row.dimension.key for row in item_page(memberships).rows] == ["fluency", "coherence"]
    assert rate(round, memberships, "fluency", 5).assignment_complete


def test_units_of_less_than_two_raters_are_not_disputed_and_missing_is_missing(cast):
    round, _ = ask(cast, (0, "coherence", 1.0), (1, "fluency", 1.0))
    for annotator, value in zip(cast.annotators[:2], (1, 5), strict=True):
        rate(round, assignment_of(cast, round, annotator, 0), "coherence", value)
    rate(round, assignment_of(cast, round, cast.annotators[0], 1), "fluency", 1)
    assert unit_progress(round, ORIGIN) == {
        unit(cast, 0, "coherence"): UnitProgress(assignments=2, rated=2, cannot_rate=0),
        unit(cast, 1, "fluency"): UnitProgress(assignments=2, rated=1, cannot_rate=0),
    }
    assert unit_progress(round, ORIGIN)[unit(cast, 1, "fluency")].missing == 1
    close_round_one(project=cast.project, by=cast.admin)
    dispute = Dispute.objects.get()
    assert (dispute.item_id, dispute.dimension_id) == unit(cast, 0, "coherence")
    second = open_round_two(project=cast.project, by=cast.admin)
    assert set(second.assignments.values_list("annotator", "partial", "inclusion_probability")) == {
        (annotator.pk, False, 1.0) for annotator in cast.annotators[:2]
    }
    found = rated_items(round)
    assert [found[key].data.values.shape for key in ("fluency", "coherence")] == [(2, 1), (2, 1)]
    assert found["coherence"].data.values.tolist() == [[1.0], [5.0]]


def test_export_lists_requested_and_missing_units(cast):
    round, _ = ask(cast, (0, "coherence", 0.25), (0, "fluency", 1.0))
    rate(round, assignment_of(cast, round, cast.annotators[0], 0), "coherence", 4)
    lines = b"".join(export_table(cast.project, TABLES["assignments"], "jsonl")).splitlines()
    columns = ("dimension", "place", "rater", "plan", "plan_origin", "inclusion_probability", "answer")
    rater = cast.annotators[0].pseudonym
    assert [tuple(json.loads(line)[column] for column in columns) for line in lines] == [
        ("fluency", 1, rater, "routed", ORIGIN, 1.0, "missing"),
        ("coherence", 1, rater, "routed", ORIGIN, 0.25, "rated"),
        ("fluency", 2, None, "routed", ORIGIN, 1.0, "missing"),
        ("coherence", 2, None, "routed", ORIGIN, 0.25, "missing"),
    ]
    (rating,) = b"".join(export_table(cast.project, TABLES["ratings"], "jsonl")).splitlines()
    assert json.loads(rating)["inclusion_probability"] == 0.25
    assert json.loads(rating)["plan_origin"] == ORIGIN


def test_unstarted_units_are_withdrawn_and_started_ones_stay(cast):
    round, _ = ask(cast, (0, "coherence", 1.0), (1, "fluency", 1.0), (1, "coherence", 1.0))
    rate(round, assignment_of(cast, round, cast.annotators[0], 0), "coherence", 4)
    begun, other = unit(cast, 0, "coherence"), unit(cast, 1, "fluency")
    assert withdraw_units(round=round, units=[begun, other], origin=ORIGIN) == {begun}
    assert set(unit_progress(round, ORIGIN)) == {begun, unit(cast, 1, "coherence")}
    withdraw_units(round=round, units=[unit(cast, 1, "coherence")], origin=ORIGIN)
    assert set(Assignment.objects.values_list("item", flat=True)) == {cast.items[0].pk}


def test_another_probability_is_stored_for_a_unit(cast):
    round, _ = ask(cast, (0, "coherence", 0.05), (1, "coherence", 0.05))
    change_probabilities(round=round, units={unit(cast, 0, "coherence"): 1.0}, origin=ORIGIN)
    found = AssignedUnit.objects.order_by("assignment__item").values_list("inclusion_probability", flat=True)
    assert list(found) == [1.0, 1.0, 0.05, 0.05]


def test_closed_round_accepts_no_unit_requests(cast):
    open_round_one(project=cast.project, by=cast.admin)
    close_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(NotReadyError, match="closed"):
        ask(cast, (0, "fluency", 1.0))


@pytest.mark.parametrize(
    "fields",
    [
        {"plan": "routed", "partial": False, "origin": ORIGIN, "inclusion_probability": 1.0},
        {"plan": "routed", "partial": True, "origin": "", "inclusion_probability": None},
        {"plan": "n_of_m", "partial": True, "inclusion_probability": 1.0},
        {"plan": "n_of_m", "partial": False, "inclusion_probability": None},
    ],
)
def test_the_database_keeps_plans_and_probabilities_together(cast, fields):
    round = open_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(IntegrityError), transaction.atomic():
        Assignment.objects.create(round=round, item=Item.objects.earliest("pk"), slot=9, seed=1, **fields)


def test_items_imported_later_wait_until_someone_asks_for_them(cast, tmp_path):
    round, _ = ask(cast, (0, "fluency", 1.0))
    file = tmp_path / "items.jsonl"
    file.write_text(
        '{"document": "late", "source": "A late review.", "system": "late-bird", "text": "Late."}\n'
    )
    call_command("import_items", cast.project.slug, str(file), verbosity=0)
    assert Item.objects.filter(system__name="late-bird").exists()
    assert not Assignment.objects.filter(round=round, item__system__name="late-bird").exists()


def test_recorded_ratings_are_rejected_with_a_message(cast, tmp_path):
    ask(cast, (0, "fluency", 1.0))
    record = {
        "document": "product-1",
        "system": "system-1",
        "rater": "R1",
        "dimension": "fluency",
        "value": 3,
    }
    file = tmp_path / "ratings.jsonl"
    file.write_text(json.dumps(record) + "\n")
    out = StringIO()
    with pytest.raises(SystemExit):
        call_command("import_ratings", cast.project.slug, str(file), stdout=out, stderr=out)
    assert "so it takes no recorded ratings" in out.getvalue()
    assert not Rating.objects.exists()
