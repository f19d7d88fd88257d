"""The screens of dimensions: list, order, one dimension with its scale, preview of guidelines."""

import re

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotate.core.models import Dimension, ScalePoint
from annotate.rating.commands.rounds import open_round_one
from tests.factories import Cast, make_dimension, make_project

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
VALID = {
    "name": "Aspect coverage",
    "definition": "Which aspects are mentioned.",
    "scale_minimum": "1",
    "scale_maximum": "3",
    "measurement_level": "ordinal",
    "guidelines": "Count **aspects**.",
    "label_1": "None",
    "description_1": "No aspect.",
    "label_3": "All",
}


def make_scene() -> Cast:
    return make_project(dimensions=("fluency", "coherence"))


@pytest.fixture
def admin(client: Client, cast: Cast) -> Client:
    client.force_login(cast.admin)
    return client


def address(cast: Cast, rest: str = "") -> str:
    return f"/projects/{cast.project.slug}/dimensions/{rest}"


def names(cast: Cast) -> list[str]:
    return list(cast.project.dimensions.values_list("name", flat=True))


def test_dimensions_are_listed_in_order_with_their_scales(admin: Client, cast: Cast) -> None:
    page = admin.get(address(cast)).content.decode()
    assert page.index("Fluency") < page.index("Coherence")
    assert "1 to 5, interval" in page


def test_a_dimension_is_added_with_its_scale(admin: Client, cast: Cast) -> None:
    response = admin.post(address(cast, "new/"), VALID)
    assert response["Location"] == address(cast)
    made = Dimension.objects.get(key="aspect-coverage")
    assert (made.position, made.measurement_level, made.guidelines) == (3, "ordinal", "Count **aspects**.")
    points = list(made.points.values_list("value", "label", "description"))
    assert points == [(1, "None", "No aspect."), (3, "All", "")]


def test_a_dimension_is_edited_in_its_own_words(admin: Client, cast: Cast) -> None:
    page = admin.get(address(cast, "fluency/")).content.decode()
    assert 'value="fluency 1"' in page
    admin.post(address(cast, "fluency/"), VALID)
    assert names(cast) == ["Aspect coverage", "Coherence"]
    assert list(ScalePoint.objects.filter(dimension=cast.dimensions[0]).values_list("label", flat=True)) == [
        "None",
        "All",
    ]


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"name": ""}, "required"),
        ({"definition": ""}, "required"),
        ({"scale_maximum": "1"}, "must be above the lowest"),
        ({"scale_maximum": "many"}, "whole number"),
        ({"scale_maximum": "100000"}, "less than or equal to 1000"),
        ({"measurement_level": "ratio", "scale_minimum": "-2"}, "zero or above"),
        ({"measurement_level": "logarithmic"}, "valid choice"),
        ({"label_2": "x" * 81}, "at most 80 characters"),
    ],
)
def test_wrong_dimension_returns_the_form_with_the_input(
    admin: Client, cast: Cast, wrong: dict[str, str], reason: str
) -> None:
    response = admin.post(address(cast, "new/"), VALID | wrong)
    page = response.content.decode()
    assert response.status_code == 422
    assert reason in page
    assert "No aspect." in page
    assert len(names(cast)) == 2


def rows(page: str) -> list[int]:
    return [int(part.split("<")[0]) for part in page.split('class="scale-value" aria-hidden="true">')[1:]]


@pytest.mark.parametrize(
    ("lowest", "highest", "shown"),
    [
        (1, 5, [1, 2, 3, 4, 5]),
        (1, 10, list(range(1, 11))),
        (0, 10, list(range(11))),
        (-2, 2, [-2, -1, 0, 1, 2]),
        (1, 100, [1, 100]),
    ],
)
def test_short_scales_show_every_point_and_long_ones_their_ends(
    admin: Client, cast: Cast, lowest: int, highest: int, shown: list[int]
) -> None:
    make_dimension(cast.project, "scale", minimum=lowest, maximum=highest)
    assert rows(admin.get(address(cast, "scale/")).content.decode()) == shown


def test_another_scale_shows_its_points_and_saves_nothing(admin: Client, cast: Cast) -> None:
    entered = VALID | {"scale_maximum": "4", "name": "", "show": "points"}
    response = admin.post(address(cast, "new/"), entered)
    page = response.content.decode()
    assert response.status_code == 200
    assert rows(page) == [1, 2, 3, 4]
    assert 'value="All"' in page
    assert "required." not in page
    assert len(names(cast)) == 2


def test_a_point_can_be_added_to_a_long_scale_and_stays(admin: Client, cast: Cast) -> None:
    entered = VALID | {"scale_maximum": "100", "show": "points", "another_point": "50"}
    assert rows(admin.post(address(cast, "new/"), entered).content.decode()) == [1, 3, 50, 100]
    admin.post(address(cast, "new/"), VALID | {"scale_maximum": "100", "label_50": "Middling"})
    page = admin.get(address(cast, "aspect-coverage/")).content.decode()
    assert rows(page) == [1, 3, 50, 100]
    assert 'value="Middling"' in page


def test_a_scale_that_makes_no_sense_keeps_the_rows_that_say_something(admin: Client, cast: Cast) -> None:
    entered = VALID | {"scale_maximum": "", "show": "points"}
    assert rows(admin.post(address(cast, "new/"), entered).content.decode()) == [1, 3]


@pytest.mark.parametrize("show", ["points", "preview"])
def test_the_fragments_are_parts_of_the_page(admin: Client, cast: Cast, show: str) -> None:
    entered = VALID | {"show": show}
    part = admin.post(address(cast, "new/"), entered, headers=HTMX).content.decode()
    page = admin.post(address(cast, "new/"), entered).content.decode()
    assert "<html" not in part
    assert "id=" in part
    assert part.strip() in page


def test_guidelines_are_previewed_rendered_and_harmless(admin: Client, cast: Cast) -> None:
    entered = VALID | {"show": "preview", "guidelines": "**one** <script>alert(1)</script> نص"}
    part = admin.post(address(cast, "new/"), entered, headers=HTMX).content.decode()
    assert "<strong>one</strong> &lt;script&gt;" in part


@pytest.mark.parametrize(
    ("usual", "values", "level"),
    [
        ("1-7", list(range(1, 8)), "interval"),
        ("1-10", list(range(1, 11)), "interval"),
        ("1-100", [1, 3, 100], "interval"),
        ("binary", [0, 1], "nominal"),
        ("categories", [1, 2, 3], "nominal"),
    ],
)
def test_usual_scale_replaces_the_current_one(
    admin: Client, cast: Cast, usual: str, values: list[int], level: str
) -> None:
    entered = VALID | {"show": "schema", "usual": usual}
    part = admin.post(address(cast, "new/"), entered, headers=HTMX).content.decode()
    assert rows(part) == values
    page = admin.post(address(cast, "new/"), entered).content.decode()
    chosen = "category" if level == "nominal" else level
    assert re.search(rf'value="{chosen}"[^>]*checked', page)
    assert part.strip() in page


NAMED = VALID | {
    "measurement_level": "nominal",
    "label_1": "Praise",
    "label_2": "Blame",
    "label_3": "Neither",
}


def test_a_category_is_added_and_the_others_keep_their_names(admin: Client, cast: Cast) -> None:
    page = admin.post(address(cast, "new/"), NAMED | {"more": "1"}).content.decode()
    assert rows(page) == [1, 2, 3, 4]
    assert 'value="Neither"' in page


@pytest.mark.parametrize(
    ("entered", "sentence"),
    [
        (NAMED | {"label_2": " "}, "Name the category 2; raters choose it by its name."),
        (NAMED | {"label_3": "praise"}, "The category 1 has this name already."),
        (NAMED | {"scale_maximum": "40"}, "40 categories are too many to choose from; use up to 20"),
    ],
)
def test_impossible_categories_are_rejected_with_a_message(
    admin: Client, cast: Cast, entered: dict[str, str], sentence: str
) -> None:
    response = admin.post(address(cast, "new/"), entered)
    assert response.status_code == 422
    assert sentence in response.content.decode()


def test_a_dimension_of_categories_is_listed_with_them(admin: Client, cast: Cast) -> None:
    admin.post(address(cast, "new/"), NAMED | {"not_applicable": "on"})
    page = admin.get(address(cast)).content.decode()
    assert "One category: Praise / Blame / Neither · may be “not applicable”" in page


def test_form_lists_the_coefficients_of_a_level(admin: Client, cast: Cast) -> None:
    page = admin.get(address(cast, "fluency/")).content.decode()
    assert "Krippendorff&#x27;s alpha, nominal" in page
    assert "Agreement within one point, ICC" in page


def test_a_dimension_is_duplicated_below_itself_with_its_scale(admin: Client, cast: Cast) -> None:
    response = admin.post(address(cast, "fluency/duplicate/"))
    assert response["Location"] == address(cast, "fluency-copy/")
    assert names(cast) == ["Fluency", "Fluency (copy)", "Coherence"]
    copy = Dimension.objects.get(key="fluency-copy")
    assert [(point.value, point.label) for point in copy.points.all()] == [(1, "fluency 1"), (5, "fluency 5")]


def test_dimensions_are_put_in_order(admin: Client, cast: Cast) -> None:
    page = admin.post(address(cast, "coherence/move/"), {"up": "1"}, follow=True).content.decode()
    assert names(cast) == ["Coherence", "Fluency"]
    assert re.search(r'aria-label="Move Coherence up"\s+autofocus', page)
    admin.post(address(cast, "coherence/move/"), {"down": "1"})
    assert names(cast) == ["Fluency", "Coherence"]


def test_a_dimension_is_removed(admin: Client, cast: Cast) -> None:
    response = admin.post(address(cast, "fluency/remove/"), follow=True)
    assert "Fluency is removed." in response.content.decode()
    assert names(cast) == ["Coherence"]


def test_once_a_round_was_opened_only_wording_is_changed(admin: Client, cast: Cast) -> None:
    open_round_one(project=cast.project, by=cast.admin)
    listed, one = (admin.get(address(cast, rest)).content.decode() for rest in ("", "fluency/"))
    assert "Add a dimension" not in listed
    assert "Remove" not in listed
    assert "can no longer be changed" in one
    assert "Save as a new version" in one
    assert 'value="fluency 1"' in one


def test_saving_a_frozen_dimension_is_rejected_with_a_message(admin: Client, cast: Cast) -> None:
    open_round_one(project=cast.project, by=cast.admin)
    response = admin.post(address(cast, "fluency/"), VALID)
    assert response.status_code == 409
    assert "Round I was opened, and froze this." in response.content.decode()
    assert names(cast) == ["Fluency", "Coherence"]


def test_addition_to_frozen_dimensions_is_rejected_with_a_message(admin: Client, cast: Cast) -> None:
    open_round_one(project=cast.project, by=cast.admin)
    response = admin.post(address(cast, "new/"), VALID, follow=True)
    assert "Round I was opened, and froze this." in response.content.decode()
    assert names(cast) == ["Fluency", "Coherence"]


@pytest.mark.parametrize("rest", ["coherence/move/", "fluency/duplicate/", "fluency/remove/"])
def test_reordering_and_removing_frozen_dimensions_gives_a_message(
    admin: Client, cast: Cast, rest: str
) -> None:
    open_round_one(project=cast.project, by=cast.admin)
    response = admin.post(address(cast, rest), {"up": "1"}, follow=True)
    assert "Round I was opened, and froze this." in response.content.decode()
    assert names(cast) == ["Fluency", "Coherence"]


def test_only_admins_get_to_dimensions(client: Client, cast: Cast) -> None:
    for user in (cast.outsider, cast.researcher, cast.annotators[0].user):
        assert user
        client.force_login(user)
        for rest in ("", "new/", "fluency/"):
            assert client.get(address(cast, rest)).status_code == 404
        for rest in ("new/", "fluency/", "fluency/move/", "fluency/duplicate/", "fluency/remove/"):
            assert client.post(address(cast, rest), VALID).status_code == 404
    assert names(cast) == ["Fluency", "Coherence"]


def test_another_projects_dimension_is_not_there(admin: Client, cast: Cast) -> None:
    make_project(dimensions=("relevance",))
    assert admin.get(address(cast, "relevance/")).status_code == 404


def test_the_number_of_queries_is_fixed(
    admin: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    for extra in ("one", "two"):
        make_dimension(cast.project, extra)
        with django_assert_num_queries(10):
            admin.get(address(cast))
        with django_assert_num_queries(9):
            admin.get(address(cast, "fluency/"))
        with django_assert_num_queries(10):
            admin.get(address(cast, "coherence/"))
