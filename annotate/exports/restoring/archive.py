"""A snapshot as it was exported: one zip file or its folder, held against its own manifest."""

import hashlib
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from annotate.core.errors import DomainError
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.citation import Card
from annotate.exports.manifest import FORMAT, MANIFEST, hash_of
from annotate.exports.registry import TABLES, ExportPart, ValueKind
from annotate.exports.restoring.tables import READERS, MisfitError, check_rows, describe_workbook

LARGEST_UNPACKED = 200 * 1024**2


class UnreadableExportError(DomainError):
    """A file is not an export that can be restored."""

    code = "unreadable_export"


class ExportArchive:
    """The tables of a snapshot in any format. Raises UnreadableExportError for what is none.

    choice: how it was exported, and so how to export it again.
    """

    def __init__(self, path: Path) -> None:
        self._workbook = path if _is_workbook(path) else None
        self._root = path if self._workbook else _root(path)
        try:
            self.manifest = self._read_manifest()
            filters = self.manifest["filters"]
            self.choice = ExportChoice(
                Format(filters["format"]),
                frozenset(map(ExportPart, filters["without"])),
                filters["licence"],
                Card.from_dict(filters.get("card", {})),
            )
            self._check()
        except (FileNotFoundError, KeyError, TypeError, ValueError, MisfitError) as error:
            missing = "sheets of its tables" if self._workbook else f"{MANIFEST} that can be read"
            raise UnreadableExportError(
                f"“{path.name}” is not an export of Concord: it has no {missing}."
            ) from error

    @property
    def content_hash(self) -> str:
        """What the manifest says of the content of all files."""
        return str(self.manifest["content_hash"])

    def rows(self, name: str) -> Iterator[dict[str, Any]]:
        """Yield the rows of a table in their order, times as such; what was left out is empty.

        Raises MisfitError for a row with other columns or kinds of values than the table has.
        """
        table = TABLES[name]
        left_out = {name: {} if table.kind(name) == ValueKind.LISTED else "" for name in table.parts}
        for file_name in self._files_of(name):
            with self._file(file_name).open("rb") as file:
                rows = READERS[self.choice.format](table, file)
                yield from check_rows(table, ({**left_out, **row} for row in rows))

    def _files_of(self, table: str) -> list[str]:
        """Return the files that hold a table's rows, in their order."""
        names: list[str] = sorted(self.manifest["files"])
        if self.choice.format == Format.HUGGING_FACE:
            return [each for each in names if each.startswith(f"data/{table}/")]
        if self.choice.format == Format.XLSX:
            return [each for each in names if each.endswith(".xlsx")]
        return [each for each in names if each == f"{table}.{self.choice.format}"]

    def _check(self) -> None:
        if self.manifest["manifest"] != FORMAT:
            raise UnreadableExportError(
                "Another version of Concord made this export, which this one cannot read."
            )
        if ExportPart.SOURCES in self.choice.left_out:
            raise UnreadableExportError("This export was made without the texts of its documents.")
        for name, digest in self.manifest["files"].items():
            with self._file(name).open("rb") as file:
                found = hashlib.file_digest(file, "sha256").hexdigest()
            if found != digest:
                raise UnreadableExportError(f"{name} is not as it was exported: its hash is another one.")
        if hash_of(self.manifest["files"]) != self.content_hash:
            raise UnreadableExportError(f"{MANIFEST} is not as it was exported: its hash is another one.")

    def _read_manifest(self) -> dict[str, Any]:
        """Return the manifest; a workbook that is alone has none, and its sheets say what was left out."""
        if self._workbook is None:
            found: dict[str, Any] = json.loads(self._file(MANIFEST).read_text(encoding="utf-8"))
            return found
        headers, (project, version) = describe_workbook(self._workbook)
        missing = {table.part for name, table in TABLES.items() if name not in headers and table.part}
        for name, header in headers.items():
            missing |= {part for column, part in TABLES[name].parts.items() if column not in header}
        with self._workbook.open("rb") as file:
            files = {f"{project}.xlsx": hashlib.file_digest(file, "sha256").hexdigest()}
        return {
            "manifest": FORMAT,
            "concord_version": version,
            "filters": {"format": Format.XLSX, "without": sorted(missing), "licence": ""},
            "files": files,
            "content_hash": hash_of(files),
        }

    def _file(self, name: str) -> Any:
        return self._workbook or self._root / name


def refuse_unfit_upload(path: Path) -> None:
    """Raise UnreadableExportError for what a web server shall not unpack while somebody waits.

    Parquet and workbooks can name one long text a million times; these are for the command line.
    """
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except zipfile.BadZipFile as error:
        raise UnreadableExportError("This file is no zip file; take the file that an export gave.") from error
    if sum(info.file_size for info in infos) > LARGEST_UNPACKED:
        raise UnreadableExportError(
            f"This export unpacks to more than {LARGEST_UNPACKED // 1024**2} MB; "
            "import it with manage.py import_export."
        )
    if any(info.filename.endswith((".parquet", ".xml")) for info in infos):
        raise UnreadableExportError(
            "Exports in JSONL and CSV are imported here; manage.py import_export takes every format."
        )


def _is_workbook(path: Path) -> bool:
    if path.is_dir() or not zipfile.is_zipfile(path):
        return False
    with zipfile.ZipFile(path) as archive:
        return "xl/workbook.xml" in archive.namelist()


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
