"""The tutorial for raters is a page of the interface, too."""

import re
from html import unescape
from pathlib import Path

from django.test import Client
from django.urls import reverse

from tests.documentation.tutorials import read_tutorial
from tests.factories import make_project

TEMPLATE = Path(__file__).parents[2] / "templates" / "rating" / "how_rating_works.html"


def test_page_and_tutorial_have_the_same_steps() -> None:
    tutorial = " ".join(read_tutorial("for-raters").split())
    steps = re.findall(r'\{% translate "([^"]+)" as step %\}', TEMPLATE.read_text())
    listed = re.findall(r"(?<= )\d\. (.*?)(?= \d\. | After Round I)", tutorial)
    assert listed[1:] == steps[: len(listed) - 1], "the first step signs in to the demonstration"
    rest = tutorial.partition(listed[-1])[2]
    assert all(sentence in rest for sentence in steps[len(listed) - 1 :])
    assert len(steps) == len(listed) + 1


def test_raters_reach_it_from_their_work_in_their_language(db: None, client: Client) -> None:
    cast = make_project()
    rater = cast.annotators[0].user
    assert rater
    client.force_login(rater)
    page = reverse("how_rating_works", args=[cast.project.slug])
    assert page in client.get(reverse("my_work", args=[cast.project.slug])).content.decode()
    shown = unescape(client.get(page, headers={"accept-language": "de"}).content.decode())
    assert "So bewerten Sie" in shown
    assert "<code>Z</code>, um die Antwort zurückzunehmen" in shown
