"""Submitted outputs: checks of files, limits, and the decision of an admin."""

import csv
import gzip
import io
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.core.cache import caches
from django.core.files.uploadedfile import SimpleUploadedFile
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from annotate.core.errors import DomainError
from annotate.core.jobs import run_job
from annotate.core.models import AccountMail, AuditEntry, Item, PublicLeaderboard, Submission, Version
from annotate.leaderboard.commands import (
    accept_submission,
    age_out_submissions,
    publish,
    reject_submission,
    submit_outputs,
)
from annotate.rating.commands.rounds import close_round_one
from tests.factories import Cast

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _no_earlier_requests() -> None:
    caches["process"].clear()


PAGE: Any = {
    **dict.fromkeys(["shows_texts", "shows_effort", "takes_submissions"], False),
    **{"metadata_names": [], "introduction": "", "by": None},
}


def outputs_of(cast: Cast, text: str = "A new output") -> dict[str, str]:
    return {key: f"{text} for {key}." for key in cast.project.documents.values_list("key", flat=True)}


def as_file(outputs: dict[str, str], name: str = "outputs.csv") -> SimpleUploadedFile:
    written = io.StringIO()
    rows = csv.writer(written)
    rows.writerows([("document", "output"), *outputs.items()])
    return SimpleUploadedFile(name, written.getvalue().encode())


def send(client: Client, board: PublicLeaderboard, file: SimpleUploadedFile, **more: Any) -> Any:
    fields = {"system": "New system", "contact": "team@example.org", "note": "", "file": file}
    headers = more.pop("headers", {})
    return client.post(reverse("public_submit", args=[board.key]), {**fields, **more}, headers=headers)


def submit(board: PublicLeaderboard, outputs: dict[str, str], **more: str) -> Submission:
    fields = {"system": "New system", "contact": "team@example.org", "note": "", **more}
    return submit_outputs(shown=board, outputs=outputs, **fields)


def test_file_becomes_a_submission_that_admins_see(
    client: Client, cast: Cast, board: PublicLeaderboard
) -> None:
    attack = "<img src=x onerror=alert(1)>"
    answer = send(client, board, as_file(outputs_of(cast, attack)), system=f"S{attack}", note=f"**{attack}**")
    assert answer.status_code == 201
    assert "An admin of the benchmark decides" in answer.content.decode()
    assert not answer.cookies
    client.force_login(cast.admin)
    found = Submission.objects.get()
    for route, args in (("submissions", []), ("submission", [found.pk]), ("project", [])):
        page = client.get(reverse(route, args=[cast.project.slug, *args])).content.decode()
        assert "<img src=x" not in page
        assert "submission" in page.lower()
    assert "1 submission to the leaderboard waits" in page
    assert f"S{attack}" not in answer.content.decode()


@pytest.mark.parametrize(
    ("file", "message"),
    [
        (SimpleUploadedFile("a.csv", b""), "empty"),
        (SimpleUploadedFile("a.csv", b"key,text\n1,2\n"), "needs"),
        (SimpleUploadedFile("a.exe", b"document,output\n1,2\n"), "CSV or JSONL"),
        (SimpleUploadedFile("a.jsonl.gz", gzip.compress(b"x" * 10_000_000)), "CSV or JSONL"),
        (SimpleUploadedFile("a.csv", gzip.compress(b"x" * 10_000_000)), ""),
        (SimpleUploadedFile("a.jsonl", b'{"document": ' + b"[" * 200_000), "JSON"),
        (SimpleUploadedFile("a.jsonl", b'{"document": {"a": 1}, "output": "x"}'), "needs"),
        (SimpleUploadedFile("a.csv", b"document,output\nnowhere,x\n"), "not in this benchmark"),
        (SimpleUploadedFile("a.jsonl", b'{"document": "\\ud800", "output": "x"}'), "not in this benchmark"),
        (SimpleUploadedFile("a.csv", b"document,output\n\xff,x\n"), "UTF-8"),
    ],
)
def test_unusable_file_is_rejected_with_a_message(
    client: Client, board: PublicLeaderboard, file: SimpleUploadedFile, message: str
) -> None:
    file.seek(0)
    answer = send(client, board, file)
    assert answer.status_code == 422
    assert message in answer.content.decode()
    assert not Submission.objects.exists()


def test_huge_body_is_rejected_before_reading(client: Client, board: PublicLeaderboard) -> None:
    answer = client.post(
        reverse("public_submit", args=[board.key]),
        b"",
        "multipart/form-data; boundary=x",
        CONTENT_LENGTH=10**10,
    )
    assert answer.status_code == 413


def test_each_document_needs_one_usable_output(cast: Cast, board: PublicLeaderboard) -> None:
    whole = outputs_of(cast)
    first = next(iter(whole))
    cases = {
        "has no output": {key: text for key, text in whole.items() if key != first},
        "is empty": {**whole, first: " \n"},
        "control characters": {**whole, first: "a\x00b"},
        "longer than": {**whole, first: "x" * 100_001},
    }
    for message, outputs in cases.items():
        with pytest.raises(DomainError, match=message):
            submit(board, outputs)
    for more in ({"system": "System-1"}, {"system": "a\x00"}, {"note": "\ud800"}):
        with pytest.raises(DomainError):
            submit(board, whole, **more)
    assert not Submission.objects.exists()


def test_equal_outputs_are_stored_once(cast: Cast, board: PublicLeaderboard) -> None:
    first = submit(board, outputs_of(cast))
    assert submit(board, outputs_of(cast)) == first
    assert submit(board, outputs_of(cast), contact="Team@example.org") == first
    with pytest.raises(DomainError, match="already"):
        submit(board, outputs_of(cast), contact="other@example.org")


def test_page_without_submissions_takes_none(client: Client, cast: Cast, board: PublicLeaderboard) -> None:
    PublicLeaderboard.objects.update(takes_submissions=False)
    assert send(client, board, as_file(outputs_of(cast))).status_code == 404
    board.refresh_from_db()
    with pytest.raises(DomainError):
        submit(board, outputs_of(cast))


def test_form_of_another_site_is_rejected(cast: Cast, board: PublicLeaderboard, settings: Any) -> None:
    settings.CSRF_TRUSTED_ORIGINS = ["https://concord.example.org"]
    client = Client(enforce_csrf_checks=True)
    for headers in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}, {"Origin": "null"}):
        assert send(client, board, as_file(outputs_of(cast)), headers=headers).status_code == 403
    own = {"Origin": "http://testserver", "Sec-Fetch-Site": "same-origin"}
    assert send(client, board, as_file(outputs_of(cast)), headers=own).status_code == 201
    behind_a_proxy = {"Origin": "https://concord.example.org"}
    assert send(client, board, as_file(outputs_of(cast)), headers=behind_a_proxy).status_code == 201


def test_submissions_per_ip_are_limited(client: Client, cast: Cast, board: PublicLeaderboard) -> None:
    codes = [
        send(client, board, as_file(outputs_of(cast, f"Text {number}"))).status_code for number in range(7)
    ]
    assert codes == [201] * 5 + [429] * 2
    refused = send(client, board, as_file(outputs_of(cast, "Text 8")))
    assert "5 submissions an hour. Try again in 60 minutes." in refused.content.decode()
    assert 3500 < int(refused["Retry-After"]) <= 3600
    body = {"system": "New", "contact": "team@example.org", "outputs": outputs_of(cast, "Text 9")}
    url = f"/api/v1/benchmarks/{board.key}/submissions/"
    answer = client.post(url, json.dumps(body), content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (429, "too_many_requests")
    assert "an hour" in answer.json()["message"]
    assert 3500 < int(answer["Retry-After"]) <= 3600


def test_rejected_outputs_do_not_count(client: Client, cast: Cast, board: PublicLeaderboard) -> None:
    for _ in range(6):
        assert send(client, board, as_file({"nowhere": "x"})).status_code == 422
    assert send(client, board, as_file(outputs_of(cast))).status_code == 201


def test_rejected_submission_keeps_its_reason(client: Client, cast: Cast, board: PublicLeaderboard) -> None:
    found = submit(board, outputs_of(cast))
    client.force_login(cast.admin)
    page = reverse("submission", args=[cast.project.slug, found.pk])
    assert client.post(page, {"reject": "1", "reason": " "}).status_code == 422
    assert client.post(page, {"reject": "1", "reason": "No paper."}).status_code == 302
    found.refresh_from_db()
    assert (found.status, found.reason, found.decided_by) == ("rejected", "No paper.", cast.admin)
    assert reject_submission(submission=found, reason="Again.", by=cast.admin).reason == "No paper."
    assert AuditEntry.objects.filter(project=cast.project, act="submission.rejected").count() == 1
    client.force_login(cast.researcher)
    assert client.get(page).status_code == 404


def send_account_mails() -> list[tuple[list[str], str, str]]:
    for pk in AccountMail.objects.order_by("pk").values_list("pk", flat=True):
        run_job("account_mail", pk)
    return [(each.to, str(each.subject), str(each.body)) for each in mail.outbox]


def test_submitter_gets_a_mail_with_the_decision(cast: Cast, board: PublicLeaderboard) -> None:
    close_round_one(project=cast.project, by=cast.admin)
    good, bad = submit(board, outputs_of(cast)), submit(board, outputs_of(cast, "Bad"), system="Bad\nnews")
    for _ in range(2):  # safe to run twice
        accept_submission(submission=good, bridging=0, by=cast.admin)
        reject_submission(submission=bad, reason="Outputs are empty.", by=cast.admin)
    assert "team@example.org" not in "".join(AccountMail.objects.values_list("sealed", flat=True))
    accepted, rejected = send_account_mails()
    assert accepted[:2] == (
        ["team@example.org"],
        f"Your submission New system to {cast.project.name} is accepted",
    )
    assert rejected[1:] == (
        f"Your submission Bad news to {cast.project.name} is rejected",
        "Reason: Outputs are empty.\n",
    )
    assert not AccountMail.objects.exists()


def test_old_submissions_leave_the_queue(cast: Cast, board: PublicLeaderboard) -> None:
    old, new = submit(board, outputs_of(cast)), submit(board, outputs_of(cast, "Other"), system="Other")
    Submission.objects.filter(pk=old.pk).update(at=timezone.now() - timedelta(days=91))
    for _ in range(2):
        age_out_submissions()
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.status, new.status) == (Submission.Status.REJECTED, Submission.Status.WAITING)
    assert old.reason == "No admin decided within 90 days."
    assert old.outputs
    assert len(send_account_mails()) == 1
    Submission.objects.filter(pk=old.pk).update(decided_at=timezone.now() - timedelta(days=31))
    age_out_submissions()
    old.refresh_from_db()
    new.refresh_from_db()
    assert (old.outputs, len(new.outputs)) == ({}, 4)


def test_one_contact_has_five_waiting_submissions(cast: Cast, board: PublicLeaderboard) -> None:
    for number in range(5):
        submit(board, outputs_of(cast, f"Text {number}"), system=f"System {number}")
    with pytest.raises(DomainError, match="at most 5 submissions that wait"):
        submit(board, outputs_of(cast), contact="Team@example.org")
    submit(board, outputs_of(cast), contact="others@example.org")


@pytest.mark.django_db(transaction=True)
def test_submissions_at_the_same_moment_are_counted_together(cast: Cast, board: PublicLeaderboard) -> None:
    for number in range(4):
        submit(board, outputs_of(cast, f"Text {number}"), system=f"System {number}")

    def submit_another(number: int) -> str:
        try:
            return submit(board, outputs_of(cast, f"Other {number}"), system=f"Other {number}").system
        except DomainError as error:
            return error.code
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        ended = sorted(pool.map(submit_another, range(4)))
    assert len([each for each in ended if each.startswith("Other")]) == 1
    assert Submission.objects.count() == 5


def test_replaced_link_is_not_found(client: Client, cast: Cast, board: PublicLeaderboard) -> None:
    old = reverse("public_page", args=[board.key])
    assert client.get(old).status_code == 200
    page = reverse("public_leaderboard", args=[cast.project.slug])
    client.force_login(cast.researcher)
    assert client.post(page, {"replace": "1"}).status_code == 404
    client.force_login(cast.admin)
    assert client.post(page, {"replace": "1"}).status_code == 302
    board.refresh_from_db()
    assert board.is_public
    assert client.get(old).status_code == 404
    assert client.get(reverse("public_page", args=[board.key])).status_code == 200
    assert AuditEntry.objects.filter(project=cast.project, act="leaderboard.link_replaced").count() == 1


def test_admin_publishes_with_link_and_code(client: Client, cast: Cast) -> None:
    client.force_login(cast.admin)
    page = reverse("public_leaderboard", args=[cast.project.slug])
    assert "has no version yet" in client.get(page).content.decode()
    assert client.post(page, {"takes_submissions": "on"}).status_code == 422
    assert client.post(page, {"is_public": "on", "metadata_names": ["genre"]}).status_code == 302
    board = PublicLeaderboard.objects.get(project=cast.project)
    assert (board.is_public, board.shows_texts, board.metadata_names) == (True, False, ["genre"])
    content = client.get(page).content.decode()
    assert f"&lt;iframe src=&quot;http://testserver/benchmarks/{board.key}/embed/&quot;" in content
    assert AuditEntry.objects.filter(project=cast.project, act="leaderboard.changed").count() == 1


def test_api_takes_outputs_without_an_account(client: Client, cast: Cast, board: PublicLeaderboard) -> None:
    url = f"/api/v1/benchmarks/{board.key}/submissions/"
    body = {"system": "New", "contact": "team@example.org", "outputs": outputs_of(cast)}
    answer = client.post(url, json.dumps(body), content_type="application/json")
    assert answer.status_code == 201, answer.content
    assert "admin" in answer.json()["message"]
    bad = {**body, "contact": "nobody"}
    assert client.post(url, json.dumps(bad), content_type="application/json").status_code == 422
    many: Any = {f"k{number}": number for number in range(100_000)}
    for outputs in (many, {**outputs_of(cast), next(iter(outputs_of(cast))): 1}, ["x"], "x"):
        refused = client.post(url, json.dumps({**body, "outputs": outputs}), content_type="application/json")
        assert refused.status_code == 422
        assert list(refused.json()["fields"]) == ["outputs"]
    assert client.post(url, "[" * 100_000, content_type="application/json").status_code == 400
    assert client.post(url, "x", content_type="text/plain").status_code == 415
    hidden = client.post(
        "/api/v1/benchmarks/nowhere/submissions/", json.dumps(body), content_type="application/json"
    )
    assert hidden.status_code == 404
    Version.objects.all().delete()  # the page is not there
    assert client.post(url, json.dumps(body), content_type="application/json").status_code == 404


def test_accepted_submission_becomes_an_addition(
    client: Client, cast: Cast, board: PublicLeaderboard
) -> None:
    found = submit(board, outputs_of(cast))
    client.force_login(cast.admin)
    page = reverse("submission", args=[cast.project.slug, found.pk])
    assert client.post(page, {"accept": "", "bridging": "2"}).status_code == 409  # Round I is open
    found.refresh_from_db()
    assert found.status == Submission.Status.WAITING
    close_round_one(project=cast.project, by=cast.admin)
    assert client.post(page, {"accept": "", "bridging": "2"}).status_code == 302
    found.refresh_from_db()
    assert found.status == Submission.Status.ACCEPTED
    assert found.addition
    items = Item.objects.filter(document__project=found.addition.project, gold=None)
    assert dict(items.values_list("document__key", "text")) == found.outputs
    assert not found.addition.project.memberships.filter(role="annotator").exists()
    with_raters = submit(board, outputs_of(cast, "With raters"), system="With raters")
    done = accept_submission(submission=with_raters, bridging=2, by=cast.admin, with_annotators=True)
    assert done.addition
    assert done.addition.project.memberships.filter(role="annotator").count() == 2
    again = accept_submission(submission=found, bridging=2, by=cast.admin)
    assert again.addition == found.addition
    with pytest.raises(DomainError, match="no public page"):
        publish(project=found.addition.project, is_public=True, **PAGE)
    same, other = {"system": "Newer"}, {"system": "Newer", "contact": "other@example.org"}
    with pytest.raises(DomainError, match="already"):
        submit(board, outputs_of(cast), **same)
    Submission.objects.update(addition=None)  # as if its addition were deleted
    assert submit(board, outputs_of(cast), **other) != found
    with pytest.raises(DomainError, match="decided"):
        reject_submission(submission=found, reason="Too late.", by=cast.admin)
