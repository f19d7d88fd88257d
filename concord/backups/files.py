"""Uploads and exports in a backup."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from uuid import uuid4

from django.conf import settings
from django.core.exceptions import SuspiciousFileOperation
from django.core.files.storage import default_storage

from annotate.core.files import is_local, iter_file_names, keep_file, scratch
from concord.backups.archive import BackupError, Reader, Writer, chunks_of

FOLDER = "uploads/"


@contextmanager
def held_files() -> Iterator[Path]:
    """Create a folder of links to files, so that a file deleted during the backup is still in it."""
    with tempfile.TemporaryDirectory(dir=settings.DATA_DIR, prefix="backup-") as folder:
        yield Path(folder)


def hold_files(held: Path) -> None:
    """Link all present files.

    Called before the database is read and again after it: every file named in its rows existed at one of the
    two.
    """
    for name in iter_file_names():
        target = held / name
        if not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            with suppress(FileNotFoundError):  # it was deleted since it was listed
                _hold(name, target)


def _hold(name: str, target: Path) -> None:
    if is_local():
        path = Path(default_storage.path(name))
        if path.is_symlink():
            return
        try:
            os.link(path, target)
            return
        except FileNotFoundError:
            raise
        except OSError:  # some shared folders do not support links
            pass
    with default_storage.open(name, "rb") as kept, target.open("wb") as copy:
        shutil.copyfileobj(kept, copy)


def dump_files(writer: Writer, held: Path) -> int:
    paths = sorted(path for path in held.rglob("*") if path.is_file())
    for path in paths:
        with path.open("rb") as file:
            writer.add(f"{FOLDER}{path.relative_to(held).as_posix()}", chunks_of(file))
    return len(paths)


def refuse_used_folder() -> None:
    """Raise BackupError if there are uploads already: files of two installations must not mix."""
    if next(iter_file_names(), None) is not None:
        cure = f"{settings.MEDIA_ROOT} is not empty: restore into a new folder (another CONCORD_DATA)."
        raise BackupError(cure if is_local() else "The bucket is not empty: restore into a new one.")


@contextmanager
def loaded_files(reader: Reader) -> Iterator[None]:
    """Write the files of a backup, for their owner only; remove them if a later step fails."""
    try:
        for name in reader.names(FOLDER):
            path = scratch(f"restored/{uuid4().hex}")
            with path.open("wb") as file:
                for chunk in reader.chunks(name):
                    file.write(chunk)
            try:
                keep_file(path, name.removeprefix(FOLDER))
            except SuspiciousFileOperation as error:
                raise BackupError(
                    f"The backup names a file outside of its folder ({name}): do not trust it."
                ) from error
            finally:
                path.unlink(missing_ok=True)
        yield
    except BaseException:
        for name in iter_file_names():  # there was none before
            default_storage.delete(name)
        raise
