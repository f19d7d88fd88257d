"""Runs and their judgments: the plan, the leases and the results are all in the database."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Run(models.Model):
    """A plan to collect judgments within a budget; workers follow it as long as it is running."""

    class Status(models.TextChoices):
        PLANNED = "planned", _("planned")
        RUNNING = "running", _("running")
        PAUSED = "paused", _("paused")
        STOPPED = "stopped", _("stopped")
        CANCELLED = "cancelled", _("cancelled")
        FINISHED = "finished", _("finished")

    class Via(models.TextChoices):
        CALLS = "calls", _("one call a judgment")
        BATCH = "batch", _("the batch interface")

    OVER = (Status.CANCELLED, Status.FINISHED)

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="runs")
    guideline = models.ForeignKey("annotate.Guideline", models.PROTECT, related_name="runs")
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.PLANNED)
    via = models.CharField(max_length=5, choices=Via.choices, default=Via.CALLS)
    reason = models.TextField(blank=True, help_text="Why it stopped, in a sentence.")
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    spent = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(status="stopped") | Q(reason__gt=""), name="stopped_runs_say_why"
            ),
            models.CheckConstraint(
                condition=Q(budget__isnull=True) | Q(budget__gt=0), name="budgets_allow_something"
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"


class Judgment(models.Model):
    """One call of a judge about one unit, or one ordered pair of items (one sample), and what came of it."""

    class Status(models.TextChoices):
        PLANNED = "planned", _("planned")
        LEASED = "leased", _("in flight")
        DONE = "done", _("done")
        UNREADABLE = "unreadable", _("unreadable")
        FAILED = "failed", _("failed")

    run = models.ForeignKey(Run, models.PROTECT, null=True, related_name="judgments")
    judge = models.ForeignKey("judges.Judge", models.PROTECT, related_name="judgments")
    dimension = models.ForeignKey("annotate.Dimension", models.PROTECT, related_name="+")
    item = models.ForeignKey("annotate.Item", models.PROTECT, related_name="judgments")
    other = models.ForeignKey(
        "annotate.Item", models.PROTECT, null=True, related_name="+", help_text="The item shown second."
    )
    sample = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PLANNED)
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    value = models.FloatField(null=True)
    rationale = models.TextField(blank=True)
    reply = models.TextField(blank=True)
    reason = models.TextField(blank=True, help_text="Why there is no value, in a sentence.")
    input_tokens = models.PositiveIntegerField(null=True)
    output_tokens = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    seconds = models.FloatField(null=True)
    answered_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "judge",
                "dimension",
                "item",
                "sample",
                condition=Q(other__isnull=True),
                name="one_judgment_per_unit_and_sample",
            ),
            models.UniqueConstraint(
                "judge",
                "dimension",
                "item",
                "other",
                "sample",
                condition=Q(other__isnull=False),
                name="one_judgment_per_pair_and_sample",
            ),
            models.CheckConstraint(
                condition=Q(status="done", value__isnull=False) | (~Q(status="done") & Q(value__isnull=True)),
                name="done_judgments_have_a_value",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=["unreadable", "failed"]) | Q(reason__gt=""),
                name="judgments_without_value_say_why",
            ),
            models.CheckConstraint(
                condition=Q(status="leased", lease__isnull=False, leased_until__isnull=False)
                | (~Q(status="leased") & Q(lease__isnull=True, leased_until__isnull=True)),
                name="leases_end",
            ),
        ]
        indexes = [
            models.Index("run", "id", condition=Q(status="planned"), name="judgments_planned"),
            models.Index("run", "leased_until", condition=Q(status="leased"), name="judgments_leased"),
            models.Index("judge", condition=Q(status="leased"), name="judgments_in_flight"),
            models.Index("run", "answered_at", name="judgments_answered"),
        ]

    def __str__(self) -> str:
        return f"judgment {self.pk}"
