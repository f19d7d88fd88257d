"""Pages queue their mails, and workers send them."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from threading import Thread
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from annotate.core import mails
from annotate.core.jobs import JOB_KINDS, run_job, take
from annotate.core.mails import AGAIN_AFTER, GIVEN_UP_AFTER
from annotate.core.models import AccountMail
from annotate.people.installation import erase_person
from annotate.people.mails import post_account_mail
from annotate.periodic_tasks import find_due_jobs
from tests.conftest import Clock
from tests.factories import make_user
from tests.jobs import due_keys, run_due
from tests.people.mails import sent_mails

pytestmark = pytest.mark.django_db

SMTP = "django.core.mail.backends.smtp.EmailBackend"


@contextmanager
def mail_server(greeting: bytes, settings: Any) -> Iterator[list[socket.socket]]:
    """Have mails sent to a server that says only this; yield its connections."""
    connections: list[socket.socket] = []
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer() -> None:
            while True:
                try:
                    connection, _ = server.accept()
                except OSError:
                    return
                connections.append(connection)
                connection.sendall(greeting)

        Thread(target=answer, daemon=True).start()
        settings.EMAIL_BACKEND = SMTP
        settings.EMAIL_HOST, settings.EMAIL_PORT = server.getsockname()
        yield connections
        server.shutdown(socket.SHUT_RDWR)
    for connection in connections:
        connection.close()


def ask_for_link(email: str) -> Any:
    return Client().post("/accounts/password/reset/", {"email": email})


@pytest.mark.parametrize("greeting", [b"", b"554 No mail today.\r\n"], ids=["silent", "refusing"])
def test_forgotten_password_request_does_not_block_on_the_mail_server(
    greeting: bytes, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(mails, "SECONDS_TO_WAIT", 0.2)
    user = make_user()
    with mail_server(greeting, settings) as connections:
        answers = [ask_for_link(email) for email in (user.email, "nobody@example.org")]
        assert [(each.status_code, each["Location"]) for each in answers] == [
            (302, "/accounts/password/reset/done/")
        ] * 2
        assert not connections
        run_due("account_mail")
        assert len(connections) == 2
    assert AccountMail.objects.count() == 2
    assert due_keys("account_mail") == []


def test_rejected_mail_goes_later_and_then_disappears(settings: Any, clock: Clock) -> None:
    user = make_user()
    with mail_server(b"554 No mail today.\r\n", settings):
        ask_for_link(user.email)
        row = AccountMail.objects.get()
        run_job("account_mail", row.pk)
    settings.EMAIL_BACKEND = "django.core.mail.backends.locmem.EmailBackend"
    assert sent_mails() == []
    clock.advance(seconds=AGAIN_AFTER.total_seconds())
    assert [each.to for each in sent_mails()] == [[user.email]]
    run_job("account_mail", row.pk)
    assert (len(mail.outbox), AccountMail.objects.exists()) == (1, False)


def test_mail_undelivered_for_a_day_is_deleted(
    settings: Any, clock: Clock, caplog: pytest.LogCaptureFixture
) -> None:
    with mail_server(b"554 No mail today.\r\n", settings):
        post_account_mail(user=None, to="ann@example.org", subject="A", body="B")
        row = AccountMail.objects.get()
        for wait, is_there in ((timedelta(), True), (GIVEN_UP_AFTER, False)):
            clock.advance(seconds=wait.total_seconds())
            run_job("account_mail", row.pk)
            assert AccountMail.objects.exists() is is_there
    assert "No mail today" in caplog.text
    assert "ann@example.org" not in caplog.text


def test_a_link_cannot_be_read_in_the_database() -> None:
    user = make_user("zaphod@example.org")
    ask_for_link(user.email)
    kept = repr(list(AccountMail.objects.values()))
    assert not [word for word in ("reset", "zaphod", "http") if word in kept]
    assert "/accounts/password/reset/key/" in str(sent_mails()[0].body)
    assert not AccountMail.objects.exists()


def test_a_mail_of_lost_secrets_is_deleted(settings: Any) -> None:
    ask_for_link(make_user().email)
    settings.SECRET_KEY = "another" * 8
    assert sent_mails() == []
    assert not AccountMail.objects.exists()


def test_workers_detect_pending_mail_and_one_delivers_it() -> None:
    ask_for_link(make_user().email)
    row = AccountMail.objects.get()
    assert find_due_jobs() == [("account_mail", row.pk)]
    assert take(JOB_KINDS["account_mail"], row.pk)
    run_job("account_mail", row.pk)
    assert mail.outbox == []
    AccountMail.objects.update(mail_due_at=timezone.now())
    assert len(sent_mails()) == 1


def test_an_erased_person_gets_no_mail_that_waited() -> None:
    user = make_user()
    ask_for_link(user.email)
    erase_person(user=user)
    assert sent_mails() == []
