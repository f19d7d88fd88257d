"""Files of users, stored for all hosts in a shared folder or a bucket, and processed on this host.

A stored file never changes under its name, so a copy of it is correct as long as it exists here.
"""

import os
from collections.abc import Iterator
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
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def keep_file(path: Path, name: str) -> None:
    """Store a finished file under a name, replace any file with that name, and remove the local file."""
    with path.open("rb") as file:
        default_storage.save(name, _FinishedFile(file, name=str(path)))
    path.unlink(missing_ok=True)


def keep_text(name: str, text: str) -> None:
    """Store a short string under a name, and replace any file with that name."""
    default_storage.save(name, ContentFile(text.encode()))


def local_path(file: FieldFile) -> Path:
    """Return the path of a stored file on this host: a copy, if files are stored in a bucket.

    Raises FileNotFoundError and StorageAwayError.
    """
    name = str(file.name)
    if is_local():
        return Path(default_storage.path(name))
    copy = scratch(f"copies/{PurePosixPath(name).name}")
    if not copy.exists():
        unfinished = copy.with_name(uuid4().hex)
        with default_storage.open(name, "rb") as kept, unfinished.open("wb") as here:
            copyfileobj(kept, here)
        unfinished.rename(copy)
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
    for each in Path(settings.DATA_DIR, "scratch").glob("*/*"):
        if each.stat().st_mtime < long_ago:
            removed += 1
            if each.is_dir():
                rmtree(each, ignore_errors=True)
            else:
                each.unlink(missing_ok=True)
    return removed
