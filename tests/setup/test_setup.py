"""The guided set-up: steps read from the project, the review, and the annotator's screen before Round I."""

import pytest
from django.urls import reverse

from annotate.core.models import Assignment, Project, Rating
from annotate.rating.commands.rounds import open_round_one
from annotate.setup.commands import create_project
from annotate.setup.presets import TEMPLATES
from annotate.setup.queries import setup_of
from tests.factories import make_items, make_member, make_project, make_user

pytestmark = pytest.mark.django_db

OPEN = "Open Round I</button>"


def at(name, project, *more):
    return reverse(name, args=[project.slug, *more])


def states(project):
    setup = setup_of(project)
    assert setup
    return {step.name: (step.done, step.says) for step in setup.steps}, setup.needed


def test_steps_follow_from_the_project_content():
    project = create_project(user=make_user(), name="Boots")
    found, needed = states(project)
    assert found["data"] == (False, "no items yet")
    assert found["people"] == (False, "0 of 3 annotators")
    assert needed == ["Import items.", "Add at least one dimension."]
    make_items(project)
    for _ in range(3):
        make_member(project)
    template = TEMPLATES["news-summaries"]
    assert states(project)[1] == ["Add at least one dimension."]
    project = create_project(user=make_user(), name="News", template=template)
    make_items(project, documents=1, systems=1)
    found, needed = states(project)
    assert (found["data"], found["dimensions"]) == ((True, "1 item"), (True, "4 dimensions"))
    assert needed == []


@pytest.mark.parametrize(
    ("page", "name", "following"),
    [
        ("imports", "data", "dimensions"),
        ("dimensions", "dimensions", "people"),
        ("people", "people", "rounds"),
        ("settings", "rounds", "review"),
        ("plan", "rounds", "review"),
    ],
)
def test_each_setup_page_shows_its_step_and_links_to_the_next(client, page, name, following):
    cast = make_project()
    client.force_login(cast.admin)
    response = client.get(at(page, cast.project))
    assert (response.context["setup"].current.name, response.context["setup"].next.name) == (name, following)
    assert f"Next: {following} ›" in response.content.decode()
    open_round_one(project=cast.project, by=cast.admin)
    assert "Next: " not in client.get(at(page, cast.project)).content.decode()


def test_review_lists_existing_and_missing_settings(client):
    cast = make_project(annotators=1, dimensions=("fluency", "coherence"))
    client.force_login(cast.admin)
    page = client.get(at("review", cast.project)).content.decode()
    for words in (
        "4 items: 2 documents, 2 systems",
        "system-1, system-2",
        "Coherence",
        "Open Round I</button>",
    ):
        assert words in page
    assert "Raters per item: 3. Annotators in the project: 1." in page
    Project.objects.filter(pk=cast.project.pk).update(raters_per_item=1)
    cast.project.dimensions.all().delete()
    page = client.get(at("review", cast.project)).content.decode()
    assert "First: Add at least one dimension." in page
    assert OPEN not in page


def test_once_round_one_is_open_the_review_leads_to_the_overview(client):
    cast = make_project()
    client.force_login(cast.admin)
    open_round_one(project=cast.project, by=cast.admin)
    assert client.get(at("review", cast.project))["Location"] == at("project", cast.project)


def test_the_preview_is_the_annotators_screen_on_a_real_item_and_makes_nothing(client):
    cast = make_project(dimensions=("fluency", "coherence"))
    client.force_login(cast.admin)
    response = client.get(at("preview", cast.project), {"item": "2"})
    page = response.content.decode()
    assert "rating/item.html" in [template.name for template in response.templates]
    assert cast.items[1].text in page
    assert "Coherence" in page
    assert 'href="?item=3"' in page
    assert cast.items[1].system.name not in page.replace(cast.items[1].text, "")
    assert response["X-Frame-Options"] == "SAMEORIGIN"
    assert not Assignment.objects.exists()
    assert not Rating.objects.exists()


@pytest.mark.parametrize("item", ["0", "99", "-1", "x", "9" * 30])
def test_an_item_that_is_not_there_shows_one_that_is(client, item):
    cast = make_project(documents=1, systems=1)
    client.force_login(cast.admin)
    assert cast.items[0].text in client.get(at("preview", cast.project), {"item": item}).content.decode()


def test_preview_without_items_reports_it(client):
    cast = make_project(documents=0)
    client.force_login(cast.admin)
    assert "Import items to see yours." in client.get(at("preview", cast.project)).content.decode()


def test_only_admins_see_the_review_and_the_preview(client):
    cast = make_project()
    for user in (cast.outsider, cast.researcher, cast.annotators[0].user):
        client.force_login(user)
        for page in ("review", "preview"):
            assert client.get(at(page, cast.project)).status_code == 404


def test_the_number_of_queries_is_fixed(client, django_assert_num_queries):
    cast = make_project()
    client.force_login(cast.admin)
    for _ in range(2):
        make_member(cast.project)
        with django_assert_num_queries(12):
            client.get(at("review", cast.project))
        with django_assert_num_queries(9):
            client.get(at("preview", cast.project))
