"""Workers, as far as pages must know whether one is there."""

from django.db import models


class WorkerHeartbeat(models.Model):
    """That a worker is there: each one writes its own every few seconds, and takes it back when it stops."""

    name = models.CharField(max_length=200, unique=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
