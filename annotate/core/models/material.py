"""What is rated: documents, systems and items."""

import hashlib
import json
from typing import Any

from django.db import models


def text_digest(content: Any) -> str:
    """Return a SHA-256 of a text, or of a document's parts, by which imports know what is already there."""
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


class Document(models.Model):
    """The source material of some items, in labelled parts: one article, or eight reviews.

    metadata: never shown to annotators, like an item's: it may name the system.
    """

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="documents")
    key = models.CharField(max_length=200)
    title = models.CharField(max_length=300, blank=True)
    parts = models.JSONField(help_text="A list of {label, text}.")
    digest = models.CharField(max_length=64, help_text="text_digest of the parts.")
    metadata = models.JSONField(
        default=dict, db_default={}, blank=True, help_text="Other columns of its file, by name."
    )
    brought_by = models.ForeignKey(
        "annotate.DataImport", models.SET_NULL, null=True, related_name="documents"
    )

    class Meta:
        constraints = [models.UniqueConstraint("project", "key", name="document_key_once_in_project")]

    def __str__(self) -> str:
        return self.title or self.key


class System(models.Model):
    """What produced the texts being rated. Its name never reaches an annotator."""

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="systems")
    name = models.CharField(max_length=200)
    brought_by = models.ForeignKey("annotate.DataImport", models.SET_NULL, null=True, related_name="systems")

    class Meta:
        constraints = [models.UniqueConstraint("project", "name", name="system_name_once_in_project")]

    def __str__(self) -> str:
        return self.name


class Item(models.Model):
    """One system's text for one document."""

    document = models.ForeignKey(Document, models.CASCADE, related_name="items")
    system = models.ForeignKey(System, models.PROTECT, related_name="items")
    text = models.TextField()
    digest = models.CharField(max_length=64, help_text="text_digest of the text.")
    metadata = models.JSONField(
        default=dict, db_default={}, blank=True, help_text="Other columns of its file, by name."
    )
    brought_by = models.ForeignKey("annotate.DataImport", models.SET_NULL, null=True, related_name="items")

    class Meta:
        constraints = [models.UniqueConstraint("document", "system", name="one_item_per_document_and_system")]

    def __str__(self) -> str:
        return f"item {self.pk}"


class ItemTag(models.Model):
    """A word by which admins find items again; no statistic and no annotator's page reads it."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="tags")
    name = models.CharField(max_length=60)

    class Meta:
        constraints = [models.UniqueConstraint("item", "name", name="tag_once_per_item")]
        indexes = [models.Index("name", "item", name="items_by_tag")]

    def __str__(self) -> str:
        return self.name
