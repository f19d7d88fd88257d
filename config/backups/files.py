"""Uploads and exports in a backup."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

from config.backups.archive import BackupError, Reader, Writer, chunks_of

FOLDER = "uploads/"


@contextmanager
def held_files() -> Iterator[Path]:
    """Make a folder to hold files in, so that one that is deleted meanwhile is still backed up."""
    with tempfile.TemporaryDirectory(dir=settings.DATA_DIR, prefix="backup-") as folder:
        yield Path(folder)


def hold_files(held: Path) -> None:
    """Hold all files that there are now.

    Done before the database is read and again after it: whatever its rows name was there at one of the two.
    """
    root = Path(settings.MEDIA_ROOT)
    for path in sorted(root.rglob("*")):
        target = held / path.relative_to(root)
        with suppress(FileNotFoundError):  # it was deleted since it was listed
            if path.is_file() and not path.is_symlink() and not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                _link(path, target)


def _link(path: Path, target: Path) -> None:
    try:
        os.link(path, target)
    except FileNotFoundError:
        raise
    except OSError:  # some shared folders know no links
        shutil.copyfile(path, target)


def dump_files(writer: Writer, held: Path) -> int:
    """Write them; return how many."""
    paths = sorted(path for path in held.rglob("*") if path.is_file())
    for path in paths:
        with path.open("rb") as file:
            writer.add(f"{FOLDER}{path.relative_to(held).as_posix()}", chunks_of(file))
    return len(paths)


def refuse_used_folder() -> None:
    """Raise BackupError where there are uploads already: files of two installations must not mix."""
    root = Path(settings.MEDIA_ROOT)
    if root.exists() and any(path.is_file() for path in root.rglob("*")):
        raise BackupError(f"{root} is not empty: restore into a new folder (another CONCORD_DATA).")


@contextmanager
def loaded_files(reader: Reader) -> Iterator[None]:
    """Write the files of a backup, for their owner only; remove them where what follows fails."""
    root = Path(settings.MEDIA_ROOT).resolve()
    try:
        for name in reader.names(FOLDER):
            _load_file(reader, name, root)
        yield
    except BaseException:
        shutil.rmtree(root, ignore_errors=True)  # it held no file before
        raise


def _load_file(reader: Reader, name: str, root: Path) -> None:
    path = (root / name.removeprefix(FOLDER)).resolve()
    if not path.is_relative_to(root):
        raise BackupError(f"The backup names a file outside of its folder ({name}): do not trust it.")
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        for chunk in reader.chunks(name):
            file.write(chunk)
