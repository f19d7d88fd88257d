"""The download of one's own data holds all that the page promises, and nothing of others."""

import json
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.apps import apps
from django.db import connection
from django.db.models import Model, Q, QuerySet
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from annotate.api.tokens import make_token
from annotate.core.audit import record
from annotate.core.models import (
    Acknowledgement,
    CountingDecision,
    DisputeDigest,
    DisputeEvent,
    Export,
    FormerName,
    GoldItem,
    GoldValue,
    Guideline,
    Membership,
    Notice,
    PracticeAnswer,
    PrivateNote,
    RecordedName,
    SavedTemplate,
    User,
)
from annotate.disputes.commands.disputes import answer_dispute, post_message
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import start_export
from annotate.people import own_data
from annotate.people.commands import save_preferences
from annotate.people.mails import post_account_mail
from annotate.people.own_data import IN_SECTIONS, data_as_json
from tests.factories import Cast, make_outside_rater, make_project
from tests.rating.rounds import discussed, opened, rate

pytestmark = pytest.mark.django_db


ROOT = Path(__file__).parents[2]


@pytest.fixture
def cast() -> Cast:
    cast = make_project()
    round = opened(cast)
    rate(cast, round, cast.annotators[0], cast.items[0], 4, comment="My own words.")
    rate(cast, round, cast.annotators[1], cast.items[0], 2, comment="Somebody else's.")
    return cast


def test_person_downloads_all_own_data_and_none_of_others(cast: Cast) -> None:
    annotator = cast.annotators[0].user
    assert annotator is not None
    make_token(user=annotator, name="my notebook", scopes=["read"], lasts=timedelta(days=1))
    client = Client()
    client.force_login(annotator)
    answer = client.get("/account/data.json")
    assert (answer["Cache-Control"], "attachment" in answer["Content-Disposition"]) == ("no-store", True)
    content = answer.getvalue().decode()
    found = json.loads(content)
    assert content == "".join(data_as_json(annotator))
    assert found["account"]["email"] == annotator.email
    (rating,) = found["ratings"]
    assert (rating["value_after"], rating["comment"], rating["dimension"]) == (4, "My own words.", "fluency")
    assert (found["memberships"][0]["project_name"], found["tokens"][0]["name"]) == (
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
        list(data_as_json(annotator))
    for item in cast.items[1:]:
        rate(cast, cast.project.rounds.get(), cast.annotators[0], item, 3)
    with CaptureQueriesContext(connection) as many:
        assert len(json.loads("".join(data_as_json(annotator)))["ratings"]) == len(cast.items)
    assert len(many) == len(few)


@pytest.fixture
def busy() -> User:
    """An annotator of a project with disputes, who has at least one row in each table about a person."""
    cast = make_project()
    dispute = discussed(cast, 1, 3, 5)
    membership = cast.annotators[0]
    user = membership.user
    assert user is not None
    answer_dispute(dispute=dispute, rater=membership, value=None, comment="A kept reason.")
    post_message(dispute=dispute, author=membership, text="A post.")
    DisputeEvent.objects.create(dispute=dispute, at=timezone.now(), actor=user, kind="irresolvable")
    now, dimension, item = timezone.now(), cast.dimensions[0], cast.items[0]
    gold = GoldItem.objects.create(item=cast.items[-1], use=GoldItem.Use.PRACTICE)
    value = GoldValue.objects.create(gold=gold, dimension=dimension, value=3)
    PracticeAnswer.objects.create(
        membership=membership, gold_value=value, value=3, comment="A practice answer."
    )
    Acknowledgement.objects.create(annotator=membership, guideline=Guideline.objects.all()[0], at=now)
    PrivateNote.objects.create(annotator=membership, item=item, text="A private note.")
    RecordedName.objects.create(project=cast.project, name="A recorded name", membership=membership)
    make_outside_rater(membership, answers=[{"question": "Age?", "answer": "An answer about me."}])
    CountingDecision.objects.create(membership=membership, counted=False, note="A decision.", by=cast.admin)
    save_preferences(user=user, theme="dark")
    Notice.objects.create(
        user=user, project=cast.project, kind="rounds", about="1", facts={}, link="", at=now
    )
    DisputeDigest.objects.create(user=user, day=now.date(), at=now)
    post_account_mail(user=user, to=user.email, subject="A", body="B")
    UserSession.objects.create(user=user, session_key="k", ip="192.0.2.1", user_agent="A browser")
    Authenticator.objects.create(user=user, type="webauthn", data={"name": "A passkey", "key": "secret!"})
    EmailAddress.objects.create(user=user, email=user.email, verified=True)
    FormerName.objects.create(user=user, at=now, name="A former name", email="former@example.org")
    make_token(user=user, name="A notebook", scopes=["read"], lasts=timedelta(days=1))
    SavedTemplate.objects.create(owner=user, name="A template", content="{}")
    record(cast.project, "project.changed", "An act", after={"name": "N"}, by=user)
    start_export(project=cast.project, choice=ExportChoice(Format.CSV, frozenset(), ""), by=user)
    return user


# What docs/how-to/people.md promises, with words that the fixture has stored.
PROMISED = {
    "account": ("account", "@example.org"),
    "sessions": ("sessions", "A browser"),
    "tokens": ("tokens", "A notebook"),
    "memberships": ("memberships", "pseudonym"),
    "own ratings with their history": ("ratings", "Reason of A."),
    "comments": ("ratings", "A kept reason."),
    "practice answers": ("practice_answers", "A practice answer."),
    "posts": ("posts", "A post."),
    "private notes": ("private_notes", "A private note."),
    "templates": ("templates", "A template"),
    "acts in audit logs": ("acts", "An act"),
    "consent and answers of raters from outside": ("outside", "An answer about me."),
}


@pytest.mark.parametrize("promise", PROMISED)
def test_download_contains_the_documented_data(busy: User, promise: str) -> None:
    section, words = PROMISED[promise]
    page = (ROOT / "docs" / "how-to" / "people.md").read_text()
    sentence = page.partition("all that is stored about them as JSON:")[2]
    assert promise in " ".join(sentence.partition(".")[0].split())
    assert words in str(json.loads("".join(data_as_json(busy)))[section])


def referring(model: type[Model], user: User) -> QuerySet[Any]:
    """Return the rows of a table that refer to a person, as account or by a place."""
    memberships = Membership.objects.filter(user=user)
    whose = Q()
    for field in model._meta.fields:
        if field.related_model is User:
            whose |= Q(**{field.name: user})
        if field.related_model is Membership:
            whose |= Q(**{f"{field.name}__in": memberships})
    return model._default_manager.filter(whose) if whose else model._default_manager.none()


def test_every_row_about_a_person_is_in_the_download(busy: User) -> None:
    sections = own_data._collect_sections(busy)
    given = {kept.model: kept.count() for kept in sections.values() if isinstance(kept, QuerySet)}
    others = sections["other_rows"]
    assert isinstance(others, dict)
    for model in apps.get_models(include_auto_created=True):
        rows = set(referring(model, busy).values_list("pk", flat=True))
        if model in IN_SECTIONS:
            assert rows or model is SocialAccount, f"the scene has no {model}"
            assert given[model] == len(rows), model
        else:
            table = f"{model._meta.db_table}."
            listed = {pk for name, found in others.items() if name.startswith(table) for pk in found}
            assert listed == rows, model
    assert others["annotate_export.created_by"] == [Export.objects.get().pk]


def test_the_download_tells_neither_secrets_nor_hidden_checks(busy: User) -> None:
    content = "".join(data_as_json(busy))
    assert "A passkey" in content
    assert not [
        word for word in ("secret!", "system-", '"plan"', '"round"', busy.password) if word in content
    ]
