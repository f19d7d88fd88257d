"""Keys that were entered in the browser."""

from django.db import models
from django.db.models import Q


class EndpointKey(models.Model):
    """The key of an endpoint, encrypted, with the one server that it may be sent to."""

    endpoint = models.OneToOneField("judges.Endpoint", models.CASCADE, related_name="entered_key")
    origin = models.CharField(
        max_length=300, help_text="Scheme, host and port of the address for which it was entered."
    )
    encrypted = models.TextField()
    ends_with = models.CharField(max_length=4, blank=True)
    entered_at = models.DateTimeField()
    entered_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, blank=True, related_name="+")

    class Meta:
        constraints = [
            models.CheckConstraint(condition=~Q(encrypted=""), name="entered_key_is_encrypted"),
        ]

    def __str__(self) -> str:
        return self.origin
