"""A file of any accepted format as a stream of records, read once from beginning to end."""

import gzip
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path, PurePath
from typing import IO, cast

from annotate.importing.jsonl import read_jsonl
from annotate.importing.rows import Record, RefusedLine, UnreadableFileError
from annotate.importing.tables import read_csv
from annotate.importing.worksheets import read_xlsx

Reader = Callable[[IO[bytes]], Iterator[Record | RefusedLine]]

FORMATS = "JSONL, CSV or XLSX (JSONL and CSV also as .gz)"
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
OLD_EXCEL_MAGIC = b"\xd0\xcf\x11\xe0"
TEXT_READERS: dict[str, Reader] = {
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_jsonl,
    ".csv": read_csv,
    ".tsv": read_csv,
}


class RecordFile:
    """A file's records with how far reading has come; iterate once, inside `with`."""

    def __init__(self, path: Path, name: str = "") -> None:
        self.name = name or path.name
        self.size = path.stat().st_size
        self.file = path.open("rb")

    def __enter__(self) -> "RecordFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.file.close()

    def __iter__(self) -> Iterator[Record | RefusedLine]:
        magic = self.file.read(4)
        self.file.seek(0)
        if magic.startswith(GZIP_MAGIC):
            with gzip.open(self.file) as unpacked:
                yield from self._text_reader()(cast("IO[bytes]", unpacked))
        else:
            yield from self._reader(magic)(self.file)

    @property
    def fraction_read(self) -> float:
        """The share of the file's bytes that reading has passed, from 0 to 1."""
        return min(self.file.tell() / self.size, 1.0) if self.size else 1.0

    def _reader(self, magic: bytes) -> Reader:
        if magic == OLD_EXCEL_MAGIC:
            raise UnreadableFileError(0, "The file is an old Excel workbook (.xls); save it as .xlsx.")
        if magic == ZIP_MAGIC:
            return read_xlsx
        return self._text_reader()

    def _text_reader(self) -> Reader:
        suffix = PurePath(self.name.lower().removesuffix(".gz")).suffix
        if suffix == ".xlsx":
            raise UnreadableFileError(
                0, "The file is named .xlsx but is no workbook; save it again as .xlsx."
            )
        if suffix not in TEXT_READERS:
            raise UnreadableFileError(0, f"The name “{self.name}” tells no known format; import {FORMATS}.")
        return TEXT_READERS[suffix]


def first_records(path: Path, name: str = "", *, limit: int = 20) -> list[Record | RefusedLine]:
    """The first records of a file, for a preview and for guessing its mapping."""
    with RecordFile(path, name) as file:
        return list(islice(file, limit))
