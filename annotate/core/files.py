"""Files of users, stored for all hosts in a shared folder or a bucket, and processed on this host.

A stored file never changes under its name, so a copy of it is correct as long as it exists here.
"""

import hashlib
import os
import re
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path, PurePosixPath
from shutil import copyfileobj, rmtree
from time import time
from uuid import uuid4

from django.conf import settings
from django.core.files import File
from django.core.files.base import ContentFile
from django.core.files.storage import FileSystemStorage, default_storage
from django.db.models.fields.files import FieldFile

SCRATCH_SECONDS = 24 * 3600.0


class StorageAwayError(OSError):
    """The file storage does not respond, or rejects this installation."""


class _FinishedFile(File):  # type: ignore[type-arg]
    """A file that can be moved to the storage, as Django does with large uploads."""

    def temporary_file_path(self) -> str:
        """Return the path of the file until it is moved."""
        return str(self.name)


def is_local() -> bool:
    """Return True if files are stored in a folder, which all hosts must share."""
    return isinstance(default_storage, FileSystemStorage)


def scratch(name: str) -> Path:
    """Return a path for a temporary file of this host; no other host reads it. Creates its folder."""
    path = Path(settings.DATA_DIR, "scratch", name)
    # Uploads and exports may be confidential, and the host may have other users.
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def keep_file(path: Path, name: str) -> None:
    """Store a finished file under a name, replace any file with that name, and remove the local file."""
    with path.open("rb") as file:
        # A folder takes the file by a rename. A bucket receives its bytes.
        default_storage.save(name, _FinishedFile(file, name=str(path)))
    # A rename has already removed the local file.
    path.unlink(missing_ok=True)


def keep_text(name: str, text: str) -> None:
    """Store a short string under a name, and replace any file with that name."""
    default_storage.save(name, ContentFile(text.encode()))


def local_path(file: FieldFile) -> Path:
    """Return the path of a stored file on this host: a copy, if files are stored in a bucket.

    Raises FileNotFoundError and StorageAwayError.
    """
    name = str(file.name)
    # A file in a folder is read in its own location, without a copy.
    if is_local():
        return Path(default_storage.path(name))
    # Names of uploads are random, so the last component alone identifies the file.
    copy = scratch(f"copies/{PurePosixPath(name).name}")
    if not copy.exists():
        # The rename makes the copy appear at once and complete, also if two processes copy it.
        unfinished = copy.with_name(uuid4().hex)
        with default_storage.open(name, "rb") as kept, unfinished.open("wb") as here:
            copyfileobj(kept, here)
        unfinished.rename(copy)
    # `remove_scratch` deletes copies that nothing has used for a day.
    os.utime(copy)
    return copy


def changed_at(name: str) -> float:
    """Return the time at which a stored file was written, in seconds of the clock; 0 if it does not exist."""
    try:
        return default_storage.get_modified_time(name).timestamp()
    except FileNotFoundError:
        return 0.0


def iter_file_names(folder: str = "") -> Iterator[str]:
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:  # nothing was ever kept
        return
    for each in sorted(files):
        yield f"{folder}{each}"
    for each in sorted(folders):
        yield from iter_file_names(f"{folder}{each}/")


def remove_scratch() -> int:
    """Remove files of dead processes on this host and unread copies. Return the number of removed files."""
    long_ago, removed = time() - SCRATCH_SECONDS, 0
    # `local_path` renews the time of each copy that it returns.
    for each in Path(settings.DATA_DIR, "scratch").glob("*/*"):
        # Another process may remove the same file at any moment, so a missing one is no error.
        with suppress(FileNotFoundError):
            if each.stat().st_mtime >= long_ago:
                continue
            removed += 1
            if each.is_dir():
                rmtree(each, ignore_errors=True)
            else:
                each.unlink(missing_ok=True)
    return removed


class JobNotes:
    """Messages between page and worker of an import or export while a transaction locks the database.

    On SQLite no other process can write during the transaction, or read the rows that it has written.
    """

    SUFFIXES = (".written", ".cancelled", ".alive")

    def __init__(self, folder: str, number: int) -> None:
        self._written, self._cancelled, self._alive = (f"{folder}/{number}{each}" for each in self.SUFFIXES)

    def note_lines(self, lines: int) -> None:
        keep_text(self._written, str(lines))

    @property
    def lines(self) -> int:
        try:
            with default_storage.open(self._written, "rb") as note:
                return int(note.read() or 0)  # empty: it is being written
        except FileNotFoundError:
            return 0

    def record_heartbeat(self) -> None:
        with suppress(FileNotFoundError):  # the job ended in this moment, and its notes were cleared
            # Only the time of this file matters.
            keep_text(self._alive, "")

    @property
    def noted_at(self) -> float:
        """Return the time of the last note, in seconds of the clock; 0 without any."""
        return max(changed_at(self._written), changed_at(self._alive))

    def cancel(self) -> None:
        keep_text(self._cancelled, "")

    @property
    def is_cancelled(self) -> bool:
        return default_storage.exists(self._cancelled)

    def clear(self) -> None:
        for note in (self._written, self._cancelled, self._alive):
            default_storage.delete(note)


# Images that a browser shows and that cannot run code, recognised by their first bytes.

IMAGE_TYPES = {"png": "image/png", "jpg": "image/jpeg", "gif": "image/gif", "webp": "image/webp"}
IMAGE_STARTS = ((b"\x89PNG\r\n\x1a\n", "png"), (b"\xff\xd8\xff", "jpg"), ((b"GIF87a", b"GIF89a"), "gif"))
IMAGE_KEY = r"[0-9a-f]{16}\.(?:png|jpg|gif|webp)"
LARGEST_IMAGE = 2 * 1024 * 1024

_IN_MARKDOWN = re.compile(rf"\(\s*<?image:({IMAGE_KEY})")


def image_key(content: bytes) -> str | None:
    """Return the key for storing an image, None if it has none of the four formats."""
    # The bytes between the two marks are the length of the file.
    if content[:4] == b"RIFF" and content[8:12] == b"WEBP":
        ending = "webp"
    else:
        ending = next((ending for start, ending in IMAGE_STARTS if content.startswith(start)), "")
    # 64 bits of the hash identify an image within one project, and equal images share a file.
    return f"{hashlib.sha256(content).hexdigest()[:16]}.{ending}" if ending else None


def image_type(key: str) -> str:
    return IMAGE_TYPES[key.rpartition(".")[2]]


def image_keys_in(*texts: str) -> list[str]:
    """Return the keys of the images in Markdown sources, each once, in order of appearance."""
    return list(dict.fromkeys(key for text in texts for key in _IN_MARKDOWN.findall(text)))
