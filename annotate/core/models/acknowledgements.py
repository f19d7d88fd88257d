"""Who has read which version of a guideline."""

from django.db import models


class Acknowledgement(models.Model):
    """That an annotator has read a version of the guideline that came into force while rating.

    Wording that is taken back is the version that it was, so a version can be read more than once.
    """

    annotator = models.ForeignKey("annotate.Membership", models.CASCADE, related_name="+")
    guideline = models.ForeignKey("annotate.Guideline", models.PROTECT, related_name="+")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"acknowledgement {self.pk}"
