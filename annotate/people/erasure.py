"""Erasing a person.

Ratings, comments and posts stay, under the pseudonym that exports use: a benchmark without some of its
ratings is another one. Acts in the audit log stay too, without the person's names; see docs/decisions/0031.
"""

from collections.abc import Iterable

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import InvalidValueError
from annotate.core.models import (
    AccountMail,
    ApiToken,
    Invitation,
    Membership,
    Notice,
    Nudge,
    Preferences,
    PrivateNote,
    Project,
    RecordedName,
    User,
)
from annotate.core.security_log import log_security
from annotate.people.blocking import withdraw_invitations_of
from annotate.people.erased_names import ErasedNames, erase_names
from annotate.people.outside import forget_platform
from annotate.people.own_data import sent_to
from annotate.people.queries import projects_needing
from annotate.people.sessions import end_sessions

ERASED = "erased.invalid"  # a domain that can never be, so no mail goes there


def is_erased(user: User) -> bool:
    """Return whether somebody was erased."""
    return user.email.endswith(f"@{ERASED}")


@transaction.atomic
def erase_person(*, user: User, by: User | None = None, note: str = "") -> User:
    """Take away name, address, ways to sign in, invitations and waiting mails of a person; safe to run twice.

    Audit logs name the pseudonym from then on. Locks the person's row. Each of their projects is told, and
    each whose log has changed. Raises InvalidValueError for who is the only admin of a project.
    """
    if lonely := projects_needing(user).order_by("slug").values_list("slug", flat=True):
        sentence = gettext("This is the only admin of {projects}. Give another person that role first.")
        raise InvalidValueError(sentence.format(projects=", ".join(lonely)))
    person = User.objects.select_for_update().get(pk=user.pk)
    if is_erased(person):
        return person
    withdraw_invitations_of(person)
    end_sessions(user=person)
    address = f"person-{person.pk}@{ERASED}"
    names = ErasedNames(person, address)
    note = names.replace_in(note, project=None)
    changed = erase_names(names)
    _erase_invitations(person, names.addresses)
    for model in (
        EmailAddress,
        SocialAccount,
        Authenticator,
        UserSession,
        ApiToken,
        Preferences,
        Notice,
        AccountMail,
    ):
        model.objects.filter(user=person).delete()
    _erase_places(person)
    person.email, person.name = address, ""
    person.is_active = person.is_staff = person.is_superuser = False
    person.set_unusable_password()
    person.save(update_fields=["email", "name", "is_active", "is_staff", "is_superuser", "password"])
    log_security("person.erased", by, erased=person.pk)
    places = Membership.objects.filter(user=person)
    pseudonyms = dict(places.order_by("-pk").values_list("project", "pseudonym"))
    for project in Project.objects.filter(pk__in={*pseudonyms, *changed}).order_by("pk"):
        called = pseudonyms.get(project.pk, f"person-{person.pk}")
        facts = {"entries": changed.get(project.pk, 0)}
        record(project, "person.erased", called, after=facts, note=note, by=by)
    return person


def _erase_invitations(person: User, addresses: Iterable[str]) -> None:
    sent = Invitation.objects.filter(sent_to(addresses) | Q(accepted_by=person))
    now = timezone.now()
    sent.filter(accepted_at=None, withdrawn_at=None).update(withdrawn_at=now)
    sent.update(email="", note="", mail_due_at=None)


def _erase_places(person: User) -> None:
    places = Membership.objects.filter(user=person)
    RecordedName.objects.filter(place__in=places).delete()
    forget_platform(places)
    PrivateNote.objects.filter(annotator__in=places).delete()
    Nudge.objects.filter(rater__in=places).update(mail_due_at=None, link="")
    places.update(label=F("pseudonym"))
