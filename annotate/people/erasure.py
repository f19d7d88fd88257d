"""What Concord knows of a person: given to them, and erased.

Ratings, comments and posts stay, under the pseudonym that exports use: a benchmark without some of its
ratings is another one. The audit log and its seals stay as well, see docs/decisions/0031.
"""

from collections.abc import Iterator
from itertools import chain, repeat
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import F, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import InvalidValueError
from annotate.core.models import (
    ApiToken,
    FormerName,
    Invitation,
    Membership,
    Notice,
    Nudge,
    Post,
    Preferences,
    PrivateNote,
    RatingChange,
    RecordedName,
    User,
)
from annotate.core.security_log import log_security
from annotate.people.blocking import withdraw_invitations_of
from annotate.people.queries import projects_needing
from annotate.people.sessions import end_sessions

BATCH = 2_000
ERASED = "erased.invalid"  # a domain that can never be, so no mail goes there


def data_of(user: User) -> dict[str, Any]:
    """Return all that is kept about a person, for that person. A fixed number of queries.

    Of ratings their own values and words; no names of systems, which annotators do not learn.
    """
    return {name: kept if isinstance(kept, dict) else list(kept) for name, kept in _kept_of(user).items()}


def data_as_json(user: User) -> Iterator[str]:
    """Yield the same as JSON, row by row: all ratings of a person can be more than memory should hold."""
    encode = DjangoJSONEncoder(ensure_ascii=False).encode
    for before, (name, kept) in zip(chain("{", repeat(",")), _kept_of(user).items(), strict=False):
        yield f"{before}\n {encode(name)}: "
        if isinstance(kept, dict):
            yield encode(kept)
        else:
            rows = (encode(row) for row in kept.iterator(BATCH))
            yield from chain(("[\n  ", next(rows, "")), (f",\n  {row}" for row in rows), ("\n ]",))
    yield "\n}\n"


def _kept_of(user: User) -> dict[str, dict[str, Any] | QuerySet[Any, Any]]:
    places = Membership.objects.filter(user=user)
    return {
        "account": {"email": user.email, "name": user.name, "since": user.date_joined},
        "former_names": _rows(FormerName.objects.filter(user=user), "at", "name", "email"),
        "preferences": _rows(Preferences.objects.filter(user=user)),
        "notices": _rows(
            Notice.objects.filter(user=user), "at", "kind", "mailed_at", project_name=F("project__slug")
        ),
        "sessions": _rows(
            UserSession.objects.filter(user=user), "created_at", "last_seen_at", "ip", "user_agent"
        ),
        "identities": _rows(
            SocialAccount.objects.filter(user=user), "provider", "uid", "date_joined", "extra_data"
        ),
        "second_factors": _rows(
            Authenticator.objects.filter(user=user), "type", "created_at", "last_used_at"
        ),
        "tokens": _rows(ApiToken.objects.filter(user=user), "name", "beginning", "created_at", "used_at"),
        "invitations": _rows(
            Invitation.objects.filter(Q(email__iexact=user.email) | Q(accepted_by=user)),
            *("email", "role", "created_at", "accepted_at"),
            project_name=F("project__slug"),
        ),
        "places": _rows(
            places,
            "role",
            "label",
            "alias",
            "pseudonym",
            "joined_at",
            "active",
            project_name=F("project__slug"),
        ),
        "ratings": _rows(
            RatingChange.objects.filter(rating__assignment__annotator__in=places).order_by("at", "pk"),
            *("at", "value_before", "value_after", "unsure", "cannot_rate", "not_applicable", "comment"),
            project_name=F("rating__assignment__round__project__slug"),
            document=F("rating__assignment__item__document__key"),
            dimension=F("rating__dimension__key"),
        ),
        "posts": _rows(
            Post.objects.filter(author__in=places), "at", "text", project_name=F("author__project__slug")
        ),
        "private_notes": _rows(PrivateNote.objects.filter(annotator__in=places), "text"),
    }


def _rows(rows: QuerySet[Any], *names: str, **others: F) -> QuerySet[Any, Any]:
    return rows.values(*names, **others)


def is_erased(user: User) -> bool:
    """Return whether somebody was erased."""
    return user.email.endswith(f"@{ERASED}")


@transaction.atomic
def erase_person(*, user: User, by: User | None = None, note: str = "") -> User:
    """Take away name, address, ways to sign in, invitations and waiting mails of a person; safe to run twice.

    Locks the person's row. Each of their projects is told, under the pseudonym. Raises InvalidValueError for
    who is the only admin of a project.
    """
    if lonely := projects_needing(user).order_by("slug").values_list("slug", flat=True):
        sentence = gettext("This is the only admin of {projects}. Give another person that role first.")
        raise InvalidValueError(sentence.format(projects=", ".join(lonely)))
    person = User.objects.select_for_update().get(pk=user.pk)
    if is_erased(person):
        return person
    withdraw_invitations_of(person)
    end_sessions(user=person)
    _erase_invitations(person)
    for model in (EmailAddress, SocialAccount, Authenticator, UserSession, ApiToken, Preferences, Notice):
        model.objects.filter(user=person).delete()
    _erase_places(person)
    person.email, person.name = f"person-{person.pk}@{ERASED}", ""
    person.is_active = person.is_staff = person.is_superuser = False
    person.set_unusable_password()
    person.save(update_fields=["email", "name", "is_active", "is_staff", "is_superuser", "password"])
    log_security("person.erased", by, erased=person.pk)
    for place in Membership.objects.filter(user=person).select_related("project").order_by("project", "pk"):
        record(place.project, "person.erased", place.pseudonym, note=note, by=by)
    return person


def _erase_invitations(person: User) -> None:
    sent = Invitation.objects.filter(Q(email__iexact=person.email) | Q(accepted_by=person))
    now = timezone.now()
    sent.filter(accepted_at=None, withdrawn_at=None).update(withdrawn_at=now)
    sent.update(email="", mail_due_at=None)


def _erase_places(person: User) -> None:
    places = Membership.objects.filter(user=person)
    RecordedName.objects.filter(place__in=places).delete()
    PrivateNote.objects.filter(annotator__in=places).delete()
    Nudge.objects.filter(rater__in=places).update(mail_due_at=None, link="")
    places.update(label=F("pseudonym"))
