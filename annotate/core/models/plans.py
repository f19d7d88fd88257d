"""How the items of Round I are to be shared out, chosen before it opens."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.core.models.rounds import DimensionOrder, WorkOrder


class AssignmentPlan(models.Model):
    """A project's choice; a project without a row has the shared queue."""

    # What is chosen with any kind, in forms, the API and the audit log.
    SETTINGS = (
        *("kind", "share", "gold_every", "repeat_every", "dealt_by"),
        *("work_order", "dimension_order"),
    )

    class Kind(models.TextChoices):
        QUEUE = "queue", _("Shared queue")
        EVERYONE = "everyone", _("Everyone rates everything")
        BALANCED = "balanced", _("N of M, dealt out evenly")
        SHARING = "sharing", _("Every pair shares a set share of items")
        LISTED = "listed", _("Fixed lists from a file")

    class DealtBy(models.TextChoices):
        DOCUMENTS = "documents", _("whole documents")
        ITEMS = "items", _("single items")

    project = models.OneToOneField("annotate.Project", models.CASCADE, related_name="assignment_plan")
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.QUEUE)
    share = models.PositiveSmallIntegerField(
        default=10, help_text="Percent of the items that every pair of annotators shares."
    )
    dealt_by = models.CharField(
        max_length=9,
        choices=DealtBy.choices,
        default=DealtBy.DOCUMENTS,
        help_text="Whether all items of a document have the same raters.",
    )
    work_order = models.CharField(max_length=11, choices=WorkOrder.choices, default=WorkOrder.BY_DOCUMENT)
    dimension_order = models.CharField(
        max_length=5, choices=DimensionOrder.choices, default=DimensionOrder.FIXED
    )
    pairs = models.JSONField(default=list, help_text="The listed pairs of keys: item, membership.")

    gold_every = models.PositiveSmallIntegerField(
        default=10, help_text="A hidden gold item comes after so many items; 0: none."
    )
    repeat_every = models.PositiveSmallIntegerField(
        default=0, help_text="An item comes a second time after so many items; 0: none."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(condition=Q(share__lte=100), name="share_is_a_percentage"),
        ]

    def __str__(self) -> str:
        return self.get_kind_display()

    @property
    def in_words(self) -> str:
        """The kind, and what is dealt out where anything is."""
        if self.kind not in (self.Kind.BALANCED, self.Kind.SHARING):
            return str(self)
        return f"{self}, {self.get_dealt_by_display()}"
