"""Mail about disputes that people asked for, and when they last looked at one."""

from django.db import models


class DisputeDigest(models.Model):
    """That a person was sent what is new in the disputes that need them; at most once on a day."""

    user = models.ForeignKey("annotate.User", models.CASCADE, related_name="digests")
    day = models.DateField()
    at = models.DateTimeField(help_text="Until when what happened stands in it.")

    class Meta:
        constraints = [models.UniqueConstraint("user", "day", name="one_digest_on_a_day")]

    def __str__(self) -> str:
        return f"digest {self.pk}"


class DisputeLook(models.Model):
    """When a rater last had a dispute in view."""

    rater = models.ForeignKey("annotate.Membership", models.CASCADE, related_name="looks")
    dispute = models.ForeignKey("annotate.Dispute", models.CASCADE, related_name="looks")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("rater", "dispute", name="one_look_of_a_rater")]

    def __str__(self) -> str:
        return f"look {self.pk}"
