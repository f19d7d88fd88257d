"""Existing documents, systems and items of a project: keys and digests, without contents.

Numbers represent rows that may not be written yet; `pk` is None until they are.
"""

from dataclasses import dataclass, field

from annotate.core.models import Document, Item, Project, System
from annotate.material.reading.rows import ImportedDocument, ImportedRating, Row

BATCH = 2000
MOST_NAMED = 5000


@dataclass(slots=True)
class DocumentRecord:
    """A document of the project (line 0) or of the file. parts: short digests of the file's parts."""

    number: int
    pk: int | None
    digest: bytes
    line: int
    in_file: bool = False
    parts: tuple[bytes, ...] = ()


@dataclass(slots=True)
class SystemRecord:
    number: int
    pk: int | None


@dataclass(slots=True)
class ItemRecord:
    number: int
    pk: int | None
    digest: bytes
    line: int


@dataclass(slots=True)
class NamesInFile:
    documents: set[str] = field(default_factory=set)
    systems: set[str] = field(default_factory=set)
    items: set[tuple[str, str]] = field(default_factory=set)
    raters: set[str] = field(default_factory=set)

    def add(self, row: Row) -> None:
        self.documents.add(row.document)
        if not isinstance(row, ImportedDocument):
            self.systems.add(row.system)
            self.items.add((row.document, row.system))
        if isinstance(row, ImportedRating):
            self.raters.add(row.rater)

    @property
    def is_many(self) -> bool:
        """Whether there are more than a database takes as parameters of one query."""
        return max(len(self.documents), len(self.items), len(self.raters)) > MOST_NAMED


class Catalogue:
    """A project's documents by key, systems by name and items by both: all of them, or only the listed names.

    Three queries either way.
    """

    def __init__(self, project: Project, named: NamesInFile | None = None) -> None:
        self.named = named
        self.documents: dict[str, DocumentRecord] = {}
        self.systems: dict[str, SystemRecord] = {}
        self.items: dict[tuple[int, int], ItemRecord] = {}
        documents, systems = Document.objects.filter(project=project), System.objects.filter(project=project)
        items = Item.objects.filter(document__project=project)
        if named:
            documents = documents.filter(key__in=named.documents)
            systems = systems.filter(name__in=named.systems)
            # A condition on pairs would need one parameter pair per item, so surplus rows are dropped below.
            items = items.filter(document__key__in=named.documents, system__name__in=named.systems)
        # Names by key, so that items need no join with their documents and systems.
        keys, names = {}, {}
        for key, pk, digest in documents.values_list("key", "pk", "digest").iterator(BATCH):
            keys[pk] = key
            # Bytes take half the memory of hexadecimal digits: a project can have a million digests.
            self.add_document(key, bytes.fromhex(digest), pk=pk)
        for name, pk in systems.values_list("name", "pk"):
            names[pk] = name
            self.add_system(name, pk=pk)
        columns = items.values_list("document_id", "system_id", "pk", "digest")
        for document, system, pk, digest in columns.iterator(BATCH):
            # The two filters also find other pairs of these documents and systems.
            if named is None or (keys[document], names[system]) in named.items:
                place = (self.documents[keys[document]].number, self.systems[names[system]].number)
                self.items[place] = ItemRecord(len(self.items), pk, bytes.fromhex(digest), 0)

    @property
    def item_numbers(self) -> dict[int, int]:
        """The numbers of the items that are written, by their ids."""
        return {item.pk: item.number for item in self.items.values() if item.pk}

    def add_document(
        self, key: str, digest: bytes, *, line: int = 0, pk: int | None = None
    ) -> DocumentRecord:
        known = self.documents[key] = DocumentRecord(len(self.documents), pk, digest, line)
        return known

    def add_system(self, name: str, *, pk: int | None = None) -> SystemRecord:
        known = self.systems[name] = SystemRecord(len(self.systems), pk)
        return known

    def add_item(
        self, document: DocumentRecord, system: SystemRecord, digest: bytes, line: int
    ) -> ItemRecord:
        known = ItemRecord(len(self.items), None, digest, line)
        self.items[document.number, system.number] = known
        return known

    def item(self, document: str, system: str) -> ItemRecord | None:
        known_document, known_system = self.documents.get(document), self.systems.get(system)
        if known_document is None or known_system is None:
            return None
        return self.items.get((known_document.number, known_system.number))
