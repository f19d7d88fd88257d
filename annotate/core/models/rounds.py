"""Rounds, their frozen guidelines and acknowledgements, and assignments."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _


class Guideline(models.Model):
    """The complete instructions and answer options of raters, frozen when they came into force."""

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="guideline_versions")
    version = models.PositiveIntegerField()
    content = models.JSONField(help_text="See annotate.core.guideline.FrozenGuideline.")
    digest = models.CharField(max_length=64)
    frozen_at = models.DateTimeField(auto_now_add=True)
    note = models.TextField(blank=True, help_text="What changed and why, if it changes another.")
    made_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "version", name="guideline_version_once_in_project"),
            # Undoing a change of wording finds the earlier version by its content and uses it again.
            models.UniqueConstraint("project", "digest", name="guideline_content_once_in_project"),
        ]

    def __str__(self) -> str:
        return f"guideline version {self.version}"


def rounds_of_study(round: str = "") -> Q:
    """Return the condition that a round (or one reached by a name such as "round__") is I or II."""
    return Q(**{f"{round}number__lt": Round.CHECKS})


class WorkOrder(models.TextChoices):
    BY_DOCUMENT = "by_document", _("by document: all items of a document in succession")
    MIXED = "mixed", _("fully mixed")


class DimensionOrder(models.TextChoices):
    FIXED = "fixed", _("as they are listed")
    DRAWN = "drawn", _("drawn once for each annotator")


class RoundManager(models.Manager["Round"]):
    def get_queryset(self) -> "models.QuerySet[Round]":
        return super().get_queryset().filter(rounds_of_study())


class Round(models.Model):
    """A pass over units under one frozen guideline: Round I independent, Round II about disputes.

    Hidden checks (gold, repeats) have a separate round with number 3, which `objects` and a project's
    `rounds` exclude. So no statistic, counter or export includes them. An annotator rates them in Round I.
    """

    class Status(models.TextChoices):
        OPEN = "open", _("open")
        CLOSED = "closed", _("closed")

    CHECKS = 3
    MET_TOGETHER = (1, CHECKS)  # The rounds that an annotator works through in one order.

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="rounds")
    number = models.PositiveSmallIntegerField()
    status = models.CharField(max_length=6, choices=Status.choices, default=Status.OPEN)
    guideline = models.ForeignKey(
        Guideline, models.PROTECT, related_name="rounds", help_text="The version in force, or when it closed."
    )
    seed = models.BigIntegerField()
    every_item = models.BooleanField(
        default=True, help_text="Whether every item gets places, or only the units that are routed."
    )
    work_order = models.CharField(
        max_length=11,
        choices=WorkOrder.choices,
        default=WorkOrder.BY_DOCUMENT,
        help_text="Frozen with the round.",
    )
    dimension_order = models.CharField(
        max_length=5,
        choices=DimensionOrder.choices,
        default=DimensionOrder.FIXED,
        help_text="Frozen with the round.",
    )
    deadline = models.DateField(
        null=True,
        blank=True,
        help_text="The day by which raters are asked to be done; nothing ends by itself.",
    )
    is_unfinished = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether assignments or disputes are still written after it was opened or closed.",
    )
    lease = models.UUIDField(null=True, help_text="The process that writes them.")
    attempts = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Number of workers that took it."
    )
    touched_at = models.DateTimeField(null=True, help_text="The last heartbeat of that process.")
    problem = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="Why workers gave up. Opening or closing tries again.",
    )
    opened_at = models.DateTimeField()
    opened_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    closed_at = models.DateTimeField(null=True, blank=True)
    closed_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, blank=True, related_name="+")

    # Reverse relations such as `project.rounds` use the first manager, so the filtered one comes first.
    objects = RoundManager()
    all_rounds = models.Manager["Round"]()

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "number", name="round_number_once_in_project"),
            # The round of checks is open together with Round I.
            models.UniqueConstraint(
                "project", condition=Q(status="open", number__lt=3), name="one_open_round_per_project"
            ),
            models.CheckConstraint(condition=Q(number__in=[1, 2, 3]), name="round_one_two_or_checks"),
            models.CheckConstraint(
                condition=Q(status="open", closed_at__isnull=True)
                | Q(status="closed", closed_at__isnull=False),
                name="closed_rounds_say_when",
            ),
        ]

    def __str__(self) -> str:
        return gettext("Round {numeral}").format(numeral=self.numeral)

    @property
    def numeral(self) -> str:
        """Return its number for display. Hidden checks are part of Round I."""
        return "I" * (1 if self.number == Round.CHECKS else self.number)

    @property
    def is_open(self) -> bool:
        return self.status == Round.Status.OPEN

    @property
    def deadline_passed(self) -> bool:
        return self.deadline is not None and self.deadline < timezone.localdate()

    @property
    def is_independent(self) -> bool:
        """Return True if raters could not see each other's values, so that agreement is reliability."""
        return self.number == 1


class Assignment(models.Model):
    """A slot for one rater of an item in a round, with its origin; free until a rater takes it.

    It covers all dimensions of the round or, if `partial`, only those in its `units`.
    """

    class Plan(models.TextChoices):
        N_OF_M = "n_of_m", _("N of M annotators rate every item")
        EVERYONE = "everyone", _("every annotator rates every item")
        BALANCED = "balanced", _("N of M annotators, dealt out evenly")
        SHARING = "sharing", _("N of M annotators, and a block that everyone rates")
        LISTED = "listed", _("as a file lists it")
        IMPORTED = "imported", _("recorded elsewhere and imported")
        GOLD = "gold", _("a check: its gold values are known")
        REPEAT = "repeat", _("a check: the annotator rates it a second time")
        DISPUTES = "disputes", _("the Round I raters of a disputed unit")
        ROUTED = "routed", _("routed from a model judge")

    round = models.ForeignKey(Round, models.CASCADE, related_name="assignments")
    item = models.ForeignKey("annotate.Item", models.PROTECT, related_name="assignments")
    slot = models.PositiveSmallIntegerField()
    annotator = models.ForeignKey(
        "annotate.Membership", models.PROTECT, null=True, blank=True, related_name="assignments"
    )
    position = models.PositiveIntegerField(null=True, blank=True, help_text="In the annotator's own order.")
    plan = models.CharField(max_length=12, choices=Plan.choices)
    origin = models.CharField(
        max_length=120, blank=True, help_text="What asked for it, in the words of who asked; not read here."
    )
    partial = models.BooleanField(default=False, help_text="For the dimensions of its units only.")
    seed = models.BigIntegerField(help_text="Of the plan's random choices.")
    inclusion_probability = models.FloatField(
        null=True,
        blank=True,
        help_text="That the plan has this item rated at all; empty where each unit has its own.",
    )
    reserved_until = models.DateTimeField(null=True, blank=True)
    started_at = models.DateTimeField(null=True, blank=True)
    completed_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            # With the next constraint, an item gets exactly N different raters, even if a command forgets a
            # lock.
            models.UniqueConstraint("round", "item", "slot", name="slot_once_per_item"),
            models.UniqueConstraint(
                "round",
                "annotator",
                "item",
                condition=Q(annotator__isnull=False),
                name="annotator_rates_an_item_once",
            ),
            models.UniqueConstraint(
                "round",
                "annotator",
                "position",
                condition=Q(annotator__isnull=False),
                name="position_once_in_an_annotators_order",
            ),
            models.CheckConstraint(
                condition=Q(annotator__isnull=True, position__isnull=True, started_at__isnull=True)
                | Q(annotator__isnull=False, position__isnull=False),
                name="taken_assignments_have_a_position",
            ),
            models.CheckConstraint(
                condition=Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="inclusion_probability_in_range",
            ),
            models.CheckConstraint(
                condition=Q(partial=False, inclusion_probability__isnull=False)
                | Q(partial=True, inclusion_probability__isnull=True),
                name="probability_by_item_or_by_unit",
            ),
            models.CheckConstraint(
                condition=~Q(plan="routed") | Q(partial=True, origin__gt=""),
                name="routed_assignments_say_what_and_by_what",
            ),
            models.CheckConstraint(
                condition=Q(completed_at__isnull=True) | Q(started_at__isnull=False),
                name="completed_assignments_were_started",
            ),
        ]
        indexes = [
            # Claims search free slots only, so the index shrinks while raters take them.
            models.Index("round", "item", condition=Q(annotator__isnull=True), name="free_assignments")
        ]

    def __str__(self) -> str:
        return f"assignment {self.pk}"


class AssignedUnit(models.Model):
    """A dimension of a partial assignment, with the probability that this unit had to be rated."""

    # Rows and no JSON, because queries join them and the dimension needs a foreign key.
    assignment = models.ForeignKey(Assignment, models.CASCADE, related_name="units")
    dimension = models.ForeignKey("annotate.Dimension", models.PROTECT, related_name="+")
    inclusion_probability = models.FloatField(help_text="That the plan has this unit rated at all.")

    class Meta:
        constraints = [
            models.UniqueConstraint("assignment", "dimension", name="assigned_unit_once"),
            models.CheckConstraint(
                condition=Q(inclusion_probability__gt=0, inclusion_probability__lte=1),
                name="unit_probability_in_range",
            ),
        ]

    def __str__(self) -> str:
        return f"dimension {self.dimension_id} of {self.assignment_id}"


class Acknowledgement(models.Model):
    """A record that an annotator has read a guideline version that came into force while rating.

    Undoing a change of wording restores the old version, so a version can be read more than once.
    """

    annotator = models.ForeignKey("annotate.Membership", models.CASCADE, related_name="+")
    guideline = models.ForeignKey("annotate.Guideline", models.PROTECT, related_name="+")
    at = models.DateTimeField()

    def __str__(self) -> str:
        return f"acknowledgement {self.pk}"


# How the items of Round I are to be shared out, chosen before it opens.


class AssignmentPlan(models.Model):
    """A project's assignment plan. A project without a row has the shared queue."""

    # The settings of every kind, for forms, the API and the audit log.
    SETTINGS = (
        *("kind", "share", "gold_every", "repeat_every", "dealt_by"),
        *("work_order", "dimension_order"),
    )

    class Kind(models.TextChoices):
        QUEUE = "queue", _("Shared queue")
        EVERYONE = "everyone", _("Everyone rates everything")
        BALANCED = "balanced", _("N of M, dealt out evenly")
        SHARING = "sharing", _("Every pair shares a set share of items")
        LISTED = "listed", _("Fixed lists from a file")

    class DealtBy(models.TextChoices):
        DOCUMENTS = "documents", _("whole documents")
        ITEMS = "items", _("single items")

    project = models.OneToOneField("annotate.Project", models.CASCADE, related_name="assignment_plan")
    kind = models.CharField(max_length=8, choices=Kind.choices, default=Kind.QUEUE)
    share = models.PositiveSmallIntegerField(
        default=10, help_text="Percent of the items that every pair of annotators shares."
    )
    dealt_by = models.CharField(
        max_length=9,
        choices=DealtBy.choices,
        default=DealtBy.DOCUMENTS,
        help_text="Whether all items of a document have the same raters.",
    )
    work_order = models.CharField(max_length=11, choices=WorkOrder.choices, default=WorkOrder.BY_DOCUMENT)
    dimension_order = models.CharField(
        max_length=5, choices=DimensionOrder.choices, default=DimensionOrder.FIXED
    )
    pairs = models.JSONField(default=list, help_text="The listed pairs of keys: item, membership.")

    gold_every = models.PositiveSmallIntegerField(
        default=10, help_text="A hidden gold item comes after so many items; 0: none."
    )
    repeat_every = models.PositiveSmallIntegerField(
        default=0, help_text="An item comes a second time after so many items; 0: none."
    )

    class Meta:
        constraints = [models.CheckConstraint(condition=Q(share__lte=100), name="share_is_a_percentage")]

    def __str__(self) -> str:
        return self.get_kind_display()

    @property
    def in_words(self) -> str:
        """Return the kind, followed by `dealt_by` for balanced and sharing plans."""
        if self.kind not in (self.Kind.BALANCED, self.Kind.SHARING):
            return str(self)
        return f"{self}, {self.get_dealt_by_display()}"
