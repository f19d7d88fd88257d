"""The columns of rows that a worker mails."""

from django.db import models


class MailedRow(models.Model):
    """A row with a mail; `mail_due_at` is when a worker sends it, empty for never."""

    mail_lease = models.UUIDField(null=True, blank=True, help_text="The worker that sends it.")
    mail_attempts = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Number of workers that took it."
    )
    mail_problem = models.TextField(blank=True, default="", db_default="", help_text="Why it was not sent.")

    class Meta:
        abstract = True
