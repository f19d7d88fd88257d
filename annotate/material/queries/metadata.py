"""Assigns the metadata columns of a file to its documents or its items."""

import json
from array import array
from collections.abc import Iterator

from annotate.material.reading.rows import ImportedDocument, ImportedItem, Metadata

_WRITE = json.JSONEncoder(sort_keys=True).encode


class MetadataOwners:
    """Notes every row of a file, then assigns each column.

    A column with one value in each document belongs to documents, any other column to items. If no document
    has two items, all columns belong to items, because one of them may name the system. A column that differs
    between rows of one item is dropped, such as a rater's comment.
    """

    def __init__(self) -> None:
        # Hashes save memory: a file may have a million items with long values.
        self._of_documents: dict[int, bytes] = {}
        self._of_items: dict[int, bytes] = {}
        self._systems: dict[int, int] = {}
        self._columns: dict[str, int] = {}
        self._differ_in_document: set[str] = set()
        self._differ_in_item: set[str] = set()
        self._compares_items = False

    def note(self, row: ImportedDocument | ImportedItem) -> None:
        """Note a row's columns. A blank cell counts as another value."""
        # A file without metadata needs no hashes of its rows.
        if not row.metadata and not self._columns:
            return
        hashes, document = self._hashes(row.metadata), hash(row.document)
        # Rows are compared with the first one only: if all equal it, they equal each other.
        before = self._of_documents.setdefault(document, hashes)
        self._differ_in_document.update(self._differing(before, hashes))
        if isinstance(row, ImportedItem):
            before = self._of_items.setdefault(hash((row.document, row.system)), hashes)
            system = hash(row.system)
            self._compares_items |= self._systems.setdefault(document, system) != system
        self._differ_in_item.update(self._differing(before, hashes))

    def _hashes(self, metadata: Metadata) -> bytes:
        for name in metadata:
            self._columns.setdefault(name, len(self._columns))
        # 0 means a blank cell.
        found = array("q", bytes(8 * len(self._columns)))
        for name, value in metadata.items():
            plain = value if isinstance(value, str | int | float) else _WRITE(value)
            # With the type: 1, 1.0 and True have equal hashes.
            found[self._columns[name]] = hash((type(value), plain))
        return found.tobytes()

    def _differing(self, one: bytes, other: bytes) -> Iterator[str]:
        if one != other:
            # An earlier row has no hash for a column that appears later, which counts as blank.
            hashes = [array("q", each.ljust(8 * len(self._columns), b"\0")) for each in (one, other)]
            yield from (name for name, at in self._columns.items() if hashes[0][at] != hashes[1][at])

    @property
    def names(self) -> tuple[list[str], list[str]]:
        kept = [name for name in self._columns if name not in self._differ_in_item]
        only_of_items = bool(self._systems) and not self._compares_items
        of_items = [name for name in kept if only_of_items or name in self._differ_in_document]
        return [name for name in kept if name not in of_items], of_items

    @property
    def dropped(self) -> tuple[str, ...]:
        return tuple(name for name in self._columns if name in self._differ_in_item)

    def of_document(self, row: ImportedDocument | ImportedItem) -> Metadata:
        if self._systems and not self._compares_items:
            return {}
        return {name: value for name, value in row.metadata.items() if name not in self._differ_in_document}

    def of_item(self, row: ImportedItem, *, is_new_document: bool) -> Metadata:
        """Return the item's part of a row's metadata. An item of an earlier document gets all of them."""
        of_document = self.of_document(row) if is_new_document else {}
        left = {name: value for name, value in row.metadata.items() if name not in of_document}
        return {name: value for name, value in left.items() if name not in self._differ_in_item}
