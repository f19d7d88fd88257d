"""A project with a question of every kind: each page and each export can be read."""

import pytest
from django.test import Client
from django.urls import reverse

from annotate.core.models import Dispute
from annotate.exports.registry import TABLES
from annotate.results.commands import current_page
from annotate.results.registry import PAGES, result_of
from tests.factories import Cast
from tests.questions.everything import answer_every_kind, discuss_every_kind, make_every_kind

pytestmark = pytest.mark.django_db

READ_BY_ALL = ("project", "exports", "results", "disagreements", "disputes", "guideline", "so_far")
READ_BY_ADMINS = (
    *("round_one", "quality", "gold", "items", "people", "audit", "plan", "dimensions", "datasheet"),
    *("guideline_versions", "dispute_rules", "adjudicate", "project_delete", "settings", "review"),
)


@pytest.fixture(scope="module")
def open_round(django_db_setup, django_db_blocker):
    pass


def test_every_page_of_results_is_computed_and_shown(client: Client) -> None:
    cast = make_every_kind()
    answer_every_kind(cast)
    _read_pages(client, cast)
    discuss_every_kind(cast)
    _read_pages(client, cast)


def _read_pages(client: Client, cast: Cast) -> None:
    faults = []
    import traceback
    for name in PAGES:
        try:
            page = current_page(project=cast.project, result=result_of(cast.project, name))
            print(name, [ (s.title, [t.key for t in s.tables]) for s in page.sections])
        except Exception:
            faults.append((name, traceback.format_exc(limit=-4)))
    client.force_login(cast.admin)
    urls = [reverse(each, args=[cast.project.slug]) for each in (*READ_BY_ALL, *READ_BY_ADMINS)]
    urls += [reverse("results_page", args=[cast.project.slug, name]) for name in PAGES]
    client.raise_request_exception = True
    for url in urls:
        try:
            answer = client.get(url)
            if answer.status_code != 200:
                faults.append((url, answer.status_code, answer.headers.get("Location"), answer.content[-600:]))
        except Exception:
            faults.append((url, traceback.format_exc(limit=-4)))
    for table in TABLES:
        for format in ("csv", "jsonl"):
            try:
                answer = client.get(reverse("export_one", args=[cast.project.slug, table, format]))
                b"".join(answer.streaming_content)
            except Exception:
                faults.append((table, traceback.format_exc(limit=-4)))
    for f in faults:
        print("=====")
        for x in f: print(x)
    assert not faults
