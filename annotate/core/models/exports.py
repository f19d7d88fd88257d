from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class Export(models.Model):
    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting for a worker")
        WRITING = "writing", _("being written")
        READY = "ready", _("ready")
        STOPPED = "stopped", _("stopped")

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="exports")
    format = models.CharField(max_length=12, help_text="A value of annotate.exports.choice.Format.")
    left_out = models.JSONField(default=list, help_text="Values of annotate.exports.registry.Part.")
    licence = models.CharField(max_length=100, blank=True)
    card = models.JSONField(default=dict, help_text="A Card of annotate.exports.citation; empty without one.")
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.WAITING)
    message = models.TextField(blank=True, help_text="Why it stopped.")
    lease = models.UUIDField(null=True, help_text="The worker that is at it; no other says what came of it.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How many workers took it.")
    file = models.FileField(blank=True)
    size = models.BigIntegerField(default=0)
    content_hash = models.CharField(max_length=64, blank=True)
    concord_version = models.CharField(max_length=20, blank=True)
    state_at = models.DateTimeField(null=True, help_text="The latest time in the data.")
    tables = models.JSONField(default=dict, help_text="How many rows each table has.")
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(help_text="When status or heartbeat changed last.")

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(status="ready") | Q(file__gt="", content_hash__gt=""),
                name="ready_exports_have_a_file",
            ),
        ]

    def __str__(self) -> str:
        return f"export {self.pk}"

    @property
    def is_under_way(self) -> bool:
        return self.status in (Export.Status.WAITING, Export.Status.WRITING)


class Push(models.Model):
    """A push of an export to a repository of the Hub, pending or done; one row for each pair."""

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
