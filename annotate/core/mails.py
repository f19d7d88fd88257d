"""Mails that workers send: each a row with `mail_due_at`, which says when it goes, or goes again.

A mail server may take a mail and the worker die before it can note that: such a mail goes twice. One that is
noted before it is sent would be lost instead, and nobody would know.
"""

from datetime import datetime, timedelta
from typing import Any, TypeVar

from django.conf import settings
from django.db.models import Model, QuerySet
from django.utils import timezone

Mailed = TypeVar("Mailed", bound=Model)

AGAIN_AFTER = timedelta(minutes=5)  # longer than any mail server is waited for
GIVEN_UP_AFTER = timedelta(days=1)
NOT_SENDING = frozenset(
    f"django.core.mail.backends.{name}.EmailBackend" for name in ("console", "dummy", "filebased")
)
SECONDS_TO_WAIT = 15


def mail_is_sent() -> bool:
    """Return whether messages leave this installation, rather than stand in its log (CONCORD_EMAIL_URL)."""
    return settings.EMAIL_BACKEND not in NOT_SENDING


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
