import pytest

from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenGuideline
from annotate.core.models import Assignment, Dimension, Guideline, Item
from annotate.rating.commands.rounds import close_round_one, open_round_one, open_round_two
from tests.factories import make_project
from tests.rating.rounds import discussed, opened

pytestmark = pytest.mark.django_db


def test_every_item_gets_exactly_n_free_assignments_with_their_plan():
    cast = make_project(documents=3, systems=2, raters_per_item=3)
    round = opened(cast)
    assignments = Assignment.objects.filter(round=round)
    assert sorted(assignments.values_list("item", "slot")) == [
        (item.pk, slot) for item in cast.items for slot in range(3)
    ]
    assert not assignments.filter(annotator__isnull=False).exists()
    assert set(assignments.values_list("plan", "seed", "inclusion_probability")) == {
        ("n_of_m", round.seed, 1.0)
    }


def test_opening_twice_makes_nothing_twice():
    cast = make_project()
    assert opened(cast) == opened(cast)
    assert Assignment.objects.count() == len(cast.items) * 3


def test_round_keeps_its_configuration_at_opening():
    cast = make_project(dimensions=("fluency", "coherence"))
    round = opened(cast)
    Dimension.objects.filter(project=cast.project).update(name="Changed", scale_maximum=9)
    content = FrozenGuideline.from_json(Guideline.objects.get(pk=round.guideline_id).content)
    seen = [(each.name, each.scale_maximum) for each in content.dimensions]
    assert seen == [("Fluency", 5), ("Coherence", 5)]
    assert content.dimensions[0].points[0].description == "What 1 means."


def test_a_guideline_read_back_is_the_same():
    content = FrozenGuideline.from_json(opened(make_project()).guideline.content)
    assert FrozenGuideline.from_json(content.to_json()) == content


@pytest.mark.parametrize("missing", ["dimensions", "items"])
def test_without_dimensions_or_items_nothing_opens(missing):
    cast = make_project(dimensions=() if missing == "dimensions" else ("fluency",))
    if missing == "items":
        Item.objects.all().delete()
    with pytest.raises(NotReadyError, match=f"{missing[:-1]}"):
        opened(cast)
    assert not cast.project.rounds.exists()


def test_a_closed_round_one_is_not_opened_again():
    cast = make_project()
    opened(cast)
    close_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(NotReadyError, match="closed"):
        opened(cast)


def test_round_two_needs_a_closed_round_one():
    cast = make_project()
    with pytest.raises(NotReadyError, match="Close Round I"):
        open_round_two(project=cast.project, by=cast.admin)
    opened(cast)
    with pytest.raises(NotReadyError, match="Close Round I"):
        open_round_two(project=cast.project, by=cast.admin)


def test_round_two_needs_a_dispute():
    cast = make_project()
    opened(cast)
    close_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(NotReadyError, match="nothing to discuss"):
        open_round_two(project=cast.project, by=cast.admin)


def test_round_two_is_assigned_to_the_raters_of_disputed_units_only():
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    assert open_round_two(project=cast.project, by=cast.admin).number == 2
    second = Assignment.objects.filter(round__number=2)
    assert sorted(second.values_list("item", "annotator", "plan")) == sorted(
        (dispute.item_id, annotator.pk, "disputes") for annotator in cast.annotators
    )


def test_opening_needs_no_user():
    cast = make_project()
    assert open_round_one(project=cast.project, by=None).opened_by is None
