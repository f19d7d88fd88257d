"""Results that were computed, kept until the data are others, and what tells that they are."""

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
    lease = models.UUIDField(null=True, help_text="The worker that computes it.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How many workers took it.")
    problem = models.TextField(blank=True, help_text="Why the last attempt failed.")

    class Meta:
        constraints = [models.UniqueConstraint("project", "name", name="one_computed_result_of_a_name")]

    def __str__(self) -> str:
        return self.name


class ChangeCount(models.Model):
    """How many rows that figures rest on a statement wrote; a round's rows add up to the version of its data.

    Triggers of the database write it in the transaction of the change, so that no way of saving can be
    missed. A row of its own for each statement: one counter would make all savers of a round wait for each
    other until the other's commit. Workers add rows up, see `annotate.results.commands.add_up_changes`.
    """

    class Source(models.TextChoices):
        RATINGS = "ratings"
        DISPUTES = "disputes"

    # Without a constraint, which would lock the round's row at each save: whoever closes the round holds that
    # row and waits for the save.
    round = models.ForeignKey("annotate.Round", models.CASCADE, related_name="+", db_constraint=False)
    source = models.CharField(max_length=8, choices=Source.choices)
    number = models.PositiveBigIntegerField()

    class Meta:
        indexes = [models.Index("round", "source", "number", name="changes_of_rounds")]

    def __str__(self) -> str:
        return f"{self.number} of {self.source}"
