"""The pages of additions, and the severity that they show."""

import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from annotate.additions.queries import severity_of
from annotate.core.configuration import project_cards
from annotate.core.models import Addition, Assignment, GoldValue, Role
from annotate.rating.commands.rounds import open_round_one
from tests.additions.scenes import make_addition, make_benchmark, make_new_raters, rate_all
from tests.factories import Cast, make_member, make_project

pytestmark = pytest.mark.django_db
CSV = b"document,system,output\nproduct-1,newcomer,A text.\nproduct-2,newcomer,Another text.\n"


def upload(client: Client, cast: Cast, content: bytes, name: str = "outputs.csv") -> tuple[int, str]:
    data = {"file": SimpleUploadedFile(name, content), "bridging": 2, "with_annotators": "on"}
    response = client.post(reverse("additions", args=[cast.project.slug]), data, follow=True)
    return response.status_code, response.content.decode()


def test_a_file_becomes_an_addition_with_the_first_annotators(client: Client) -> None:
    cast = make_benchmark(documents=2)
    client.force_login(cast.admin)
    status, page = upload(client, cast, CSV)
    assert status == 200
    assert "2 outputs, and 2 bridging items." in page
    assert "Nobody has rated a bridging item yet." in page
    child = Addition.objects.get().project
    assert child.memberships.filter(role="annotator").count() == 2
    assert upload(client, cast, CSV)[0] == 422
    jsonl = b'{"document": "product-1", "system": "other", "output": "A text."}\n'
    assert "1 output, and 2 bridging items." in upload(client, cast, jsonl, "outputs.jsonl")[1]


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"document,system,output\nproduct-9,new,A text.\n", "no document “product-9”"),
        (b"document,system,output\nproduct-1,new,A.\nproduct-1,new,B.\n", "has an output for “product-1”"),
        (b"document,source\nproduct-1,A text.\n", "needs the columns document, system and output"),
    ],
)
def test_files_that_do_not_fit_name_the_problem(client: Client, content: bytes, sentence: str) -> None:
    cast = make_benchmark(documents=1)
    client.force_login(cast.admin)
    status, page = upload(client, cast, content)
    assert (status, sentence in page) == (422, True)
    assert not Addition.objects.exists()


def test_planted_severity_appears(client: Client) -> None:
    cast = make_benchmark()
    addition = make_addition(cast, bridging=6)
    strict, mild = make_new_raters(addition)
    round = open_round_one(project=addition.project, by=cast.admin)

    def one_less(assignment: Assignment, _key: str) -> float:
        gold = GoldValue.objects.filter(gold__item=assignment.item).first()
        return 3 if gold is None else gold.value - 1

    rate_all(round, strict, one_less)
    rate_all(round, mild, lambda each, key: one_less(each, key) + 1)
    found = severity_of(addition)["fluency"]
    assert found.offset is not None
    assert (found.offset.value, [each.value for each in found.by_rater if each]) == (-0.5, [-1, 0])
    assert found.before == pytest.approx(0.5**0.5)
    assert found.after == 0
    client.force_login(cast.researcher)
    page = client.get(reverse("addition", args=[cast.project.slug, 1])).content.decode()
    assert "The new raters give .50 less on Fluency [.50, .50]." in page
    assert "they differ by .00 instead of .71 from the first raters" in page
    assert "−1.00" in page


def test_raters_of_an_addition_see_neither_raters_nor_systems(client: Client) -> None:
    cast = make_benchmark()
    addition = make_addition(cast, bridging=6)
    page = reverse("addition", args=[cast.project.slug, 1])
    listed = reverse("additions", args=[cast.project.slug])
    make_member(addition.project, Role.ANNOTATOR, user=cast.researcher)
    client.force_login(cast.researcher)
    assert "newcomer" in client.get(page).content.decode()
    assert "Make an addition" not in client.get(listed).content.decode()
    open_round_one(project=addition.project, by=cast.admin)
    for address in (page, listed):
        assert "newcomer" not in client.get(address).content.decode()
    assert "not while you rate" in client.get(page).content.decode()
    addition.project.memberships.filter(user=cast.researcher).delete()
    assert "newcomer" not in client.get(page).content.decode()


def test_the_list_makes_as_many_queries_for_three_additions(client: Client) -> None:
    cast = make_benchmark(documents=1)
    client.force_login(cast.admin)
    url = reverse("additions", args=[cast.project.slug])
    make_addition(cast, bridging=1)
    client.get(url)  # fills caches
    with CaptureQueriesContext(connection) as one:
        assert "newcomer" in client.get(url).content.decode()
    for name in ("second", "third"):
        make_addition(cast, bridging=1, name=name)
    with CaptureQueriesContext(connection) as three:
        page = client.get(url).content.decode()
    assert all(name in page for name in ("newcomer", "second", "third"))
    assert len(three) == len(one)


def test_the_page_of_an_addition_reads_no_text(client: Client) -> None:
    cast = make_benchmark(documents=2)
    make_addition(cast, bridging=1)
    client.force_login(cast.admin)
    with CaptureQueriesContext(connection) as queries:
        client.get(reverse("addition", args=[cast.project.slug, 1]))
    columns = re.compile(r'SELECT .*"annotate_(item|document)"\."(text|parts)"(,| ).* FROM')
    assert not [each["sql"] for each in queries if columns.match(each["sql"])]


def test_lists_and_pages_name_the_benchmark(client: Client) -> None:
    cast = make_benchmark(documents=1)
    child = make_addition(cast).project
    newer = make_project()
    make_member(newer.project, Role.ADMIN, user=cast.admin)
    cards = project_cards(cast.admin)
    assert [card.project for card in cards] == [newer.project, cast.project, child]
    client.force_login(cast.admin)
    assert f"Addition 1 to <bdi>{cast.project}</bdi>" in client.get("/").content.decode()
    page = client.get(reverse("items", args=[child.slug])).content.decode()
    assert f'href="{reverse("addition", args=[cast.project.slug, 1])}"' in page
    deleting = client.get(reverse("project_delete", args=[cast.project.slug])).content.decode()
    assert f"This also deletes its additions: <bdi>{child}</bdi>." in deleting
