"""Numbers and content that belong to material: content units of documents, metrics of outputs."""

from django.db import models

DOCUMENT_PERPLEXITY = "Document perplexity"
"""How names of metrics begin that give each output the perplexity of its document."""


class DocumentUnits(models.Model):
    """The content units of a document, imported or written by a person.

    Judgments keep the units that they used, so a change applies to new judgments only.
    """

    document = models.OneToOneField("annotate.Document", models.CASCADE, related_name="content_units")
    units = models.JSONField(help_text="A list of objects of text and weight, which is above 0.")
    changed_at = models.DateTimeField(auto_now=True)
    changed_by = models.ForeignKey("annotate.User", models.SET_NULL, null=True, related_name="+")

    def __str__(self) -> str:
        return f"{len(self.units)} content units"


class Metric(models.Model):
    """A measure of outputs, such as ROUGE or a length; it has one value per item for all dimensions."""

    # A metric is no judge: it would be repeated by dimension, and rejected off the scale.
    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="metrics")
    name = models.CharField(max_length=120)
    source = models.TextField(help_text="The file it was imported from, or how it was computed here.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = [models.UniqueConstraint("project", "name", name="metric_name_once_in_project")]

    def __str__(self) -> str:
        return self.name


class MetricValue(models.Model):
    metric = models.ForeignKey(Metric, models.CASCADE, related_name="values")
    item = models.ForeignKey("annotate.Item", models.PROTECT, related_name="+")
    value = models.FloatField()

    class Meta:
        constraints = [models.UniqueConstraint("metric", "item", name="one_value_of_a_metric_for_an_item")]

    def __str__(self) -> str:
        return f"{self.value:g}"
