"""The end of a document: who looked back at their values, and values revised there, with their history."""

from django.db import models

from annotate.core.models.fields import PointsField


class RevisedValue(models.Model):
    """What a rater holds of a unit after seeing all own values of its document; the rating stays as it is."""

    rating = models.OneToOneField("annotate.Rating", models.PROTECT, related_name="revised")
    value = PointsField()
    comment = models.TextField(blank=True)
    revision = models.PositiveIntegerField(default=1)
    client = models.CharField(max_length=36, blank=True, help_text="The browser that sent it.")
    sequence = models.BigIntegerField(default=0, help_text="The order of what was sent within that browser.")
    updated_at = models.DateTimeField()

    def __str__(self) -> str:
        return f"revised value {self.pk}: {self.value}"


class RevisedValueChange(models.Model):
    """One saved state of a revised value; the first begins with the independent one. Never changed."""

    revised = models.ForeignKey(RevisedValue, models.PROTECT, related_name="changes")
    revision = models.PositiveIntegerField()
    at = models.DateTimeField()
    actor = models.ForeignKey("annotate.User", models.PROTECT, null=True, related_name="+")
    value_before = PointsField()
    value_after = PointsField()
    comment = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint("revised", "revision", name="one_change_per_revised_value")]
        indexes = [models.Index("at", name="revised_values_by_time")]

    def __str__(self) -> str:
        return f"{self.value_before} to {self.value_after}"


class LookBack(models.Model):
    """That a rater had the own values of a document side by side, on one dimension. Never changed.

    Without it nobody could tell a value that was kept after looking back from one that was never looked at.
    """

    annotator = models.ForeignKey("annotate.Membership", models.PROTECT, related_name="+")
    document = models.ForeignKey("annotate.Document", models.PROTECT, related_name="+")
    dimension = models.ForeignKey("annotate.Dimension", models.PROTECT, related_name="+")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"look back {self.pk}"
