"""What the metadata columns of a file describe: its documents or its items."""

import json
from collections.abc import Iterator

from annotate.material.reading.rows import ImportedDocument, ImportedItem, Metadata


class MetadataOwners:
    """Notes every row of a file; then tells the owner of each column.

    A column belongs to documents if it has one value within each document, else to items. If no document has
    two items, all columns belong to items: one of them may name the system. A column that differs between
    rows of one item describes neither, such as a rater's comment.
    """

    def __init__(self) -> None:
        # 64-bit hashes in place of values: a file may hold many long ones.
        self._of_documents: dict[str, dict[str, int]] = {}
        self._of_items: dict[tuple[str, str], dict[str, int]] = {}
        self._columns: dict[str, None] = {}
        self._differ_in_document: set[str] = set()
        self._differ_in_item: set[str] = set()
        self._systems: dict[str, str] = {}
        self._compares_items = False

    def note(self, row: ImportedDocument | ImportedItem) -> None:
        """Note a row's columns; a blank cell is a value of its own."""
        if not row.metadata and not self._columns:
            return
        self._columns.update(dict.fromkeys(row.metadata))
        hashes = {name: hash(json.dumps(value, sort_keys=True)) for name, value in row.metadata.items()}
        before = self._of_documents.setdefault(row.document, hashes)
        self._differ_in_document.update(_differing(before, hashes))
        if isinstance(row, ImportedItem):
            before = self._of_items.setdefault((row.document, row.system), hashes)
            self._compares_items |= self._systems.setdefault(row.document, row.system) != row.system
        self._differ_in_item.update(_differing(before, hashes))

    @property
    def dropped(self) -> tuple[str, ...]:
        """The columns that describe neither documents nor items."""
        return tuple(name for name in self._columns if name in self._differ_in_item)

    def of_document(self, row: ImportedDocument | ImportedItem) -> Metadata:
        """Return the row's metadata that belong to its document."""
        if self._systems and not self._compares_items:
            return {}
        return {name: value for name, value in row.metadata.items() if name not in self._differ_in_document}

    def of_item(self, row: ImportedItem, *, is_new_document: bool) -> Metadata:
        """Return the row's metadata that belong to its item: all, if the document was there before."""
        of_document = self.of_document(row) if is_new_document else {}
        left = {name: value for name, value in row.metadata.items() if name not in of_document}
        return {name: value for name, value in left.items() if name not in self._differ_in_item}


def _differing(one: dict[str, int], other: dict[str, int]) -> Iterator[str]:
    if one != other:
        yield from (name for name in one.keys() | other.keys() if one.get(name) != other.get(name))
