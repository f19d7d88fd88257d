"""Data sets on their way to the Hugging Face Hub."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Push(models.Model):
    """An export that goes to a repository of the Hub, or has gone there; one row for both together."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting for a worker")
        PUSHING = "pushing", _("being pushed")
        PUSHED = "pushed", _("pushed")
        STOPPED = "stopped", _("stopped")

    export = models.ForeignKey("annotate.Export", models.CASCADE, related_name="pushes")
    repository = models.CharField(max_length=200, help_text="Its name on the Hub: who/what.")
    private = models.BooleanField(default=True, help_text="Of a repository that is made for it.")
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.WAITING)
    message = models.TextField(blank=True, help_text="Why it stopped.")
    lease = models.UUIDField(null=True, help_text="The worker that is at it; no other says what came of it.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How many workers took it.")
    sent = models.BigIntegerField(default=0, help_text="Bytes of files that are there.")
    size = models.BigIntegerField(default=0, help_text="Bytes of all files.")
    url = models.URLField(max_length=500, blank=True, help_text="Of the commit.")
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now, help_text="When it was last heard of.")

    class Meta:
        verbose_name_plural = "pushes"
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint("export", "repository", name="one_push_of_an_export_to_a_repository"),
            models.CheckConstraint(
                condition=~Q(status="pushed") | Q(url__gt=""), name="pushes_lead_to_a_commit"
            ),
        ]

    def __str__(self) -> str:
        return self.repository
