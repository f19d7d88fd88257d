"""Drift watches: units that a judge scores again on a schedule, to detect a change of its model."""

from django.db import models
from django.db.models import Q


class DriftWatch(models.Model):
    """Units that a judge scores again every few days. An alarm ends the watch until an admin confirms it.

    Each check uses a hidden copy of the judge, because a judge has one answer to a question. `baseline`: the
    check whose values serve as the first ones; null: the judge's own values.
    """

    judge = models.ForeignKey("judges.Judge", models.CASCADE, related_name="watches")
    units = models.JSONField(help_text="Ids of items by the id of the dimension.")
    days = models.PositiveSmallIntegerField(help_text="From one check to the next.")
    budget = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, help_text="Of all checks together; empty: no limit."
    )
    baseline = models.ForeignKey("judges.DriftCheck", models.SET_NULL, null=True, related_name="+")
    is_active = models.BooleanField(default=True)
    next_at = models.DateTimeField(help_text="When the next check starts.")
    reason = models.TextField(blank=True, help_text="Why the last check could not start, or why it ended.")
    alarmed_at = models.DateTimeField(null=True)
    confirmed_at = models.DateTimeField(null=True, help_text="When an admin let a new watch begin.")
    confirmed_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint("judge", condition=Q(is_active=True), name="one_active_watch_of_a_judge"),
            models.CheckConstraint(condition=Q(days__gte=1), name="watches_have_days_between_checks"),
            models.CheckConstraint(
                condition=Q(alarmed_at__isnull=True) | Q(is_active=False), name="an_alarm_ends_a_watch"
            ),
            models.CheckConstraint(
                condition=Q(budget__isnull=True) | Q(budget__gt=0), name="watches_may_spend_something"
            ),
        ]

    def __str__(self) -> str:
        return f"watch {self.pk}"


class DriftCheck(models.Model):
    """One repetition of a watch. figures: by dimension id, see `agreement.drift.ControlPoint`."""

    class State(models.TextChoices):
        ASKING = "asking", "asking"
        FINISHED = "finished", "finished"
        CANCELLED = "cancelled", "cancelled"

    watch = models.ForeignKey(DriftWatch, models.CASCADE, related_name="checks")
    number = models.PositiveSmallIntegerField()
    run = models.OneToOneField("judges.Run", models.CASCADE, null=True, related_name="drift_check")
    at = models.DateTimeField(help_text="When it started.")
    state = models.CharField(max_length=9, choices=State.choices, default=State.ASKING)
    figures = models.JSONField(default=dict)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint("watch", "number", name="check_number_once_in_watch"),
            models.UniqueConstraint("watch", condition=Q(state="asking"), name="one_check_at_a_time"),
        ]

    def __str__(self) -> str:
        return f"check {self.number} of {self.watch}"
