"""Stored replies read anew by a worker: first what would change, then the change."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Rereading(models.Model):
    """One look at the stored replies of a project's judges by the present rules, and what was made of it."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting for a worker")
        LOOKING = "looking", _("reading replies")
        LOOKED = "looked", _("read; nothing is changed yet")
        CONFIRMED = "confirmed", _("waiting for a worker to change them")
        APPLYING = "applying", _("changing judgments")
        APPLIED = "applied", _("changed")

    UNDER_WAY = (Status.WAITING, Status.LOOKING, Status.CONFIRMED, Status.APPLYING)

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="rereadings")
    judge = models.ForeignKey(
        "judges.Judge", models.CASCADE, null=True, related_name="+", help_text="Empty: all judges."
    )
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.WAITING)
    lease = models.UUIDField(null=True, help_text="The worker that is at it; no other says what came of it.")
    touched_at = models.DateTimeField(help_text="When a worker last said that it is at it.")
    would_change = models.PositiveIntegerField(null=True)
    first_changes = models.JSONField(default=list, help_text="What the page shows of what would change.")
    changed = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    confirmed_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status__in=["waiting", "looking"]) | Q(would_change__isnull=False),
                name="replies_are_looked_at_before_they_change",
            ),
        ]

    def __str__(self) -> str:
        return f"rereading {self.pk}"
