"""External raters: the study link by which they join, their consent, and the end of their work."""

import secrets

from django.core.validators import MinValueValidator
from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from annotate.core.models.people import Membership
from annotate.core.models.projects import Project


def new_join_token() -> str:
    return secrets.token_urlsafe(32)


class PayRule(models.TextChoices):
    NONE = "none", _("nothing, or the platform pays")
    FIXED = "fixed", _("a fixed sum for who completes the study")
    ITEM = "item", _("each item rated")
    HOUR = "hour", _("each hour of active time")


class OutsideStudy(models.Model):
    """Settings for raters from a crowd platform. Other projects have no row."""

    project = models.OneToOneField(Project, models.CASCADE, related_name="outside_study")
    token = models.CharField(max_length=64, unique=True, default=new_join_token)
    is_open = models.BooleanField(default=False, help_text="Whether new raters may join.")
    consent = models.TextField(blank=True, help_text="Markdown, shown before anything else.")
    questions = models.JSONField(
        default=list,
        blank=True,
        help_text="Questions about the rater: objects with `question` and `choices` (empty: free text).",
    )
    most_raters = models.PositiveIntegerField(default=100, validators=[MinValueValidator(1)])
    items_per_rater = models.PositiveIntegerField(
        null=True, blank=True, validators=[MinValueValidator(1)], help_text="Empty: no limit."
    )
    completion_code = models.CharField(max_length=100, blank=True)
    completion_url = models.CharField(max_length=500, blank=True)
    screened_code = models.CharField(max_length=100, blank=True)
    screened_url = models.CharField(max_length=500, blank=True)
    pay_rule = models.CharField(max_length=5, choices=PayRule.choices, default=PayRule.NONE)
    pay_rate = models.DecimalField(max_digits=10, decimal_places=4, null=True, blank=True)
    currency = models.CharField(max_length=3, blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=Q(is_open=False) | ~Q(consent=""), name="open_study_has_a_consent_text"
            ),
            models.CheckConstraint(condition=Q(most_raters__gte=1), name="study_takes_a_rater"),
            models.CheckConstraint(
                condition=Q(items_per_rater__isnull=True) | Q(items_per_rater__gte=1),
                name="study_has_an_item_per_rater",
            ),
            models.CheckConstraint(
                condition=(Q(completion_url="") | Q(completion_url__startswith="https://"))
                & (Q(screened_url="") | Q(screened_url__startswith="https://")),
                name="study_redirects_by_https",
            ),
            models.CheckConstraint(
                condition=Q(pay_rule=PayRule.NONE, pay_rate__isnull=True)
                | (~Q(pay_rule=PayRule.NONE) & Q(pay_rate__isnull=False, pay_rate__gte=0)),
                name="study_pays_by_a_rule",
            ),
        ]

    def __str__(self) -> str:
        return f"raters from outside in {self.project_id}"


class OutsideRater(models.Model):
    """An annotator who joined by a study's link."""

    class Outcome(models.TextChoices):
        WORKING = "", _("at work")
        COMPLETED = "completed", _("completed")
        SCREENED_OUT = "screened_out", _("screened out")

    study = models.ForeignKey(OutsideStudy, models.CASCADE, related_name="raters")
    membership = models.OneToOneField(
        Membership, models.CASCADE, related_name="outside", db_column="place_id"
    )
    platform_id = models.CharField(
        max_length=200, blank=True, help_text="ID of the person on the platform: PROLIFIC_PID of the link."
    )
    parameters = models.JSONField(default=dict, blank=True, help_text="All parameters of the link.")
    consented_at = models.DateTimeField()
    consent_digest = models.CharField(max_length=64, help_text="SHA-256 of the consent text.")
    answers = models.JSONField(
        default=list, blank=True, help_text="Objects with `question` and `answer`, in order."
    )
    outcome = models.CharField(max_length=12, choices=Outcome.choices, default=Outcome.WORKING, blank=True)
    ended_at = models.DateTimeField(null=True, blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint(
                "study", "platform_id", condition=~Q(platform_id=""), name="platform_id_once_in_study"
            ),
            models.CheckConstraint(
                condition=Q(outcome="", ended_at__isnull=True)
                | (Q(outcome__in=["completed", "screened_out"]) & Q(ended_at__isnull=False)),
                name="outside_rater_ended_with_an_outcome",
            ),
        ]

    def __str__(self) -> str:
        return f"rater from outside {self.membership_id}"
