"""Mails about accounts and submissions: encrypted until a worker sends them, since a link may sign in."""

import json
import logging
from typing import TYPE_CHECKING

from django.db.models import Q
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from annotate.core.errors import MailError
from annotate.core.lazy_module import LazyModule
from annotate.core.mails import mail_kind, send_mail
from annotate.core.models import AccountMail, User

if TYPE_CHECKING:
    from cryptography import fernet

    from annotate.core import encryption
else:
    encryption = LazyModule("annotate.core.encryption")
    fernet = LazyModule("cryptography.fernet")

PURPOSE = b"concord: mails about accounts"
logger = logging.getLogger(__name__)


@sensitive_variables("subject", "body", "told")
def post_account_mail(*, user: User | None, to: str, subject: str, body: str) -> None:
    """Queue a mail for a worker, in the caller's transaction.

    user: the account that it is about, if any. Erasing that person deletes the mail.
    """
    told = json.dumps({"to": to, "subject": subject, "body": body})
    sealed = encryption.cipher_for(PURPOSE).encrypt(told.encode()).decode()
    now = timezone.now()
    AccountMail.objects.create(user=user, sealed=sealed, asked_at=now, mail_due_at=now)


@sensitive_variables("told")
def _send(row: AccountMail) -> None:
    try:
        told = json.loads(encryption.cipher_for(PURPOSE).decrypt(row.sealed.encode()))
        send_mail(**told)
    except fernet.InvalidToken:
        logger.warning("%s is deleted: the secrets that could read it are gone", row)
    except MailError as error:
        # The log names accounts by number, because servers repeat the receiver's e-mail.
        raise MailError(error.message.replace(told["to"], "its receiver")) from None
    row.delete()


ACCOUNT_MAIL = mail_kind(
    "account_mail",
    AccountMail,
    _send,
    does="mails a person about their account or submission",
    asked_at="asked_at",
    mailed_at="",
    condition=Q,
    stop=lambda row, _reason: row.delete(),
)
