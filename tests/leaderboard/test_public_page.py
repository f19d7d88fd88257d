"""The public page of a leaderboard: what it shows, caching, framing, limits and attacks."""

import json

import pytest
from django.core.cache import caches
from django.test import Client
from django.urls import reverse

from annotate.core.models import PublicLeaderboard, System, Version
from annotate.leaderboard.public_views import PublicThrottle
from annotate.leaderboard.queries import leaderboard_of
from tests.factories import Cast

pytestmark = pytest.mark.django_db

READ_ONLY = ("page", "embed", "json", "csv", "documents")


@pytest.fixture(autouse=True)
def _no_earlier_requests() -> None:
    caches["process"].clear()


def url(board: PublicLeaderboard, name: str = "page") -> str:
    return reverse(f"public_{name}", args=[board.key])


def test_page_shows_the_newest_version_only(client: Client, cast: Cast, board: PublicLeaderboard) -> None:
    System.objects.filter(project=cast.project, name="system-2").update(name="Renamed in 1.1")
    with_other = leaderboard_of(cast.project).to_dict()
    System.objects.filter(project=cast.project, name="Renamed in 1.1").update(name="Renamed after 1.1")
    Version.objects.create(
        project=cast.project, major=1, minor=1, content_hash="d" * 64, leaderboard=with_other
    )
    page = client.get(url(board)).content.decode()
    assert "Version 1.1" in page
    assert "Renamed in 1.1" in page
    assert "First version." not in page
    assert "Renamed after 1.1" not in page
    by_genre = client.get(url(board) + "?metadata=genre").content.decode()
    assert "news" in by_genre
    assert "page 1" not in client.get(url(board) + "?metadata=source").content.decode()  # not chosen


def test_files_have_the_standings(client: Client, board: PublicLeaderboard) -> None:
    found = client.get(url(board, "json")).json()
    assert found["version"] == "1.0"
    assert [each["system"] for each in found["boards"][0]["systems"]] == ["system-2", "system-1"]
    assert set(found["boards"][0]["values"]) == {"genre"}
    assert client.get(url(board, "csv")).content.decode().startswith("system,mean,mean_low")


def test_effort_and_severity_need_a_choice(client: Client, board: PublicLeaderboard) -> None:
    for shows in (False, True):
        PublicLeaderboard.objects.update(shows_effort=shows)
        found = client.get(url(board, "json")).json()
        assert ("hours" in found["parts"][0]) == shows
        systems = [*found["boards"][0]["systems"], *found["boards"][0]["values"]["genre"]["news"]]
        assert {"severity_correction" in each for each in systems} == {shows}
        assert ("severity" in client.get(url(board, "csv")).content.decode()) == shows
        page = client.get(url(board)).content.decode()
        assert ("2 raters" in page, "addition" in page, "severity" in page) == (shows, False, False)
    standings = Version.objects.get().leaderboard
    for system in standings["boards"][0]["systems"][:1]:
        system.update(addition=1, severity_correction=0.5)
    Version.objects.create(
        project=board.project, major=1, minor=1, content_hash="d" * 64, leaderboard=standings
    )
    for shows in (False, True):
        PublicLeaderboard.objects.update(shows_effort=shows)
        page = client.get(url(board)).content.decode()
        assert ("correction for severity, added" in page) == shows
        assert "The system belongs to the benchmark itself." in page
        assert "addition" in page


def test_unknown_and_hidden_pages_look_the_same(client: Client, board: PublicLeaderboard) -> None:
    PublicLeaderboard.objects.update(is_public=False, takes_submissions=False)
    for name in (*READ_ONLY, "submit"):
        hidden = client.get(url(board, name))
        unknown = client.get(reverse(f"public_{name}", args=["AAAAAAAAAAAAAAAA"]))
        assert (hidden.status_code, unknown.status_code) == (404, 404)
        assert hidden.content == unknown.content
        assert {**hidden.headers, "X-Request-ID": ""} == {**unknown.headers, "X-Request-ID": ""}
    for guess in (str(board.pk), board.project.slug, board.key.lower() + "x", "%00", "..%2f"):
        assert client.get(f"/benchmarks/{guess}/").status_code == 404


def test_answers_are_cached_without_cookies(cast: Cast, board: PublicLeaderboard) -> None:
    client = Client()
    client.force_login(cast.admin)
    for name in READ_ONLY:
        answer = client.get(url(board, name))
        assert not answer.cookies
        assert answer["Cache-Control"] == "public, max-age=300"
        assert "Cookie" not in answer.get("Vary", "")
        assert cast.admin.email not in answer.content.decode()
        again = client.get(url(board, name), headers={"If-None-Match": answer["ETag"]})
        assert again.status_code == 304
        assert not again.cookies
    PublicLeaderboard.objects.update(introduction="New words.")
    assert client.get(url(board), headers={"If-None-Match": answer["ETag"]}).status_code == 200


def test_changed_documents_are_submitted_again(client: Client, cast: Cast, board: PublicLeaderboard) -> None:
    tag = client.get(url(board, "documents"))["ETag"]
    cast.project.documents.filter(key=cast.items[0].document.key).update(title="Another title")
    again = client.get(url(board, "documents"), headers={"If-None-Match": tag})
    assert (again.status_code, "Another title" in again.content.decode()) == (200, True)


def test_only_the_embedded_table_may_be_framed(client: Client, board: PublicLeaderboard) -> None:
    for name in (*READ_ONLY, "submit"):
        answer = client.get(url(board, name))
        if name == "embed":
            assert "X-Frame-Options" not in answer
            assert "frame-ancestors *" in answer["Content-Security-Policy"]
            same = client.get(url(board, name), headers={"If-None-Match": answer["ETag"]})
            assert same.status_code == 304
            assert "frame-ancestors *" in same["Content-Security-Policy"]
            assert "X-Frame-Options" not in same
        else:
            assert answer["X-Frame-Options"] == "DENY"
            assert "frame-ancestors 'none'" in answer["Content-Security-Policy"]


def test_requests_above_the_limit_get_429(
    client: Client, board: PublicLeaderboard, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(PublicThrottle, "rate", "20/min")
    codes = [client.get(f"/benchmarks/guess-{number}/").status_code for number in range(100)]
    assert codes == [404] * 20 + [429] * 80
    refused = client.get(url(board))
    assert refused.status_code == 429
    assert 0 < int(refused["Retry-After"]) <= 60
    assert client.get(url(board), REMOTE_ADDR="203.0.113.9").status_code == 200


def make_next_version(cast: Cast, changelog: str) -> None:
    Version.objects.create(
        project=cast.project,
        major=1,
        minor=1,
        changelog=changelog,
        content_hash="f" * 64,
        leaderboard=leaderboard_of(cast.project).to_dict(),
    )


def test_rater_and_content_data_never_leak(client: Client, cast: Cast, board: PublicLeaderboard) -> None:
    secret = []
    for member in cast.project.memberships.select_related("user"):
        member.label = f"label-{member.pk}"
        member.save(update_fields=["label"])
        assert member.user
        secret += [member.label, member.pseudonym, member.user.email, member.user.name]
    make_next_version(cast, "Something else.")
    texts = [item.text for item in cast.items]
    texts += [part["text"] for item in cast.items for part in item.document.parts]
    for name in (*READ_ONLY, "submit"):
        content = client.get(url(board, name)).content.decode()
        assert not [each for each in (*secret, *texts) if each in content], name
    PublicLeaderboard.objects.update(shows_texts=True)
    released = json.loads(client.get(url(board, "documents")).content)["documents"]
    assert len(released) == 4
    assert released[0]["outputs"]["system-1"] == cast.items[0].text
    assert not [each for each in secret if each in json.dumps(released)]


def test_foreign_content_is_escaped(client: Client, cast: Cast, board: PublicLeaderboard) -> None:
    attack = "<script>alert(1)</script>"
    System.objects.filter(project=cast.project, name="system-1").update(name=f"=1+1{attack}")
    make_next_version(cast, attack)
    PublicLeaderboard.objects.update(introduction=f"{attack}[x](javascript:alert(1))")
    for name in ("page", "embed"):
        page = client.get(url(board, name)).content.decode()
        assert "<script>alert" not in page
        assert 'href="javascript' not in page
    for query in ("?dimension=%3Cscript%3E", "?metadata=%22%3E%3Cscript%3E", "?page=9999999999999"):
        answer = client.get(url(board) + query)
        assert (answer.status_code, "<script>alert" in answer.content.decode()) == (200, False)
        assert client.get(url(board, "documents") + query).status_code == 200
    assert "'=1+1" in client.get(url(board, "csv")).content.decode()


def test_read_only_urls_accept_no_other_method(board: PublicLeaderboard) -> None:
    client = Client(enforce_csrf_checks=True)
    for name in READ_ONLY:
        assert client.head(url(board, name)).status_code == 200
        for method in ("post", "put", "delete", "patch"):
            assert getattr(client, method)(url(board, name)).status_code in (403, 405)
