"""What annotators write down for themselves."""

from django.db import models


class PrivateNote(models.Model):
    """An annotator's own note about an item: shown to nobody else, part of no export and no history."""

    annotator = models.ForeignKey("annotate.Membership", models.CASCADE, related_name="+")
    item = models.ForeignKey("annotate.Item", models.CASCADE, related_name="+")
    text = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.UniqueConstraint("annotator", "item", name="one_private_note_per_annotator_and_item"),
        ]

    def __str__(self) -> str:
        return f"private note {self.pk}"
