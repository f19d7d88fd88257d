"""Runs and their judgments: the plan, the leases and the results are all in the database."""

import math
from decimal import Decimal
from typing import cast
from uuid import uuid4

from django.db import models
from django.db.models import Q
from django.db.models.functions import Now
from django.utils import timezone
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.guideline import FrozenDimension
from annotate.core.models.fields import MailedRow
from annotate.questions import Given, kind_of
from judges.core.values import map_values


class Run(MailedRow):
    """A plan to collect judgments within a budget; workers follow it while it is running."""

    class Status(models.TextChoices):
        PLANNED = "planned", _("planned")
        RUNNING = "running", _("running")
        PAUSED = "paused", _("paused")
        STOPPED = "stopped", _("stopped")
        CANCELLED = "cancelled", _("cancelled")
        FINISHED = "finished", _("finished")

    class Via(models.TextChoices):
        CALLS = "calls", _("one call a judgment")
        BATCH = "batch", _("the batch interface")

    OVER = (Status.CANCELLED, Status.FINISHED)

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="runs")
    # One frozen version for the whole run, also if the wording changes during it.
    guideline = models.ForeignKey("annotate.Guideline", models.PROTECT, related_name="runs")
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.PLANNED)
    via = models.CharField(max_length=5, choices=Via.choices, default=Via.CALLS)
    reason = models.TextField(blank=True, help_text="Why it stopped, or paused by itself, in sentences.")
    waits_for = models.ForeignKey(
        "judges.Endpoint",
        models.SET_NULL,
        null=True,
        related_name="+",
        help_text="The endpoint without whose answer it stopped.",
    )
    resumes_until = models.DateTimeField(
        null=True, help_text="Until when it resumes by itself once that endpoint answers."
    )
    told_at = models.DateTimeField(null=True, help_text="When it was mailed that it stopped.")
    mail_due_at = models.DateTimeField(
        null=True,
        default=timezone.now,
        db_default=Now(),
        help_text="When a worker mails that, or mails it again.",
    )
    accepts_unreadable = models.BooleanField(
        default=False, help_text="Whether someone lets it go on however many replies are unreadable."
    )
    keeps_messages = models.BooleanField(
        default=False,
        help_text="Whether its judgments keep the messages that were sent, not only their hash.",
    )
    reuses_answers = models.BooleanField(
        default=False, help_text="Whether identical calls are answered from what the project has stored."
    )
    looked_up_to = models.BigIntegerField(
        null=True,
        help_text="The last judgment for which a stored answer was looked up; empty: none has to be.",
    )
    # Otherwise a parameter that a model rejects would fail once for each judgment.
    untried_judges = models.JSONField(
        null=True, help_text="Ids of judges that are asked one judgment alone until one is answered."
    )
    budget = models.DecimalField(max_digits=12, decimal_places=4, null=True, blank=True)
    # Eight decimals, since a single call can cost less than the smallest step of a budget.
    spent = models.DecimalField(max_digits=14, decimal_places=8, default=0)
    reused = models.PositiveIntegerField(default=0, help_text="Judgments that took over a stored answer.")
    reused_cost = models.DecimalField(
        max_digits=14, decimal_places=8, default=0, help_text="What the calls behind these answers had cost."
    )
    # This counts unknown costs, so that the sum does not treat it as 0.
    reused_cost_unknown = models.PositiveIntegerField(
        default=0, help_text="How many of these answers had a cost that is unknown."
    )
    cached_tokens = models.BigIntegerField(
        null=True, help_text="Input tokens that servers had cached; empty: none said how many."
    )
    cached_tokens_unpriced = models.BigIntegerField(
        default=0, help_text="Those of endpoints without a price for them."
    )
    cache_savings = models.DecimalField(
        max_digits=14, decimal_places=8, default=0, help_text="What the other ones cost less for it."
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    started_at = models.DateTimeField(null=True, blank=True)
    finished_at = models.DateTimeField(null=True, blank=True)

    replies_removed_at = models.DateTimeField(
        null=True, help_text="When what the models wrote was removed, kept for some time only."
    )

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(status="stopped") | Q(reason__gt=""), name="stopped_runs_say_why"
            ),
            models.CheckConstraint(
                condition=Q(status="stopped") | Q(waits_for__isnull=True, resumes_until__isnull=True),
                name="only_stopped_runs_wait_for_an_answer",
            ),
            models.CheckConstraint(
                condition=Q(budget__isnull=True) | Q(budget__gt=0), name="budgets_allow_something"
            ),
        ]

    def __str__(self) -> str:
        return f"run {self.pk}"

    @property
    def saved_by_cache(self) -> Decimal | None:
        """The cost saved on input tokens that servers had cached; None if undefined."""
        return None if self.saved_by_cache_reason else self.cache_savings

    @property
    def saved_by_cache_reason(self) -> str:
        """The reason why the cache saving is undefined; empty if it is defined."""
        if self.cached_tokens is None:
            return gettext("No server has said how many input tokens it had cached.")
        # One part with a price is enough for a saving, which is then a lower bound.
        if self.cached_tokens and self.cached_tokens == self.cached_tokens_unpriced:
            return gettext("The endpoint has no price of cached input tokens.")
        return ""


class Judgment(models.Model):
    """One call of a judge about one unit, or one ordered pair of items (one sample), and its result."""

    class Status(models.TextChoices):
        PLANNED = "planned", _("planned")
        LEASED = "leased", _("in flight")
        DONE = "done", _("done")
        UNREADABLE = "unreadable", _("unreadable")
        FAILED = "failed", _("failed")
        EXCLUDED = "excluded", _("excluded")

    class Problem(models.TextChoices):
        """The cause of a judgment without a value, if the server reports it."""

        REFUSED = "refused", _("refused by the model")
        FILTERED = "filtered", _("held back by a content filter")
        TRUNCATED = "truncated", _("cut off")
        TOO_LONG = "too_long", _("too long for the model")
        REJECTED = "rejected", _("the server rejects the judge's requests")

    # Imported judgments and values of panels come from no run.
    run = models.ForeignKey(Run, models.PROTECT, null=True, related_name="judgments")
    judge = models.ForeignKey("judges.Judge", models.PROTECT, related_name="judgments")
    dimension = models.ForeignKey("annotate.Dimension", models.PROTECT, related_name="+")
    item = models.ForeignKey("annotate.Item", models.PROTECT, related_name="judgments")
    other = models.ForeignKey(
        "annotate.Item", models.PROTECT, null=True, related_name="+", help_text="The item shown second."
    )
    sample = models.PositiveSmallIntegerField(default=0)
    status = models.CharField(max_length=10, choices=Status.choices, default=Status.PLANNED)
    # Only the owner of this lease can write an outcome.
    lease = models.UUIDField(null=True)
    leased_until = models.DateTimeField(null=True)
    attempts = models.PositiveSmallIntegerField(default=0)
    # On the judge's own scale if it has one; see `mapped_value`.
    value = models.FloatField(null=True)
    data = models.JSONField(
        null=True,
        help_text="What an answer holds besides its value, see annotate.questions; empty on scales.",
    )
    rationale = models.TextField(blank=True)
    reply = models.TextField(blank=True)
    reason = models.TextField(blank=True, help_text="Why there is no value, in a sentence.")
    problem = models.CharField(
        max_length=9, choices=Problem.choices, blank=True, help_text="What kind of reason that is, if known."
    )
    parameters = models.JSONField(default=dict, help_text="The request as sent, without its messages.")
    messages_hash = models.CharField(
        max_length=64, blank=True, help_text="SHA-256 of the messages, see judges.runs.asking."
    )
    messages = models.JSONField(null=True, help_text="As sent, where the run keeps them.")
    # Calls of one judgment share its row, so leases, budgets and batches treat it as any other.
    steps = models.JSONField(
        default=list,
        help_text="Where its method takes several calls: those that are answered but the last, each with "
        "name, reply, tokens, calls and the messages' hash.",
    )
    steps_done = models.PositiveSmallIntegerField(default=0, help_text="How many these are.")
    asked_dimensions = models.JSONField(
        default=list,
        help_text="Ids of all dimensions of its call, in the order of the prompt; empty: its own alone.",
    )
    # By answer and not by token: a confidence needs no more, and that takes some 60 bytes.
    log_probabilities = models.JSONField(
        null=True,
        help_text="The natural logarithms of the probabilities of the answers at the token of the answer, "
        "by the answer; empty if the text gave the value.",
    )
    finish_reason = models.CharField(max_length=40, blank=True, help_text="In the server's words.")
    refusal = models.TextField(blank=True, help_text="The model's words, where it says that it refuses.")
    returned_model = models.CharField(max_length=200, blank=True, help_text="As the server names it.")
    system_fingerprint = models.CharField(max_length=200, blank=True)
    input_tokens = models.PositiveIntegerField(null=True)
    output_tokens = models.PositiveIntegerField(null=True)
    cached_tokens = models.PositiveIntegerField(null=True, help_text="Of the input tokens.")
    reasoning_tokens = models.PositiveIntegerField(null=True, help_text="Of the output tokens.")
    # Null is an unknown cost, as without a price; 0 is a free call.
    cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    seconds = models.FloatField(null=True)
    answered_at = models.DateTimeField(null=True)
    is_corrected = models.BooleanField(
        default=False, help_text="Whether a person set or excluded what came of this answer."
    )
    reused_from = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        related_name="+",
        help_text="The judgment whose stored answer it took over; no call was made for it.",
    )

    class Meta:
        constraints = [
            # Two constraints, since NULL in `other` would make each row of a single item unique.
            models.UniqueConstraint(
                "judge",
                "dimension",
                "item",
                "sample",
                condition=Q(other__isnull=True),
                name="one_judgment_per_unit_and_sample",
            ),
            models.UniqueConstraint(
                "judge",
                "dimension",
                "item",
                "other",
                "sample",
                condition=Q(other__isnull=False),
                name="one_judgment_per_pair_and_sample",
            ),
            models.CheckConstraint(
                # Status and value agree in every row, so statistics may filter by either.
                condition=Q(status="done", value__isnull=False) | (~Q(status="done") & Q(value__isnull=True)),
                name="done_judgments_have_a_value",
            ),
            models.CheckConstraint(
                condition=~Q(status__in=["unreadable", "failed", "excluded"]) | Q(reason__gt=""),
                name="judgments_without_value_say_why",
            ),
            models.CheckConstraint(
                condition=~Q(status="done") | Q(problem=""), name="values_have_no_problem"
            ),
            models.CheckConstraint(
                # No judgment can stay leased for ever, or be planned with a lease that still writes.
                condition=Q(status="leased", lease__isnull=False, leased_until__isnull=False)
                | (~Q(status="leased") & Q(lease__isnull=True, leased_until__isnull=True)),
                name="leases_end",
            ),
        ]
        indexes = [
            # An index with a condition covers the few rows in work, and stays small in a large run.
            models.Index("run", "id", condition=Q(status="planned"), name="judgments_planned"),
            # Judges of a run take turns: the first planned judgments of each.
            models.Index("run", "judge", "id", condition=Q(status="planned"), name="judgments_in_turn"),
            models.Index("run", "leased_until", condition=Q(status="leased"), name="judgments_leased"),
            models.Index("judge", condition=Q(status="leased"), name="judgments_in_flight"),
            models.Index("run", "answered_at", name="judgments_answered"),
            # What pages of runs count: read from these alone, for the rows of a large run fill gigabytes.
            models.Index("run", "judge", "status", name="judgments_counted"),
            # The check for outdated statistics sums over all values, and the cost estimate is a mean of
            # tokens: PostgreSQL reads both from this index alone.
            models.Index(
                "judge",
                "status",
                include=[
                    *("value", "item", "dimension", "answered_at", "is_corrected", "id"),
                    *("input_tokens", "output_tokens"),
                ],
                name="judgments_of_judges",
            ),
            models.Index(
                "run",
                condition=Q(answered_at__isnull=False, cost__isnull=True),
                name="judgments_of_unknown_cost",
            ),
            models.Index(
                "run",
                "status",
                "id",
                condition=Q(status__in=["unreadable", "failed"]),
                name="judgments_without_value",
            ),
            models.Index(
                # Only a judgment with its own call is a source, so copies never refer to copies.
                "messages_hash",
                condition=Q(status="done", reused_from__isnull=True),
                name="judgments_reusable",
            ),
        ]

    def __str__(self) -> str:
        return f"judgment {self.pk}"

    @property
    def calls_made(self) -> int:
        """The number of calls made for it; steps known before needed no call."""
        # `attempts` counts the calls of the current step only.
        return self.attempts + sum(int(step.get("calls", 1)) for step in self.steps)

    @property
    def answer_probabilities(self) -> list[tuple[str, float]]:
        """The probabilities of the answers that determine its value, the likeliest first."""
        found = (self.log_probabilities or {}).items()
        return sorted(((name, math.exp(each)) for name, each in found), key=lambda each: -each[1])

    @property
    def mapped_value(self) -> float | None:
        """Its value on the dimension's scale, if the judge has another; the judge must be loaded."""
        scale = self.judge.own_scale
        if scale is None or self.value is None:
            return None
        return float(map_values(self.value, scale, self.dimension))

    @property
    def answer_in_words(self) -> str:
        """The description of an answer that is more than a number, by its kind; empty for numbers."""
        if self.value is None or self.data is None:
            return ""
        asked = cast("FrozenDimension", self.dimension)  # both have the options that `describe` reads
        return kind_of(asked).describe(asked, Given(self.value, self.data))


class JudgmentChange(models.Model):
    """A change of a judgment after its reply was stored. Never updated."""

    class Kind(models.TextChoices):
        SET = "set", _("value set")
        EXCLUDED = "excluded", _("excluded")
        INCLUDED = "included", _("included again")
        READ_AGAIN = "read_again", _("read again")
        ASKED_AGAIN = "asked_again", _("asked again")
        GIVEN_BACK = "given_back", _("the earlier answer is restored")

    BY_PEOPLE = (Kind.SET, Kind.EXCLUDED)

    judgment = models.ForeignKey(Judgment, models.CASCADE, related_name="changes")
    at = models.DateTimeField()
    actor = models.ForeignKey("annotate.User", models.PROTECT, null=True, related_name="+")
    kind = models.CharField(max_length=11, choices=Kind.choices)
    status_before = models.CharField(max_length=10, choices=Judgment.Status.choices)
    value_before = models.FloatField(null=True)
    reason_before = models.TextField(blank=True)
    problem_before = models.CharField(max_length=9, choices=Judgment.Problem.choices, blank=True)
    status_after = models.CharField(max_length=10, choices=Judgment.Status.choices)
    value_after = models.FloatField(null=True)
    # If the repeated call fails, the judgment gets this answer back.
    answer_before = models.JSONField(
        default=dict, help_text="The reply and all that was kept of its call, where it was asked again."
    )
    note = models.TextField(blank=True, help_text="Why, in a sentence; empty where the rules read it.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                # A rule or a call explains itself; a person must give a reason.
                condition=Q(kind__in=["read_again", "asked_again", "given_back"]) | Q(note__gt=""),
                name="corrections_say_why",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_kind_display()}: {self.value_before} to {self.value_after}"


class Batch(models.Model):
    """A file of requests at a provider, from before its upload until its replies are stored.

    Its id is the lease of its judgments and identifies the batch at the provider. `due_at`: the time of the
    next check; `holder`: the worker that processes it, until `held_until`.
    """

    class Status(models.TextChoices):
        PREPARED = "prepared", _("being uploaded")
        UPLOADED = "uploaded", _("uploaded")
        SUBMITTING = "submitting", _("being submitted")
        IN_PROGRESS = "in_progress", _("in progress")
        COLLECTING = "collecting", _("being collected")
        COLLECTED = "collected", _("collected")
        FAILED = "failed", _("failed")

    id = models.UUIDField(primary_key=True, default=uuid4, editable=False)
    run = models.ForeignKey("judges.Run", models.CASCADE, related_name="batches")
    endpoint = models.ForeignKey("judges.Endpoint", models.PROTECT, related_name="batches")
    model = models.CharField(max_length=120)
    status = models.CharField(max_length=11, choices=Status.choices, default=Status.PREPARED)
    reason = models.TextField(
        blank=True, help_text="Why it failed, or could not be reached last, in a sentence."
    )
    input_file = models.CharField(max_length=200, blank=True)
    provider_id = models.CharField(max_length=200, blank=True)
    requests = models.PositiveIntegerField()
    completed = models.PositiveIntegerField(default=0, help_text="As the provider counts.")
    failed = models.PositiveIntegerField(default=0, help_text="As the provider counts.")
    # A part of the run's budget is reserved for it while the batch is open.
    expected_cost = models.DecimalField(max_digits=14, decimal_places=8, null=True)
    created_at = models.DateTimeField(auto_now_add=True)
    submitted_at = models.DateTimeField(null=True)
    closed_at = models.DateTimeField(null=True, help_text="When it was collected, or failed.")
    due_at = models.DateTimeField()
    failures = models.PositiveSmallIntegerField(default=0, help_text="Calls without an answer in a row.")
    failing_since = models.DateTimeField(null=True, help_text="The first of these calls.")
    holder = models.UUIDField(null=True)
    held_until = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "batches"
        constraints = [
            models.CheckConstraint(condition=Q(requests__gte=1), name="a_batch_has_a_request"),
            models.CheckConstraint(
                condition=Q(status__in=["prepared", "failed"]) | Q(input_file__gt=""),
                name="uploaded_batches_name_their_file",
            ),
            models.CheckConstraint(
                # A worker that dies in `submitting` leaves open whether the provider has the batch.
                condition=Q(status__in=["prepared", "uploaded", "submitting", "failed"])
                | Q(provider_id__gt="", submitted_at__isnull=False),
                name="submitted_batches_are_known_to_the_provider",
            ),
            models.CheckConstraint(
                condition=Q(status__in=["collected", "failed"], closed_at__isnull=False)
                | (~Q(status__in=["collected", "failed"]) & Q(closed_at__isnull=True)),
                name="batches_end_once",
            ),
            models.CheckConstraint(
                condition=~Q(status="failed") | Q(reason__gt=""), name="failed_batches_say_why"
            ),
            models.CheckConstraint(
                # A claim without an end would block the batch for ever after its worker died.
                condition=Q(holder__isnull=True, held_until__isnull=True)
                | Q(holder__isnull=False, held_until__isnull=False),
                name="holding_a_batch_ends",
            ),
            models.UniqueConstraint(
                "endpoint",
                "provider_id",
                condition=Q(provider_id__gt=""),
                name="a_batch_of_the_provider_once",
            ),
        ]
        # Workers look for due batches every few seconds, and few batches are open.
        indexes = [
            models.Index(
                "run", "due_at", condition=~Q(status__in=["collected", "failed"]), name="batches_open"
            )
        ]

    def __str__(self) -> str:
        return f"batch {self.pk}"

    @property
    def is_open(self) -> bool:
        """Return True if it was neither collected nor failed."""
        return self.closed_at is None


class Rereading(models.Model):
    """A new parse of a project's stored replies by the present rules: a preview, then the change."""

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting for a worker")
        READING = "reading", _("reading replies")
        PREVIEWED = "previewed", _("read; nothing is changed yet")
        CONFIRMED = "confirmed", _("waiting for a worker to change them")
        APPLYING = "applying", _("changing judgments")
        APPLIED = "applied", _("changed")
        STOPPED = "stopped", _("stopped")

    UNDER_WAY = (Status.WAITING, Status.READING, Status.CONFIRMED, Status.APPLYING)

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="rereadings")
    judge = models.ForeignKey(
        "judges.Judge", models.CASCADE, null=True, related_name="+", help_text="Empty: all judges."
    )
    status = models.CharField(max_length=9, choices=Status.choices, default=Status.WAITING)
    lease = models.UUIDField(null=True, help_text="Of its worker: no other may write to the row.")
    attempts = models.PositiveSmallIntegerField(
        default=0, db_default=0, help_text="Number of workers that took this step."
    )
    touched_at = models.DateTimeField(
        db_column="heartbeat_at", help_text="When its worker last reported progress."
    )
    reason = models.TextField(blank=True, db_default="", help_text="The reason of a stop.")
    would_change = models.PositiveIntegerField(null=True)
    first_changes = models.JSONField(default=list, help_text="The first hundred, for the page.")
    changed = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    confirmed_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        ordering = ["-pk"]

    def __str__(self) -> str:
        return f"rereading {self.pk}"
