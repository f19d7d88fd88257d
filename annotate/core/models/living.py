"""The life of a benchmark after its rounds: additions, versions, the leaderboard, submitted outputs."""

import secrets

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


def new_public_key() -> str:
    """Return 96 random bits for the URL of a public page."""
    return secrets.token_urlsafe(12)


class Addition(models.Model):
    """New systems of a finished benchmark. A separate project rates them, so nothing else changes.

    `project` has a copy of the documents, the same guideline, and the outputs of the new systems.
    """

    # With its own project, every page and command works for an addition, and no write reaches the benchmark.
    project = models.OneToOneField("annotate.Project", models.CASCADE, related_name="addition")
    benchmark = models.ForeignKey("annotate.Project", models.CASCADE, related_name="additions")
    number = models.PositiveSmallIntegerField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint("benchmark", "number", name="addition_number_once_in_benchmark"),
            models.CheckConstraint(condition=Q(number__gte=1), name="additions_begin_with_one"),
            models.CheckConstraint(
                condition=~Q(project=models.F("benchmark")), name="nothing_adds_to_itself"
            ),
        ]

    def __str__(self) -> str:
        return f"addition {self.number} to {self.benchmark_id}"


class BridgingItem(models.Model):
    """A copy of an item that the first raters rated, hidden among an addition's items.

    It is a gold item, whose gold values are the means of the first raters.
    """

    # Raters already meet gold items among the others, in a round that no statistic reads.
    gold = models.OneToOneField("annotate.GoldItem", models.CASCADE, related_name="bridging")
    original = models.ForeignKey("annotate.Item", models.CASCADE, related_name="+")

    def __str__(self) -> str:
        return f"copy of {self.original_id}"


class Edition(models.Model):
    """A project that rates the items of another project again: with a new guideline, or a new panel."""

    project = models.OneToOneField("annotate.Project", models.CASCADE, related_name="edition")
    follows = models.ForeignKey("annotate.Project", models.CASCADE, related_name="next_editions")
    number = models.PositiveSmallIntegerField(help_text="The first number of its versions; the first has 1.")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint("follows", "number", name="edition_number_once"),
            models.CheckConstraint(condition=Q(number__gte=2), name="next_editions_begin_with_two"),
            models.CheckConstraint(condition=~Q(project=models.F("follows")), name="nothing_follows_itself"),
        ]

    def __str__(self) -> str:
        return f"edition {self.number}"


class Version(models.Model):
    """A citable state of a benchmark. It never changes.

    leaderboard: the standings at its creation, see annotate.leaderboard. content_hash: SHA-256 of the rows of
    its export. additions: the numbers of the additions that belong to it.
    """

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="versions")
    major = models.PositiveSmallIntegerField()
    minor = models.PositiveSmallIntegerField()
    changelog = models.TextField(blank=True)
    additions = models.JSONField(default=list)
    content_hash = models.CharField(max_length=64)
    leaderboard = models.JSONField()
    # Deleting an export frees space, and must not delete a version that a paper may cite.
    export = models.ForeignKey("annotate.Export", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-major", "-minor"]
        constraints = [models.UniqueConstraint("project", "major", "minor", name="version_once_in_project")]

    def __str__(self) -> str:
        return self.number

    @property
    def number(self) -> str:
        return f"{self.major}.{self.minor}"


class VersionPart(models.Model):
    """What a version has of the benchmark, or of one of its additions, all read at one moment.

    values: by dimension key, people's value of each unit: document key, system name, digests of the document
    and of the output, value.
    """

    version = models.ForeignKey(Version, models.CASCADE, related_name="parts")
    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="+")
    export = models.ForeignKey("annotate.Export", models.SET_NULL, null=True, related_name="+")
    values = models.JSONField()

    class Meta:
        constraints = [models.UniqueConstraint("version", "project", name="part_once_in_version")]

    def __str__(self) -> str:
        return f"{self.project_id} in {self.version_id}"


class PublicLeaderboard(models.Model):
    """A page without an account that shows the leaderboard of a benchmark's newest version."""

    project = models.OneToOneField("annotate.Project", models.CASCADE, related_name="public_leaderboard")
    key = models.CharField(max_length=32, unique=True, default=new_public_key)
    is_public = models.BooleanField(default=False)
    shows_texts = models.BooleanField(default=False, help_text="Whether documents and outputs are released.")
    shows_effort = models.BooleanField(
        default=False, help_text="Whether raters, hours, money and corrections for severity are shown."
    )
    takes_submissions = models.BooleanField(default=False, help_text="Whether anybody may submit outputs.")
    metadata_names = models.JSONField(
        default=list, blank=True, help_text="Metadata of documents by which it also shows the means."
    )
    introduction = models.TextField(blank=True, help_text="Markdown.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(takes_submissions=False) | Q(is_public=True),
                name="submissions_need_a_public_page",
            )
        ]

    def __str__(self) -> str:
        return f"leaderboard of {self.project_id}"


class Submission(models.Model):
    """Submitted outputs of a new system, until an admin decides.

    outputs: the output by document key. An accepted submission becomes an addition, and preserves its
    outputs.
    """

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting")
        ACCEPTED = "accepted", _("accepted")
        REJECTED = "rejected", _("rejected")

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="submissions")
    system = models.CharField(max_length=200)
    contact = models.EmailField()
    note = models.TextField(blank=True, help_text="About the system, by who submits it.")
    outputs = models.JSONField()
    digest = models.CharField(max_length=64, help_text="text_digest of the outputs.")
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.WAITING)
    reason = models.TextField(blank=True, help_text="Why it was rejected.")
    addition = models.ForeignKey(Addition, models.SET_NULL, null=True, related_name="submissions")
    at = models.DateTimeField(auto_now_add=True)
    decided_at = models.DateTimeField(null=True)
    decided_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "project",
                "digest",
                # Outputs that were rejected can be submitted again.
                condition=Q(status="waiting") | Q(addition__isnull=False),
                name="outputs_are_submitted_once",
            ),
            models.CheckConstraint(
                condition=Q(status="waiting", decided_at__isnull=True)
                | (~Q(status="waiting") & Q(decided_at__isnull=False)),
                name="decided_submissions_say_when",
            ),
            models.CheckConstraint(
                condition=~Q(status="rejected") | Q(reason__gt=""), name="rejected_submissions_say_why"
            ),
        ]

    def __str__(self) -> str:
        return self.system


class VersionRequest(models.Model):
    """A version that a worker makes: a job, see docs/reference/jobs.md."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting for a worker")
        MAKING = "making", _("made by a worker")
        READY = "ready", _("ready")
        STOPPED = "stopped", _("stopped")

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="version_requests")
    changelog = models.TextField()
    status = models.CharField(max_length=7, choices=Status.choices, default=Status.WAITING)
    message = models.TextField(blank=True, help_text="Why it stopped.")
    lease = models.UUIDField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    version = models.ForeignKey(Version, models.SET_NULL, null=True, related_name="+")
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    touched_at = models.DateTimeField(help_text="When status or heartbeat changed last.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "project", condition=Q(status__in=["waiting", "making"]), name="one_version_at_a_time"
            )
        ]

    def __str__(self) -> str:
        return f"request {self.pk} of a version"
