"""A snapshot for import, compared with its own manifest, and the rows restored from it by their names."""

import hashlib
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from decimal import Decimal, InvalidOperation
from math import isfinite
from pathlib import Path
from typing import Any, TypeVar

from django.utils.translation import gettext, gettext_lazy

from annotate.core.errors import DomainError
from annotate.core.models import Dimension, Guideline, Membership, Project, Round, User
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.manifest import FORMAT, MANIFEST, hash_of
from annotate.exports.registry import TABLES, ExportPart, ExportTable, ValueKind

LARGEST_UNPACKED = 200 * 1024**2
LARGEST = 2**63 - 1  # a larger integer fits no column
NOT_JSONL = gettext_lazy(
    "Only JSONL exports can be imported. Export the project again as JSONL and import that file."
)
TYPES: Mapping[ValueKind, tuple[type, ...]] = {
    ValueKind.TEXT: (str,),
    ValueKind.INTEGER: (int,),
    ValueKind.NUMBER: (float, int),
    ValueKind.POINTS: (float, int),
    ValueKind.AMOUNT: (Decimal,),
    ValueKind.FLAG: (bool,),
    ValueKind.TIME: (datetime,),
    ValueKind.LISTED: (list, dict),
}

Row = dict[str, Any]
ADDED_COLUMNS: Mapping[str, Row] = {
    "guidelines": {"kind": "scale", "options": None, "shown_if": None},
    "documents": {"format": "plain", "metadata": {}},
    "items": {"kind": "output", "format": "plain", "metadata": {}},
    "ratings": {"data": None},
    "history": {"data": None},
    "disputes": {"adjudicated_data": None},
    "dispute_events": {"data": None},
    "judgments": {"data": None},
}
"""By table: what columns hold that exports of earlier versions do not have."""
RETIRED_TABLE = "revised_values"


class UnreadableExportError(DomainError):
    code = "unreadable_export"


class MisfitError(Exception):
    """The content of a table does not fit its columns or the other tables."""


class ExportArchive:
    """The tables of a JSONL snapshot. Raises UnreadableExportError for any other file.

    choice: the options of the export, for exporting it again.
    """

    def __init__(self, path: Path) -> None:
        self._root = _root(path)
        try:
            self.manifest: dict[str, Any] = json.loads((self._root / MANIFEST).read_text(encoding="utf-8"))
            filters = self.manifest["filters"]
            parts = frozenset(map(ExportPart, filters["without"]))
            self.choice = ExportChoice(Format(filters["format"]), parts, filters["licence"])
            self._check()
        except (FileNotFoundError, KeyError, TypeError, ValueError) as error:
            says = gettext("“{name}” is not an export of Concord: it has no {manifest} that can be read.")
            raise UnreadableExportError(says.format(name=path.name, manifest=MANIFEST)) from error

    @property
    def content_hash(self) -> str:
        return str(self.manifest["content_hash"])

    @property
    def ignored(self) -> str:
        """One sentence about rows of an earlier version that Concord no longer keeps, or ""."""
        if not self.manifest["tables"].get(RETIRED_TABLE):
            return ""
        return gettext(
            "This export has values revised at the end of a document. Concord no longer keeps them, so it "
            "imported only the independent values."
        )

    def rows(self, name: str) -> Iterator[Row]:
        """Yield the rows of a table in order, with times and amounts as such; left-out columns are empty.

        Raises MisfitError for a row with other columns or types than the table has.
        """
        table = TABLES[name]
        if f"{name}.jsonl" not in self.manifest["files"]:
            return
        parts = [column for column in table.columns if column.part]
        left_out = {each.name: {} if each.kind == ValueKind.LISTED else "" for each in parts}
        times, amounts = table.names_of(ValueKind.TIME), table.names_of(ValueKind.AMOUNT)
        with (self._root / f"{name}.jsonl").open("rb") as file:
            for line in file:
                try:
                    # Columns of a left-out part, or that older exports lack, get empty or usual values.
                    row: Row = {**left_out, **ADDED_COLUMNS.get(name, {}), **json.loads(line)}
                    row |= {each: datetime.fromisoformat(row[each]) for each in times if row.get(each)}
                    row |= {each: Decimal(row[each]) for each in amounts if row.get(each)}
                except (ValueError, TypeError, InvalidOperation) as error:
                    raise MisfitError(f"a row of {name} cannot be read") from error
                _check_row(table, row)
                yield row

    def _check(self) -> None:
        if self.choice.format != Format.JSONL:
            raise UnreadableExportError(str(NOT_JSONL))
        if self.manifest["manifest"] != FORMAT:
            says = gettext("Another version of Concord made this export, which this one cannot read.")
            raise UnreadableExportError(says)
        if ExportPart.SOURCES in self.choice.left_out:
            raise UnreadableExportError(gettext("This export was made without the texts of its documents."))
        says = gettext("{name} is not as it was exported: its hash is another one.")
        for name, digest in self.manifest["files"].items():
            with (self._root / name).open("rb") as file:
                if hashlib.file_digest(file, "sha256").hexdigest() != digest:
                    raise UnreadableExportError(says.format(name=name))
        # The files fit the manifest here. This check finds a manifest whose list was changed.
        if hash_of(self.manifest["files"]) != self.content_hash:
            raise UnreadableExportError(says.format(name=MANIFEST))


def _check_row(table: ExportTable, row: Row) -> None:
    """Raise MisfitError for a row that lacks a column or has a value of another kind.

    So code that restores rows can use them unchecked, and a TypeError or KeyError there is a bug.
    """
    for column in table.columns:
        if column.name not in row:
            raise MisfitError(f"{table.name} lacks {column.name}")
        value = row[column.name]
        if value is not None and not _fits(value, TYPES[column.kind]):
            raise MisfitError(f"{column.name} of {table.name} holds {value!r:.40}")


def _fits(value: object, expected: tuple[type, ...]) -> bool:
    # First, because True is an int, too.
    if isinstance(value, bool):
        return bool in expected
    if isinstance(value, str):
        return str in expected and "\0" not in value  # PostgreSQL holds no NUL
    if isinstance(value, float | Decimal) and not isfinite(value):
        return False
    return isinstance(value, expected) and not (isinstance(value, int) and abs(value) > LARGEST)


def refuse_unfit_upload(path: Path) -> None:
    """Raise UnreadableExportError for a file that a web server should not unpack in a request."""
    try:
        with zipfile.ZipFile(path) as archive:
            infos = archive.infolist()
    except zipfile.BadZipFile as error:
        says = gettext("This file is no zip file; take the file that an export gave.")
        raise UnreadableExportError(says) from error
    # A small zip file can unpack to far more than the memory or disk of the server.
    if sum(info.file_size for info in infos) > LARGEST_UNPACKED:
        says = gettext("This export unpacks to more than {limit} MB; import it with manage.py import_export.")
        raise UnreadableExportError(says.format(limit=LARGEST_UNPACKED // 1024**2))


def _root(path: Path) -> Any:
    """Return the folder of the files: the path itself, or the one folder in a zip file."""
    if path.is_dir():
        return path
    if not zipfile.is_zipfile(path):
        says = gettext("“{name}” is neither a zip file nor a folder.")
        raise UnreadableExportError(says.format(name=path.name))
    root = zipfile.Path(path)
    # A workbook is a zip file too, and the next message would mislead its owner.
    if (root / "xl" / "workbook.xml").exists():
        raise UnreadableExportError(str(NOT_JSONL))
    folders = list(root.iterdir())
    if len(folders) != 1:
        says = gettext("“{name}” is not an export of Concord: it has not one folder.")
        raise UnreadableExportError(says.format(name=path.name))
    return folders[0]


Key = TypeVar("Key")
Value = TypeVar("Value")


class RestoredRows(dict[Key, Value]):
    """Restored rows by their names in the export. An unknown name raises MisfitError."""

    def __missing__(self, key: Key) -> Value:
        raise MisfitError(f"a row names {key!r}, which is in no table")


@dataclass
class Restored:
    """A project during its restoration, with everything that rows of its tables refer to.

    comparisons: the kinds of the items that compare others. answered: the complete assignments of Round I.
    """

    project: Project
    guidelines: RestoredRows[int, Guideline] = field(default_factory=RestoredRows)
    dimensions: RestoredRows[str, Dimension] = field(default_factory=RestoredRows)
    rounds: RestoredRows[int, Round] = field(default_factory=RestoredRows)
    documents: RestoredRows[str, int] = field(default_factory=RestoredRows)
    items: RestoredRows[tuple[str, str], int] = field(default_factory=RestoredRows)
    comparisons: dict[int, str] = field(default_factory=dict)
    raters: RestoredRows[str, Membership] = field(default_factory=RestoredRows)
    answered: list[int] = field(default_factory=list)
    actors: dict[str, User] = field(default_factory=dict)

    def item(self, row: dict[str, Any]) -> int:
        return self.items[row["document"], row["system"]]

    def guideline(self, row: dict[str, Any]) -> Guideline | None:
        """Return the guideline that a row names by its version."""
        version = row["guideline_version"]
        return None if version is None else self.guidelines[version]


Restorer = Callable[[Restored, ExportArchive], None]
RESTORERS: dict[str, Restorer] = {}  # of other apps, by their names: after annotate's own tables
