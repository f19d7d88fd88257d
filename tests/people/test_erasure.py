"""What is stored about a person: given to them, and erased."""

import json
from datetime import timedelta
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.core.serializers.json import DjangoJSONEncoder
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotate.api.commands import make_token
from annotate.core.models import AuditEntry, Invitation, Membership, PrivateNote, Rating, Role, User
from annotate.people.commands import add_member, invite
from annotate.people.erasure import data_of
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
    """Return the tables that still hold any of these words."""
    found = set()
    with connection.cursor() as cursor:
        for table in connection.introspection.table_names(cursor):
            cursor.execute(f'SELECT * FROM "{table}"')
            text = repr(cursor.fetchall()).lower()
            found |= {table for word in words if word.lower() in text}
    return found


def test_a_person_downloads_what_is_stored_about_them_and_of_nobody_else(cast: Cast) -> None:
    annotator = cast.annotators[0].user
    assert annotator is not None
    make_token(user=annotator, name="my notebook", scopes=["read"], lasts=timedelta(days=1))
    client = Client()
    client.force_login(annotator)
    answer = client.get("/account/data.json")
    assert (answer["Cache-Control"], "attachment" in answer["Content-Disposition"]) == ("no-store", True)
    content = answer.getvalue().decode()
    found = json.loads(content)
    assert found == json.loads(json.dumps(data_of(annotator), cls=DjangoJSONEncoder))
    assert found["account"]["email"] == annotator.email
    (rating,) = found["ratings"]
    assert (rating["value_after"], rating["comment"], rating["dimension"]) == (4, "My own words.", "fluency")
    assert (found["places"][0]["project_name"], found["tokens"][0]["name"]) == (
        cast.project.slug,
        "my notebook",
    )
    assert not [word for word in ("Somebody else", "system-", "password") if word in content]


def test_the_number_of_queries_does_not_grow_with_ratings(cast: Cast) -> None:
    annotator = cast.annotators[0].user
    assert annotator is not None
    with CaptureQueriesContext(
        connection,
    ) as few:
        data_of(annotator)
    for item in cast.items[1:]:
        rate(cast, cast.project.rounds.get(), cast.annotators[0], item, 3)
    with CaptureQueriesContext(connection) as many:
        assert len(data_of(annotator)["ratings"]) == len(cast.items)
    assert len(many) == len(few)


def test_an_erased_person_is_in_no_table_and_their_ratings_are(cast: Cast) -> None:
    place = cast.annotators[0]
    person = place.user
    assert person is not None
    User.objects.filter(pk=person.pk).update(name="Zaphod Quux", email="zaphod@example.org")
    Membership.objects.filter(pk=place.pk).update(label="Zaphod Quux")
    person.refresh_from_db()
    PrivateNote.objects.create(annotator=place, item=cast.items[0], text="Zaphod was here")
    make_token(user=person, name="Zaphod's", scopes=["read"], lasts=timedelta(days=1))
    invite(project=cast.project, by=cast.admin, role=Role.RESEARCHER, email="zaphod@example.org")
    client = Client()
    client.post("/accounts/login/", {"login": person.email, "password": PASSWORD})
    assert client.get("/account/preferences/").status_code == 200
    assert rows_with({"zaphod"})
    with pytest.raises(CommandError, match="say --yes"):
        erase(person)
    told = json.loads(erase(person, "--yes", "--note", "asked for it", "--json"))
    assert told == [{"project": cast.project.slug, "pseudonym": place.pseudonym}]
    # Histories are never rewritten; see docs/decisions/0031.
    assert rows_with({"zaphod"}) <= {"annotate_auditentry"}
    assert client.get("/account/preferences/").status_code == 302
    place.refresh_from_db()
    assert (place.label, Rating.objects.get(assignment__annotator=place).value) == (place.pseudonym, 4)
    entry = AuditEntry.objects.get(act="person.erased")
    assert (entry.subject, entry.note, "zaphod" in str(entry.after)) == (
        place.pseudonym,
        "asked for it",
        False,
    )
    assert not Invitation.objects.filter(withdrawn_at=None, accepted_at=None).exists()


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
