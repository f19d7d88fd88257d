"""Mails that workers send: each a row with `mail_due_at`, which says when it goes, or goes again.

A mail server may take a mail and the worker die before it can note that: such a mail goes twice. One that is
noted before it is sent would be lost instead, and nobody would know.
"""

import logging
import smtplib
from collections.abc import Callable, Mapping
from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.core.mail import EmailMessage, get_connection
from django.db.models import Model, QuerySet
from django.utils import timezone

from annotate.core.errors import MailError

Mailed = TypeVar("Mailed", bound=Model)

AGAIN_AFTER = timedelta(minutes=5)  # longer than any mail server is waited for
GIVEN_UP_AFTER = timedelta(days=1)
NOT_SENDING = frozenset(
    f"django.core.mail.backends.{name}.EmailBackend" for name in ("console", "dummy", "filebased")
)
SECONDS_TO_WAIT = 15
NOT_SENT = "No mail could be sent to {email} ({error})."
logger = logging.getLogger(__name__)


def mail_is_sent() -> bool:
    """Return whether messages leave this installation, rather than stand in its log (CONCORD_EMAIL_URL)."""
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
    """Send a message to one address; call it outside any transaction.

    not_sent: what is said where no mail server takes it, with `{email}` and `{error}`. Raises MailError.
    """
    message = EmailMessage(
        subject=" ".join(subject.split()),
        body=body,
        to=[to],
        reply_to=[reply_to] if reply_to else None,
        headers=dict(headers or {}),
        connection=get_connection(timeout=SECONDS_TO_WAIT),
    )
    try:
        message.send()
    except (smtplib.SMTPException, OSError) as error:
        raise MailError(not_sent.format(email=to, error=error)) from error


def mail_row(row: Any, send: Callable[[], None], *, since: datetime) -> None:
    """Send the mail of a row that is due, and note it in `mailed_at`; safe to run twice.

    What no mail server takes goes later, for a day from `since`.
    """
    if not mail_is_sent() or not claim_mail(row):
        return
    try:
        send()
    except MailError as error:
        logger.warning("The mail of %s goes later: %s", row, error.message)
        give_up_old_mail(row, since=since)
    else:
        type(row).objects.filter(pk=row.pk).update(mailed_at=timezone.now(), mail_due_at=None)


def due_mails(rows: "QuerySet[Mailed]") -> "QuerySet[Mailed]":
    """Return the rows whose mail is to go now."""
    return rows.filter(mail_due_at__lte=timezone.now()).order_by("pk")


def claim_mail(row: Any) -> bool:
    """Take a mail that is due; False where another worker has. It is due again if nothing is heard of it."""
    now = timezone.now()
    due = type(row).objects.filter(pk=row.pk, mail_due_at__lte=now)
    return bool(due.update(mail_due_at=now + AGAIN_AFTER))


def give_up_old_mail(row: Any, *, since: datetime) -> None:
    """Send no more what no mail server took for a day."""
    if timezone.now() - since >= GIVEN_UP_AFTER:
        type(row).objects.filter(pk=row.pk).update(mail_due_at=None)
