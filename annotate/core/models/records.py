"""The audit log, webhooks, computed results, and rows that processes share."""

from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

DELETED = "project.deleted"


class AuditEntry(models.Model):
    """An administrative act. Only erasing a person changes its names; it is deleted only with its project."""

    project = models.ForeignKey("annotate.Project", models.CASCADE, null=True, related_name="audit_entries")
    at = models.DateTimeField()
    actor = models.ForeignKey(
        "annotate.User", models.PROTECT, null=True, related_name="+", help_text="Empty: the command line."
    )
    actor_name = models.CharField(max_length=150, blank=True, help_text="What the actor was called then.")
    actor_email = models.EmailField(blank=True, help_text="The actor's address then.")
    act = models.CharField(max_length=60, help_text="What it was done to and what was done: round.opened.")
    subject = models.CharField(max_length=300, help_text="The name of what it was done to.")
    before = models.JSONField(null=True)
    after = models.JSONField(null=True)
    note = models.TextField(blank=True)

    class Meta:
        verbose_name_plural = "audit entries"
        constraints = [
            # The entry of a deletion has no project, because the deletion removes the project's entries.
            models.CheckConstraint(
                condition=Q(project__isnull=False) | Q(act=DELETED), name="acts_are_in_a_project"
            ),
            models.CheckConstraint(
                condition=Q(actor__isnull=True, actor_name="", actor_email="")
                | Q(actor__isnull=False, actor_email__gt=""),
                name="actors_are_named_as_they_were",
            ),
        ]
        indexes = [models.Index("project", "at", name="audit_of_a_project")]

    def __str__(self) -> str:
        return f"{self.act}: {self.subject}"


class AuditRetention(models.Model):
    """That old entries were removed, because the operator keeps them for a limited time.

    The guard of the log lets entries go up to the last of these rows.
    """

    at = models.DateTimeField()
    before = models.DateTimeField(help_text="Older entries were removed.")
    up_to = models.BigIntegerField(help_text="The last entry that may be gone.")

    def __str__(self) -> str:
        return f"entries up to {self.up_to} removed"


class Erasure(models.Model):
    """A record that this transaction erases a person: only then may it replace names in histories.

    It is deleted before the transaction ends, so no other transaction sees one.
    """

    user = models.OneToOneField("annotate.User", models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"erasure of {self.user_id}"


class ProjectDeletion(models.Model):
    """A record that this transaction deletes a project.

    Only then do the guards of its histories allow deletion.

    It is deleted with the project, so it is never visible outside the transaction that wrote it.
    """

    project = models.OneToOneField("annotate.Project", models.CASCADE, related_name="deletion")

    def __str__(self) -> str:
        return f"deletion of {self.project_id}"


class Webhook(models.Model):
    """A URL that receives a project's events. Its secret is derived from `salt` and never stored."""

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="webhooks")
    url = models.CharField(max_length=500)
    events = models.JSONField(help_text="Keys of annotate.webhooks.events.EVENTS.")
    salt = models.CharField(max_length=64, help_text="What the installation's key makes the secret from.")
    digest = models.CharField(max_length=64, help_text="SHA-256 of the secret: tells that the key changed.")
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    failing_since = models.DateTimeField(null=True, help_text="The first failure since it last succeeded.")
    disabled_at = models.DateTimeField(null=True)
    disabled_because = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(disabled_at=None, disabled_because="")
                | Q(disabled_at__isnull=False, disabled_because__gt=""),
                name="disabled_webhooks_say_why",
            )
        ]

    def __str__(self) -> str:
        return self.url


class Delivery(models.Model):
    """One event for one webhook. Its row is written in the event's transaction, so no event is lost."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting")
        DELIVERED = "delivered", _("delivered")
        FAILED = "failed", _("failed")

    webhook = models.ForeignKey(Webhook, models.CASCADE, related_name="deliveries")
    key = models.UUIDField(default=uuid4, unique=True, help_text="By which a receiver knows it again.")
    event = models.CharField(max_length=40)
    # The signature covers this text. JSON that is written again could differ in a byte.
    body = models.TextField(help_text="What is sent, to the byte.")
    created_at = models.DateTimeField(default=timezone.now)
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.WAITING)
    due_at = models.DateTimeField(null=True, default=timezone.now, help_text="When it is tried next.")
    lease = models.UUIDField(null=True, help_text="The worker that sends it; no other says what came of it.")
    attempts = models.PositiveIntegerField(default=0)
    attempted_at = models.DateTimeField(null=True)
    answer_status = models.PositiveSmallIntegerField(null=True, help_text="Of the last answer, in HTTP.")
    answer = models.TextField(blank=True, help_text="How the last answer begins, or why there was none.")

    class Meta:
        verbose_name_plural = "deliveries"
        ordering = ["-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status="waiting", due_at__isnull=False) | ~Q(status="waiting") & Q(due_at=None),
                name="only_waiting_deliveries_are_due",
            )
        ]
        indexes = [models.Index("due_at", name="deliveries_by_due", condition=Q(status="waiting"))]

    def __str__(self) -> str:
        return str(self.key)


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


class AttemptCount(models.Model):
    """The number of attempts since the first one, until the count expires."""

    # A hash, so that the table names neither an account nor a network address.
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
