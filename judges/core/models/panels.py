"""Panels: several judges whose values are combined into the values of one more judge."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class Panel(models.Model):
    """The rule that computes the values of a judge from other judges, without calls."""

    class Rule(models.TextChoices):
        MEAN = "mean", _("mean")
        MEDIAN = "median", _("median")
        MAJORITY = "majority", _("majority")
        WEIGHTS = "weights", _("weights learned on a development sample")

    judge = models.OneToOneField("judges.Judge", models.CASCADE, related_name="panel")
    rule = models.CharField(max_length=8, choices=Rule.choices)
    development_share = models.FloatField(
        null=True, help_text="The share of documents that weights are learned from, and that have no values."
    )
    learns_from_parts = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether these documents are the project's for teaching, not a sample of its own.",
    )
    weights = models.JSONField(
        default=dict, help_text="By key of a dimension: weights in the order of members, intercept, units."
    )
    based_on = models.CharField(max_length=64, blank=True, help_text="Digest of what it was computed from.")
    computed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(rule="weights", development_share__gt=0, development_share__lt=1)
                | (~Q(rule="weights") & Q(development_share__isnull=True)),
                name="only_weights_have_a_development_sample",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.get_rule_display()} of several judges"


class PanelMember(models.Model):
    panel = models.ForeignKey(Panel, models.CASCADE, related_name="members")
    judge = models.ForeignKey("judges.Judge", models.CASCADE, related_name="panels")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ("position",)
        constraints = [models.UniqueConstraint("panel", "judge", name="judge_once_in_panel")]

    def __str__(self) -> str:
        return str(self.judge)
