"""Whose ratings count in the statistics."""

from django.db import models


class CountingDecision(models.Model):
    """An admin's decision that an annotator's ratings count, or do not, with the reason; none is changed."""

    place = models.ForeignKey("annotate.Membership", models.CASCADE, related_name="counting_decisions")
    counted = models.BooleanField()
    note = models.TextField()
    by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return "counted" if self.counted else "left out"
