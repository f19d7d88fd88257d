"""The daily mail about disputes that need someone: who gets it, when, and how it ends."""

import re
from datetime import timedelta

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from annotate.core.mails import AGAIN_AFTER
from annotate.core.models import DisputeDigest, Preferences, Round
from annotate.disputes.commands.digests import digest_token, write_digests
from annotate.disputes.commands.disputes import answer_dispute, post_message
from annotate.disputes.queries.activity import disputes_needing
from annotate.people.commands import save_preferences
from annotate.periodic_tasks import enqueue_digests
from annotate.rating.commands.rounds import close_round_one, close_round_two, open_round_two
from concord.celery import app
from tests.factories import make_project
from tests.jobs import run_due
from tests.rating.rounds import discussed, opened, rate

pytestmark = pytest.mark.django_db
ADDRESS = "https://concord.example.org"


@pytest.fixture
def cast(clock):
    """One unit is discussed since yesterday; its first rater asked for digests; it stays noon of today."""
    cast = make_project()
    discussed(cast, 1, 3, 5)
    Round.objects.update(opened_at=timezone.now() - timedelta(days=1))
    user = cast.annotators[0].user
    assert user
    save_preferences(user=user, digest_address=ADDRESS)
    return cast


def morning(days=0):
    """Return nine o'clock, this many days after tomorrow."""
    return (timezone.localtime() + timedelta(days=1 + days)).replace(hour=9)


def send_digests(now):
    """Write the digests of a day, and mail them as a worker does."""
    write_digests(now=now)
    run_due("digest")


def dispute_of(cast):
    return cast.project.rounds.get(number=1).disputes.get()


def test_one_digest_lists_pending_disputes_with_links(cast):
    send_digests(now=morning())
    (message,) = mail.outbox
    assert message.to == [cast.annotators[0].user.email]
    assert message.subject == "Concord: 1 dispute needs you"
    assert f"{cast.project.name}: dispute 1, Fluency" in message.body
    assert f"{ADDRESS}/projects/{cast.project.slug}/disputes/1/\n" in message.body
    for other in cast.annotators[1:]:
        assert other.label not in message.body


def test_user_without_opt_in_gets_no_digest(cast):
    Preferences.objects.update(digest_address="")
    send_digests(now=morning())
    assert mail.outbox == []


def test_the_same_day_brings_no_second_one_and_a_day_without_news_none(cast):
    for days in (0, 0, 1, 2):
        send_digests(now=morning(days))
    assert len(mail.outbox) == 1


def test_what_others_did_since_the_last_one_is_news(cast):
    send_digests(now=morning())
    post = post_message(dispute=dispute_of(cast), author=cast.annotators[1], text="Why?")
    later = morning(1)
    # The histories refuse to be rewritten, so the digest is put before the post instead.
    DisputeDigest.objects.update(at=post.at - timedelta(seconds=1))
    send_digests(now=later)
    assert len(mail.outbox) == 2
    answer_dispute(dispute=dispute_of(cast), rater=cast.annotators[0], value=None, comment="Because.")
    send_digests(now=morning(2))
    assert len(mail.outbox) == 2  # it waits for others now


def test_closed_round_and_closed_membership_send_no_digest(cast):
    membership = cast.annotators[0]
    membership.active = False
    membership.save(update_fields=["active"])
    send_digests(now=morning())
    membership.active = True
    membership.save(update_fields=["active"])
    close_round_two(project=cast.project, by=cast.admin)
    send_digests(now=morning())
    assert mail.outbox == []


def test_disputes_before_round_two_are_not_counted(clock):
    cast = make_project()
    round = opened(cast)
    for annotator, value in zip(cast.annotators, (1, 3, 5), strict=True):
        rate(cast, round, annotator, cast.items[0], value)
    close_round_one(project=cast.project, by=cast.admin)
    dispute = dispute_of(cast)
    user = cast.annotators[0].user
    assert user
    assert dispute.status == "open"
    assert disputes_needing(user, since=cast.project.created_at) == []
    open_round_two(project=cast.project, by=cast.admin)
    assert len(disputes_needing(user, since=cast.project.created_at)) == 1


def test_none_comes_before_the_morning_and_none_without_a_mail_server(cast, settings):
    send_digests(now=morning().replace(hour=6))
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    send_digests(now=morning())
    assert not DisputeDigest.objects.exists()


def test_undeliverable_digest_goes_out_later(cast, clock, monkeypatch):
    with monkeypatch.context() as away:
        away.setattr("django.core.mail.EmailMessage.send", refuse)
        send_digests(now=morning())
    send_digests(now=morning())
    assert mail.outbox == [], "it waits for some minutes"
    clock.advance(seconds=AGAIN_AFTER.total_seconds())
    send_digests(now=morning())
    assert len(mail.outbox) == 1
    assert DisputeDigest.objects.get().mail_due_at is None


def refuse(*args):
    raise ConnectionRefusedError


@pytest.mark.django_db(transaction=True)
def test_a_worker_wakes_only_while_someone_is_due(cast, monkeypatch):
    monkeypatch.setitem(app.conf, "task_always_eager", True)
    monkeypatch.setattr("annotate.disputes.commands.digests.MORNING", 0)
    enqueue_digests()
    enqueue_digests()
    assert len(mail.outbox) == 1
    assert DisputeDigest.objects.get().day == timezone.localdate()


def test_the_link_of_a_message_ends_them_without_signing_in_once_it_is_confirmed(cast):
    send_digests(now=morning())
    (message,) = mail.outbox
    stop = message.extra_headers["List-Unsubscribe"].strip("<>")
    assert stop in message.body
    path = stop.removeprefix(ADDRESS)
    anyone = Client(enforce_csrf_checks=True)
    assert "Send me no more of them" in anyone.get(path).content.decode()
    assert Preferences.objects.get().digest_address
    ended = anyone.post(path, {"List-Unsubscribe": "One-Click"}).content.decode()
    assert "You are sent no more of them." in ended
    assert not Preferences.objects.get().digest_address
    assert anyone.get(f"/account/digest/{digest_token(cast.admin)}x/").status_code == 404


def test_digest_is_off_by_default_and_links_return_to_their_page(cast, client):
    client.force_login(cast.annotators[1].user)
    page = "/account/preferences/"
    assert "checked" not in box(client.get(page))
    chosen = {
        "theme": "system",
        "language": "",
    }
    client.post(page, {**chosen, "digest": "on"})
    kept = Preferences.objects.get(user=cast.annotators[1].user)
    assert kept.digest_address == "http://testserver"
    assert "checked" in box(client.get(page))
    client.post(page, chosen)
    kept.refresh_from_db()
    assert kept.digest_address == ""


def box(page):
    found = re.search(r'<input type="checkbox" name="digest"[^>]*>', page.content.decode())
    assert found is not None
    return found[0]
