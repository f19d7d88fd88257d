"""A folder of files, or the same in a zip: its content, and each file as a stream. Nothing is unpacked."""

import struct
import tempfile
import zipfile
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import IO

from annotate.core.translation import gettext
from annotate.material.reading.lines import MAX_FILE_BYTES
from annotate.material.reading.rows import UnreadableFileError

DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    NotImplementedError,  # a compression that zipfile does not know
    RuntimeError,  # an encrypted file
    EOFError,
    ValueError,
    LookupError,
    OSError,
)
CHUNK = 2**20


class Folder(ABC):
    """Files by their paths from the folder, with slashes."""

    names: tuple[str, ...]

    @abstractmethod
    def size(self, name: str) -> int:
        """Return the size of a file in bytes."""

    @abstractmethod
    def open(self, name: str) -> IO[bytes]:
        """Open a file that can be read from any position."""

    def text(self, name: str) -> str:
        """Return the content of a small file, empty if none has this name."""
        if name not in self.names or self.size(name) > CHUNK:
            return ""
        with self.open(name) as file:
            return file.read().decode("utf-8", "replace")


class Directory(Folder):
    def __init__(self, path: Path) -> None:
        self.path = path
        found = (each.relative_to(path) for each in path.rglob("*") if each.is_file())
        # Sorted, because the order of a directory's entries differs between file systems.
        self.names = tuple(sorted(each.as_posix() for each in found if not _is_hidden(each.parts)))

    def size(self, name: str) -> int:
        return (self.path / name).stat().st_size

    def open(self, name: str) -> IO[bytes]:
        return (self.path / name).open("rb")


class Zipped(Folder):
    """A zip file. If a single folder contains everything in it, the names omit that folder."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        self.archive = archive
        files = {each.filename: each for each in archive.infolist() if not each.is_dir()}
        files = {name: each for name, each in files.items() if not _is_hidden(PurePosixPath(name).parts)}
        # These are declared sizes; `open` counts the real ones.
        if sum(each.file_size for each in files.values()) > MAX_FILE_BYTES:
            limit = MAX_FILE_BYTES // 1024**2
            raise UnreadableFileError(
                0, gettext("The zip file unpacks to more than {limit} MiB; split it.").format(limit=limit)
            )
        firsts = {name.partition("/")[0] for name in files}
        is_single = len(firsts) == 1 and all("/" in name for name in files)
        outer = f"{firsts.pop()}/" if is_single else ""
        self.files = {name.removeprefix(outer): each for name, each in files.items()}
        self.names = tuple(sorted(self.files))

    def size(self, name: str) -> int:
        return self.files[name].file_size

    def open(self, name: str) -> IO[bytes]:
        """A file, unpacked to a temporary one: readers of columns jump in it."""
        unpacked = tempfile.TemporaryFile()  # noqa: SIM115 - who asked for it closes it
        try:
            with self.archive.open(self.files[name]) as packed:
                total = 0
                while data := packed.read(CHUNK):
                    total += len(data)
                    # A zip file may hold more than it declares.
                    if total > MAX_FILE_BYTES:
                        raise UnreadableFileError(
                            0,
                            gettext("“{name}” unpacks to more than its zip file says; pack it again.").format(
                                name=name
                            ),
                        )
                    unpacked.write(data)
        except BaseException:
            unpacked.close()
            raise
        unpacked.seek(0)
        return unpacked


@contextmanager
def folder_at(path: Path) -> Iterator[Folder]:
    """A folder of this host, or a zip file; raises UnreadableFileError."""
    if path.is_dir():
        yield Directory(path)
        return
    try:
        with zipfile.ZipFile(path) as archive:
            yield Zipped(archive)
    except DAMAGED as error:
        reason = gettext("The zip file cannot be read ({error}); pack the folder again.").format(
            error=type(error).__name__
        )
        raise UnreadableFileError(0, reason) from error


def is_workbook(stream: IO[bytes]) -> bool:
    try:
        with zipfile.ZipFile(stream) as archive:
            # A workbook is a zip file, too; its parts are in the folder xl.
            return any(name.startswith("xl/") for name in archive.namelist())
    except DAMAGED:
        return False
    finally:
        stream.seek(0)


def _is_hidden(parts: tuple[str, ...]) -> bool:
    # macOS adds a folder __MACOSX with a second file for each file to its archives.
    return any(part.startswith((".", "__MACOSX")) for part in parts)
