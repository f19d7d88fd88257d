"""Disputed units, their threads and outcomes, and the views of raters."""

from django.db import models
from django.db.models import F, Q
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.models.fields import MailedRow, PointsField
from annotate.core.models.ratings import DATA


class Dispute(models.Model):
    """A unit whose Round I values differ by the threshold or more, with the rule that held when it opened."""

    class Status(models.TextChoices):
        OPEN = "open", _("open")
        SETTLED = "settled", _("settled")
        ADJUDICATED = "adjudicated", _("adjudicated")
        LEFT_OPEN = "left_open", _("left open")
        IRRESOLVABLE = "irresolvable", _("irresolvable by discussion")

    round = models.ForeignKey("annotate.Round", models.PROTECT, related_name="disputes")
    item = models.ForeignKey("annotate.Item", models.PROTECT, related_name="disputes")
    dimension = models.ForeignKey("annotate.Dimension", models.PROTECT, related_name="disputes")
    number = models.PositiveIntegerField(help_text="In a random order, so that it tells nothing of the item.")
    spread = PointsField(help_text="Largest minus smallest Round I value.")
    # A copy of the rule at the end of Round I, so that a dispute shows by which rule it opened.
    threshold = PointsField(help_text="How far apart values had to be to open it.")
    tolerance = PointsField(help_text="How near all values must be to settle it.")
    status = models.CharField(max_length=12, choices=Status.choices, default=Status.OPEN)
    adjudicated_value = PointsField(null=True, blank=True)
    adjudicated_data = models.JSONField(null=True, blank=True, help_text=DATA)
    updated_at = models.DateTimeField(help_text="When its status or its decision changed last.")
    active_at = models.DateTimeField(help_text="When it was answered, written to or decided last.")

    class Meta:
        indexes = [models.Index("round", "status", "active_at", name="disputes_by_status_and_silence")]
        constraints = [
            models.UniqueConstraint("round", "item", "dimension", name="one_dispute_per_unit"),
            models.UniqueConstraint("round", "number", name="dispute_number_once_in_round"),
            models.CheckConstraint(
                condition=Q(tolerance__lt=F("threshold")), name="what_opens_a_dispute_does_not_settle_it"
            ),
            models.CheckConstraint(
                condition=Q(spread__gte=0, tolerance__gte=0), name="distances_are_not_negative"
            ),
            models.CheckConstraint(
                condition=Q(status="adjudicated", adjudicated_value__isnull=False)
                | (~Q(status="adjudicated") & Q(adjudicated_value__isnull=True)),
                name="adjudicated_disputes_have_a_value",
            ),
        ]

    def __str__(self) -> str:
        return gettext("Dispute {number}").format(number=self.number)

    @property
    def takes_answers(self) -> bool:
        status = Dispute.Status
        # Raters can still change a value of a settled dispute, which can reopen it.
        return self.status in (status.OPEN, status.SETTLED, status.IRRESOLVABLE)

    @property
    def may_be_left_open(self) -> bool:
        """Return True if an admin may end the dispute without a common value: the values differ."""
        return self.status in (Dispute.Status.OPEN, Dispute.Status.IRRESOLVABLE)


class DisputeRater(models.Model):
    """A rater of a disputed unit, and the time since an open dispute needs them, None if it does not.

    It follows from the ratings. It is stored, because lists of disputes would otherwise read all ratings;
    `annotate.disputes.commands.state` writes it.
    """

    dispute = models.ForeignKey(Dispute, models.CASCADE, related_name="raters")
    rater = models.ForeignKey("annotate.Membership", models.CASCADE, related_name="+")
    since = models.DateTimeField(
        null=True, help_text="When what is to be answered was last added to, or long ago; empty: nothing is."
    )

    class Meta:
        constraints = [models.UniqueConstraint("dispute", "rater", name="rater_once_in_a_dispute")]
        indexes = [models.Index("rater", condition=Q(since__isnull=False), name="raters_who_are_waited_for")]

    def __str__(self) -> str:
        return f"{self.dispute_id} waits for {self.rater_id}"


class DisputeEvent(models.Model):
    """An event of a dispute. Never updated, never deleted."""

    class Kind(models.TextChoices):
        OPENED = "opened", _("opened")
        SETTLED = "settled", _("settled")
        REOPENED = "reopened", _("apart again")
        ADJUDICATED = "adjudicated", _("adjudicated")
        LEFT_OPEN = "left_open", _("left open")
        RESUMED = "resumed", _("opened again")
        ASKED_AGAIN = "asked_again", _("to be answered again")
        IRRESOLVABLE = "irresolvable", _("irresolvable by discussion")
        TAKEN_UP = "taken_up", _("discussed again")

    dispute = models.ForeignKey(Dispute, models.PROTECT, related_name="events")
    at = models.DateTimeField()
    actor = models.ForeignKey("annotate.User", models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=12, choices=Kind.choices)
    value = PointsField(null=True)
    data = models.JSONField(null=True, help_text=DATA)
    note = models.TextField(blank=True)

    class Meta:
        ordering = ["at", "pk"]
        indexes = [models.Index("at", "id", name="events_of_disputes_by_time")]

    def __str__(self) -> str:
        return self.kind


class Post(models.Model):
    dispute = models.ForeignKey(Dispute, models.PROTECT, related_name="posts")
    author = models.ForeignKey("annotate.Membership", models.PROTECT, related_name="posts")
    text = models.TextField()
    at = models.DateTimeField()

    class Meta:
        ordering = ["at", "pk"]

    def __str__(self) -> str:
        return f"post {self.pk}"


class Nudge(MailedRow):
    """A reminder to a rater about pending disputes; maximum one a day."""

    rater = models.ForeignKey("annotate.Membership", models.CASCADE, related_name="nudges")
    day = models.DateField()
    at = models.DateTimeField()
    by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    disputes = models.PositiveIntegerField(help_text="How many waited for the rater.")
    link = models.CharField(max_length=500, blank=True, help_text="Where the mail leads.")
    mail_due_at = models.DateTimeField(null=True, help_text="When a worker mails it; empty: never.")
    mailed_at = models.DateTimeField(null=True, help_text="When the mail server took the message.")

    class Meta:
        # Two admins who nudge at the same time pass any check before the insert; the database stops the
        # second.
        constraints = [models.UniqueConstraint("rater", "day", name="one_nudge_on_a_day")]

    def __str__(self) -> str:
        return f"nudge {self.pk}"


class DisputeDigest(MailedRow):
    """A digest mail about changes in the disputes that need a person; maximum one a day."""

    user = models.ForeignKey("annotate.User", models.CASCADE, related_name="digests")
    day = models.DateField()
    at = models.DateTimeField(help_text="Until when what happened stands in it.")
    mail_due_at = models.DateTimeField(null=True, help_text="When a worker mails it; empty: it did.")

    class Meta:
        constraints = [models.UniqueConstraint("user", "day", name="one_digest_on_a_day")]

    def __str__(self) -> str:
        return f"digest {self.pk}"


class DisputeLook(models.Model):
    rater = models.ForeignKey("annotate.Membership", models.CASCADE, related_name="looks")
    dispute = models.ForeignKey("annotate.Dispute", models.CASCADE, related_name="looks")
    at = models.DateTimeField()

    class Meta:
        constraints = [models.UniqueConstraint("rater", "dispute", name="one_look_of_a_rater")]

    def __str__(self) -> str:
        return f"look {self.pk}"
