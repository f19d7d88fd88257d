"""What holds for every operation: errors of one shape, keys that make writes safe to repeat, pages, rates."""

from datetime import timedelta

import pytest
from django.core.cache import caches
from django.utils import timezone

from annotate.api.permissions import TokenThrottle
from annotate.core.models import KeptAnswer, Project, Role
from tests.api.client import ApiClient
from tests.factories import make_member, make_project

pytestmark = pytest.mark.django_db


def test_errors_have_one_shape(cast):
    program, home = ApiClient(cast.admin), f"projects/{cast.project.slug}/"
    wrong_json = program.client.generic(
        "PATCH",
        f"/api/v1/{home}",
        "{",
        content_type="application/json",
        headers={"Authorization": f"Bearer {program.secret}"},
    )
    answers = {
        "not_found": program.get("projects/nowhere/"),
        "method_not_allowed": program.send("DELETE", home),
        "invalid_value": program.patch(home, {"tolerance": 9}),
        "not_json": wrong_json,
        "signed_out": ApiClient(None).get("projects/"),
    }
    for code, answer in answers.items():
        assert answer.json().keys() == {"code", "message", "fields"}
        assert (answer.json()["code"], answer.status_code >= 400) == (code, True)
    assert answers["invalid_value"].json()["fields"] == {
        "tolerance": "The tolerance must be less than the dispute threshold."
    }
    unknown = program.get("nowhere/")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "not_found")
    broken = program.get("projects/a%0Ab/")  # which the converters of no route match
    assert (broken.status_code, broken.json()["code"]) == (404, "not_found")


def test_error_names_the_misspelt_field(cast):
    refused = ApiClient(cast.admin).patch(f"projects/{cast.project.slug}/", {"tolerence": 0})
    assert refused.status_code == 422
    assert "There is no such field" in refused.json()["fields"]["tolerence"]


@pytest.mark.parametrize("value", ["3", 3.5, True, None])
def test_a_number_is_a_number(cast, value):
    refused = ApiClient(cast.admin).patch(f"projects/{cast.project.slug}/", {"raters_per_item": value})
    assert refused.status_code == 422


def test_deep_nesting_and_large_bodies_are_rejected(cast):
    program = ApiClient(cast.admin)
    for body, status in (("[" * 100_000, 400), ('"' + "x" * 6_000_000 + '"', 413)):
        answer = program.client.generic(
            "POST",
            "/api/v1/projects/",
            body,
            content_type="application/json",
            headers={"Authorization": f"Bearer {program.secret}"},
        )
        assert answer.status_code == status
        assert answer.json()["message"]


def test_the_same_key_does_a_write_once(cast):
    program = ApiClient(cast.admin)
    first = program.post("projects/", {"name": "New"}, key="k1")
    again = program.post("projects/", {"name": "New"}, key="k1")
    assert (first.status_code, again.status_code) == (201, 201)
    assert first.json() == again.json()
    assert again["Idempotent-Replayed"] == "true"
    assert Project.objects.filter(name="New").count() == 1
    program.post("projects/", {"name": "New"}, key="k2")
    assert Project.objects.filter(name="New").count() == 2


def test_a_key_belongs_to_one_request(cast):
    program = ApiClient(cast.admin)
    program.post("projects/", {"name": "New"}, key="k1")
    refused = program.post("projects/", {"name": "Newer"}, key="k1")
    assert (refused.status_code, refused.json()["code"]) == (422, "idempotency_key_used")
    assert not Project.objects.filter(name="Newer").exists()


def test_a_key_is_short_and_plain(cast):
    for key in ("k" * 201, "two words"):
        refused = ApiClient(cast.admin).post("projects/", {"name": "New"}, key=key)
        assert refused.json()["code"] == "invalid_value"


def test_rejected_write_leaves_its_key_free(cast):
    program = ApiClient(cast.admin)
    assert program.post("projects/", {"name": ""}, key="k1").status_code == 422
    assert not KeptAnswer.objects.exists()
    assert program.post("projects/", {"name": "Good"}, key="k1").status_code == 201


def test_keys_are_forgotten_after_a_day(cast):
    program = ApiClient(cast.admin)
    program.post("projects/", {"name": "New"}, key="k1")
    KeptAnswer.objects.update(at=timezone.now() - timedelta(days=1, minutes=1))
    assert program.post("projects/", {"name": "Newer"}, key="k1").status_code == 201


def test_pages_follow_each_other_while_rows_come(cast):
    program = ApiClient(cast.admin)
    for _ in range(3):
        make_member(make_project(annotators=0).project, Role.RESEARCHER, user=cast.admin)
    first = program.get("projects/?limit=2").json()
    make_member(make_project(annotators=0).project, Role.RESEARCHER, user=cast.admin)
    seen, page = [row["slug"] for row in first["results"]], first
    while page["next"]:
        page = program.get(page["next"].partition("/api/v1/")[2]).json()
        seen += [row["slug"] for row in page["results"]]
    assert len(seen) == len(set(seen)) == 5


@pytest.mark.parametrize("query", ["limit=0", "limit=many", "limit=501"])
def test_page_of_an_impossible_size_is_rejected(cast, query):
    assert ApiClient(cast.admin).get(f"projects/?{query}").json()["code"] == "invalid_value"


@pytest.mark.parametrize("cursor", ["x", "cD1hYmM=", "cD05OTk5OTk5OTk5OTk5OTk5OTk5OTk5"])
def test_invented_cursor_is_not_found(cast, cursor):
    assert ApiClient(cast.admin).get(f"projects/?cursor={cursor}").status_code == 404


def test_rate_limited_token_gets_a_retry_time(cast, monkeypatch):
    caches["process"].clear()
    monkeypatch.setattr(TokenThrottle, "rate", "2/minute", raising=False)
    program, other = ApiClient(cast.admin), ApiClient(cast.admin)
    answers = [program.get("me/") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    assert answers[2].json()["code"] == "too_many_requests"
    assert 0 < int(answers[2]["Retry-After"]) <= 60
    assert other.get("me/").status_code == 200
