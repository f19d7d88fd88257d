"""People of an installation: their access, blocking and erasing them."""

import re
from dataclasses import dataclass
from typing import Any

from allauth.account.models import EmailAddress
from allauth.mfa.models import Authenticator
from allauth.socialaccount.models import SocialAccount
from allauth.usersessions.models import UserSession
from django.db import transaction
from django.db.models import Count, F, Q
from django.utils import timezone
from django.utils.translation import gettext

from annotate.api.tokens import revoke_tokens
from annotate.core.audit import log_security, record
from annotate.core.errors import InvalidValueError
from annotate.core.models import (
    AccountMail,
    ApiToken,
    AuditEntry,
    ComputedResult,
    DataImport,
    Erasure,
    FormerName,
    Invitation,
    KeptAnswer,
    Membership,
    Notice,
    Nudge,
    Preferences,
    PrivateNote,
    Project,
    RecordedName,
    User,
)
from annotate.people.commands import withdraw_invitation
from annotate.people.outside import forget_platform
from annotate.people.own_data import sent_to
from annotate.people.queries import projects_needing
from annotate.people.second_factor import has_second_factor, record_everywhere
from annotate.people.sessions import end_sessions, sessions_of

MOST_SHOWN = 200


@dataclass(frozen=True)
class Access:
    memberships: list[Membership]
    sessions: int
    tokens: int
    has_second_factor: bool


def people_of_installation(word: str) -> list[User]:
    """Return the people whose name or e-mail contains `word`, blocked ones first. One query."""
    named = Q(name__icontains=word) | Q(email__icontains=word)
    memberships = Count("memberships", filter=Q(memberships__active=True))
    found = User.objects.filter(named).annotate(projects_with_role=memberships)
    # The page shows one less, and reports that it is not complete.
    return list(found.order_by("is_active", "name", "email")[: MOST_SHOWN + 1])


def access_of(person: User) -> Access:
    """Return a person's permissions with their sources. Four queries."""
    memberships = (
        Membership.objects.filter(user=person).select_related("project").order_by("project__name", "pk")
    )
    usable = ApiToken.objects.filter(user=person, revoked_at=None, expires_at__gt=timezone.now())
    return Access(list(memberships), sessions_of(person).count(), usable.count(), has_second_factor(person))


@transaction.atomic
def block_person(*, user: User, by: User | None = None, note: str = "") -> User:
    """Block sign-in, end all sessions, revoke the tokens and withdraw the invitations of a person.

    Adds one event to each of their projects. Locks the person's row and the projects that they invited to.
    by: None on the command line. Raises InvalidValueError if they would block themselves.
    """
    if by is not None and by.pk == user.pk:
        raise InvalidValueError(gettext("You cannot block yourself: another operator can."))
    person = User.objects.select_for_update().get(pk=user.pk)
    # All ways in end, also for a person who is blocked already.
    was_active, person.is_active = person.is_active, False
    person.save(update_fields=["is_active"])
    withdraw_invitations_of(person)
    ended = {"tokens": revoke_tokens(user=person), "sessions": end_sessions(user=person)}
    if was_active:
        record_everywhere(person, "person.blocked", by=by, note=note, **ended)
    return person


@transaction.atomic
def unblock_person(*, user: User, by: User | None = None, note: str = "") -> User:
    """Let a person sign in again; their tokens stay revoked. Locks the person's row."""
    person = User.objects.select_for_update().get(pk=user.pk)
    was_active, person.is_active = person.is_active, True
    person.save(update_fields=["is_active"])
    if not was_active:
        record_everywhere(person, "person.unblocked", by=by, note=note)
    return person


def withdraw_invitations_of(person: User) -> None:
    """Withdraw a person's invitations: through their own link they could return under another name."""
    made = Invitation.objects.filter(created_by=person, accepted_at=None, withdrawn_at=None)
    for invitation in made.select_related("project").order_by("project", "pk"):
        withdraw_invitation(invitation=invitation)


BATCH = 1000
SAID = ("subject", "note", "before", "after")  # named by an entry in addition to the actor


class ErasedNames:
    def __init__(self, person: User, erased_address: str) -> None:
        memberships = list(Membership.objects.filter(user=person).order_by("pk"))
        former = FormerName.objects.filter(user=person)
        self.addresses = {person.email, *former.values_list("email", flat=True)}
        self.addresses |= set(EmailAddress.objects.filter(user=person).values_list("email", flat=True))
        self.addresses |= set(Invitation.objects.filter(accepted_by=person).values_list("email", flat=True))
        names = {person.name, *former.values_list("name", flat=True), *(each.label for each in memberships)}
        self.person, self.erased_address = person, erased_address
        # Reversed, so that the first membership in a project gives the pseudonym.
        self.pseudonyms = {each.project_id: each.pseudonym for each in reversed(memberships)}
        self._address = _anywhere(self.addresses)
        # A name of one word can be an ordinary word, so it is replaced only as a whole value.
        self._name = _anywhere({name for name in names if " " in name.strip()})
        # The audit log also writes names with a role, as in “Ann (annotator)”.
        self._whole = re.compile(
            rf"^({'|'.join(map(re.escape, names - {''})) or '(?!)'})(?= \(\w+\)$|$)", re.IGNORECASE
        )

    def replace_in(self, said: Any, *, project: int | None) -> Any:
        if isinstance(said, str):
            pseudonym = self.pseudonyms.get(project or 0, f"person-{self.person.pk}")
            said = self._name.sub(pseudonym, self._address.sub(self.erased_address, said))
            return self._whole.sub(pseudonym, said)
        if isinstance(said, dict):
            return {name: self.replace_in(value, project=project) for name, value in said.items()}
        if isinstance(said, list):
            return [self.replace_in(value, project=project) for value in said]
        return said


def _anywhere(names: set[str]) -> re.Pattern[str]:
    # Longer names first, or a part of one would match alone; `(?!)` matches nothing.
    found = "|".join(sorted(map(re.escape, names - {""}), key=len, reverse=True)) or "(?!)"
    # Only whole names: “ann@x.org” must not match in “joann@x.org” or “ann@x.org.uk”.
    return re.compile(rf"(?<![\w.+-])({found})(?!\w|[.-]\w)", re.IGNORECASE)


def erase_names(names: ErasedNames) -> dict[int, int]:
    """Replace a person's names in audit logs, import reports and stored answers. Delete computed results.

    Call it in the transaction that erases, while the account still has its names. Returns the number of
    changed entries by project.
    """
    # The triggers of the audit log accept changes only while this row exists.
    permission = Erasure.objects.create(user=names.person)
    counts: dict[int, int] = {}
    changed_entries = []
    for entry in AuditEntry.objects.order_by("pk").iterator(BATCH):
        before = {each: getattr(entry, each) for each in SAID}
        after = {each: names.replace_in(value, project=entry.project_id) for each, value in before.items()}
        is_actor = entry.actor_id == names.person.pk
        if is_actor or after != before:
            actor = {"actor_name": "", "actor_email": names.erased_address} if is_actor else {}
            # A pseudonym can be longer than a name, and the column holds 300 characters.
            changed_entries.append((entry, {**after, "subject": after["subject"][:300], **actor}))
    for entry, became in changed_entries:
        AuditEntry.objects.filter(pk=entry.pk).update(**became)
        if entry.project_id:
            counts[entry.project_id] = counts.get(entry.project_id, 0) + 1
    FormerName.objects.filter(user=names.person).delete()
    permission.delete()
    # Stored results contain names of raters; the next reader computes them again.
    ComputedResult.objects.filter(project__in=names.pseudonyms).delete()
    for upload in DataImport.objects.filter(project__in=names.pseudonyms).iterator(BATCH):
        said = {each: getattr(upload, each) for each in ("mapping", "report", "message")}
        changed = {each: names.replace_in(value, project=upload.project_id) for each, value in said.items()}
        if changed != said:
            DataImport.objects.filter(pk=upload.pk).update(**changed)
    # Stored responses of the API belong to tokens, not to projects, so all of them are searched.
    for answer in KeptAnswer.objects.iterator(BATCH):
        if (content := names.replace_in(answer.content, project=None)) != answer.content:
            KeptAnswer.objects.filter(pk=answer.pk).update(content=content)
    return counts


# Ratings, comments and posts stay, under the pseudonym that exports use: a benchmark without some of its
# ratings is another one. Acts in the audit log stay without the person's names; see docs/decisions/0031.

ERASED = "erased.invalid"  # a domain that can never be, so no mail goes there


def is_erased(user: User) -> bool:
    return user.email.endswith(f"@{ERASED}")


@transaction.atomic
def erase_person(*, user: User, by: User | None = None, note: str = "") -> User:
    """Remove the name, e-mail, sign-in methods, invitations and queued mails of a person; safe to run twice.

    Audit logs then show the pseudonym. Locks the person's row. Adds an event to each of their projects and
    each project with a changed log. Raises InvalidValueError for the only admin of a project.
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
    # Names first, while the account still has them.
    names = ErasedNames(person, address)
    note = names.replace_in(note, project=None)
    changed = erase_names(names)
    addresses = names.addresses
    # Invitations to the person: unusable, and without e-mail.
    sent = Invitation.objects.filter(sent_to(addresses) | Q(accepted_by=person))
    now = timezone.now()
    sent.filter(accepted_at=None, withdrawn_at=None).update(withdrawn_at=now)
    sent.update(email="", note="", mail_due_at=None)
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
    # The memberships stay for the sake of the ratings, under the pseudonym.
    memberships = Membership.objects.filter(user=person)
    RecordedName.objects.filter(membership__in=memberships).delete()
    forget_platform(memberships)
    PrivateNote.objects.filter(annotator__in=memberships).delete()
    Nudge.objects.filter(rater__in=memberships).update(mail_due_at=None, link="")
    memberships.update(label=F("pseudonym"))
    # The account stays, too, because ratings and the audit log refer to it.
    person.email, person.name = address, ""
    person.is_active = person.is_staff = person.is_superuser = False
    person.set_unusable_password()
    person.save(update_fields=["email", "name", "is_active", "is_staff", "is_superuser", "password"])
    log_security("person.erased", by, erased=person.pk)
    # In reverse order, so that a project gets the pseudonym of the person's first membership.
    pseudonyms = dict(memberships.order_by("-pk").values_list("project", "pseudonym"))
    for project in Project.objects.filter(pk__in={*pseudonyms, *changed}).order_by("pk"):
        called = pseudonyms.get(project.pk, f"person-{person.pk}")
        facts = {"entries": changed.get(project.pk, 0)}
        record(project, "person.erased", called, after=facts, note=note, by=by)
    return person
