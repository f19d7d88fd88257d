"""Mails that workers send: jobs with rows that have the columns of `MailedRow`.

If a mail server accepts a mail and the worker dies before it can record that, the mail goes out twice.
Recording before sending could lose a mail unnoticed. Notices are mails that people subscribe to.
"""

import smtplib
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db.models import Model, Q, QuerySet
from django.urls import reverse
from django.utils import timezone

from annotate.core.errors import MailError
from annotate.core.jobs import JobKind
from annotate.core.models import Membership, Notice, NoticeKind, Project, Role, User
from annotate.core.preferences import preferences_of

AGAIN_AFTER = timedelta(minutes=5)
GIVEN_UP_AFTER = timedelta(days=1)
NOT_SENDING = frozenset(
    f"django.core.mail.backends.{name}.EmailBackend" for name in ("console", "dummy", "filebased")
)
SECONDS_TO_WAIT = 15
NOT_SENT = "No mail could be sent to {email} ({error})."


def mail_is_sent() -> bool:
    """Return True if mails leave this installation, False if they go to its log (CONCORD_EMAIL_URL)."""
    return settings.EMAIL_BACKEND not in NOT_SENDING


def send_mail(
    *,
    to: str,
    subject: str,
    body: str,
    reply_to: str = "",
    headers: Mapping[str, str] | None = None,
    not_sent: str = NOT_SENT,
) -> None:
    """Send a message to one recipient; call it outside any transaction.

    not_sent: the error message if the mail server rejects it, with `{email}` and `{error}`. Raises MailError.
    Accounts without a mailbox have an e-mail in `.invalid` (RFC 2606); they get no mail.
    """
    if to.endswith(".invalid"):
        return
    message = EmailMessage(
        # Django rejects a subject with line ends.
        subject=" ".join(subject.split()),
        body=body,
        to=[to],
        reply_to=[reply_to] if reply_to else None,
        headers=dict(headers or {}),
        # Django sets no timeout, and a silent mail server would hold the worker for ever.
        connection=get_connection(timeout=SECONDS_TO_WAIT),
    )
    try:
        message.send()
    except (smtplib.SMTPException, OSError) as error:
        raise MailError(not_sent.format(email=to, error=error)) from error


def mail_kind(
    name: str,
    model: type[Model],
    send: Callable[[Any], object],
    *,
    does: str,
    related: tuple[str, ...] = (),
    asked_at: str = "at",
    mailed_at: str = "mailed_at",
    **others: Any,
) -> JobKind:
    """Return the declaration of the mails of a table: `send` sends one, outside any transaction.

    asked_at, mailed_at: the columns of that name. A mail that no mail server accepts goes out again every
    five minutes, until a day after `asked_at`.
    """

    def work(row: Any) -> None:
        send(row)
        if mailed_at:
            model._default_manager.filter(pk=row.pk).update(**{mailed_at: timezone.now()})

    declared: dict[str, Any] = {
        # Without a mail server these mails wait, and `give_notice` writes none.
        "condition": lambda: Q() if mail_is_sent() else Q(pk__in=[]),
        "reason": "mail_problem",
        "is_too_old": lambda row: timezone.now() - getattr(row, asked_at) >= GIVEN_UP_AFTER,
        **others,
    }
    return JobKind(
        name,
        model,
        work,
        does=does,
        related=related,
        lease="mail_lease",
        attempts="mail_attempts",
        due_at="mail_due_at",
        pause=lambda _attempts: AGAIN_AFTER,
        **declared,
    )


def give_notice(
    *,
    project: Project,
    kind: NoticeKind,
    about: str,
    facts: Mapping[str, object],
    to: QuerySet[User],
    page: str = "project",
) -> None:
    """Write a notice for each subscriber of its kind among `to`, once for each subject. Two queries.

    page: the route of the link in the mail, with the project's slug as argument. Call it in the transaction
    of the event. Workers find pending notices. Nothing is written if no mail leaves the installation.
    """
    if not mail_is_sent():
        return
    now, path = timezone.now(), reverse(page, args=[project.slug])
    people = to.filter(is_active=True, preferences__notice_address__gt="").select_related("preferences")
    wanting = [each for each in people if kind in preferences_of(each).notices]
    Notice.objects.bulk_create(
        (
            Notice(
                user=each,
                project=project,
                kind=kind,
                about=about,
                facts=dict(facts),
                link=f"{preferences_of(each).notice_address}{path}",
                at=now,
                mail_due_at=now,
            )
            for each in wanting
        ),
        # A constraint on user, project, kind and subject makes a second notice a conflict.
        ignore_conflicts=True,
    )


def members_of(project: Project, *roles: Role) -> QuerySet[User]:
    """Return the users with an active membership in one of these roles, in any role without `roles`."""
    memberships = Membership.objects.filter(project=project, active=True)
    memberships = memberships.filter(role__in=roles) if roles else memberships
    return User.objects.filter(pk__in=memberships.values("user"))
