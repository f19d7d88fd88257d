"""Content units of documents: the content that a good output about a document should express."""

from django.db import models


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
