"""Values that raters revised at the end of a document, beside the independent ones, with their history."""

from django.db import models


class RevisedValue(models.Model):
    """What a rater holds of a unit after seeing all own values of its document; the rating stays as it is."""

    rating = models.OneToOneField("annotate.Rating", models.PROTECT, related_name="revised")
    value = models.IntegerField()
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
    value_before = models.IntegerField()
    value_after = models.IntegerField()
    comment = models.TextField(blank=True)

    class Meta:
        constraints = [models.UniqueConstraint("revised", "revision", name="one_change_per_revised_value")]
        indexes = [models.Index("at", name="revised_values_by_time")]

    def __str__(self) -> str:
        return f"{self.value_before} to {self.value_after}"
