"""Links that pages send to an address."""

from collections.abc import Callable

from django.contrib import messages
from django.http import HttpRequest

from annotate.core.errors import (
    MailError,
)
from annotate.people.sign_in_limits import may_send_mail


def mail_link(request: HttpRequest, email: str, send: Callable[[], None], *, purpose: str) -> bool:
    """Send a link unless this address had several such just now, and say whether a page may say so.

    The answer is the same where it had them: nobody learns it, and no mailbox is filled.
    """
    if may_send_mail(request, email, purpose=purpose):
        try:
            send()
        except MailError as error:
            messages.error(request, error.message)
            return False
    return True
