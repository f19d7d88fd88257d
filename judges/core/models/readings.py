"""Rereadings: a worker parses stored replies again, first as a preview, then as a change."""

from django.db import models
from django.utils.translation import gettext_lazy as _


class Rereading(models.Model):
    """A new parse of a project's stored replies by the present rules: a preview, then the change."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting for a worker")
        READING = "reading", _("reading replies")
        PREVIEWED = "previewed", _("read; nothing is changed yet")
        CONFIRMED = "confirmed", _("waiting for a worker to change them")
        APPLYING = "applying", _("changing judgments")
        APPLIED = "applied", _("changed")
        STOPPED = "stopped", _("stopped")

    UNDER_WAY = (Status.WAITING, Status.READING, Status.CONFIRMED, Status.APPLYING)

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="rereadings")
    judge = models.ForeignKey(
        "judges.Judge", models.CASCADE, null=True, related_name="+", help_text="Empty: all judges."
    )
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.WAITING)
    lease = models.UUIDField(null=True, help_text="Of its worker: no other may write to the row.")
    attempts = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Number of workers that took this step."
    )
    touched_at = models.DateTimeField(
        db_column="heartbeat_at", help_text="When its worker last reported progress."
    )
    reason = models.TextField(blank=True, db_default="", help_text="The reason of a stop.")
    would_change = models.PositiveIntegerField(null=True)
    first_changes = models.JSONField(default=list, help_text="The first hundred, for the page.")
    changed = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    confirmed_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"rereading {self.pk}"
