"""Documents and items of a file, written in batches, each in a step of its own."""

import json

from annotate.core.bulk import Row, write_rows
from annotate.core.long_writes import step
from annotate.core.metadata import ordered_metadata
from annotate.core.models import DataImport, Document, Item, Project, Round, System
from annotate.core.rendering.texts import choose_format, part_as_json
from annotate.material.commands.holding import keep_lease
from annotate.material.commands.parts import split_written
from annotate.material.queries.catalogue import Catalogue, KnownDocument, KnownItem, KnownSystem
from annotate.material.queries.items import ItemCheck
from annotate.material.queries.metadata import MetadataOwners
from annotate.material.reading.rows import ImportedDocument, ImportedItem
from annotate.questions.parts import PARTS
from annotate.rating.commands.rounds import add_places
from annotate.rating.queries.plans import items_of_round_one

DOCUMENT = ("project", "key", "title", "parts", "digest", "metadata", "brought_by")
ITEM = ("document", "system", "text", "digest", "metadata", "brought_by", "format")
MOST_ROWS = 1000
MOST_CHARACTERS = 4_000_000


class ItemImporter(ItemCheck):
    """Reads row after row and writes new ones. The caller locks the project.

    owners: has read all rows of the file.
    """

    def __init__(
        self,
        project: Project,
        catalogue: Catalogue,
        brought_by: DataImport,
        round: Round | None,
        owners: MetadataOwners,
    ) -> None:
        super().__init__(catalogue)
        self.owners = owners
        self.project, self.brought_by, self.round = project, brought_by, round
        self.wanted_format = str((brought_by.mapping or {}).get("format", ""))
        self._documents: list[tuple[KnownDocument, Row]] = []
        self._items: list[tuple[KnownItem, KnownDocument, Row]] = []
        self._characters = 0

    def flush(self) -> None:
        """Write what is prepared: documents, then the items that may be about them with their places."""
        with step():
            keep_lease(self.brought_by)
            self._write()

    def _write(self) -> None:
        written = write_rows(Document, DOCUMENT, [row for _, row in self._documents])
        for (known, _), pk in zip(self._documents, written, strict=True):
            known.pk = pk
        items = [(known.pk, *row) for _, known, row in self._items]
        written = write_rows(Item, ITEM, items)
        for (known_item, _, _), pk in zip(self._items, written, strict=True):
            known_item.pk = pk
        if self.round and self.round.is_open and self.round.every_item:
            asked = items_of_round_one(self.project).filter(pk__in=written).order_by("pk")
            add_places(round=self.round, items=asked.values_list("pk", flat=True))
            if self.project.dimensions.filter(kind=PARTS.key).exists():
                split_written(written)
        self._documents, self._items, self._characters = [], [], 0

    def new_document(self, digest: bytes, row: ImportedDocument | ImportedItem) -> KnownDocument:
        """Note a document and prepare it."""
        known = super().new_document(digest, row)
        parts = json.dumps([part_as_json(label, text, self.wanted_format) for label, text in row.parts])
        metadata = json.dumps(ordered_metadata(self.owners.of_document(row)))
        values = (self.project.pk, row.document, row.title, parts, digest.hex(), metadata, self.brought_by.pk)
        self._documents.append((known, values))
        self._flush_when_full(len(parts) + len(metadata))
        return known

    def new_system(self, name: str) -> KnownSystem:
        """Note a system and write it."""
        known = super().new_system(name)
        with step():
            keep_lease(self.brought_by)
            known.pk = System.objects.create(project=self.project, name=name, brought_by=self.brought_by).pk
        return known

    def new_item(
        self, document: KnownDocument, system: KnownSystem, digest: bytes, row: ImportedItem
    ) -> KnownItem:
        """Note an item and prepare it; its document may be prepared only."""
        known = super().new_item(document, system, digest, row)
        format = choose_format(row.text, self.wanted_format)
        own = self.owners.of_item(row, is_new_document=bool(document.line))
        metadata = json.dumps(ordered_metadata(own))
        values = (system.pk, row.text, digest.hex(), metadata, self.brought_by.pk, format)
        self._items.append((known, document, values))
        self._flush_when_full(len(row.text) + len(metadata))
        return known

    def _flush_when_full(self, characters: int) -> None:
        self._characters += characters
        rows = len(self._documents) + len(self._items)
        if rows >= MOST_ROWS or self._characters >= MOST_CHARACTERS:
            self.flush()
