"""Mails by choice: each kind to who chose it, once, and no other."""

from datetime import timedelta
from typing import Any

import pytest
from django.core import mail
from django.test import Client
from django.utils import timezone

from annotate.core.jobs import run_job
from annotate.core.models import Assignment, Membership, Notice, NoticeKind, User
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import start_export
from annotate.people.commands import save_preferences
from annotate.people.installation import erase_person
from annotate.periodic_tasks import find_due_jobs
from annotate.rating.commands.assignments import hand_over_work, reserve_items
from annotate.rating.commands.rounds import close_round_one, note_deadlines, open_round_one
from tests.factories import Cast, make_project
from tests.jobs import run_due

pytestmark = pytest.mark.django_db
HERE = "https://concord.example"


def choose(user: User, *kinds: NoticeKind, **other: Any) -> None:
    save_preferences(user=user, notices=list(kinds), notice_address=HERE if kinds else "", **other)


def send_due() -> list[tuple[str, str]]:
    """Send what is due; return whom each mail was for, and its subject."""
    before = len(mail.outbox)
    run_due("notice")
    return sorted((message.to[0], str(message.subject)) for message in mail.outbox[before:])


def user_of(membership: Membership) -> User:
    assert membership.user is not None
    return membership.user


@pytest.fixture
def cast() -> Cast:
    cast = make_project(documents=3, systems=1, annotators=2, raters_per_item=1)
    cast.project.name = "News"
    cast.project.save()
    return cast


def test_opted_in_members_get_one_notice_per_round_opening_and_close(cast: Cast) -> None:
    ann = user_of(cast.annotators[0])
    choose(ann, NoticeKind.ROUNDS)
    choose(cast.researcher, NoticeKind.EXPORTS)
    choose(cast.outsider, NoticeKind.ROUNDS)
    open_round_one(project=cast.project, by=cast.admin)
    assert send_due() == [(ann.email, "Round I of News is open")]
    assert f"{HERE}/projects/{cast.project.slug}/" in mail.outbox[-1].body
    assert f"{HERE}/account/preferences/" in mail.outbox[-1].body
    close_round_one(project=cast.project, by=cast.admin)
    close_round_one(project=cast.project, by=cast.admin)
    assert send_due() == [(ann.email, "Round I of News is closed")]
    assert send_due() == []


def test_message_uses_the_language_of_its_reader(cast: Cast) -> None:
    choose(user_of(cast.annotators[0]), NoticeKind.ROUNDS, language="de")
    open_round_one(project=cast.project, by=cast.admin)
    send_due()
    assert mail.outbox[-1].subject == "Runde I von News ist offen"


def test_raters_with_work_get_notices_seven_and_two_days_before_an_end(cast: Cast, clock: object) -> None:
    ann, bo = (user_of(membership) for membership in cast.annotators)
    for user in (ann, bo):
        choose(user, NoticeKind.DEADLINES)
    round = open_round_one(project=cast.project, by=cast.admin)
    reserve_items(round=round, annotator=cast.annotators[0], how_many=3)
    today = timezone.localdate()

    def look(days: int) -> list[str]:
        round.deadline = today + timedelta(days=days)
        round.save()
        note_deadlines()
        note_deadlines()
        return [address for address, _ in send_due()]

    assert look(8) == []
    assert look(7) == [ann.email], "all places are with one"
    assert look(6) == [ann.email], "it was moved, and is told of again"
    assert look(2) == [ann.email]
    assert look(-1) == []
    Assignment.objects.update(started_at=timezone.now(), completed_at=timezone.now())
    assert look(3) == []
    Assignment.objects.update(completed_at=None, started_at=None, annotator=None, position=None)
    assert look(3) == sorted([ann.email, bo.email]), "places are free for both"


def test_notice_after_a_pause_has_only_the_nearer_deadline(cast: Cast, clock: object) -> None:
    choose(user_of(cast.annotators[0]), NoticeKind.DEADLINES)
    round = open_round_one(project=cast.project, by=cast.admin)
    round.deadline = timezone.localdate() + timedelta(days=1)
    round.save()
    note_deadlines()
    assert [notice.about.split()[-1] for notice in Notice.objects.all()] == ["2"]


def test_new_rater_of_reassigned_work_learns_its_amount(cast: Cast) -> None:
    choose(user_of(cast.annotators[1]), NoticeKind.HANDED_OVER)
    round = open_round_one(project=cast.project, by=cast.admin)
    reserve_items(round=round, annotator=cast.annotators[0], how_many=3)
    hand_over_work(membership=cast.annotators[0], to=[cast.annotators[1]])
    assert send_due() == [(user_of(cast.annotators[1]).email, "Work in News was handed over to you")]
    assert "3 items of “News” were handed over to you." in mail.outbox[-1].body


def test_export_requester_gets_a_notice_when_it_is_ready(cast: Cast) -> None:
    choose(cast.admin, NoticeKind.EXPORTS)
    choose(cast.researcher, NoticeKind.EXPORTS)
    choice = ExportChoice(Format.CSV, frozenset(), "")
    export = start_export(project=cast.project, choice=choice, by=cast.admin)
    run_job("export", export.pk)
    assert send_due() == [(cast.admin.email, "The export of News is ready")]
    assert f"{HERE}/projects/{cast.project.slug}/export/" in mail.outbox[-1].body


def test_undeliverable_notice_goes_out_later(cast: Cast, monkeypatch: pytest.MonkeyPatch) -> None:
    choose(cast.admin, NoticeKind.ROUNDS)
    open_round_one(project=cast.project, by=cast.researcher)
    ((_, pk),) = [(kind, pk) for kind, pk in find_due_jobs() if kind == "notice"]

    def refuse(*_: object, **__: object) -> None:
        raise OSError("no route")

    with monkeypatch.context() as away:
        away.setattr("django.core.mail.EmailMessage.send", refuse)
        run_job("notice", pk)
    assert send_due() == [], "it waits for some minutes"
    Notice.objects.update(mail_due_at=timezone.now())
    assert len(send_due()) == 1


def test_without_a_mail_server_nothing_is_written(cast: Cast, settings: Any) -> None:
    choose(cast.admin, NoticeKind.ROUNDS)
    settings.EMAIL_BACKEND = "django.core.mail.backends.console.EmailBackend"
    open_round_one(project=cast.project, by=cast.researcher)
    assert not Notice.objects.exists()


def test_preferences_list_the_kinds_and_keep_the_choice(client: Client, cast: Cast) -> None:
    client.force_login(cast.researcher)
    page = client.get("/account/preferences/").content.decode()
    assert "a round that I have work in ends in 7 or 2 days" in page
    usual = {
        "theme": "system",
        "language": "",
    }
    client.post("/account/preferences/", {**usual, "notices": ["rounds", "exports"]})
    cast.researcher.refresh_from_db()
    chosen = cast.researcher.preferences
    assert (chosen.notices, chosen.notice_address) == (["rounds", "exports"], "http://testserver")
    client.post("/account/preferences/", usual)
    chosen.refresh_from_db()
    assert (chosen.notices, chosen.notice_address) == ([], "")


def test_erasing_a_person_erases_their_notices(cast: Cast) -> None:
    choose(cast.researcher, NoticeKind.ROUNDS)
    open_round_one(project=cast.project, by=cast.admin)
    assert Notice.objects.count() == 1
    erase_person(user=cast.researcher)
    assert not Notice.objects.exists()
