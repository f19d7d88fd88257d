"""The screens of projects: my projects, a new one, its settings."""

import pytest
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from annotate.core.models import Project
from annotate.rating.commands.rounds import open_round_one
from annotate.setup.commands import create_project
from tests.factories import Cast, make_project

pytestmark = pytest.mark.django_db

VALID = {
    "name": "Boots",
    "description": "Reviews of boots.",
    "reservation_minutes": 60,
    "guidelines": "Read **all** reviews.",
    "raters_per_item": 2,
}


def address(cast: Cast) -> str:
    return f"/projects/{cast.project.slug}/settings/"


def test_my_projects_lists_mine_with_my_roles_and_no_others(client: Client, cast: Cast) -> None:
    other = make_project()
    client.force_login(cast.researcher)
    page = client.get("/").content.decode()
    assert cast.project.name in page
    assert "researcher" in page
    assert "no round opened yet" in page
    assert other.project.name not in page
    assert "New project" not in page


def test_my_projects_explains_the_options_of_an_invited_person(client: Client, cast: Cast) -> None:
    client.force_login(cast.outsider)
    assert "Open the link" in client.get("/").content.decode()


def test_visitors_get_a_sign_in_prompt(client: Client, cast: Cast) -> None:
    for path in ("/", "/projects/new/", address(cast)):
        response = client.get(path)
        assert response["Location"] == f"/accounts/login/?next={path}"


def test_the_number_of_queries_of_my_projects_is_fixed(
    client: Client, cast: Cast, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(cast.admin)
    client.get("/")
    for _ in range(3):
        create_project(user=cast.admin, name="More")
        with django_assert_num_queries(6):
            client.get("/")


def test_project_starts_with_its_template(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    response = client.post("/projects/new/", {"name": "Reviews", "template": "opinion-summaries"})
    assert response["Location"] == "/projects/reviews/imports/"
    assert Project.objects.get(slug="reviews").dimensions.count() == 7


def test_project_starts_empty(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    client.post("/projects/new/", {"name": "Reviews", "template": ""})
    assert not Project.objects.get(slug="reviews").dimensions.exists()


@pytest.mark.parametrize(
    "entered", [{}, {"name": ""}, {"name": "x", "template": "unknown"}, {"name": "x" * 151}]
)
def test_invalid_project_returns_the_form(client: Client, cast: Cast, entered: dict[str, str]) -> None:
    client.force_login(cast.admin)
    response = client.post("/projects/new/", entered)
    assert response.status_code == 422
    assert 'class="errorlist"' in response.content.decode()
    assert Project.objects.count() == 1


def test_annotators_and_outsiders_cannot_create_projects(client: Client, cast: Cast) -> None:
    for user in (cast.outsider, cast.researcher, cast.annotators[0].user):
        assert user
        client.force_login(user)
        assert client.get("/projects/new/").status_code == 404
        assert client.post("/projects/new/", {"name": "Mine"}).status_code == 404
    assert Project.objects.count() == 1


def test_settings_are_saved(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    response = client.post(address(cast), VALID, follow=True)
    assert "The settings are saved." in response.content.decode()
    assert {field: getattr(Project.objects.get(), field) for field in VALID} == VALID


def test_when_units_are_disputed_is_set_on_its_own_page(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    assert f"/projects/{cast.project.slug}/dispute-rules/" in client.get(address(cast)).content.decode()
    client.post(address(cast), VALID | {"dispute_threshold": 4, "tolerance": 3})
    assert (Project.objects.get().dispute_threshold, Project.objects.get().tolerance) == (2, 1)


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"raters_per_item": 0}, "greater than or equal to 1"),
        ({"raters_per_item": "many"}, "whole number"),
        ({"name": ""}, "required"),
    ],
)
def test_wrong_settings_answer_with_the_form_and_change_nothing(
    client: Client, cast: Cast, wrong: dict[str, object], reason: str
) -> None:
    client.force_login(cast.admin)
    response = client.post(address(cast), VALID | wrong)
    assert response.status_code == 422
    assert reason in response.content.decode()
    assert Project.objects.get().name == cast.project.name


def test_an_open_round_freezes_the_settings_of_rating_and_leaves_the_name(client: Client, cast: Cast) -> None:
    open_round_one(project=cast.project, by=cast.admin)
    client.force_login(cast.admin)
    assert "Round I was opened with these" in client.get(address(cast)).content.decode()
    assert client.post(address(cast), VALID).status_code == 422  # other guidelines need a reason
    client.post(address(cast), VALID | {"guidelines": ""})
    project = Project.objects.get()
    assert (project.name, project.raters_per_item, project.guidelines) == ("Boots", 3, "")


def test_guidelines_are_rendered_and_sanitised(client: Client, cast: Cast) -> None:
    Project.objects.update(guidelines="**Read** <script>alert(1)</script>")
    client.force_login(cast.admin)
    page = client.get(address(cast)).content.decode()
    assert "<strong>Read</strong> &lt;script&gt;" in page


def test_the_preview_saves_nothing_and_is_a_part_of_the_page(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    entered = VALID | {"guidelines": "_new_", "show": "preview"}
    page = client.post(address(cast), entered).content.decode()
    part = client.post(address(cast), entered, headers={"HX-Request": "true"}).content.decode()
    assert "<em>new</em>" in part
    assert "<html" not in part
    assert part.strip() in page
    assert Project.objects.get().guidelines == ""


def test_only_admins_get_to_the_settings(client: Client, cast: Cast) -> None:
    for user in (cast.outsider, cast.researcher, cast.annotators[0].user):
        assert user
        client.force_login(user)
        assert client.get(address(cast)).status_code == 404
        assert client.post(address(cast), VALID).status_code == 404
    assert Project.objects.get().name == cast.project.name
