"""Projects and dimensions configured by commands, and frozen by opening a round."""

from dataclasses import replace

import pytest

from annotate.core.errors import FrozenError, NotReadyError
from annotate.core.guideline import DimensionSpec, PointSpec
from annotate.core.models import Dimension, Membership, Project
from annotate.rating.commands.rounds import open_round_one
from annotate.setup.commands import (
    add_dimension,
    create_project,
    move_dimension,
    remove_dimension,
    update_dimension,
    update_project,
)
from tests.factories import make_project, make_user

pytestmark = pytest.mark.django_db

CLARITY = DimensionSpec(
    name="Clarity", definition="How clear it is.", points=(PointSpec(1, "Murky"), PointSpec(5, "", "Plain."))
)


def names(project: Project) -> list[str]:
    return list(project.dimensions.values_list("name", flat=True))


def test_project_creator_is_its_admin() -> None:
    user = make_user()
    project = create_project(user=user, name="Product reviews")
    assert project.slug == "product-reviews"
    assert Membership.objects.get(project=project).user == user
    assert Membership.objects.get(project=project).role == "admin"


@pytest.mark.parametrize(("name", "slug"), [("Boots", "boots-2"), ("new", "new-2"), ("समीक्षा", "project")])
def test_slugs_are_free_and_readable(name: str, slug: str) -> None:
    user = make_user()
    create_project(user=user, name="Boots")
    assert create_project(user=user, name=name).slug == slug


def test_a_dimension_goes_to_the_end_with_the_points_that_say_something() -> None:
    project = make_project(dimensions=("fluency",)).project
    made = add_dimension(
        project=project, dimension=replace(CLARITY, points=(*CLARITY.points, PointSpec(3, "")))
    )
    assert names(project) == ["Fluency", "Clarity"]
    assert list(made.points.values_list("value", "label", "description")) == [
        (1, "Murky", ""),
        (5, "", "Plain."),
    ]


def test_a_smaller_scale_drops_the_points_outside() -> None:
    dimension = make_project().dimensions[0]
    changed = update_dimension(dimension=dimension, to=replace(CLARITY, scale_maximum=3))
    assert list(changed.points.values_list("value", flat=True)) == [1]


def test_the_key_follows_the_name_and_stays_free() -> None:
    cast = make_project(dimensions=("fluency", "clarity"))
    changed = update_dimension(dimension=cast.dimensions[0], to=CLARITY)
    assert (changed.name, changed.key) == ("Clarity", "clarity-2")
    assert update_dimension(dimension=changed, to=CLARITY).key == "clarity-2"


def test_dimensions_swap_positions_up_to_the_ends() -> None:
    cast = make_project(dimensions=("fluency", "coherence", "relevance"))
    move_dimension(dimension=cast.dimensions[2], up=True)
    assert names(cast.project) == ["Fluency", "Relevance", "Coherence"]
    move_dimension(dimension=cast.dimensions[0], up=True)
    move_dimension(dimension=cast.dimensions[1], up=False)
    assert names(cast.project) == ["Fluency", "Relevance", "Coherence"]


def test_a_removed_dimension_is_gone_and_cannot_be_changed_by_a_page_left_open() -> None:
    cast = make_project(dimensions=("fluency", "coherence"))
    remove_dimension(dimension=cast.dimensions[0])
    assert names(cast.project) == ["Coherence"]
    with pytest.raises(NotReadyError):
        update_dimension(dimension=cast.dimensions[0], to=CLARITY)


def test_opening_a_round_freezes_the_dimensions() -> None:
    cast = make_project(dimensions=("fluency", "coherence"))
    open_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(FrozenError):
        add_dimension(project=cast.project, dimension=CLARITY)
    for change in (
        lambda dimension: update_dimension(dimension=dimension, to=CLARITY),
        lambda dimension: move_dimension(dimension=dimension, up=True),
        lambda dimension: remove_dimension(dimension=dimension),
    ):
        with pytest.raises(FrozenError):
            change(Dimension.objects.get(pk=cast.dimensions[1].pk))
    assert names(cast.project) == ["Fluency", "Coherence"]


@pytest.mark.parametrize(
    ("field", "value"),
    [("guidelines", "Read."), ("raters_per_item", 2), ("dispute_threshold", 3), ("tolerance", 0)],
)
def test_opening_a_round_freezes_the_settings_of_rating(field: str, value: str | int) -> None:
    cast = make_project()
    open_round_one(project=cast.project, by=cast.admin)
    with pytest.raises(FrozenError):
        update_project(project=cast.project, name="Changed", **{field: value})
    cast.project.refresh_from_db()
    assert cast.project.name != "Changed"


def test_an_open_round_leaves_the_name_free_and_takes_settings_that_stay_the_same() -> None:
    cast = make_project()
    open_round_one(project=cast.project, by=cast.admin)
    update_project(project=cast.project, name="Changed", raters_per_item=3, reservation_minutes=30)
    cast.project.refresh_from_db()
    assert (cast.project.name, cast.project.reservation_minutes) == ("Changed", 30)
