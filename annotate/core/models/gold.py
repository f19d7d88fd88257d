"""Items with known reference values, for practice before Round I or hidden in it, and practice answers."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.core.models.fields import PointsField
from annotate.core.models.ratings import EVIDENCE, has_answer


class GoldItem(models.Model):
    """An item with gold values. It is not rated in Round I like the others, and counts in no statistic."""

    class Use(models.TextChoices):
        PRACTICE = "practice", _("practice before Round I")
        HIDDEN = "hidden", _("hidden in Round I")

    item = models.OneToOneField("annotate.Item", models.CASCADE, related_name="gold")
    use = models.CharField(max_length=8, choices=Use.choices)
    explanation = models.TextField(blank=True, help_text="About the item as a whole; shown after practice.")

    def __str__(self) -> str:
        return f"gold of {self.item_id}"


class GoldValue(models.Model):
    """The reference value of a gold item on a dimension, and its justification."""

    gold = models.ForeignKey(GoldItem, models.CASCADE, related_name="values")
    dimension = models.ForeignKey("annotate.Dimension", models.CASCADE, related_name="+")
    value = PointsField()
    explanation = models.TextField(blank=True)

    class Meta:
        ordering = ["dimension__position", "dimension"]
        constraints = [models.UniqueConstraint("gold", "dimension", name="one_gold_value_per_unit")]

    def __str__(self) -> str:
        return f"{self.value}"


class PracticeAnswer(models.Model):
    """An annotator's answer in practice. It is no rating, and only practice reads it.

    It can be changed until its annotator has seen the reference values of the item, and is final after that.
    """

    place = models.ForeignKey("annotate.Membership", models.CASCADE, related_name="practice_answers")
    attempt = models.PositiveSmallIntegerField(default=1)
    gold_value = models.ForeignKey(GoldValue, models.CASCADE, related_name="answers")
    value = PointsField(null=True)
    unsure = models.BooleanField(default=False)
    cannot_rate = models.BooleanField(default=False)
    not_applicable = models.BooleanField(default=False)
    comment = models.TextField(blank=True)
    evidence = models.JSONField(null=True, help_text=EVIDENCE)
    client = models.CharField(max_length=36, blank=True, help_text="The browser that gave the answer.")
    sequence = models.BigIntegerField(default=0, help_text="The order of answers within that browser.")
    at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, help_text="When the reference values were shown.")

    class Meta:
        constraints = [
            models.UniqueConstraint("place", "attempt", "gold_value", name="one_practice_answer_per_attempt"),
            models.CheckConstraint(
                condition=Q(value__isnull=True) | Q(cannot_rate=False, not_applicable=False),
                name="practice_reason_has_no_value",
            ),
            models.CheckConstraint(
                condition=Q(cannot_rate=False) | Q(not_applicable=False), name="practice_has_one_reason"
            ),
            models.CheckConstraint(
                condition=Q(settled_at__isnull=True) | has_answer(), name="settled_practice_is_answered"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.value}"

    @property
    def is_answered(self) -> bool:
        return self.value is not None or self.cannot_rate or self.not_applicable
