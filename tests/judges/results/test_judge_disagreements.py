"""Units on which judges and people differ most: with texts on the page, and in a file."""

import csv
import io

import pytest
from django.test import Client
from django.urls import reverse

from annotate.rating.commands.rounds import close_round_one
from tests.factories import Cast, make_project
from tests.judges.factories import make_judge, make_judgment
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    """Two raters agree on 1, 2, 3 and 4; the judge is 3, 2, 1 and 0 points away."""
    made = make_project(annotators=2, raters_per_item=2)
    round = opened(made)
    judge = make_judge(made.project, name="Generous")
    for index, item in enumerate(made.items):
        for annotator in made.annotators:
            rate(made, round, annotator, item, 1 + index)
        make_judgment(judge, item, made.dimensions[0], value=4)
    close_round_one(project=made.project, by=made.admin)
    return made


def test_units_come_with_both_values_the_largest_difference_first(client: Client, cast: Cast) -> None:
    client.force_login(cast.researcher)
    url = reverse("disagreements", args=[cast.project.slug])
    html = client.get(url, {"between": "judges", "apart": "2"}).content.decode()
    articles = html.split('<article class="worst">')[1:]
    assert len(articles) == 2
    for article, item, people in zip(articles, cast.items, (1, 2), strict=False):
        assert item.text[:30] in article
        assert '<span dir="auto">Generous</span> <strong>4</strong>' in article
        assert f'<span dir="auto">mean of people</span> <strong>{people}</strong>' in article
    assert "between=people" in html


def test_file_has_the_same_units_with_their_outputs(client: Client, cast: Cast) -> None:
    client.force_login(cast.researcher)
    url = reverse("disagreements_file", args=[cast.project.slug])
    answer = client.get(url, {"between": "judges", "apart": "1"})
    rows = list(csv.DictReader(io.StringIO(answer.content.decode(), newline="")))
    assert [row["difference"] for row in rows] == ["3.0", "2.0", "1.0"]
    assert [row["text"] for row in rows] == [item.text for item in cast.items[:3]]


def test_rater_in_open_round_one_does_not_see_them(client: Client) -> None:
    made = make_project()
    opened(made)
    made.annotators[0].user = made.admin
    made.annotators[0].save()
    client.force_login(made.admin)
    for route in ("disagreements", "disagreements_file"):
        url = reverse(route, args=[made.project.slug])
        assert client.get(url, {"between": "judges"}).status_code == 403
