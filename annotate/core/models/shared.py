"""Temporary state that all processes share, and the list of workers."""

from django.db import models


class AttemptCount(models.Model):
    """The number of attempts since the first one, until the count expires."""

    key = models.CharField(
        max_length=64, primary_key=True, help_text="SHA-256 of what is limited, and whose."
    )
    count = models.PositiveIntegerField()
    ends = models.DateTimeField(db_index=True)

    def __str__(self) -> str:
        return f"{self.count} until {self.ends:%Y-%m-%d %H:%M}"


class SharedEntry(models.Model):
    """An entry of Django's cache in the database, with the columns that it expects."""

    cache_key = models.CharField(max_length=255, primary_key=True)
    value = models.TextField()
    expires = models.DateTimeField(db_index=True)

    class Meta:
        verbose_name_plural = "shared entries"

    def __str__(self) -> str:
        return self.cache_key


class WorkerHeartbeat(models.Model):
    """A sign that a worker runs. Each worker writes it every few seconds, and deletes it when it stops."""

    name = models.CharField(max_length=200, unique=True)
    seen_at = models.DateTimeField()

    def __str__(self) -> str:
        return self.name
