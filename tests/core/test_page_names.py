"""One idea has one name: a page's entry in the sidebar, its heading and the title of its window."""

import re
from html import unescape

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.page import GROUPS
from annotate.rating.commands.rounds import close_round_one
from tests.factories import make_project
from tests.rating.rounds import opened

HEADING = re.compile(r"<h1[^>]*>(.*?)</h1>", re.DOTALL)
TITLE = re.compile(r"<title>(.*?)</title>", re.DOTALL)
PROJECT = "project"  # its heading is the project's name


def words(html: str) -> str:
    return " ".join(unescape(re.sub(r"<[^>]*>", " ", html)).split())


@pytest.mark.django_db
def test_sidebar_heading_and_title_have_one_name(client: Client) -> None:
    cast = make_project()
    opened(cast)
    close_round_one(project=cast.project, by=cast.admin)
    client.force_login(cast.admin)
    pages = [page for group in GROUPS for page in group.pages if group.name != "Rate"]
    pages += [tab for page in pages for tab in page.beside]
    differing = []
    for page in pages:
        reply = client.get(reverse(page.route, args=[cast.project.slug, *page.args]))
        if reply.status_code == 404:  # for annotators
            continue
        html = reply.content.decode()
        heading, title = (words(found[1]) for found in (HEADING.search(html), TITLE.search(html)) if found)
        names = {page.name, title.split(" · ")[0], *([] if page.route == PROJECT else [heading])}
        if len(names) > 1 and not (page.beside and page.beside[0].route == page.route):
            differing.append((page.route, page.args, *sorted(names)))
    assert not differing


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("old", "new"), [("quality/3/", "annotator-quality/3/"), ("plan/", "assignment-plan/")]
)
def test_old_url_redirects(client: Client, old: str, new: str) -> None:
    reply = client.get(f"/projects/benchmark/{old}?from=mail")
    assert (reply.status_code, reply["Location"]) == (301, f"/projects/benchmark/{new}?from=mail")
