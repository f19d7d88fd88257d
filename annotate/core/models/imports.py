"""Imports of files into a project, and exports from it."""

from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

MATERIAL = "material"
"""The kind of imports that make documents, items and ratings."""


LONGEST_PART = 2000


def stored_name(_instance: "DataImport", _name: str) -> str:
    """Return the storage name of an uploaded file. It does not depend on the original name."""
    return f"imports/{uuid4().hex}"


class DataImport(models.Model):
    """A file for import into a project. An upload is deleted once it is imported or discarded.

    Imports from a command line have no upload.
    """

    class Status(models.TextChoices):
        UPLOADED = "uploaded", _("uploaded")
        WAITING = "waiting", _("waiting for a worker")
        CHECKING = "checking", _("being checked")
        WRITING = "writing", _("being written")
        IMPORTED = "imported", _("imported")
        REFUSED = "refused", _("refused")
        STOPPED = "stopped", _("stopped")
        UNDONE = "undone", _("undone")

    class What(models.TextChoices):
        ITEMS = "items", _("Documents and items")
        RATINGS = "ratings", _("Recorded ratings")
        BOTH = "both", _("Items and ratings")
        ANSWERS = "answers", _("Recorded ratings of Round II")

    class Written(models.TextChoices):
        """The rows of an unfinished import: items can be removed again, ratings and judgments stay."""

        NOTHING = ""
        ITEMS = "items"
        RATINGS = "ratings"

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="imports")
    kind = models.CharField(
        max_length=20, default=MATERIAL, help_text="A key of annotate.material.import_kinds.KINDS."
    )
    file = models.FileField(upload_to=stored_name, blank=True)
    name = models.CharField(max_length=255, help_text="What the file was called.")
    size = models.BigIntegerField()
    part = models.CharField(
        max_length=LONGEST_PART,
        blank=True,
        help_text="The config/split of a data set, or the sheets of workbooks; empty: the first.",
    )
    only_good = models.BooleanField(default=False, help_text="Whether refused lines are left out.")
    what = models.CharField(max_length=7, choices=What.choices, blank=True)
    mapping = models.JSONField(null=True, help_text="See annotate.material.reading.mapping_json.")
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.UPLOADED)
    progress = models.FloatField(default=0, help_text="The share of the file that has been checked.")
    lines = models.PositiveIntegerField(default=0, help_text="How many lines were checked.")
    report = models.JSONField(null=True, help_text="See annotate.material.reading.report.")
    message = models.TextField(blank=True, help_text="Why it stopped.")
    lease = models.UUIDField(
        null=True, help_text="The worker that is at it; no other writes what comes of it."
    )
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How many workers took it.")
    # Between the steps of a long write no row is locked, and this column reserves the project.
    written = models.CharField(
        max_length=7,
        choices=Written.choices,
        blank=True,
        default="",
        db_default="",
        help_text="Rows of the unfinished import. The project waits for its end.",
    )
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(help_text="When status, progress or heartbeat changed last.")
    undone_at = models.DateTimeField(null=True)
    undone_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=Q(status="uploaded") | Q(mapping__isnull=False),
                name="started_imports_have_a_mapping",
            )
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def must_be_finished(self) -> bool:
        """Return True if rows are written that cannot be removed, so that no other file or mapping can
        replace this one.
        """
        return self.written == DataImport.Written.RATINGS

    @property
    def is_under_way(self) -> bool:
        status = DataImport.Status
        return self.status in (status.WAITING, status.CHECKING, status.WRITING)


class UploadPreview(models.Model):
    """The start of an upload: a worker reads it once, and every page shows this row."""

    class Status(models.TextChoices):
        WAITING = "waiting"
        READING = "reading"
        READY = "ready"
        STOPPED = "stopped"

    UNDER_WAY = (Status.WAITING, Status.READING)

    data_import = models.OneToOneField(DataImport, models.CASCADE, related_name="preview")
    part = models.CharField(max_length=LONGEST_PART, blank=True, help_text="The part that it shows.")
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.WAITING)
    content = models.TextField(blank=True, help_text="See annotate.material.reading.opening.")
    reason = models.TextField(blank=True, help_text="The reason of a stop.")
    lease = models.UUIDField(null=True, help_text="The worker that reads; no other writes the content.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="Number of workers that took it.")
    touched_at = models.DateTimeField(default=timezone.now, help_text="The last sign of its worker.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(status="stopped") | Q(reason__gt=""), name="stopped_previews_say_why"
            )
        ]

    def __str__(self) -> str:
        return f"preview of {self.data_import}"

    def fits(self, upload: DataImport, *, again: bool) -> bool:
        """Return True if it shows this part of the upload; `again`: and did not stop."""
        return self.part == upload.part and not (again and self.status == self.Status.STOPPED)


class Export(models.Model):
    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting for a worker")
        WRITING = "writing", _("being written")
        READY = "ready", _("ready")
        STOPPED = "stopped", _("stopped")

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="exports")
    format = models.CharField(max_length=12, help_text="A value of annotate.exports.choice.Format.")
    left_out = models.JSONField(default=list, help_text="Values of annotate.exports.registry.Part.")
    licence = models.CharField(max_length=100, blank=True)
    card = models.JSONField(default=dict, help_text="A Card of annotate.exports.citation; empty without one.")
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.WAITING)
    message = models.TextField(blank=True, help_text="Why it stopped.")
    lease = models.UUIDField(null=True, help_text="The worker that is at it; no other says what came of it.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How many workers took it.")
    file = models.FileField(blank=True)
    size = models.BigIntegerField(default=0)
    content_hash = models.CharField(max_length=64, blank=True)
    concord_version = models.CharField(max_length=20, blank=True)
    state_at = models.DateTimeField(null=True, help_text="The latest time in the data.")
    tables = models.JSONField(default=dict, help_text="How many rows each table has.")
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(help_text="When status or heartbeat changed last.")

    class Meta:
        ordering = ["-created_at", "-pk"]
        constraints = [
            models.CheckConstraint(
                condition=~Q(status="ready") | Q(file__gt="", content_hash__gt=""),
                name="ready_exports_have_a_file",
            )
        ]

    def __str__(self) -> str:
        return f"export {self.pk}"

    @property
    def is_under_way(self) -> bool:
        return self.status in (Export.Status.WAITING, Export.Status.WRITING)


class Push(models.Model):
    """A push of an export to a repository of the Hub, pending or done; one row for each pair."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting for a worker")
        PUSHING = "pushing", _("being pushed")
        PUSHED = "pushed", _("pushed")
        STOPPED = "stopped", _("stopped")

    export = models.ForeignKey("annotate.Export", models.CASCADE, related_name="pushes")
    repository = models.CharField(max_length=200, help_text="Its name on the Hub: who/what.")
    private = models.BooleanField(default=True, help_text="Of a repository that is made for it.")
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.WAITING)
    message = models.TextField(blank=True, help_text="Why it stopped.")
    lease = models.UUIDField(null=True, help_text="The worker that is at it; no other says what came of it.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How many workers took it.")
    sent = models.BigIntegerField(default=0, help_text="Bytes of files that are there.")
    size = models.BigIntegerField(default=0, help_text="Bytes of all files.")
    url = models.URLField(max_length=500, blank=True, help_text="Of the commit.")
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now, help_text="When it was last heard of.")

    class Meta:
        verbose_name_plural = "pushes"
        ordering = ["-pk"]
        constraints = [
            # A repeated push takes the same row again, so a repository has one state.
            models.UniqueConstraint("export", "repository", name="one_push_of_an_export_to_a_repository"),
            models.CheckConstraint(
                condition=~Q(status="pushed") | Q(url__gt=""), name="pushes_lead_to_a_commit"
            ),
        ]

    def __str__(self) -> str:
        return self.repository
