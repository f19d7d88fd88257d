"""Files that people gave or get: kept for all hosts, in a shared folder or a bucket, and worked on here.

A kept file never changes under its name, so that a copy of it stays right for as long as it lies here.
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
    """The place where files are kept does not answer, or refuses this installation."""


class _FinishedFile(File):  # type: ignore[type-arg]
    """A file that may be moved to where it is kept, as Django does with large uploads."""

    def temporary_file_path(self) -> str:
        """Return where it lies until then."""
        return str(self.name)


def is_local() -> bool:
    """Return whether files are kept in a folder, which all hosts must share."""
    return isinstance(default_storage, FileSystemStorage)


def scratch(name: str) -> Path:
    """Return a path of this host for what is being made; nobody else reads it. Its folder is made."""
    path = Path(settings.DATA_DIR, "scratch", name)
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return path


def keep_file(path: Path, name: str) -> None:
    """Keep a finished file under a name, in place of what had it, and remove it from here."""
    with path.open("rb") as file:
        default_storage.save(name, _FinishedFile(file, name=str(path)))
    path.unlink(missing_ok=True)


def keep_text(name: str, text: str) -> None:
    """Keep a short text under a name, in place of what had it."""
    default_storage.save(name, ContentFile(text.encode()))


def local_path(file: FieldFile) -> Path:
    """Return where a kept file can be read on this host: a copy, where files are kept in a bucket.

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
    """Return when a kept file was written, in seconds of the clock; 0 where there is none."""
    try:
        return default_storage.get_modified_time(name).timestamp()
    except FileNotFoundError:
        return 0.0


def kept_names(folder: str = "") -> Iterator[str]:
    """Yield the names of all kept files in a folder and those below it."""
    try:
        folders, files = default_storage.listdir(folder)
    except FileNotFoundError:  # nothing was ever kept
        return
    for each in sorted(files):
        yield f"{folder}{each}"
    for each in sorted(folders):
        yield from kept_names(f"{folder}{each}/")


def remove_scratch() -> int:
    """Remove what dead processes left on this host, and copies that nobody reads; return how many."""
    long_ago, removed = time() - SCRATCH_SECONDS, 0
    for each in Path(settings.DATA_DIR, "scratch").glob("*/*"):
        if each.stat().st_mtime < long_ago:
            removed += 1
            if each.is_dir():
                rmtree(each, ignore_errors=True)
            else:
                each.unlink(missing_ok=True)
    return removed
