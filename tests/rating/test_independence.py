"""Who rates in an open Round I sees no results, whatever else they are in the project."""

import pytest
from django.urls import reverse

from annotate.core.models import Dispute, Document, Item, Role
from annotate.people.commands import deactivate_member
from annotate.rating.commands.rounds import close_round_one, open_round_two
from tests.factories import make_member, make_project
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db

SENTENCE = "You rate in this project: results are shown to you when Round I is closed"


@pytest.fixture(params=[Role.ADMIN, Role.RESEARCHER])
def scene(request, client):
    """Round I is open and holds two values; an annotator who is admin or researcher too is signed in."""
    cast = make_project()
    make_member(cast.project, request.param, user=cast.annotators[0].user)
    round = opened(cast)
    for annotator, value in zip(cast.annotators[1:], (1, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    client.force_login(cast.annotators[0].user)
    return client, cast


def results(cast):
    slug = cast.project.slug
    return [
        reverse("results_page", args=[slug, "agreement"]),
        reverse("result_file", args=[slug, "agreement", "rounds", "csv"]),
        reverse("exports", args=[slug]),
        reverse("export_one", args=[slug, "ratings", "csv"]),
        reverse("disputes", args=[slug]) + "?all=1",
        reverse("results_page", args=[slug, "so-far"]),
    ]


def tab_names(client, cast):
    html = client.get(reverse("project", args=[cast.project.slug])).content.decode()
    sidebar = html[html.index('id="side"') : html.index("</nav>")]
    return [name for name in ("Rate", "Rounds", "Results") if f"</svg>{name}</a>" in sidebar]


def test_results_are_rejected_with_a_message_and_their_tabs_are_hidden(scene):
    client, cast = scene
    for address in results(cast):
        reply = client.get(address)
        assert reply.status_code == 403
        assert SENTENCE in reply.content.decode()
    assert tab_names(client, cast) == ["Rate", "Rounds"]


def test_results_are_visible_once_round_one_is_closed(scene):
    client, cast = scene
    close_round_one(project=cast.project, by=cast.admin)
    assert {client.get(address).status_code for address in results(cast)} == {200}
    assert tab_names(client, cast) == ["Rate", "Rounds", "Results"]


def test_former_rater_reads_results(scene):
    client, cast = scene
    deactivate_member(membership=cast.annotators[0])
    assert client.get(results(cast)[0]).status_code == 200


def test_rating_in_another_project_hides_nothing_here(client):
    cast, other = make_project(), make_project()
    opened(cast)
    opened(other)
    make_member(other.project, user=cast.admin)
    client.force_login(cast.admin)
    assert client.get(results(cast)[0]).status_code == 200


def test_metadata_are_on_no_page_of_an_annotator(client):
    cast = make_project()
    for material in (Document.objects, Item.objects):
        material.update(metadata={"SECRET-COLUMN": "SECRET-VALUE"})
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    client.force_login(cast.annotators[0].user)
    slug = cast.project.slug
    names = ["rate", "my_work", "my_values", "rate_progress", "guideline", "how_rating_works"]
    pages = [reverse(name, args=[slug]) for name in names]
    pages += [reverse("rate_item", args=[slug, position]) for position in (1, 2)]
    held = client.post(reverse("hold_items", args=[slug, 1]))
    close_round_one(project=cast.project, by=cast.admin)
    open_round_two(project=cast.project, by=cast.admin)
    later = [reverse("disputes", args=[slug]), reverse("dispute", args=[slug, Dispute.objects.get().number])]
    shown = [held, *(client.get(page, follow=True) for page in (*pages, *later))]
    assert all(b"SECRET" not in reply.content for reply in shown)
    assert cast.items[0].text in shown[-1].content.decode()
