"""Evaluation steps written by models."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class StepsWriting(models.Model):
    """A job in which a judge's model writes the evaluation steps of a prompt, one call for each dimension.

    template: the version that has the steps written until now. It is the next version if judgments used this
    one.
    """

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting for a worker")
        ASKING = "asking", _("a model is asked")
        FINISHED = "finished", _("finished")
        STOPPED = "stopped", _("stopped")

    UNDER_WAY = (Status.WAITING, Status.ASKING)

    template = models.ForeignKey("judges.PromptTemplate", models.CASCADE, related_name="steps_writings")
    judge = models.ForeignKey("judges.Judge", models.CASCADE, related_name="+")
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.WAITING)
    reason = models.TextField(blank=True, help_text="Why it stopped, in sentences.")
    replies = models.JSONField(null=True, help_text="The replies of the model, by the dimension's id.")
    spent = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, default=0, help_text="Null: unknown."
    )
    lease = models.UUIDField(null=True, help_text="The worker that is at it; no other notes what came.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How many workers took it.")
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now, help_text="When it was last heard of.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(status="stopped") | Q(reason__gt=""), name="stopped_steps_writings_say_why"
            ),
        ]

    def __str__(self) -> str:
        return f"steps of {self.template}"
