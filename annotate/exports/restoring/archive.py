"""A snapshot as it was exported: one zip file or its folder, held against its own manifest."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotate.core.errors import DomainError
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.manifest import FORMAT, MANIFEST, hash_of
from annotate.exports.registry import TABLES, Part, ValueKind
from annotate.exports.restoring.tables import READERS, check_rows


class UnreadableExportError(DomainError):
    """A file is not an export that can be restored."""

    code = "unreadable_export"


class ExportArchive:
    """The tables of a snapshot in JSONL or Parquet. Raises UnreadableExportError for others.

    choice: how it was exported, and so how to export it again.
    """

    def __init__(self, path: Path) -> None:
        self._root = _root(path)
        try:
            self.manifest = json.loads(self._file(MANIFEST).read_text(encoding="utf-8"))
            filters = self.manifest["filters"]
            self.choice = ExportChoice(
                Format(filters["format"]), frozenset(map(Part, filters["without"])), filters["licence"]
            )
            self._check()
        except (FileNotFoundError, KeyError, TypeError, ValueError) as error:
            raise UnreadableExportError(
                f"“{path.name}” is not an export of Concord: it has no {MANIFEST} that can be read."
            ) from error

    @property
    def content_hash(self) -> str:
        """What the manifest says of the content of all files."""
        return str(self.manifest["content_hash"])

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table in their order, times as such; what was left out is empty.

        Raises MisfitError for a row with other columns or kinds of values than the table has.
        """
        file_name = f"{name}.{self.choice.format}"
        if file_name not in self.manifest["files"]:
            return
        table = TABLES[name]
        left_out = {name: {} if table.kind(name) == ValueKind.LISTED else "" for name in table.parts}
        with self._file(file_name).open("rb") as file:
            rows = READERS[self.choice.format](table, file)
            yield from check_rows(table, ({**left_out, **row} for row in rows))

    def _check(self) -> None:
        if self.manifest["manifest"] != FORMAT or self.choice.format not in READERS:
            raise UnreadableExportError("Exports in JSONL and Parquet can be imported; take one of these.")
        if Part.SOURCES in self.choice.left_out:
            raise UnreadableExportError("This export was made without the texts of its documents.")
        for name, digest in self.manifest["files"].items():
            with self._file(name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != digest:
                raise UnreadableExportError(f"{name} is not as it was exported: its hash is another one.")
        if hash_of(self.manifest["files"]) != self.content_hash:
            raise UnreadableExportError(f"{MANIFEST} is not as it was exported: its hash is another one.")

    def _file(self, name: str) -> Any:
        return self._root / name


def _root(path: Path) -> Any:
    """Return the folder of the files: the path itself, or the one folder in a zip file."""
    if path.is_dir():
        return path
    if not zipfile.is_zipfile(path):
        raise UnreadableExportError(f"“{path.name}” is neither a zip file nor a folder.")
    folders = list(zipfile.Path(path).iterdir())
    if len(folders) != 1:
        raise UnreadableExportError(f"“{path.name}” is not an export of Concord: it has not one folder.")
    return folders[0]
