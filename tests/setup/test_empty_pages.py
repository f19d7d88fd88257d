"""In a project in which nothing was done yet, each page says what it will show and leads to what fills it."""

import re

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.models import Role
from annotate.core.page import GROUPS, Page
from tests.factories import make_project

# What is filled on the page itself, or is never empty.
FILLED_HERE = {
    *("project", "imports", "plan", "dispute_rules", "as_template", "people", "results", "exports"),
    *("metrics", "settings", "webhooks", "audit"),
}
EMPTY = re.compile(r'<p class="empty">(.*?)</p>(.*)</main>', re.DOTALL)


def pages() -> list[Page]:
    listed = [page for group in GROUPS for page in group.pages if Role.ADMIN in page.who]
    return [page for page in listed if page.route not in FILLED_HERE]


@pytest.mark.django_db
def test_an_empty_page_leads_to_what_fills_it(client: Client) -> None:
    cast = make_project(annotators=0, documents=0, systems=0, dimensions=())
    client.force_login(cast.admin)
    for page in pages():
        html = client.get(reverse(page.route, args=[cast.project.slug, *page.args])).content.decode()
        found = EMPTY.search(html)
        assert found, page
        said, below = found.groups()
        assert len(re.sub(r"<[^>]*>|\s+", " ", said).split()) > 6, page
        assert f'href="/projects/{cast.project.slug}/' in said + below, page
