"""The file of a backup: a zip archive with a manifest of its parts and their digests."""

import hashlib
import json
import os
import zipfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

MANIFEST, SECRETS = "manifest.json", "secrets.encrypted"
FORMAT = 1
CHUNK = 1024 * 1024


class BackupError(Exception):
    """A backup that cannot be written, read or restored; the message has the reason and the remedy."""


@dataclass
class Writer:
    archive: zipfile.ZipFile
    parts: dict[str, str] = field(default_factory=dict)

    def add(self, name: str, chunks: Iterable[bytes]) -> None:
        digest = hashlib.sha256()
        with self.archive.open(_entry(name), "w", force_zip64=True) as part:
            for chunk in chunks:
                digest.update(chunk)
                part.write(chunk)
        self.parts[name] = digest.hexdigest()

    def close_with(self, manifest: dict[str, Any]) -> bytes:
        """Write the manifest with the digests of all parts; return its bytes."""
        text = json.dumps({"format": FORMAT, **manifest, "parts": self.parts}, indent=1).encode()
        self.archive.writestr(_entry(MANIFEST), text)
        return text


def _entry(name: str) -> zipfile.ZipInfo:
    # Without a timestamp, and fast: most of a backup compresses well at any level.
    entry = zipfile.ZipInfo(name)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = 0o600 << 16
    return entry


@contextmanager
def writing(path: Path) -> Iterator[Writer]:
    """Create a file readable only by its owner; it gets its name after it is complete."""
    if path.exists():
        raise BackupError(f"{path} exists already: name another file.")
    unfinished = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        with os.fdopen(os.open(unfinished, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600), "w+b") as file:
            with zipfile.ZipFile(file, "w", compresslevel=1) as archive:
                yield Writer(archive)
            file.flush()
            os.fsync(file.fileno())
        unfinished.rename(path)
    except OSError as error:
        raise BackupError(f"{path} cannot be written: {error.strerror or error}.") from error
    finally:
        unfinished.unlink(missing_ok=True)


@dataclass
class Reader:
    """Reads parts and checks each against its digest in the manifest."""

    archive: zipfile.ZipFile
    text: bytes
    manifest: dict[str, Any]

    def names(self, folder: str) -> list[str]:
        return [name for name in self.manifest["parts"] if name.startswith(folder)]

    def chunks(self, name: str) -> Iterator[bytes]:
        """Yield a part; BackupError at its end if it differs from the written one."""
        digest = hashlib.sha256()
        with self.archive.open(name) as part:
            while chunk := part.read(CHUNK):
                digest.update(chunk)
                yield chunk
        if digest.hexdigest() != self.manifest["parts"][name]:
            raise BackupError(f"The backup is damaged: {name} is not what was written. Take another one.")


@contextmanager
def reading(path: Path) -> Iterator[Reader]:
    try:
        with zipfile.ZipFile(path) as archive:
            text = archive.read(MANIFEST)
            manifest = json.loads(text)
            if manifest["format"] != FORMAT:
                raise BackupError(f"{path} was made by another version of Concord: restore it with that one.")
            yield Reader(archive, text, manifest)
    except OSError as error:
        raise BackupError(f"{path} cannot be read: {error.strerror or error}.") from error
    except (zipfile.BadZipFile, KeyError, ValueError, EOFError, zipfile.zlib.error) as error:  # type: ignore[attr-defined]
        raise BackupError(f"{path} is damaged, or no backup of Concord: take another one.") from error


def chunks_of(file: IO[bytes]) -> Iterator[bytes]:
    while chunk := file.read(CHUNK):
        yield chunk
