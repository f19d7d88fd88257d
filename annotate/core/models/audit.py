"""The audit log of a project, and the permission to delete a project with its histories."""

from django.db import models
from django.db.models import Q

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
