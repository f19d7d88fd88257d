from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Webhook(models.Model):
    """A URL that receives a project's events. Its secret is derived from `salt` and never stored."""

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    events = models.JSONField(help_text="Keys of annotate.webhooks.events.EVENTS.")
    salt = models.CharField(max_length=64, help_text="What the installation's key makes the secret from.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the secret: tells that the key changed.")
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    failing_since = models.DateTimeField(null=True, help_text="The first failure since it last succeeded.")
    disabled_at = models.DateTimeField(null=True)
    disabled_because = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(disabled_at=None, disabled_because="")
                | Q(disabled_at__isnull=False, disabled_because__gt=""),
                name="disabled_webhooks_say_why",
            ),
        ]

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """One event for one webhook. Its row is written in the event's transaction, so no event is lost."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting")
        DELIVERED = "delivered", _("delivered")
        FAILED = "failed", _("failed")

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    key = models.UUIDField(default=uuid4, unique=True, help_text="By which a receiver knows it again.")
    event = models.CharField(max_length=40)
    body = models.TextField(help_text="What is sent, to the byte.")
    created_at = models.DateTimeField(default=timezone.now)
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.WAITING)
    due_at = models.DateTimeField(null=True, default=timezone.now, help_text="When it is tried next.")
    lease = models.UUIDField(null=True, help_text="The worker that sends it; no other says what came of it.")
    attempts = models.PositiveIntegerField(default=0)
    attempted_at = models.DateTimeField(null=True)
    answer_status = models.PositiveSmallIntegerField(null=True, help_text="Of the last answer, in HTTP.")
    answer = models.TextField(blank=True, help_text="How the last answer begins, or why there was none.")

    class Meta:
        verbose_name_plural = "deliveries"
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status="waiting", due_at__isnull=False) | ~Q(status="waiting") & Q(due_at=None),
                name="only_waiting_deliveries_are_due",
            ),
        ]
        indexes = [models.Index("due_at", name="deliveries_by_due", condition=Q(status="waiting"))]

    def __str__(self) -> str:
        return str(self.key)
