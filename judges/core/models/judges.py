"""Judges and the prompt templates that they ask with."""

from django.db import models
from django.db.models import Q
from django.utils.translation import gettext_lazy as _


class PromptTemplate(models.Model):
    """One version of a prompt; it never changes once a judgment was asked with it."""

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="prompt_templates")
    method = models.CharField(max_length=20, help_text="A key of judges.methods.METHODS.")
    name = models.CharField(max_length=80)
    version = models.PositiveIntegerField()
    text = models.TextField()
    created_at = models.DateTimeField(auto_now_add=True)
    created_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "name", "version", name="template_version_once_in_project"),
        ]

    def __str__(self) -> str:
        return f"{self.name}, version {self.version}"


class ScoreFrom(models.TextChoices):
    """Where a judgment's value is read."""

    TEXT = "text", _("the reply's text")
    PROBABILITIES = "probabilities", _("the probabilities of the answers (G-Eval)")


class Judge(models.Model):
    """A model with a method, a prompt version and sampling settings."""

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="judges")
    name = models.CharField(max_length=80)
    endpoint = models.ForeignKey("judges.Endpoint", models.PROTECT, related_name="judges", null=True)
    model = models.CharField(max_length=120)
    method = models.CharField(max_length=20, help_text="A key of judges.methods.METHODS.")
    template = models.ForeignKey(PromptTemplate, models.PROTECT, related_name="judges", null=True)
    temperature = models.FloatField(default=0)
    samples = models.PositiveSmallIntegerField(default=1)
    max_tokens = models.PositiveIntegerField(default=256)
    score_from = models.CharField(max_length=13, choices=ScoreFrom.choices, default=ScoreFrom.TEXT)
    structured = models.BooleanField(default=False, help_text="Ask for JSON of a given shape.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("project", "name", name="judge_name_once_in_project"),
            models.CheckConstraint(condition=Q(samples__gte=1), name="a_judge_gives_a_sample"),
            models.CheckConstraint(
                condition=Q(temperature__gte=0, temperature__lte=2), name="temperature_in_range"
            ),
            models.CheckConstraint(
                condition=Q(endpoint__isnull=False, template__isnull=False)
                | Q(endpoint__isnull=True, template__isnull=True),
                name="only_imported_judges_ask_nobody",
            ),
        ]

    def __str__(self) -> str:
        return self.name
