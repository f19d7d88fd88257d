"""Write operations on members, invitations and accounts."""

import logging
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import chain, count, product
from string import ascii_uppercase
from typing import Any
from urllib.parse import urljoin

from django.core.signing import BadSignature, Signer
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.urls import reverse
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import InvalidValueError, InvitationUnusableError, NotReadyError
from annotate.core.jobs import wake_worker
from annotate.core.mails import mail_is_sent, mail_kind
from annotate.core.models import (
    FormerName,
    Invitation,
    Membership,
    Preferences,
    Project,
    RecordedName,
    Role,
    User,
)
from annotate.people.invitations import (
    invitation_id,
    invitation_token,
    mark_proven,
    proven_change,
    refuse_unusable,
)
from annotate.people.mails import AccountChange, note_account_change, send_invitation
from annotate.people.queries import open_offers, projects_needing

# Every command on memberships and invitations locks the project first.
INVITATION_LASTS = timedelta(days=14)


@transaction.atomic
def add_member(*, project: Project, role: Role, user: User | None = None, label: str = "") -> Membership:
    """Return the person's active membership in the role; create or reactivate it if necessary.

    Without a user, return the annotator membership with this label, which is unique among a project's
    annotators. It is created without an account unless it exists. Locks the project.
    """
    lock_project(project)
    if user is None:
        if role != Role.ANNOTATOR or not label:
            raise InvalidValueError(
                gettext("Only an annotator can be added without an account, and needs a label.")
            )
        membership = Membership.objects.filter(project=project, role=role, label=label).first()
        return membership or _new_membership(project, role, None, label)
    membership = Membership.objects.filter(project=project, role=role, user=user).first()
    if membership is None:
        return _new_membership(project, role, user, label or str(user))
    if not membership.active:
        membership.active = True
        membership.save(update_fields=["active"])
        record(project, "place.opened", membership)
    return membership


@transaction.atomic
def invite(
    *,
    project: Project,
    by: User,
    role: Role,
    email: str = "",
    membership: Membership | None = None,
    note: str = "",
) -> Invitation:
    """Invite to a project, or to one of its memberships without an account, for 14 days. Locks the project.

    note: a description of the work for the link's page and the mail.
    """
    lock_project(project)
    if membership is not None:
        # Read after the lock: someone may have accepted an invitation to it.
        membership.refresh_from_db()
        if membership.project_id != project.pk or membership.user_id is not None:
            sentence = gettext("{label} already has an account, so you cannot invite another person to it.")
            raise NotReadyError(sentence.format(label=membership.label))
    offered = Role.ANNOTATOR if membership else role
    facts = {"role": offered, "place": str(membership or "")}
    record(project, "invitation.made", email or "a link", after=facts, by=by)
    return Invitation.objects.create(
        project=project,
        role=offered,
        membership=membership,
        email=email,
        note=note,
        created_by=by,
        expires_at=timezone.now() + INVITATION_LASTS,
    )


@dataclass
class Invited:
    """The outcome of inviting several people: new invitations and skipped e-mails."""

    made: list[Invitation] = field(default_factory=list)
    members: list[str] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)


@transaction.atomic
def invite_many(*, project: Project, by: User, role: Role, emails: Iterable[str], note: str = "") -> Invited:
    """Invite each e-mail, except members and those with a valid invitation. Locks the project."""
    lock_project(project)
    members = Membership.objects.filter(project=project, role=role, active=True, user__isnull=False)
    # Lowered here, as addresses in invitations can have capitals.
    there = {email.lower() for email in members.values_list("user__email", flat=True)}
    offered = {email.lower() for email in open_offers(project, role).values_list("email", flat=True)}
    found = Invited()
    for email in dict.fromkeys(each.lower() for each in emails):
        if email in there:
            found.members.append(email)
        elif email in offered:
            found.waiting.append(email)
        else:
            found.made.append(invite(project=project, by=by, role=role, email=email, note=note))
    return found


@transaction.atomic
def withdraw_invitation(*, invitation: Invitation) -> None:
    """Make an invitation unusable; nothing happens if it is already. Locks the project."""
    lock_project(invitation.project)
    # The condition makes a second call write no second entry in the audit log.
    open_one = Invitation.objects.filter(pk=invitation.pk, accepted_at=None, withdrawn_at=None)
    if open_one.update(withdrawn_at=timezone.now()):
        subject = invitation.email or "a link"
        record(invitation.project, "invitation.withdrawn", subject, before={"role": invitation.role})


@transaction.atomic
def accept_invitation(*, token: str, user: User) -> Membership:
    """Give the person the membership that the link offers. Locks the project.

    Following one's own link again returns the same membership. No link reactivates a membership: only an
    admin can. Raises InvitationUnusableError.
    """
    invitation = Invitation.objects.select_related("project").filter(pk=invitation_id(token)).first()
    if invitation is not None:
        lock_project(invitation.project)
        # Another person may have used the link before this lock.
        invitation.refresh_from_db()
        if invitation.accepted_by_id == user.pk:
            own = Membership.objects.get(project=invitation.project_id, role=invitation.role, user=user)
            return _refuse_closed(own)
    usable = refuse_unusable(invitation)
    membership = _take_membership(usable, user)
    usable.accepted_by, usable.accepted_at = user, timezone.now()
    usable.save(update_fields=["accepted_by", "accepted_at"])
    facts = {"place": str(membership)}
    record(usable.project, "invitation.accepted", usable.email or "a link", after=facts, by=user)
    return membership


@transaction.atomic
def deactivate_member(*, membership: Membership) -> None:
    """Deactivate a membership: its ratings stay, the member loses access to the project. Locks the project.

    Raises NotReadyError for the last admin, because no other person could reactivate the membership.
    """
    lock_project(membership.project)
    _refuse_last_admin(membership)
    if Membership.objects.filter(pk=membership.pk, active=True).update(active=False):
        record(membership.project, "place.closed", membership)


@transaction.atomic
def reactivate_member(*, membership: Membership) -> None:
    """Reactivate a membership. Locks the project."""
    lock_project(membership.project)
    if Membership.objects.filter(pk=membership.pk, active=False).update(active=True):
        record(membership.project, "place.opened", membership)


@transaction.atomic
def rename_membership(*, membership: Membership, label: str, by: User | None) -> None:
    """Change an annotator's label in tables and charts; pseudonym and alias stay. Locks the project.

    Files that refer to recorded ratings by the old label still match. Raises InvalidValueError if another
    annotator has the label, or if files use it for another annotator.
    """
    lock_project(membership.project)
    membership.refresh_from_db(fields=["label", "user"])
    if membership.role != Role.ANNOTATOR:
        raise InvalidValueError(gettext("Only annotators have a label in tables and plots."))
    old, label = membership.label, label.strip()
    if old == label:
        return
    others = Membership.objects.filter(project=membership.project_id, role=Role.ANNOTATOR, label=label)
    names = RecordedName.objects.filter(project=membership.project_id, name=label).exclude(
        membership=membership
    )
    if others.exists() or names.exists():
        sentence = gettext("Another annotator is called “{label}”. Choose another label.")
        raise InvalidValueError(sentence.format(label=label))
    # Files name an annotator without account by label, so the old label must still lead here.
    if membership.user_id is None:
        kept = {"project": membership.project, "name": old}
        RecordedName.objects.get_or_create(**kept, defaults={"membership": membership})
    Membership.objects.filter(pk=membership.pk).update(label=label)
    record(membership.project, "place.renamed", label, before={"label": old}, after={"label": label}, by=by)


@transaction.atomic
def change_role(*, membership: Membership, role: Role) -> Membership:
    """Change a person's role and return the membership for it. Locks the project.

    The old membership is deactivated and keeps its ratings, alias and label; changing back reactivates it.
    Raises NotReadyError for the last admin, and for a membership that is inactive or has no account.
    """
    lock_project(membership.project)
    membership.refresh_from_db()
    if membership.role == role:
        return membership
    if membership.user is None or not membership.active:
        sentence = gettext(
            "{label} has not joined yet, so there is no role to change. Send an invitation first."
        )
        raise NotReadyError(sentence.format(label=membership.label))
    _refuse_last_admin(membership)
    Membership.objects.filter(pk=membership.pk).update(active=False)
    before = {"role": membership.role}
    record(membership.project, "place.changed", membership.label, before=before, after={"role": role})
    # An earlier membership in this role is activated again, with its ratings, alias and label.
    return add_member(project=membership.project, role=role, user=membership.user)


def _refuse_last_admin(membership: Membership) -> None:
    if membership.role != Role.ADMIN or membership.user is None:
        return
    if projects_needing(membership.user).filter(pk=membership.project_id).exists():
        raise NotReadyError(gettext("This is the project's only admin. Invite another admin first."))


def _new_membership(project: Project, role: Role, user: User | None, label: str) -> Membership:
    label, alias, others = label[:150], "", Membership.objects.filter(project=project)
    if role == Role.ANNOTATOR:
        # The first free label of "Ann", "Ann 2", and the first free alias of A to Z, AA, AB.
        taken = set(others.filter(role=role).values_list("label", flat=True))
        # A name in files leads to one annotator, so no other gets it as a label.
        taken |= set(RecordedName.objects.filter(project=project).values_list("name", flat=True))
        # A label has up to 150 characters, and the number needs some of them.
        labels = chain([label], (f"{label[:140]} {number}" for number in count(2)))
        label = next(each for each in labels if each not in taken)
        aliases = ("".join(each) for length in count(1) for each in product(ascii_uppercase, repeat=length))
        used = set(others.values_list("alias", flat=True))
        alias = next(each for each in aliases if each not in used)
    membership = Membership.objects.create(project=project, role=role, user=user, label=label, alias=alias)
    record(project, "place.made", membership, after={"role": role, "alias": alias})
    return membership


def _refuse_closed(membership: Membership) -> Membership:
    if not membership.active:
        sentence = gettext(
            "Your membership as {label} in this project is closed. Ask one of its admins to reopen it."
        )
        raise InvitationUnusableError(sentence.format(label=Role(membership.role).label))
    return membership


def _take_membership(invitation: Invitation, user: User) -> Membership:
    role = Role(invitation.role)
    # A member does not use up the link: the invited person can still follow it.
    held = Membership.objects.filter(project=invitation.project, role=role, user=user).first()
    if held:
        _refuse_closed(held)
        raise InvitationUnusableError(
            gettext(
                "You are already a member of this project, as {label}. The invited person can "
                "still use the link."
            ).format(label=role.label)
        )
    if invitation.membership is None:
        return add_member(project=invitation.project, role=role, user=user)
    if invitation.membership.user_id is not None:
        raise InvitationUnusableError(
            gettext("Someone has already used this invitation. Ask for a new link.")
        )
    # The membership keeps the label and the ratings that it has.
    invitation.membership.user, invitation.membership.active = user, True
    invitation.membership.save(update_fields=["user", "active"])
    return invitation.membership


# Workers mail invitations. Programs may send one mail a day to each e-mail of a project.

BETWEEN_MAILS = timedelta(days=1)

logger = logging.getLogger(__name__)


def refuse_mail(invitation: Invitation) -> None:
    """Raise InvitationUnusableError or InvalidValueError if Concord cannot send the mail."""
    refuse_unusable(invitation)
    if not (invitation.email and mail_is_sent()):
        raise InvalidValueError(
            gettext("This link has no e-mail, or no mail server is configured: pass it on yourself.")
        )


@transaction.atomic
def ask_for_mail(*, invitation: Invitation, site: str, by_hand: bool = False) -> None:
    """Queue the mail of an invitation. Locks the project.

    site: the public URL of Concord. by_hand: an admin requests it on a page, without a limit. Raises the
    errors of `refuse_mail`, and NotReadyError for a second mail within a day.
    """
    lock_project(invitation.project)
    invitation.refresh_from_db(fields=["accepted_at", "withdrawn_at", "sent_at"])
    refuse_mail(invitation)
    if not by_hand:
        # Queued mails count, too, or a program could queue many before a worker mails the first.
        is_going = Q(mail_due_at__isnull=False) & ~Q(pk=invitation.pk)
        lately = Invitation.objects.filter(Q(sent_at__gt=timezone.now() - BETWEEN_MAILS) | is_going)
        if lately.filter(project=invitation.project_id, email__iexact=invitation.email).exists():
            raise NotReadyError(gettext("This project invited the same e-mail within the last day."))
    now = timezone.now()
    Invitation.objects.filter(pk=invitation.pk).update(
        mail_site=site, mail_asked_at=now, mail_due_at=now, mail_lease=None, mail_attempts=0, mail_problem=""
    )
    wake_worker(INVITATION_MAIL, invitation.pk)


def _send(offer: Invitation) -> None:
    with transaction.atomic():
        lock_project(offer.project)
        # The invitation may have been used or withdrawn while its mail waited.
        offer.refresh_from_db(fields=["accepted_at", "withdrawn_at", "sent_at"])
        refuse_mail(offer)
    # The transaction has ended: a slow mail server must not hold the project's lock.
    send_invitation(offer, urljoin(offer.mail_site, reverse("invitation", args=[invitation_token(offer)])))


INVITATION_MAIL = mail_kind(
    "invitation",
    Invitation,
    _send,
    does="mails an invitation",
    related=("project", "created_by"),
    asked_at="mail_asked_at",
    mailed_at="sent_at",
    condition=Q,
)


# Preferences.


def save_preferences(*, user: User, **chosen: Any) -> None:
    """Save the chosen preferences; the others stay unchanged. Locks the person's row."""
    Preferences.objects.update_or_create(user=user, defaults=chosen)


# Changing one's e-mail: only by a link mailed to the new one.


@transaction.atomic
def change_address(*, user: User, token: str, session: str | None = None) -> str:
    """Change the account's e-mail to the one that the token proves, and return it.

    Histories keep the former name. The projects' audit logs record the change, and both e-mails get a mail.
    All sessions except `session` end. Locks the person's row. Raises AddressLinkError, or InvalidValueError
    if another account has the e-mail.
    """
    person = User.objects.select_for_update().get(pk=user.pk)
    email, before = proven_change(person, token), person.email
    FormerName.objects.create(user=person, at=timezone.now(), name=person.name, email=before)
    person.email = email
    try:
        # No check beforehand: another account may get the e-mail between the check and the save.
        with transaction.atomic():
            person.save(update_fields=["email"])
    except IntegrityError:
        raise InvalidValueError(gettext("Another account uses this e-mail.")) from None
    # The token came by mail to the new address, which proves it.
    mark_proven(person)
    was, now = {"email": before}, {"email": email}
    for membership in Membership.objects.filter(user=person).select_related("project").order_by("pk"):
        record(membership.project, "person.address_changed", membership, before=was, after=now, by=user)
    note_account_change(user=person, change=AccountChange.ADDRESS, session=session, before=before)
    return email


_FIRST = Signer(salt="concord.first-account")


def first_account_token() -> str:
    """Return a token that proves access to the terminal; valid only without any account."""
    # The signature alone: the signed word is the same in every installation.
    return _FIRST.sign("first").rpartition(":")[2]


def may_make_first_account(token: str) -> bool:
    """Return True if there is no account and the token is the terminal's."""
    try:
        _FIRST.unsign(f"first:{token}")
    except BadSignature:
        return False
    return not User.objects.exists()


@transaction.atomic
def make_first_account(*, name: str, email: str, password: str) -> User:
    """Create the account that runs the installation and can create projects; its e-mail counts as proven.

    Raises InvalidValueError if an account exists.
    """
    if User.objects.exists():
        raise InvalidValueError(gettext("There is an account already: sign in with it."))
    user = User.objects.create_superuser(email, password, name=name)
    mark_proven(user)
    return user
