"""Mails about accounts, sent as a worker sends them."""

from django.core import mail
from django.core.mail import EmailMessage

from tests.jobs import run_due


def sent_mails() -> list[EmailMessage]:
    """Send the mails about accounts that wait; return all that were sent in this test."""
    run_due("account_mail")
    return mail.outbox
