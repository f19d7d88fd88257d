"""Batches: judgments of a run sent to a provider in one file."""

from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Batch(models.Model):
    """A file of requests at a provider, from before its upload until its replies are stored.

    Its id is the lease of its judgments and identifies the batch at the provider. `due_at`: the time of the
    next check; `holder`: the worker that processes it, until `held_until`.
    """

    class Status(models.TextChoices):
        PREPARED = "prepared", _("being uploaded")
        UPLOADED = "uploaded", _("uploaded")
        SUBMITTING = "submitting", _("being submitted")
        IN_PROGRESS = "in_progress", _("in progress")
        COLLECTING = "collecting", _("being collected")
        COLLECTED = "collected", _("collected")
        FAILED = "failed", _("failed")

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    run = models.ForeignKey("judges.Run", models.CASCADE, related_name="batches")
    endpoint = models.ForeignKey("judges.Endpoint", models.PROTECT, related_name="batches")
    model = models.CharField(max_length=120)
    status = models.CharField(max_length=11, choices=Status.choices, default=Status.PREPARED)
    reason = models.TextField(
        blank=True, help_text="Why it failed, or could not be reached last, in a sentence."
    )
    input_file = models.CharField(max_length=200, blank=True)
    provider_id = models.CharField(max_length=200, blank=True)
    requests = models.PositiveIntegerField()
    completed = models.PositiveIntegerField(default=0, help_text="As the provider counts.")
    failed = models.PositiveIntegerField(default=0, help_text="As the provider counts.")
    expected_cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True, help_text="When it was collected, or failed.")
    due_at = models.DateTimeField()
    failures = models.PositiveSmallIntegerField(default=0, help_text="Calls without an answer in a row.")
    failing_since = models.DateTimeField(null=True, help_text="The first of these calls.")
    holder = models.UUIDField(null=True)
    held_until = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "batches"
        constraints = [
            models.CheckConstraint(condition=Q(requests__gte=1), name="a_batch_has_a_request"),
            models.CheckConstraint(
                condition=Q(status__in=["prepared", "failed"]) | Q(input_file__gt=""),
                name="uploaded_batches_name_their_file",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["prepared", "uploaded", "submitting", "failed"])
                | Q(provider_id__gt="", submitted_at__isnull=False),
                name="submitted_batches_are_known_to_the_provider",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["collected", "failed"], closed_at__isnull=False)
                | (~Q(status__in=["collected", "failed"]) & Q(closed_at__isnull=True)),
                name="batches_end_once",
            ),
            models.CheckConstraint(
                condition=~Q(status="failed") | Q(reason__gt=""), name="failed_batches_say_why"
            ),
            models.CheckConstraint(
                condition=Q(holder__isnull=True, held_until__isnull=True)
                | Q(holder__isnull=False, held_until__isnull=False),
                name="holding_a_batch_ends",
            ),
            models.UniqueConstraint(
                "endpoint",
                "provider_id",
                condition=Q(provider_id__gt=""),
                name="a_batch_of_the_provider_once",
            ),
        ]
        indexes = [
            models.Index(
                "run", "due_at", condition=~Q(status__in=["collected", "failed"]), name="batches_open"
            ),
        ]

    def __str__(self) -> str:
        return f"batch {self.pk}"

    @property
    def is_open(self) -> bool:
        """Return True if it was neither collected nor failed."""
        return self.closed_at is None
