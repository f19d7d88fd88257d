"""Alignment of judges with people, and watches for drift of their models."""

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _


class DevelopmentDocument(models.Model):
    """A document reserved for improving judges; statistics about judges exclude it."""

    class Part(models.TextChoices):
        TEACH = "teach", _("teach")
        SELECT = "select", _("select")

    # A judge gains alpha on documents that its prompt quotes, so no part serves both purposes.
    part = models.CharField(
        max_length=6,
        choices=Part.choices,
        default=Part.TEACH,
        db_default=Part.TEACH,
        help_text="Teach: examples and errors come from it. Select: candidates are ranked on it.",
    )
    # A single row, so that no document is in two parts.
    document = models.OneToOneField("annotate.Document", models.CASCADE, related_name="development")
    drawn_at = models.DateTimeField(default=timezone.now)

    def __str__(self) -> str:
        return f"development document {self.document_id}"


class Drafting(models.Model):
    """Proposals drafted by a model, one call for each. A worker makes the calls within the budget."""

    class Status(models.TextChoices):
        PLANNED = "planned", _("planned")
        WAITING = "waiting", _("waiting for a worker")
        ASKING = "asking", _("a model is asked")
        FINISHED = "finished", _("finished")
        STOPPED = "stopped", _("stopped")

    UNDER_WAY = (Status.WAITING, Status.ASKING)

    judge = models.ForeignKey("judges.Judge", models.CASCADE, related_name="draftings")
    dimension = models.ForeignKey("annotate.Dimension", models.CASCADE, related_name="+")
    drafter = models.ForeignKey(
        "judges.Judge", models.CASCADE, related_name="+", help_text="The judge whose model is asked."
    )
    search = models.ForeignKey(
        "judges.PromptSearch",
        models.CASCADE,
        null=True,
        related_name="draftings",
        help_text="Whose errors it is about; null: a person planned it.",
    )
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.PLANNED)
    reason = models.TextField(blank=True, help_text="Why it stopped, in a sentence.")
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True)
    spent = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    lease = models.UUIDField(null=True, help_text="The worker that is at it; no other writes what came.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How many workers took it.")
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now, help_text="When it was last heard of.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(status="stopped") | Q(reason__gt=""), name="stopped_draftings_say_why"
            ),
            models.CheckConstraint(
                condition=Q(budget__isnull=True) | Q(budget__gt=0), name="budgets_of_draftings_allow_a_call"
            ),
        ]

    def __str__(self) -> str:
        return f"drafting {self.pk}"


class PromptSearch(models.Model):
    """A search for the prompt that agrees best with people, in rounds.

    Its candidates are proposals. In each round they judge the documents for selecting, in stages. Between two
    rounds the best candidate judges the documents for teaching, and a model drafts additions from its errors.
    At the end the selected candidate judges the held-out documents, once.
    """

    class Status(models.TextChoices):
        PLANNED = "planned", _("planned")
        RUNNING = "running", _("running")
        STOPPED = "stopped", _("stopped")
        CANCELLED = "cancelled", _("cancelled")
        FINISHED = "finished", _("finished")

    class Step(models.TextChoices):
        SELECT = "select", _("ranking candidates")
        REPEAT = "repeat", _("asking again where calls failed")
        TEACH = "teach", _("looking for errors of the best candidate")
        DRAFT = "draft", _("drafting from its errors")
        HELD_OUT = "held_out", _("asking the chosen candidate about documents held out")

    judge = models.ForeignKey("judges.Judge", models.CASCADE, related_name="searches")
    dimension = models.ForeignKey("annotate.Dimension", models.CASCADE, related_name="+")
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.PLANNED)
    reason = models.TextField(blank=True, help_text="Why it stopped, or chose nothing, in a sentence.")
    stages = models.JSONField(
        default=list, help_text="How many candidates each stage asks about how many documents."
    )
    stage = models.PositiveSmallIntegerField(default=0, help_text="The stage under way.")
    # With `db_default`, because the previous version writes rows without these during an upgrade.
    step = models.CharField(max_length=8, choices=Step.choices, default=Step.SELECT, db_default=Step.SELECT)
    round = models.PositiveSmallIntegerField(default=1, db_default=1, help_text="The round under way.")
    rounds = models.PositiveSmallIntegerField(default=1, db_default=1, help_text="At the most.")
    drafter = models.ForeignKey(
        "judges.Judge",
        models.SET_NULL,
        null=True,
        related_name="+",
        help_text="Whose model drafts from errors between rounds.",
    )
    documents = models.JSONField(default=list, help_text="Ids of its documents for selecting as drawn.")
    most_calls = models.PositiveIntegerField(null=True)
    planned_calls = models.PositiveIntegerField(help_text="At the most, as it was planned.")
    planned_cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True)
    run = models.ForeignKey(
        "judges.Run", models.SET_NULL, null=True, related_name="+", help_text="Of the stage under way."
    )
    runs = models.ManyToManyField("judges.Run", related_name="searches")
    lease = models.UUIDField(null=True, help_text="The worker that advances it.")
    attempts = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Number of workers that took this stage."
    )
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now, help_text="When it last went on.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(status="stopped") | Q(reason__gt=""), name="stopped_searches_say_why"
            ),
            models.CheckConstraint(
                condition=Q(budget__isnull=True) | Q(budget__gt=0), name="budgets_of_searches_allow_a_call"
            ),
        ]

    def __str__(self) -> str:
        return f"search {self.pk}"


class Proposal(models.Model):
    """A change of a judge's prompt on one dimension, for a person to edit and accept, or for a trial."""

    class Kind(models.TextChoices):
        EXAMPLES = "examples", _("examples")
        CLARIFICATION = "clarification", _("clarification")
        WORDING = "wording", _("wording")

    class Status(models.TextChoices):
        DRAFTING = "drafting", _("being drafted")
        FAILED = "failed", _("not drafted")
        PROPOSED = "proposed", _("proposed")
        ACCEPTED = "accepted", _("accepted")
        DISMISSED = "dismissed", _("dismissed")
        TRIED = "tried", _("tried by a search")

    judge = models.ForeignKey("judges.Judge", models.CASCADE, related_name="proposals")
    dimension = models.ForeignKey("annotate.Dimension", models.CASCADE, related_name="+")
    kind = models.CharField(max_length=13, choices=Kind.choices)
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.PROPOSED)
    text = models.TextField(
        blank=True, help_text="What is added to the prompt; of a wording the whole prompt."
    )
    about = models.CharField(max_length=200, blank=True, help_text="What its units have in common.")
    items = models.ManyToManyField("annotate.Item", related_name="+", help_text="The units it comes from.")
    drafting = models.ForeignKey(Drafting, models.SET_NULL, null=True, related_name="proposals")
    request = models.TextField(blank=True, help_text="What the model is asked that drafts it.")
    # A worker that dies during a call leaves this mark, and the next one counts the call as spent.
    is_in_flight = models.BooleanField(default=False, help_text="Whether the model is asked just now.")
    # Stored before it is read, so that another attempt pays nothing.
    reply = models.TextField(  # noqa: DJ001 - an empty reply is one
        null=True, help_text="The reply of the model; null: none yet."
    )
    problem = models.TextField(blank=True, help_text="Why it was not drafted, in a sentence.")
    drafted_by = models.CharField(max_length=120, blank=True, help_text="The model; empty: no model did.")
    input_tokens = models.PositiveIntegerField(null=True)
    output_tokens = models.PositiveIntegerField(null=True)
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    search = models.ForeignKey(
        PromptSearch, models.CASCADE, null=True, related_name="candidates", help_text="That tries it."
    )
    parts = models.ManyToManyField("self", symmetrical=False, help_text="The proposals that it combines.")
    dropped_after = models.PositiveSmallIntegerField(
        null=True, help_text="The stage after which its search asked it no more."
    )
    is_chosen = models.BooleanField(default=False, help_text="Whether its search chose it.")
    ranks = models.JSONField(
        null=True, help_text="Of each stage: its alpha, that of the judge as it is, and the items of both."
    )
    candidate = models.ForeignKey(
        "judges.Judge",
        models.SET_NULL,
        null=True,
        related_name="accepted_proposals",
        help_text="The judge whose prompt has it.",
    )
    guideline = models.ForeignKey(
        "annotate.Guideline",
        models.SET_NULL,
        null=True,
        related_name="+",
        help_text="The version in which raters read it.",
    )
    created_at = models.DateTimeField(default=timezone.now)
    decided_at = models.DateTimeField(null=True, help_text="When it was accepted or dismissed.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(status="accepted")
                | Q(status="tried", guideline__isnull=True)
                | Q(candidate__isnull=True, guideline__isnull=True),
                name="only_what_is_accepted_or_tried_is_used",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["drafting", "failed"]) | Q(text__gt=""), name="proposals_have_a_text"
            ),
            models.CheckConstraint(
                condition=~Q(status="failed") | Q(problem__gt=""), name="failed_drafts_say_why"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.kind} for {self.judge}"


class DriftWatch(models.Model):
    """Units that a judge scores again every few days. An alarm ends the watch until an admin confirms it.

    Each check uses a hidden copy of the judge, because a judge has one answer to a question. `baseline`: the
    check whose values serve as the first ones; null: the judge's own values.
    """

    judge = models.ForeignKey("judges.Judge", models.CASCADE, related_name="watches")
    # Chosen without regard to values: noise alone moves extreme values towards the middle.
    units = models.JSONField(help_text="Ids of items by the id of the dimension.")
    days = models.PositiveSmallIntegerField(help_text="From one check to the next.")
    budget = models.DecimalField(
        max_digits=12, decimal_places=4, null=True, help_text="Of all checks together; empty: no limit."
    )
    baseline = models.ForeignKey("judges.DriftCheck", models.SET_NULL, null=True, related_name="+")
    is_active = models.BooleanField(default=True)
    next_at = models.DateTimeField(help_text="When the next check starts.")
    reason = models.TextField(blank=True, help_text="Why the last check could not start, or why it ended.")
    alarmed_at = models.DateTimeField(null=True)
    confirmed_at = models.DateTimeField(null=True, help_text="When an admin let a new watch begin.")
    confirmed_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-pk"]
        constraints = [
            models.UniqueConstraint("judge", condition=Q(is_active=True), name="one_active_watch_of_a_judge"),
            models.CheckConstraint(condition=Q(days__gte=1), name="watches_have_days_between_checks"),
            models.CheckConstraint(
                condition=Q(alarmed_at__isnull=True) | Q(is_active=False), name="an_alarm_ends_a_watch"
            ),
            models.CheckConstraint(
                condition=Q(budget__isnull=True) | Q(budget__gt=0), name="watches_may_spend_something"
            ),
        ]

    def __str__(self) -> str:
        return f"watch {self.pk}"


class DriftCheck(models.Model):
    """One repetition of a watch. figures: by dimension id, see `agreement.drift.ControlPoint`."""

    class State(models.TextChoices):
        ASKING = "asking", "asking"
        FINISHED = "finished", "finished"
        CANCELLED = "cancelled", "cancelled"

    watch = models.ForeignKey(DriftWatch, models.CASCADE, related_name="checks")
    number = models.PositiveSmallIntegerField()
    run = models.OneToOneField("judges.Run", models.CASCADE, null=True, related_name="drift_check")
    at = models.DateTimeField(help_text="When it started.")
    state = models.CharField(max_length=9, choices=State.choices, default=State.ASKING)
    figures = models.JSONField(default=dict)

    class Meta:
        ordering = ["number"]
        constraints = [
            models.UniqueConstraint("watch", "number", name="check_number_once_in_watch"),
            models.UniqueConstraint("watch", condition=Q(state="asking"), name="one_check_at_a_time"),
        ]

    def __str__(self) -> str:
        return f"check {self.number} of {self.watch}"
