"""Ratings with their append-only history, private notes, gold items and practice answers."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.core.models.fields import PointsField

EVIDENCE = "A list of {part, start, end}, see annotate.rating.evidence; empty where nothing was marked."

DATA = "What `value` cannot hold of the answer, as its question kind reads it; empty on a scale."


def has_answer(rating: str = "") -> Q:
    """Return the condition that a rating (or one reached by a name such as "ratings__") has an answer."""
    given = Q(**{f"{rating}value__isnull": False})
    return given | Q(**{f"{rating}cannot_rate": True}) | Q(**{f"{rating}not_applicable": True})


class Rating(models.Model):
    """One annotator's last saved rating of one unit in one round."""

    assignment = models.ForeignKey("annotate.Assignment", models.PROTECT, related_name="ratings")
    dimension = models.ForeignKey("annotate.Dimension", models.PROTECT, related_name="ratings")
    value = PointsField(null=True, blank=True)
    data = models.JSONField(null=True, blank=True, help_text=DATA)
    unsure = models.BooleanField(default=False)
    cannot_rate = models.BooleanField(default=False)
    not_applicable = models.BooleanField(default=False)
    comment = models.TextField(blank=True)
    evidence = models.JSONField(null=True, blank=True, help_text=EVIDENCE)
    active_seconds = models.FloatField(default=0)
    revision = models.PositiveIntegerField(default=1)
    guideline = models.ForeignKey(
        "annotate.Guideline",
        models.PROTECT,
        null=True,
        related_name="+",
        help_text="The version that its rater saw when it was last saved.",
    )
    asked_again_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when its rater is asked to look again, as wording changed."
    )
    client = models.CharField(max_length=36, blank=True, help_text="The browser that gave the answer.")
    sequence = models.BigIntegerField(default=0, help_text="The order of answers within that browser.")
    created_at = models.DateTimeField()
    updated_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint("assignment", "dimension", name="one_rating_per_unit_and_annotator"),
            models.CheckConstraint(
                condition=Q(cannot_rate=False) | Q(value__isnull=True), name="cannot_rate_has_no_value"
            ),
            models.CheckConstraint(
                condition=Q(not_applicable=False) | Q(value__isnull=True, cannot_rate=False),
                name="not_applicable_has_no_value",
            ),
            models.CheckConstraint(condition=Q(active_seconds__gte=0), name="active_seconds_not_negative"),
            models.CheckConstraint(
                condition=Q(evidence__isnull=True) | Q(evidence__0__part__isnull=False),
                name="evidence_is_none_or_some_passages",
            ),
        ]

    def __str__(self) -> str:
        return f"rating {self.pk}: {self.value}"

    @property
    def is_answered(self) -> bool:
        return self.value is not None or self.cannot_rate or self.not_applicable


HAS_REASON = ~Q(short_reason="") | Q(cause="differs")
"""The condition of a change that kept a value with a short reason, or since the raters differ."""


class RatingChange(models.Model):
    """A saved state of a rating: annotator, time, old and new value, reason. Never updated, never deleted."""

    class Cause(models.TextChoices):
        RATED = "rated", _("rated")
        IMPORTED = "imported", _("imported")
        KEPT = "kept", _("kept in discussion")
        CHANGED = "changed", _("changed in discussion")
        DIFFERS = "differs", _("kept: we differ")
        TAKEN_BACK = "undone", _("taken back in discussion")

    rating = models.ForeignKey(Rating, models.PROTECT, related_name="changes")
    revision = models.PositiveIntegerField()
    at = models.DateTimeField()
    actor = models.ForeignKey("annotate.User", models.PROTECT, null=True, related_name="+")
    cause = models.CharField(max_length=8, choices=Cause.choices)
    value_before = PointsField(null=True)
    value_after = PointsField(null=True)
    data = models.JSONField(null=True, help_text=DATA)
    unsure = models.BooleanField(default=False)
    cannot_rate = models.BooleanField(default=False)
    not_applicable = models.BooleanField(default=False)
    comment = models.TextField(blank=True)
    short_reason = models.CharField(
        max_length=100, blank=True, help_text="One of the project's, with which a value was kept."
    )
    evidence = models.JSONField(null=True, help_text=EVIDENCE)
    guideline = models.ForeignKey(
        "annotate.Guideline",
        models.PROTECT,
        null=True,
        related_name="+",
        help_text="The version that was seen; empty for saves from before it was kept.",
    )

    class Meta:
        constraints = [models.UniqueConstraint("rating", "revision", name="one_change_per_revision")]
        indexes = [
            models.Index("at", "id", name="changes_of_ratings_by_time"),
            # Answers of Round I are not in it.
            models.Index("rating", condition=HAS_REASON, name="changes_with_a_reason"),
        ]

    def __str__(self) -> str:
        return f"{self.value_before} to {self.value_after}"


class PrivateNote(models.Model):
    """An annotator's private note about an item. No other user, export or history includes it."""

    annotator = models.ForeignKey("annotate.Membership", models.CASCADE, related_name="+")
    item = models.ForeignKey("annotate.Item", models.CASCADE, related_name="+")
    text = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("annotator", "item", name="one_private_note_per_annotator_and_item")
        ]

    def __str__(self) -> str:
        return f"private note {self.pk}"


class GoldItem(models.Model):
    """An item with gold values. It is not rated in Round I like the others, and counts in no statistic."""

    class Use(models.TextChoices):
        PRACTICE = "practice", _("practice before Round I")
        HIDDEN = "hidden", _("hidden in Round I")

    item = models.OneToOneField("annotate.Item", models.CASCADE, related_name="gold")
    use = models.CharField(max_length=8, choices=Use.choices)
    explanation = models.TextField(blank=True, help_text="About the item as a whole; shown after practice.")

    def __str__(self) -> str:
        return f"gold of {self.item_id}"


class GoldValue(models.Model):
    """The reference value of a gold item on a dimension, and its justification."""

    gold = models.ForeignKey(GoldItem, models.CASCADE, related_name="values")
    dimension = models.ForeignKey("annotate.Dimension", models.CASCADE, related_name="+")
    value = PointsField()
    explanation = models.TextField(blank=True)

    class Meta:
        ordering = ["dimension__position", "dimension"]
        constraints = [models.UniqueConstraint("gold", "dimension", name="one_gold_value_per_unit")]

    def __str__(self) -> str:
        return f"{self.value}"


class PracticeAnswer(models.Model):
    """An annotator's answer in practice. It is no rating, and only practice reads it.

    It can be changed until its annotator has seen the reference values of the item, and is final after that.
    """

    membership = models.ForeignKey(
        "annotate.Membership", models.CASCADE, related_name="practice_answers", db_column="place_id"
    )
    attempt = models.PositiveSmallIntegerField(default=1)
    gold_value = models.ForeignKey(GoldValue, models.CASCADE, related_name="answers")
    value = PointsField(null=True)
    unsure = models.BooleanField(default=False)
    cannot_rate = models.BooleanField(default=False)
    not_applicable = models.BooleanField(default=False)
    comment = models.TextField(blank=True)
    evidence = models.JSONField(null=True, help_text=EVIDENCE)
    client = models.CharField(max_length=36, blank=True, help_text="The browser that gave the answer.")
    sequence = models.BigIntegerField(default=0, help_text="The order of answers within that browser.")
    at = models.DateTimeField(auto_now_add=True)
    settled_at = models.DateTimeField(null=True, help_text="When the reference values were shown.")

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "membership", "attempt", "gold_value", name="one_practice_answer_per_attempt"
            ),
            models.CheckConstraint(
                condition=Q(value__isnull=True) | Q(cannot_rate=False, not_applicable=False),
                name="practice_reason_has_no_value",
            ),
            models.CheckConstraint(
                condition=Q(cannot_rate=False) | Q(not_applicable=False), name="practice_has_one_reason"
            ),
            models.CheckConstraint(
                condition=Q(settled_at__isnull=True) | has_answer(), name="settled_practice_is_answered"
            ),
        ]

    def __str__(self) -> str:
        return f"{self.value}"

    @property
    def is_answered(self) -> bool:
        return self.value is not None or self.cannot_rate or self.not_applicable
