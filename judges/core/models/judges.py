"""Judges and their prompts; panels of judges, experiments with them, and steps that models write."""

from collections.abc import Sequence
from typing import TypeVar

from django.db import models
from django.db.models import Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from annotate.core.guideline import FrozenDimension
from judges.methods import METHODS
from judges.methods.scales import OwnScale
from judges.methods.several import rotate

Kept = TypeVar("Kept", bound=models.Model)
# Judgments have no hiding manager, because runs, budgets and leases need all rows.
OF_PROJECT = {"judge__tried_by": None, "judge__rechecks": None}
"""The filter of judgments that leaves out those of hidden judges."""


class WithoutCandidates(models.Manager[Kept]):
    """Judges and prompts without the candidates of a search, which no other page shows."""

    def get_queryset(self) -> models.QuerySet[Kept]:
        return super().get_queryset().filter(tried_by=None)


class PromptTemplate(models.Model):
    """One version of a prompt; it never changes after a judgment used it.

    Its wordings are in the same row, so that a version is written, compared and frozen as one.
    """

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="prompt_templates")
    method = models.CharField(max_length=20, help_text="A key of judges.methods.METHODS.")
    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField()
    text = models.TextField(help_text="For all dimensions without a wording of their own.")
    wordings = models.JSONField(
        default=dict, help_text="Texts of dimensions with a wording of their own, by the dimension's id."
    )
    # RE2 runs it, in linear time: Python's expressions can take years on a short reply.
    pattern = models.TextField(
        blank=True,
        help_text="A regular expression whose last match holds the answer; empty: Concord's own rules.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    tried_by = models.ForeignKey(
        "judges.PromptSearch",
        models.CASCADE,
        null=True,
        related_name="+",
        help_text="The search that tries it; null: a version of the project.",
    )

    # A page that forgets the candidates shows too little, which tests notice, and never too much.
    objects = WithoutCandidates["PromptTemplate"]()
    with_candidates: models.Manager["PromptTemplate"] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "name", "version", name="template_version_once_in_project")
        ]

    def __str__(self) -> str:
        return f"{self.name}, version {self.version}"

    @property
    def texts(self) -> list[str]:
        return [self.text, *self.wordings.values()]

    def text_about(self, dimension: int) -> str:
        """Return the dimension's wording, or the common prompt if it has none."""
        # Keys of JSON objects are text.
        text: str = self.wordings.get(str(dimension), self.text)
        return text


class JudgesOfProject(WithoutCandidates["Judge"]):
    """Judges without the candidates of a search and without the copies that check for drift."""

    def get_queryset(self) -> "models.QuerySet[Judge]":
        # Copies that check for drift are judges only for their runs, like candidates of a search.
        return super().get_queryset().filter(rechecks=None)


class ScoreFrom(models.TextChoices):
    """The source of a judgment's value."""

    TEXT = "text", _("the reply's text")
    PROBABILITIES = "probabilities", _("the probabilities of the answers (G-Eval)")


class MaxTokensName(models.TextChoices):
    """The server's name for the reply limit:

    newer OpenAI models reject the older name, other servers the newer.
    """

    UNKNOWN = "", _("found out before the first run")
    MAX_TOKENS = "max_tokens", "max_tokens"
    MAX_COMPLETION_TOKENS = "max_completion_tokens", "max_completion_tokens"


class CallOrder(models.TextChoices):
    FIXED = "fixed", _("the same for all items")
    ROTATED = "rotated", _("rotated: which one is first is drawn for each item")


class Judge(models.Model):
    """A model with a method, a prompt version and sampling settings."""

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="judges")
    name = models.CharField(max_length=80)
    # Imported judges and panels call no model, so they have no endpoint.
    endpoint = models.ForeignKey("judges.Endpoint", models.PROTECT, related_name="judges", null=True)
    model = models.CharField(max_length=120)
    method = models.CharField(max_length=20, help_text="A key of judges.methods.METHODS.")
    template = models.ForeignKey(PromptTemplate, models.PROTECT, related_name="judges", null=True)
    temperature = models.FloatField(default=0, null=True, help_text="Empty: not sent.")
    top_p = models.FloatField(null=True)
    seed = models.BigIntegerField(null=True, help_text="Of the first sample; each further one adds 1.")
    stop = models.JSONField(default=list, help_text="Up to four texts at which a reply ends.")
    reasoning_effort = models.CharField(max_length=20, blank=True)
    system_message = models.TextField(blank=True)
    extra_body = models.JSONField(default=dict, help_text="Sent with each request as it is.")
    samples = models.PositiveSmallIntegerField(default=1)
    max_tokens = models.PositiveIntegerField(default=256)
    max_tokens_name = models.CharField(
        max_length=21, choices=MaxTokensName.choices, default=MaxTokensName.UNKNOWN, blank=True
    )
    score_from = models.CharField(max_length=13, choices=ScoreFrom.choices, default=ScoreFrom.TEXT)
    structured = models.BooleanField(default=False, help_text="Ask for JSON of a given shape.")
    # With `db_default`, because the previous version writes rows without it during an upgrade.
    asks_again = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether a reply without a readable score is followed up by one more call.",
    )
    scale_minimum = models.SmallIntegerField(
        null=True, help_text="Of a scale of its own; empty: that of the dimension."
    )
    scale_maximum = models.SmallIntegerField(null=True)
    scale_modifiers = models.BooleanField(
        default=False, help_text="Whether weak takes a third of a point from a score and strong adds one."
    )
    scale_thirds = models.BooleanField(
        default=False, help_text="Whether its scores go in steps of a third: 3, 3.33, 3.67."
    )
    scale_table = models.JSONField(
        default=list, help_text="The dimension's value for each point of its own scale; empty: linear."
    )
    asked_together = models.JSONField(
        default=list,
        help_text="Ids of the dimensions of one call in their order, where its method asks about several; "
        "empty: all, as they are listed.",
    )
    reference = models.ForeignKey(
        "annotate.System",
        models.SET_NULL,
        null=True,
        related_name="+",
        help_text="Whose text of the same document its prompt shows as reference.",
    )
    call_order = models.CharField(max_length=7, choices=CallOrder.choices, default=CallOrder.FIXED)
    created_at = models.DateTimeField(auto_now_add=True)
    # Judgments and results refer to a judge, so its row stays.
    archived_at = models.DateTimeField(null=True, help_text="Archived: not offered, not asked, and kept.")
    tried_by = models.ForeignKey(
        "judges.PromptSearch",
        models.CASCADE,
        null=True,
        related_name="+",
        help_text="The search that tries it; null: a judge of the project.",
    )
    rechecks = models.ForeignKey(
        "judges.DriftCheck",
        models.CASCADE,
        null=True,
        related_name="+",
        help_text="The check of a watch that asks with this copy of a judge; null: a judge of the project.",
    )

    # Code that calls judges or stores their judgments uses `with_candidates`.
    objects = JudgesOfProject()
    with_candidates: models.Manager["Judge"] = models.Manager()

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "name", name="judge_name_once_in_project"),
            models.CheckConstraint(condition=Q(samples__gte=1), name="a_judge_gives_a_sample"),
            models.CheckConstraint(
                condition=Q(temperature__isnull=True) | Q(temperature__gte=0, temperature__lte=2),
                name="temperature_in_range",
            ),
            models.CheckConstraint(
                condition=Q(top_p__isnull=True) | Q(top_p__gt=0, top_p__lte=1), name="top_p_in_range"
            ),
            models.CheckConstraint(
                condition=Q(endpoint__isnull=True) | Q(template__isnull=False),
                name="a_judge_that_asks_has_a_prompt",
            ),
            models.CheckConstraint(
                condition=Q(
                    scale_minimum__isnull=True,
                    scale_maximum__isnull=True,
                    scale_modifiers=False,
                    scale_thirds=False,
                )
                | Q(scale_minimum__lt=models.F("scale_maximum")),
                name="an_own_scale_has_two_ends",
            ),
        ]

    def __str__(self) -> str:
        return self.name

    @property
    def own_scale(self) -> OwnScale | None:
        """The scale of its prompt and replies; None if it uses the dimension's scale."""
        if self.scale_minimum is None or self.scale_maximum is None:
            return None
        table = tuple(self.scale_table)
        return OwnScale(
            self.scale_minimum, self.scale_maximum, self.scale_modifiers, table, self.scale_thirds
        )

    @property
    def asks_several(self) -> bool:
        """Return True if one call covers several dimensions; an imported judge may have any method."""
        return self.method in METHODS and METHODS[self.method].asks_several

    @property
    def asks_pairs(self) -> bool:
        """Return True if its values compare two outputs; a panel has no method and scores one output."""
        return self.method in METHODS and METHODS[self.method].asks_pairs

    @property
    def asks_kinds(self) -> bool:
        """Return True if it answers questions that are no scales."""
        return self.method in METHODS and METHODS[self.method].asks_kinds

    @property
    def takes_steps(self) -> bool:
        return self.method in METHODS and METHODS[self.method].takes_steps

    @property
    def follows_up(self) -> bool:
        """Return True if it sends one more call after an unreadable reply; probabilities need a single
        call.
        """
        return self.asks_again and self.score_from == ScoreFrom.TEXT and not self.takes_steps

    @property
    def asks_of_documents(self) -> bool:
        """Return True if its first call serves all outputs of a document."""
        return self.method in METHODS and bool(METHODS[self.method].document_section)

    def dimensions_of_call(self, all_dimensions: Sequence[FrozenDimension]) -> list[FrozenDimension]:
        """Return the dimensions that one call covers, in order; the judge must cover several per call."""
        if not self.asked_together:
            return list(all_dimensions)
        # Without dimensions that the guideline does not have.
        by_id = {each.id: each for each in all_dimensions}
        return [by_id[pk] for pk in self.asked_together if pk in by_id]

    def order_dimensions(self, dimensions: Sequence[FrozenDimension], item: int) -> list[FrozenDimension]:
        """Return the dimensions of a call in the order of the item's prompt."""
        is_rotated = self.call_order == CallOrder.ROTATED
        return rotate(dimensions, item) if is_rotated else list(dimensions)

    def rescale(self, dimension: FrozenDimension) -> FrozenDimension:
        return self.own_scale.rescale(dimension) if self.own_scale else dimension


class Panel(models.Model):
    """The rule that computes the values of a judge from other judges, without calls."""

    class Rule(models.TextChoices):
        MEAN = "mean", _("mean")
        MEDIAN = "median", _("median")
        MAJORITY = "majority", _("majority")
        WEIGHTS = "weights", _("weights learned on a development sample")

    judge = models.OneToOneField("judges.Judge", models.CASCADE, related_name="panel")
    rule = models.CharField(max_length=8, choices=Rule.choices)
    # A panel has no values on these documents: their values would look better than elsewhere.
    development_share = models.FloatField(
        null=True, help_text="The share of documents that weights are learned from, and that have no values."
    )
    learns_from_parts = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether these documents are the project's for teaching, not a sample of its own.",
    )
    weights = models.JSONField(
        default=dict, help_text="By key of a dimension: weights in the order of members, intercept, units."
    )
    # A digest, because judgments and ratings can change without a time that covers both.
    based_on = models.CharField(max_length=64, blank=True, help_text="Digest of what it was computed from.")
    computed_at = models.DateTimeField(null=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                # At 0 the weights have nothing to learn from, and at 1 no document remains to judge.
                condition=Q(rule="weights", development_share__gt=0, development_share__lt=1)
                | (~Q(rule="weights") & Q(development_share__isnull=True)),
                name="only_weights_have_a_development_sample",
            )
        ]

    def __str__(self) -> str:
        return f"{self.get_rule_display()} of several judges"


class PanelMember(models.Model):
    panel = models.ForeignKey(Panel, models.CASCADE, related_name="members")
    judge = models.ForeignKey("judges.Judge", models.CASCADE, related_name="panels")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ("position",)
        constraints = [models.UniqueConstraint("panel", "judge", name="judge_once_in_panel")]

    def __str__(self) -> str:
        return str(self.judge)


class Experiment(models.Model):
    """The factors that a run varies; its variants are the judges."""

    run = models.OneToOneField("judges.Run", models.CASCADE, related_name="experiment")
    factors = models.JSONField(
        help_text="In their order, each with `key` and `levels`: names, that of the base judge first."
    )

    def __str__(self) -> str:
        return f"experiment of {self.run}"


class ExperimentVariant(models.Model):
    """A judge with its combination of levels.

    position: of the combination, if the level of the last factor changes fastest; 0 is the base judge.
    """

    experiment = models.ForeignKey(Experiment, models.CASCADE, related_name="variants")
    judge = models.ForeignKey("judges.Judge", models.CASCADE, related_name="experiment_variants")
    position = models.PositiveSmallIntegerField()

    class Meta:
        ordering = ("position",)
        constraints = [
            models.UniqueConstraint("experiment", "position", name="one_variant_at_a_position"),
            models.UniqueConstraint("experiment", "judge", name="judge_once_in_experiment"),
        ]

    def __str__(self) -> str:
        return str(self.judge)


class StepsWriting(models.Model):
    """A job in which a judge's model writes the evaluation steps of a prompt, one call for each dimension.

    template: the version that has the steps written until now. It is the next version if judgments used this
    one.
    """

    class Status(models.TextChoices):
        WAITING = "waiting", _("waiting for a worker")
        ASKING = "asking", _("a model is asked")
        FINISHED = "finished", _("finished")
        STOPPED = "stopped", _("stopped")

    UNDER_WAY = (Status.WAITING, Status.ASKING)

    template = models.ForeignKey("judges.PromptTemplate", models.CASCADE, related_name="steps_writings")
    judge = models.ForeignKey("judges.Judge", models.CASCADE, related_name="+")
    status = models.CharField(max_length=8, choices=Status.choices, default=Status.WAITING)
    reason = models.TextField(blank=True, help_text="Why it stopped, in sentences.")
    replies = models.JSONField(null=True, help_text="The replies of the model, by the dimension's id.")
    spent = models.DecimalField(
        max_digits=14, decimal_places=8, null=True, default=0, help_text="Null: unknown."
    )
    lease = models.UUIDField(null=True, help_text="The worker that is at it; no other notes what came.")
    attempts = models.PositiveSmallIntegerField(default=0, help_text="How many workers took it.")
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField(default=timezone.now)
    touched_at = models.DateTimeField(default=timezone.now, help_text="When it was last heard of.")

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=~Q(status="stopped") | Q(reason__gt=""), name="stopped_steps_writings_say_why"
            )
        ]

    def __str__(self) -> str:
        return f"steps of {self.template}"
