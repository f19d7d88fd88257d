"""The manifest of an export: the state of the data, Concord's version, the content, and the content hash."""

import hashlib
import json
import shutil
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import IO, Any
from zipfile import ZIP_DEFLATED, ZipFile, ZipInfo

from annotate.core.models import Project
from annotate.core.version import VERSION
from annotate.exports.choice import ExportChoice
from annotate.exports.registry import ExportTable, Row, ValueKind

FORMAT = "concord-export/1"
MANIFEST = "manifest.json"


@dataclass
class Passed:
    """Counts of written rows by table, and the latest time in any of them."""

    rows: dict[str, int] = field(default_factory=dict)
    latest: datetime | None = None

    @property
    def total(self) -> int:
        return sum(self.rows.values())

    def count(self, table: ExportTable, rows: Iterable[Row]) -> Iterator[Row]:
        times = table.names_of(ValueKind.TIME)
        number, latest = 0, self.latest
        self.rows[table.name] = 0
        for row in rows:
            number += 1
            for name in times:
                at = row[name]
                if at is not None and (latest is None or at > latest):
                    latest = at
            yield row
        self.rows[table.name], self.latest = number, latest


@dataclass(frozen=True)
class Manifest:
    """The description of an export.

    `content_hash` is a SHA-256 over the names and SHA-256 of all its other files.
    """

    project: str
    filters: dict[str, Any]
    state_at: datetime | None
    tables: dict[str, int]
    files: dict[str, str]
    content_hash: str

    def to_json(self) -> str:
        """Return the file's content. It depends only on the data, because it contains no creation time."""
        content = {
            "manifest": FORMAT,
            "concord_version": VERSION,
            "project": self.project,
            "filters": self.filters,
            "state_at": self.state_at.isoformat() if self.state_at else None,
            "tables": self.tables,
            "files": self.files,
            "content_hash": self.content_hash,
        }
        return json.dumps(content, ensure_ascii=False, indent=1) + "\n"


def write_manifest(project: Project, choice: ExportChoice, passed: Passed, folder: Path) -> Manifest:
    files = {str(path.relative_to(folder)): sha256_of(path) for path in files_in(folder)}
    manifest = Manifest(project.slug, choice.filters(), passed.latest, passed.rows, files, hash_of(files))
    (folder / MANIFEST).write_text(manifest.to_json(), encoding="utf-8")
    return manifest


def hash_of(files: Mapping[str, str]) -> str:
    """Return the content hash of files: a SHA-256 over their names and SHA-256, in order."""
    listed = "".join(f"{digest}  {name}\n" for name, digest in files.items())
    return hashlib.sha256(listed.encode()).hexdigest()


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


COMPRESSED = {".parquet", ".xlsx"}
LEVEL = 3  # a fifth larger than the usual level 6, in half the time


def new_archive(target: Path) -> ZipFile:
    return ZipFile(target, "w", ZIP_DEFLATED, compresslevel=LEVEL)


def add_file(archive: ZipFile, name: str) -> IO[bytes]:
    """Open a new file in the archive, without its creation time."""
    # These formats are compressed already, so another compression costs time and saves nothing.
    stored = Path(name).suffix in COMPRESSED
    # A new ZipInfo is dated 1980 and stored. A file opened by name has the same date but is compressed.
    return archive.open(ZipInfo(name) if stored else name, "w", force_zip64=True)


def pack(folder: Path, target: Path, top: str) -> None:
    with new_archive(target) as archive:
        for path in files_in(folder):
            with path.open("rb") as file, add_file(archive, f"{top}/{path.relative_to(folder)}") as copy:
                shutil.copyfileobj(file, copy, 1 << 20)


def files_in(folder: Path) -> list[Path]:
    # The order of a folder depends on the file system. Hashes and archives need the same order everywhere.
    return sorted(path for path in folder.rglob("*") if path.is_file())
