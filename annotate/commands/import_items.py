"""Documents and items of a file, written in batches."""

from annotate.importing.rows import DocumentRow, ItemRow
from annotate.models import DataImport, Document, Item, Project, System
from annotate.queries.catalogue import Catalogue, KnownDocument, KnownItem, KnownSystem
from annotate.queries.import_items import ItemCheck

MOST_ROWS = 1000
MOST_CHARACTERS = 4_000_000


class ItemImporter(ItemCheck):
    """Takes rows one by one and writes what is new, inside the caller's transaction."""

    def __init__(self, project: Project, catalogue: Catalogue, brought_by: DataImport) -> None:
        super().__init__(catalogue)
        self.project, self.brought_by = project, brought_by
        self.new_items: list[int] = []
        self._documents: list[tuple[KnownDocument, Document]] = []
        self._items: list[tuple[KnownItem, KnownDocument, Item]] = []
        self._characters = 0

    def flush(self) -> None:
        """Write what is prepared: documents, then the items that may be about them."""
        Document.objects.bulk_create([document for _, document in self._documents])
        for known, document in self._documents:
            known.pk = document.pk
        for _, known, item in self._items:
            assert known.pk is not None
            item.document_id = known.pk
        Item.objects.bulk_create([item for _, _, item in self._items])
        for known_item, _, item in self._items:
            known_item.pk = item.pk
            self.new_items.append(item.pk)
        self._documents, self._items, self._characters = [], [], 0

    def new_document(self, digest: bytes, row: DocumentRow | ItemRow) -> KnownDocument:
        """Note a document and prepare it."""
        known = super().new_document(digest, row)
        parts = [{"label": label, "text": text} for label, text in row.parts]
        document = Document(
            project=self.project,
            key=row.document,
            title=row.title,
            parts=parts,
            digest=digest.hex(),
            brought_by=self.brought_by,
        )
        self._documents.append((known, document))
        self._prepared(sum(len(text) for _, text in row.parts))
        return known

    def new_system(self, name: str) -> KnownSystem:
        """Note a system and write it."""
        known = super().new_system(name)
        known.pk = System.objects.create(project=self.project, name=name, brought_by=self.brought_by).pk
        return known

    def new_item(
        self, document: KnownDocument, system: KnownSystem, digest: bytes, row: ItemRow
    ) -> KnownItem:
        """Note an item and prepare it; its document may be prepared only."""
        known = super().new_item(document, system, digest, row)
        assert system.pk is not None
        item = Item(system_id=system.pk, text=row.text, digest=digest.hex(), brought_by=self.brought_by)
        self._items.append((known, document, item))
        self._prepared(len(row.text))
        return known

    def _prepared(self, characters: int) -> None:
        self._characters += characters
        rows = len(self._documents) + len(self._items)
        if rows >= MOST_ROWS or self._characters >= MOST_CHARACTERS:
            self.flush()
