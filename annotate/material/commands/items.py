"""Documents and items of a file, written in batches."""

import json

from annotate.core.bulk import Row, write_rows
from annotate.core.models import DataImport, Document, Item, Project, System
from annotate.material.queries.catalogue import Catalogue, KnownDocument, KnownItem, KnownSystem
from annotate.material.queries.items import ItemCheck
from annotate.material.reading.rows import ImportedDocument, ImportedItem

DOCUMENT = ("project", "key", "title", "parts", "digest", "brought_by")
ITEM = ("document", "system", "text", "digest", "brought_by")
MOST_ROWS = 1000
MOST_CHARACTERS = 4_000_000


class ItemImporter(ItemCheck):
    """Takes rows one by one and writes what is new, inside the caller's transaction."""

    def __init__(self, project: Project, catalogue: Catalogue, brought_by: DataImport) -> None:
        super().__init__(catalogue)
        self.project, self.brought_by = project, brought_by
        self.new_items: list[int] = []
        self._documents: list[tuple[KnownDocument, Row]] = []
        self._items: list[tuple[KnownItem, KnownDocument, Row]] = []
        self._characters = 0

    def flush(self) -> None:
        """Write what is prepared: documents, then the items that may be about them."""
        written = write_rows(Document, DOCUMENT, [row for _, row in self._documents])
        for (known, _), pk in zip(self._documents, written, strict=True):
            known.pk = pk
        items = [(known.pk, *row) for _, known, row in self._items]
        written = write_rows(Item, ITEM, items)
        for (known_item, _, _), pk in zip(self._items, written, strict=True):
            known_item.pk = pk
        self.new_items += written
        self._documents, self._items, self._characters = [], [], 0

    def new_document(self, digest: bytes, row: ImportedDocument | ImportedItem) -> KnownDocument:
        """Note a document and prepare it."""
        known = super().new_document(digest, row)
        parts = json.dumps([{"label": label, "text": text} for label, text in row.parts])
        values = (self.project.pk, row.document, row.title, parts, digest.hex(), self.brought_by.pk)
        self._documents.append((known, values))
        self._flush_when_full(len(parts))
        return known

    def new_system(self, name: str) -> KnownSystem:
        """Note a system and write it."""
        known = super().new_system(name)
        known.pk = System.objects.create(project=self.project, name=name, brought_by=self.brought_by).pk
        return known

    def new_item(
        self, document: KnownDocument, system: KnownSystem, digest: bytes, row: ImportedItem
    ) -> KnownItem:
        """Note an item and prepare it; its document may be prepared only."""
        known = super().new_item(document, system, digest, row)
        self._items.append((known, document, (system.pk, row.text, digest.hex(), self.brought_by.pk)))
        self._flush_when_full(len(row.text))
        return known

    def _flush_when_full(self, characters: int) -> None:
        self._characters += characters
        rows = len(self._documents) + len(self._items)
        if rows >= MOST_ROWS or self._characters >= MOST_CHARACTERS:
            self.flush()
