"""What is stored about a person: given to them, and erased."""

import json
from datetime import timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.utils import timezone

from annotate.api.tokens import make_token
from annotate.core.audit import record
from annotate.core.models import (
    AuditEntry,
    ComputedResult,
    DataImport,
    Erasure,
    FormerName,
    Invitation,
    Membership,
    PrivateNote,
    Rating,
    Role,
    User,
)
from annotate.people.commands import (
    add_member,
    change_address,
    invite,
    rename_membership,
    withdraw_invitation,
)
from annotate.people.installation import block_person, unblock_person
from annotate.people.invitations import change_token
from tests.api.client import ApiClient
from tests.core.test_histories import REFUSED
from tests.factories import PASSWORD, Cast, make_project, make_user
from tests.rating.rounds import opened, rate

pytestmark = pytest.mark.django_db


@pytest.fixture
def cast() -> Cast:
    cast = make_project()
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 4, comment="My own words.")
    rate(cast, round, cast.annotators[1], cast.items[0], 2, comment="Somebody else's.")
    return cast


def erase(person: User, *options: str) -> str:
    out = StringIO()
    call_command("erase", person.email, *options, stdout=out)
    return out.getvalue()


def rows_with(words: set[str]) -> set[str]:
    """Return the tables that still hold any of these words in any column."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            values = (bytes(each) if isinstance(each, memoryview) else each for row in cursor for each in row)
            text = " ".join(map(str, values)).lower()
            found |= {table for word in words if word.lower() in text}
    return found


def test_an_erased_person_is_in_no_table_and_their_ratings_are(cast: Cast) -> None:
    membership = cast.annotators[0]
    person = membership.user
    assert person is not None
    User.objects.filter(pk=person.pk).update(name="Zaphod Quux", email="zaphod@example.org")
    Membership.objects.filter(pk=membership.pk).update(label="Zaphod Quux")
    person.refresh_from_db()
    PrivateNote.objects.create(annotator=membership, item=cast.items[0], text="Zaphod was here")
    make_token(user=person, name="Zaphod's", scopes=["read"], lasts=timedelta(days=1))
    invite(project=cast.project, by=cast.admin, role=Role.RESEARCHER, email="zaphod@example.org")
    client = Client()
    client.post("/accounts/login/", {"login": person.email, "password": PASSWORD})
    assert client.get("/account/preferences/").status_code == 200
    assert rows_with({"zaphod"})
    with pytest.raises(CommandError, match="say --yes"):
        erase(person)
    told = json.loads(erase(person, "--yes", "--note", "asked for it", "--json"))
    assert told == [{"project": cast.project.slug, "pseudonym": membership.pseudonym}]
    assert rows_with({"zaphod"}) == set()
    assert client.get("/account/preferences/").status_code == 302
    membership.refresh_from_db()
    assert (membership.label, Rating.objects.get(assignment__annotator=membership).value) == (
        membership.pseudonym,
        4,
    )
    entry = AuditEntry.objects.get(act="person.erased")
    assert (entry.subject, entry.note, "zaphod" in str(entry.after)) == (
        membership.pseudonym,
        "asked for it",
        False,
    )
    assert not Invitation.objects.filter(withdrawn_at=None, accepted_at=None).exists()


ADDRESSES = ("zaphod@example.org", "beeblebrox@example.org")


@pytest.fixture
def famous(cast: Cast) -> User:
    """A person who did much, under two addresses, in two projects and on behalf of others."""
    other, person = make_project(), cast.annotators[0].user
    assert person is not None
    User.objects.filter(pk=person.pk).update(name="Zaphod Quux", email=ADDRESSES[0])
    person.refresh_from_db()
    rename_membership(membership=cast.annotators[0], label="Zaphod Quux", by=cast.admin)
    add_member(project=other.project, role=Role.ADMIN, user=person)
    change_address(user=person, token=change_token(person, ADDRESSES[1]))
    person.refresh_from_db()
    guest = invite(project=cast.project, by=person, role=Role.RESEARCHER, email="trillian@example.org")
    for email, note in ((ADDRESSES[1], "Dear Zaphod Quux"), (ADDRESSES[0].upper(), "")):
        invite(project=other.project, by=other.admin, role=Role.ANNOTATOR, email=email, note=note)
    withdraw_invitation(invitation=guest)
    block_person(user=person, by=cast.admin, note=f"{ADDRESSES[1]} asked for it")
    unblock_person(user=person, by=cast.admin)
    record(
        cast.project, "project.changed", after={"names": ["Zaphod Quux", {"who": ADDRESSES[0]}]}, by=person
    )
    DataImport.objects.create(
        project=cast.project,
        kind="ratings",
        name="r.csv",
        size=1,
        touched_at=timezone.now(),
        report={"raters": ["Zaphod Quux"]},
        message="",
    )
    ComputedResult.objects.create(project=cast.project, name="agreement", content="Zaphod Quux")
    program = ApiClient(cast.admin)
    program.post(
        f"projects/{cast.project.slug}/invitations/",
        {"role": "researcher", "email": ADDRESSES[1]},
        key="again",
    )
    Client().post("/accounts/password/reset/", {"email": person.email})
    return person


def test_erasing_removes_email_and_name_from_every_column(cast: Cast, famous: User) -> None:
    words = {"zaphod", "beeblebrox"}
    assert rows_with(words) >= {"annotate_auditentry", "annotate_formername", "annotate_keptanswer"}
    erase(famous, "--yes", "--note", f"{ADDRESSES[1]} wrote to us")
    assert rows_with(words) == set()
    entries = AuditEntry.objects.filter(project=cast.project)
    assert entries.filter(actor=famous, actor_email=f"person-{famous.pk}@erased.invalid").exists()
    [changed] = entries.filter(act="project.changed")
    assert changed.after == {
        "names": [cast.annotators[0].pseudonym, {"who": f"person-{famous.pk}@erased.invalid"}]
    }
    told = entries.get(act="person.erased")
    assert told.after
    assert (told.after["entries"] > 3, "wrote to us" in told.note) == (True, True)


def test_names_of_others_stay(cast: Cast) -> None:
    ann, other = cast.annotators[0].user, cast.annotators[1].user
    assert ann
    assert other
    User.objects.filter(pk=ann.pk).update(name="Ann", email="ann@example.org")
    User.objects.filter(pk=other.pk).update(name="Ann Other", email="joann@example.org.uk")
    other.refresh_from_db()
    Membership.objects.filter(pk=cast.annotators[0].pk).update(label="Ann")
    said = {"note": "Ann Other annotates", "mail": "joann@example.org", "also": "ann@example.org.uk"}
    record(cast.project, "project.changed", "Ann", after=said, by=other)
    erase(User.objects.get(pk=ann.pk), "--yes")
    entry = AuditEntry.objects.get(act="project.changed")
    assert (entry.subject, entry.after) == (cast.annotators[0].pseudonym, said)
    assert (entry.actor_name, entry.actor_email) == ("Ann Other", "joann@example.org.uk")


def test_only_erasing_changes_names_and_nothing_else(cast: Cast, famous: User) -> None:
    entries = AuditEntry.objects.filter(project=cast.project, actor=cast.admin)
    for change in ({"subject": "A"}, {"actor_email": "a@example.org"}):
        with pytest.raises(REFUSED, match="never rewritten"), transaction.atomic():
            entries.update(**change)
    permission = Erasure.objects.create(user=famous)
    others: tuple[dict[str, Any], ...] = ({"act": "a.b"}, {"at": timezone.now()}, {"actor": famous})
    for other in others:
        with pytest.raises(REFUSED, match="never rewritten"), transaction.atomic():
            entries.update(**other)
    permission.delete()
    assert FormerName.objects.filter(user=famous).exists()
    permission = Erasure.objects.create(user=cast.admin)
    with pytest.raises(REFUSED, match="never rewritten"), transaction.atomic():
        FormerName.objects.filter(user=famous).delete()
    permission.delete()


def test_a_project_keeps_an_admin(cast: Cast) -> None:
    with pytest.raises(CommandError, match=f"only admin of {cast.project.slug}"):
        erase(cast.admin, "--yes")
    add_member(project=cast.project, role=Role.ADMIN, user=make_user())
    erase(cast.admin, "--yes")
    assert not User.objects.get(pk=cast.admin.pk).is_active


def test_erasing_twice_is_erasing_once(cast: Cast) -> None:
    person = cast.annotators[1].user
    assert person is not None
    erase(person, "--yes")
    person.refresh_from_db()
    erase(person, "--yes")
    assert AuditEntry.objects.filter(act="person.erased").count() == 1
