"""A file of any accepted format, or a data set's folder, as records that are read from beginning to end."""

import gzip
import os
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from itertools import islice
from pathlib import Path, PurePath
from time import monotonic
from typing import IO, cast

from annotate.core.translation import gettext
from annotate.material.reading.datasets import Split, splits_of, splits_of_part
from annotate.material.reading.folders import folder_at, is_workbook
from annotate.material.reading.jsonl import read_jsonl
from annotate.material.reading.lines import MOST_COLUMNS, too_many_columns
from annotate.material.reading.parquet import read_arrow, read_parquet
from annotate.material.reading.rows import EmptyRow, Record, RefusedLine, UnreadableFileError
from annotate.material.reading.tables import SheetChoice, choice_of_part, read_csv, read_tsv

Records = Iterator[Record | RefusedLine]
AllRows = Iterator[Record | RefusedLine | EmptyRow]
Reader = Callable[[IO[bytes]], AllRows]

FORMATS = "JSONL, CSV, TSV, XLSX, Parquet or a zipped data set folder (JSONL, CSV and TSV also as .gz)"
MOST_SECONDS = 600.0  # that reading a file may take, as for a Parquet file's decoder
GZIP_MAGIC = b"\x1f\x8b"
ZIP_MAGIC = b"PK\x03\x04"
PARQUET_MAGIC = b"PAR1"
OLD_EXCEL_MAGIC = b"\xd0\xcf\x11\xe0"
TEXT_READERS: dict[str, Reader] = {
    ".jsonl": read_jsonl,
    ".ndjson": read_jsonl,
    ".json": read_jsonl,
    ".csv": read_csv,
    ".tsv": read_tsv,
}
MISNAMED = {".xlsx": "workbook", ".parquet": "Parquet file", ".zip": "zip file"}
SUFFIXES = frozenset({*TEXT_READERS, *MISNAMED})


class RecordFile:
    """A file's records with the reading progress; iterate once, inside `with`.

    In a folder, or a zip of one, the shards of `part` ("config/split") follow each other with continuous
    numbers. For workbooks `part` may be a SheetChoice's. empty_rows: the number of skipped rows of
    separators.
    """

    is_whole = True

    def __init__(self, path: Path, name: str = "", part: str = "") -> None:
        self.choice = choice_of_part(part)
        self.path, self.name, self.part = path, name or path.name, "" if self.choice else part
        self.size = self.passed = self.empty_rows = 0
        self.opened = ExitStack()
        self.file: IO[bytes] | None = None
        if not path.is_dir():
            self.file = self.opened.enter_context(path.open("rb"))
            self.size = path.stat().st_size

    def __enter__(self) -> "RecordFile":
        return self

    def __exit__(self, *_: object) -> None:
        self.opened.close()

    def __iter__(self) -> Records:
        names: set[str] = set()
        for row in self._timed_rows():
            if isinstance(row, EmptyRow):
                self.empty_rows += 1
                continue
            # Each line of JSON can bring new fields, so the names of all lines count together.
            if isinstance(row, Record) and not row.fields.keys() <= names:
                names.update(row.fields)
                if len(names) > MOST_COLUMNS:
                    raise UnreadableFileError(row.line, too_many_columns(len(names)))
            yield row

    def _timed_rows(self) -> AllRows:
        """Yield the rows until reading alone has taken too long."""
        rows, taken = self._rows(), 0.0
        while True:
            began = monotonic()
            row = next(rows, None)
            taken += monotonic() - began
            if row is None:
                return
            # The time of the consumer, which checks or writes the row, does not count.
            if taken > MOST_SECONDS:
                limit = round(MOST_SECONDS / 60)
                reason = gettext(
                    "Reading the file takes more than {limit} minutes, which is the limit. Split the file."
                ).format(limit=limit)
                raise UnreadableFileError(row.line, reason)
            yield row

    def _rows(self) -> AllRows:
        if self.file is None or is_zipped_folder(self.file):
            folder = self.opened.enter_context(folder_at(self.path))
            shards = [
                shard for split in splits_of_part(splits_of(folder), self.part) for shard in split.shards
            ]
            self.size, lines = sum(folder.size(shard) for shard in shards), 0
            for shard in shards:
                # Numbers of lines continue from shard to shard.
                last = 0
                with folder.open(shard) as self.file:
                    for record in _name_shard_in_errors(shard, records_in(self.file, shard, self.choice)):
                        last = record.line
                        yield replace(record, line=lines + last)
                lines += last
                self.passed += folder.size(shard)
        else:
            yield from records_in(self.file, self.name, self.choice)

    @property
    def fraction_read(self) -> float:
        # Not `tell`: a child process may be the one that reads, and moves the position that both have.
        here = os.lseek(self.file.fileno(), 0, os.SEEK_CUR) if self.file and not self.file.closed else 0
        return min((self.passed + here) / self.size, 1.0) if self.size else 1.0


def first_records(
    path: Path, name: str = "", part: str = "", *, limit: int = 20
) -> list[Record | RefusedLine]:
    with RecordFile(path, name, part) as file:
        return list(islice(file, limit))


def size_of(path: Path) -> int:
    files = [each for each in path.rglob("*") if each.is_file()] if path.is_dir() else [path]
    return sum(each.stat().st_size for each in files)


def splits_in(path: Path) -> list[Split]:
    """The splits of a data set's folder or zip, none of any other file; raises UnreadableFileError."""
    if not path.is_dir():
        with path.open("rb") as file:
            if not is_zipped_folder(file):
                return []
    with folder_at(path) as folder:
        return splits_of(folder)


def sheets_in(path: Path) -> list[str]:
    """The visible sheets of a workbook, or of the first one of a folder or zip; none of any other file."""
    if path.is_dir() or splits_in(path):
        with folder_at(path) as folder:
            first = next((shard for shard in splits_of(folder)[0].shards if shard.endswith(".xlsx")), "")
            if not first:
                return []
            with folder.open(first) as shard:
                return _sheets_of(shard)
    with path.open("rb") as file:
        return _sheets_of(file) if is_workbook(file) else []


def _sheets_of(stream: IO[bytes]) -> list[str]:
    from annotate.material.reading.worksheets import sheet_names  # openpyxl takes 10 MB

    return sheet_names(stream)


def is_zipped_folder(stream: IO[bytes]) -> bool:
    return _magic(stream) == ZIP_MAGIC and not is_workbook(stream)


def records_in(stream: IO[bytes], name: str, choice: SheetChoice | None = None) -> AllRows:
    """Yield the rows of one file. Its first bytes identify its kind; for character data, its name does.

    choice: of a workbook's sheets; without it the first visible one is read.
    """
    magic = _magic(stream)
    if magic == OLD_EXCEL_MAGIC:
        raise UnreadableFileError(0, gettext("The file is an old Excel workbook (.xls); save it as .xlsx."))
    if magic.startswith(GZIP_MAGIC):
        with gzip.open(stream) as unpacked:
            yield from _text_reader(name)(cast("IO[bytes]", unpacked))
    elif magic == ZIP_MAGIC:
        from annotate.material.reading.worksheets import read_sheets, read_xlsx  # openpyxl takes 10 MB

        yield from read_sheets(stream, choice, name) if choice else read_xlsx(stream)
    elif magic == PARQUET_MAGIC:
        yield from read_parquet(stream)
    # An Arrow stream has no magic bytes, so its name decides.
    elif name.lower().endswith(".arrow"):
        yield from read_arrow(stream)
    else:
        yield from _text_reader(name)(stream)


def _name_shard_in_errors(shard: str, records: AllRows) -> AllRows:
    try:
        yield from records
    except UnreadableFileError as error:
        raise UnreadableFileError(error.line, f"In “{shard}”: {error.reason}") from error


def _magic(stream: IO[bytes]) -> bytes:
    magic = stream.read(4)
    stream.seek(0)
    return magic


def _text_reader(name: str) -> Reader:
    suffix = PurePath(name.lower().removesuffix(".gz")).suffix
    if suffix in MISNAMED:
        kind = MISNAMED[suffix]
        raise UnreadableFileError(
            0,
            gettext("The file is named {suffix} but is no {kind}; save it again as {suffix}.").format(
                suffix=suffix, kind=kind
            ),
        )
    if suffix not in TEXT_READERS:
        raise UnreadableFileError(
            0,
            gettext("The name “{name}” tells no known format; import {formats}.").format(
                name=name, formats=FORMATS
            ),
        )
    return TEXT_READERS[suffix]
