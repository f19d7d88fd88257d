"""The audit log: what is recorded, who may read it, how it is narrowed and taken away, and that it stays."""

import csv
import json
from collections.abc import Callable
from io import StringIO
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import DjangoAssertNumQueries

from annotate.core.models import AuditEntry, Role
from annotate.disputes.commands.disputes import adjudicate
from annotate.people.commands import add_member
from annotate.watching.queries import audit as audit_queries
from annotate.watching.queries.audit import SOURCES, AuditFilter, Cursor, audit_page, audit_rows
from tests.conftest import Clock
from tests.factories import Cast
from tests.rating.rounds import discussed, opened, rate

pytestmark = pytest.mark.django_db


def page(cast: Cast, extra: str = "") -> str:
    return f"/projects/{cast.project.slug}/{extra}"


def acts(cast: Cast) -> list[tuple[str, str, Any, Any]]:
    rows = AuditEntry.objects.filter(project=cast.project, actor=cast.admin).order_by("pk")
    return list(rows.values_list("act", "subject", "before", "after"))


def settings_of(cast: Cast, **changed: Any) -> dict[str, Any]:
    fields = ("name", "description", "reservation_minutes", "guidelines", "raters_per_item")
    return {field: getattr(cast.project, field) for field in fields} | changed


@pytest.mark.parametrize(
    ("path", "sent", "expected"),
    [
        (
            "settings/",
            lambda cast: settings_of(cast, reservation_minutes=7),
            ("project.changed", "Project", {"reservation_minutes": 120}, {"reservation_minutes": 7}),
        ),
        (
            "dimensions/fluency/remove/",
            lambda _: {},
            ("dimension.removed", "Fluency", {"name": "Fluency"}, None),
        ),
        (
            "people/",
            lambda _: {"role": "annotator", "email": "new@example.org"},
            ("invitation.made", "new@example.org", None, {"role": "annotator"}),
        ),
        ("rounds/open-1/", lambda _: {}, ("round.opened", "Round I", None, {"every_item": True})),
    ],
)
def test_admin_action_is_recorded_with_actor_and_both_states(
    client: Client,
    cast: Cast,
    path: str,
    sent: Callable[[Cast], dict[str, Any]],
    expected: tuple[str, str, dict[str, Any] | None, dict[str, Any] | None] | None,
) -> None:
    client.force_login(cast.admin)
    client.post(page(cast, path.format(place=cast.annotators[0].pk)), sent(cast))
    if expected is None:
        return
    act, subject, before, after = acts(cast)[-1]
    assert act == expected[0]
    assert subject.startswith(expected[1])
    for found, wanted in ((before, expected[2]), (after, expected[3])):
        assert found is None if wanted is None else wanted.items() <= found.items()


def test_what_changes_nothing_is_no_act(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    assert client.post(page(cast, "settings/"), settings_of(cast)).status_code == 302
    assert acts(cast) == []


def test_taking_data_away_is_recorded(client: Client, cast: Cast) -> None:
    client.force_login(cast.researcher)
    client.get(page(cast, "export/ratings.csv"))
    entry = AuditEntry.objects.latest("pk")
    assert (entry.actor, entry.act, entry.subject) == (cast.researcher, "export.taken", "ratings")


def test_ratings_and_decisions_are_in_the_same_list(client: Client, cast: Cast) -> None:
    dispute = discussed(cast, 1, 3, 5)
    adjudicate(dispute=dispute, value=3, note="As the guideline says.", by=cast.admin)
    client.force_login(cast.admin)
    shown = " ".join(client.get(page(cast, "audit/")).content.decode().split())
    for told in (
        "rating rated",
        "dispute adjudicated",
        "As the guideline says.",
        "round closed",
        "Fluency of",
    ):
        assert told in shown
    rows = list(audit_rows(cast.project, AuditFilter()))
    assert [row["at"] for row in rows] == sorted(row["at"] for row in rows)
    first = next(row for row in rows if row["act"] == "rating.rated")
    assert (first["who"], first["before"], first["after"]) == (
        str(cast.annotators[0].user),
        None,
        {"value": 1},
    )


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (lambda _: AuditFilter(what="rating"), {"rating.rated"}),
        (lambda _: AuditFilter(what="round"), {"round.opened", "round.closed"}),
        (lambda cast: AuditFilter(who=str(cast.annotators[0].user_id)), {"rating.rated"}),
        (lambda _: AuditFilter(word="fluency", what="dispute"), {"dispute.opened"}),
        (lambda _: AuditFilter(word="no such thing"), set()),
    ],
)
def test_the_list_is_narrowed(cast: Cast, wanted: Callable[[Cast], AuditFilter], found: set[str]) -> None:
    discussed(cast, 1, 3, 5)
    rows = audit_page(cast.project, wanted(cast)).rows
    assert {row.act for row in rows} == found
    assert {row["act"] for row in audit_rows(cast.project, wanted(cast))} == found


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        ("since=0001-01-01", True),
        ("since=9999-12-31", False),
        ("until=0001-01-01", False),
        ("until=9999-12-31", True),
        ("after=0001-01-01T00:00:00%2B14:00_0_1", True),
        ("after=9999-12-31T23:59:59-14:00_0_1", True),
    ],
)
def test_first_and_last_day_of_the_calendar_are_no_fault(
    client: Client, cast: Cast, settings: Any, query: str, rows: bool
) -> None:
    settings.TIME_ZONE = "Europe/Berlin"
    discussed(cast, 1, 3, 5)
    client.force_login(cast.admin)
    shown = client.get(page(cast, f"audit/?{query}"))
    assert shown.status_code == 200
    assert bool(shown.context["page"].rows) is rows


def test_pages_follow_each_other_without_a_gap_also_within_one_moment(
    cast: Cast, monkeypatch: pytest.MonkeyPatch
) -> None:
    discussed(cast, 1, 3, 5)
    whole = [(row.act, row.subject, row.at) for row in audit_page(cast.project, AuditFilter()).rows]
    monkeypatch.setattr(audit_queries, "PAGE", 2)
    seen, cursor = [], None
    while True:
        part = audit_page(cast.project, AuditFilter(), cursor)
        seen += [(row.act, row.subject, row.at) for row in part.rows]
        if part.next is None:
            break
        cursor = Cursor.read(str(part.next))
    assert seen == whole
    assert len(seen) > 6


def test_log_downloads_as_csv_and_json_lines(client: Client, cast: Cast) -> None:
    discussed(cast, 1, 3, 5)
    client.force_login(cast.admin)
    lines = b"".join(client.get(page(cast, "audit/audit.jsonl?what=rating"))).decode().splitlines()
    assert [json.loads(line)["after"] for line in lines] == [{"value": value} for value in (1, 3, 5)]
    text = b"".join(client.get(page(cast, "audit/audit.csv"))).decode()
    assert {"round.opened", "rating.rated"} <= {row["act"] for row in csv.DictReader(StringIO(text))}
    assert client.get(page(cast, "audit/audit.pdf")).status_code == 404


def test_a_download_reads_a_log_of_one_moment_in_batches(
    cast: Cast, clock: Clock, monkeypatch: pytest.MonkeyPatch
) -> None:
    dispute = discussed(cast, 1, 3, 5)
    clock.advance(hours=1)
    adjudicate(dispute=dispute, value=3, note="As the guideline says.", by=cast.admin)
    whole = list(audit_rows(cast.project, AuditFilter()))
    monkeypatch.setattr(audit_queries, "FIRST_BATCH", 1)
    monkeypatch.setattr(audit_queries, "LARGEST_BATCH", 2)
    assert list(audit_rows(cast.project, AuditFilter())) == whole


def test_download_starts_with_few_rows_of_the_log(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    discussed(cast, 1, 3, 5)
    monkeypatch.setattr(audit_queries, "FIRST_BATCH", 1)
    with CaptureQueriesContext(connection) as queries:
        next(audit_rows(cast.project, AuditFilter()))
    assert len(queries) == 2 + len(SOURCES)
    assert all("LIMIT 1" in query["sql"] for query in queries.captured_queries[2:])


@pytest.mark.parametrize("who", ["annotator", "researcher", "outsider"])
def test_only_admins_read_the_log(client: Client, cast: Cast, who: str) -> None:
    user = cast.annotators[0].user if who == "annotator" else getattr(cast, who)
    assert user
    client.force_login(user)
    for extra in ("audit/", "audit/audit.csv", "delete/"):
        assert client.get(page(cast, extra)).status_code == 404


def test_admin_with_ratings_reads_the_log_when_round_one_is_closed(client: Client, cast: Cast) -> None:
    add_member(project=cast.project, role=Role.ANNOTATOR, user=cast.admin)
    opened(cast)
    client.force_login(cast.admin)
    assert client.get(page(cast, "audit/")).status_code == 403


def test_the_number_of_queries_of_the_log_is_fixed(
    client: Client, cast: Cast, django_assert_max_num_queries: DjangoAssertNumQueries
) -> None:
    client.force_login(cast.admin)
    round = opened(cast)
    client.get(page(cast, "audit/"))
    with django_assert_max_num_queries(30) as few:
        client.get(page(cast, "audit/"))
    for annotator in cast.annotators:
        rate(cast, round, annotator, cast.items[0], 3)
    with django_assert_max_num_queries(30) as many:
        client.get(page(cast, "audit/"))
    assert len(few) == len(many)
