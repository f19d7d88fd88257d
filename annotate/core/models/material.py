"""The material of ratings: documents, systems and items."""

import hashlib
import json
from typing import Any

from django.db import models
from django.utils.translation import gettext_lazy as _


def text_digest(content: Any) -> str:
    """Return a SHA-256 of a string, or of a document's parts. Imports use it to find existing rows."""
    return hashlib.sha256(json.dumps(content, ensure_ascii=False).encode()).hexdigest()


class TextFormat(models.TextChoices):
    """The format in which pages show a source or an output.

    Offsets, statistics, prompts and exports use the source.
    """

    PLAIN = "plain"
    MARKDOWN = "markdown"
    CHAT = "chat"


class Document(models.Model):
    """The source material of some items, in labelled parts: one article, or eight reviews.

    metadata: hidden from annotators, like an item's, because it may name the system.
    """

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="documents")
    key = models.CharField(max_length=200)
    title = models.CharField(max_length=300, blank=True)
    parts = models.JSONField(help_text="A list of {label, text}.")  # and `format`, if not plain
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
    """A producer of rated outputs. Annotators never see its name."""

    project = models.ForeignKey("annotate.Project", models.CASCADE, related_name="systems")
    name = models.CharField(max_length=200)
    compares = models.BooleanField(
        default=False,
        db_default=False,
        help_text="Whether it stands for several systems whose texts are compared.",
    )
    brought_by = models.ForeignKey("annotate.DataImport", models.SET_NULL, null=True, related_name="systems")

    class Meta:
        constraints = [models.UniqueConstraint("project", "name", name="system_name_once_in_project")]

    def __str__(self) -> str:
        return self.name


class Item(models.Model):
    """One system's output for one document, or a comparison of several outputs.

    A pair, or a comparison of three or more, has sides and no output; its system is the set of their systems.
    """

    # A comparison is an item too, so that assignments, orders and disputes have one kind of subject.
    class Kind(models.TextChoices):
        OUTPUT = "output", _("output")
        PAIR = "pair", _("pair")
        COMPARISON = "comparison", _("comparison")

    document = models.ForeignKey(Document, models.CASCADE, related_name="items")
    system = models.ForeignKey(System, models.PROTECT, related_name="items")
    kind = models.CharField(
        max_length=10, choices=Kind.choices, default=Kind.OUTPUT, db_default=Kind.OUTPUT.value
    )
    # An output never changes after its import, because marked passages are offsets in it.
    text = models.TextField()
    digest = models.CharField(max_length=64, help_text="text_digest of the text.")
    format = models.CharField(max_length=8, default="plain", db_default="plain", help_text="A TextFormat.")
    metadata = models.JSONField(
        default=dict, db_default={}, blank=True, help_text="Other columns of its file, by name."
    )
    brought_by = models.ForeignKey("annotate.DataImport", models.SET_NULL, null=True, related_name="items")

    class Meta:
        constraints = [models.UniqueConstraint("document", "system", name="one_item_per_document_and_system")]

    def __str__(self) -> str:
        return f"item {self.pk}"

    @property
    def is_comparison(self) -> bool:
        return self.kind != Item.Kind.OUTPUT


class ComparisonSide(models.Model):
    """An output in a comparison, in an order that no annotator sees."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="sides")
    position = models.PositiveSmallIntegerField()
    output = models.ForeignKey(Item, models.PROTECT, related_name="comparisons")

    class Meta:
        ordering = ["item", "position"]
        constraints = [
            models.UniqueConstraint("item", "position", name="side_position_once_in_a_comparison"),
            models.UniqueConstraint("item", "output", name="output_once_in_a_comparison"),
            models.CheckConstraint(
                condition=~models.Q(item=models.F("output")), name="comparison_is_no_side_of_itself"
            ),
        ]

    def __str__(self) -> str:
        return f"side {self.position} of {self.item_id}"


class ItemPart(models.Model):
    """A part of an item with a separate label, such as a fact or a content unit."""

    # One answer has the labels of all parts of an item. An answer for each part would make as many disputes.
    item = models.ForeignKey(Item, models.CASCADE, related_name="parts")
    position = models.PositiveSmallIntegerField()
    text = models.TextField()

    class Meta:
        ordering = ["item", "position"]
        constraints = [models.UniqueConstraint("item", "position", name="part_position_once_in_an_item")]

    def __str__(self) -> str:
        return f"part {self.position} of {self.item_id}"


class ItemTag(models.Model):
    """A tag by which admins find items again. Statistics and annotators' pages do not read it."""

    item = models.ForeignKey(Item, models.CASCADE, related_name="tags")
    name = models.CharField(max_length=60)

    class Meta:
        constraints = [models.UniqueConstraint("item", "name", name="tag_once_per_item")]
        indexes = [models.Index("name", "item", name="items_by_tag")]

    def __str__(self) -> str:
        return self.name
