"""Stored results, valid until the version of their data changes."""

from django.db import models


class ComputedResult(models.Model):
    """A stored page of results, or its plot, for a version of the data; a cache.

    Deleting rows loses nothing but the time to compute them again.
    """

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="computed_results")
    name = models.CharField(max_length=200, help_text="Which page, with what was asked of it.")
    version = models.CharField(max_length=64, blank=True, help_text="Of the data; empty: nothing yet.")
    content = models.TextField(blank=True)
    computed_at = models.DateTimeField(null=True)
    seconds = models.FloatField(default=0, help_text="How long it took.")
    asked_at = models.DateTimeField(null=True, help_text="When a task was enqueued; empty: none is to come.")
    heartbeat_at = models.DateTimeField(null=True, help_text="Of the worker that computes it.")
    lease = models.UUIDField(null=True, help_text="The worker that computes it.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How many workers took it.")
    problem = models.TextField(blank=True, help_text="Why the last attempt failed.")

    class Meta:
        constraints = [models.UniqueConstraint("project", "name", name="one_computed_result_of_a_name")]

    def __str__(self) -> str:
        return self.name


class ChangeCount(models.Model):
    """The number of rows with an effect on results that a statement wrote.

    The sum over a round is its data version.

    Triggers of the database write it in the transaction of the change, so that no way of saving can bypass
    it. Each statement has its own row: one counter would block all savers of a round until the previous
    commit. Workers sum the rows, see `annotate.results.commands.add_up_changes`.
    """

    class Source(models.TextChoices):
        RATINGS = "ratings"
        DISPUTES = "disputes"

    # No constraint, because it would lock the round's row at each save: closing a round locks that row and
    # waits until the save ends.
    round = models.ForeignKey("annotate.Round", models.CASCADE, related_name="+", db_constraint=False)
    source = models.CharField(max_length=8, choices=Source.choices)
    number = models.PositiveBigIntegerField()

    class Meta:
        indexes = [models.Index("round", "source", "number", name="changes_of_rounds")]

    def __str__(self) -> str:
        return f"{self.number} of {self.source}"
