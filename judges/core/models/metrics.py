"""Metrics: computed numbers about outputs, on any scale."""

from django.db import models

DOCUMENT_PERPLEXITY = "Document perplexity"
"""How names of metrics begin that give each output the perplexity of its document."""


class Metric(models.Model):
    """A measure of outputs, such as ROUGE or a length; it has one value per item for all dimensions."""

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
