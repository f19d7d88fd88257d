"""Who holds leases: slices of workers, each at one run and one endpoint."""

from django.db import models


class LeaseHolder(models.Model):
    """A slice of a worker: its key is the `lease` of the judgments that it holds.

    Its places are the calls that it may have in flight, so those of an endpoint's living holders never add up
    to more than it takes. Rows stay for a while, for the order of turns.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    run = models.ForeignKey("judges.Run", models.CASCADE, related_name="+")
    endpoint = models.ForeignKey("judges.Endpoint", models.CASCADE, related_name="lease_holders")
    places = models.PositiveIntegerField(default=0)
    wanted = models.PositiveIntegerField(default=0, help_text="Places that it could use.")
    draining = models.BooleanField(default=False, help_text="It only ends the calls in flight.")
    turn_began = models.DateTimeField(null=True, help_text="When it last began to have any places.")
    alive_until = models.DateTimeField(help_text="Renewed by heartbeats; a holder is dead after it.")

    def __str__(self) -> str:
        return f"holder {self.pk}"
