"""Results that were computed, kept until the data are others."""

from django.db import models


class ComputedResult(models.Model):
    """A page of results, or a plot of one, as it was computed for a version of the data; a cache.

    Deleting any of it loses nothing but the time to compute it again.
    """

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="computed_results")
    name = models.CharField(max_length=200, help_text="Which page, with what was asked of it.")
    version = models.CharField(max_length=64, blank=True, help_text="Of the data; empty: nothing yet.")
    content = models.TextField(blank=True)
    computed_at = models.DateTimeField(null=True)
    seconds = models.FloatField(default=0, help_text="How long it took.")
    asked_at = models.DateTimeField(null=True, help_text="When a task was enqueued; empty: none is to come.")
    heartbeat_at = models.DateTimeField(null=True, help_text="Of the worker that computes it.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How many workers took it.")
    problem = models.TextField(blank=True, help_text="Why the last attempt failed.")

    class Meta:
        constraints = [models.UniqueConstraint("project", "name", name="one_computed_result_of_a_name")]

    def __str__(self) -> str:
        return self.name
