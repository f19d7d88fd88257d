from django.db import models


class MailedRow(models.Model):
    """A row with a mail; a worker sends it at `mail_due_at`, never if that is empty."""

    mail_lease = models.UUIDField(null=True, blank=True, help_text="The worker that sends it.")
    mail_attempts = models.PositiveIntegerField(
        default=0, db_default=0, help_text="Number of workers that took it."
    )
    mail_problem = models.TextField(blank=True, default="", db_default="", help_text="Why it was not sent.")

    class Meta:
        abstract = True
