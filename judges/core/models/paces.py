"""What workers learned of the rate at which a server takes calls to a model."""

from django.db import models


class ModelPace(models.Model):
    """How an endpoint last asked to slow down for a model; see `judges.runs.rates.Slowdown`."""

    endpoint = models.ForeignKey("judges.Endpoint", models.CASCADE, related_name="paces")
    model = models.CharField(max_length=120)
    slowed_at = models.DateTimeField()
    resumes_at = models.DateTimeField()
    rate = models.FloatField(null=True, help_text="Calls a second that it answered before; empty: none.")
    climb_seconds = models.FloatField(help_text="In which calls come back to that rate.")

    class Meta:
        constraints = [
            models.UniqueConstraint("endpoint", "model", name="one_pace_of_a_model"),
        ]

    def __str__(self) -> str:
        return f"pace of {self.model}"
