"""The rows of an exported table, read from any format, each value of its column's kind."""

import csv
import io
import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from datetime import datetime
from itertools import zip_longest
from math import isfinite
from pathlib import Path
from typing import IO, Any
from xml.etree import ElementTree
from zipfile import BadZipFile

from annotate.core.scale import normalize
from annotate.exports.choice import Format
from annotate.exports.registry import TABLES, ExportTable, ValueKind

ROWS_AT_ONCE = 2000
LONGEST_CSV_CELL = 2**30
LARGEST = 2**63 - 1  # a larger integer fits no column
TYPES: Mapping[ValueKind, tuple[type, ...]] = {
    ValueKind.TEXT: (str,),
    ValueKind.INTEGER: (int,),
    ValueKind.NUMBER: (float, int),
    ValueKind.POINTS: (float, int),
    ValueKind.FLAG: (bool,),
    ValueKind.TIME: (datetime,),
    ValueKind.LISTED: (list, dict),
}

Row = dict[str, Any]


class MisfitError(Exception):
    """What a table holds does not fit its columns or the other tables."""


class CutTextError(MisfitError):
    """A workbook holds only the beginning of a text."""


def _from_jsonl(table: ExportTable, file: IO[bytes]) -> Iterator[Row]:
    times = [column for column in table.columns if table.kind(column) == ValueKind.TIME]
    for line in file:
        try:
            row: Row = json.loads(line)
            row |= {name: datetime.fromisoformat(row[name]) for name in times if row.get(name)}
        except (ValueError, TypeError) as error:  # no JSON, no object, no time
            raise MisfitError(f"a row of {table.name} cannot be read") from error
        yield row


def _from_parquet(table: ExportTable, file: IO[bytes]) -> Iterator[Row]:
    from pyarrow import ArrowException  # takes 60 MB, see annotate.exports.formats.parquet
    from pyarrow.parquet import ParquetFile

    columns = set(table.columns) - set(table.lists)  # these are lists, not JSON
    listed = [column for column in columns if table.kind(column) == ValueKind.LISTED]
    try:
        for batch in ParquetFile(file).iter_batches(ROWS_AT_ONCE):
            for row in batch.to_pylist():
                yield row | {name: json.loads(row[name]) for name in listed if row.get(name)}
    except (ArrowException, ValueError, TypeError, OSError) as error:
        raise MisfitError(f"{table.name} cannot be read") from error


def _from_csv(table: ExportTable, file: IO[bytes]) -> Iterator[Row]:
    # A list of judgments' messages may be larger than the 128 KB that a cell has by default.
    csv.field_size_limit(max(csv.field_size_limit(), LONGEST_CSV_CELL))
    lines = csv.reader(io.TextIOWrapper(file, encoding="utf-8", newline=""), strict=True)
    try:
        yield from _from_cells(table, lines)
    except (csv.Error, UnicodeDecodeError) as error:
        raise MisfitError(f"{table.name} cannot be read") from error


def describe_workbook(path: Path) -> tuple[dict[str, Sequence[Any]], tuple[str, str]]:
    """Return the header of each table in an exported workbook, and its project's short name and version.

    Raises MisfitError for another workbook.
    """
    with path.open("rb") as file, _open_workbook(file) as workbook:
        sheets = {
            name: workbook[name].iter_rows(values_only=True) for name in TABLES.keys() & workbook.sheetnames
        }
        headers = {name: next(rows, ()) for name, rows in sheets.items()}
        if "project" not in sheets:
            raise MisfitError("there is no sheet of the project")
        row = dict(zip(headers["project"], next(sheets["project"], ()), strict=False))
        return headers, (row["project"], row["concord_version"])


@contextmanager
def _open_workbook(file: IO[bytes]) -> Iterator[Any]:
    from openpyxl import load_workbook  # takes 10 MB
    from openpyxl.utils.exceptions import InvalidFileException

    try:
        with closing(load_workbook(file, read_only=True)) as workbook:
            yield workbook
    except (BadZipFile, ElementTree.ParseError, InvalidFileException, KeyError, OSError) as error:
        raise MisfitError("the workbook cannot be read") from error


def _from_workbook(table: ExportTable, file: IO[bytes]) -> Iterator[Row]:
    """Yield the rows of a table's sheet, and of those that it goes on on."""
    from annotate.exports.formats.workbook import LONGEST_CELL  # loads openpyxl

    with _open_workbook(file) as workbook:
        names = [each for each in workbook.sheetnames if re.fullmatch(rf"{table.name}( \d+)?", each)]
        for name in names:
            for row in _from_cells(table, workbook[name].iter_rows(values_only=True)):
                if any(isinstance(each, str) and len(each) >= LONGEST_CELL for each in row.values()):
                    raise CutTextError(f"a text of {table.name} was cut")
                yield row


def _from_cells(table: ExportTable, lines: Iterator[Sequence[Any]]) -> Iterator[Row]:
    """Yield rows below their header; what is not a single value is JSON in its cell."""
    header = next(lines, ())
    try:
        readers = [_CELLS[table.kind(name)] for name in header]
        for cells in lines:
            if len(cells) > len(header):
                raise MisfitError(f"a row of {table.name} is longer than its header")
            yield {
                name: read("" if cell is None else cell)
                for name, read, cell in zip_longest(header, readers, cells)
            }
    except (ValueError, TypeError, KeyError) as error:
        raise MisfitError(f"a row of {table.name} cannot be read") from error


def _flag(cell: Any) -> bool | None:
    return cell if isinstance(cell, bool) else {"True": True, "False": False, "": None}[cell]


_CELLS: Mapping[ValueKind, Callable[[Any], Any]] = {
    # No value and an empty text are one cell; empty texts are what tables have most of.
    ValueKind.TEXT: str,
    ValueKind.INTEGER: lambda cell: None if cell == "" else int(cell),
    ValueKind.NUMBER: lambda cell: None if cell == "" else float(cell),
    ValueKind.POINTS: lambda cell: None if cell == "" else normalize(float(cell)),
    ValueKind.FLAG: _flag,
    ValueKind.TIME: lambda cell: None if cell == "" else datetime.fromisoformat(cell),
    ValueKind.LISTED: lambda cell: None if cell == "" else json.loads(cell),
}

READERS: Mapping[Format, Callable[[ExportTable, IO[bytes]], Iterator[Row]]] = {
    Format.JSONL: _from_jsonl,
    Format.CSV: _from_csv,
    Format.PARQUET: _from_parquet,
    Format.XLSX: _from_workbook,
    Format.HUGGING_FACE: _from_parquet,
}
"""By format: what yields the rows of a table from a file that has them, times as such."""


def check_rows(table: ExportTable, rows: Iterable[Row]) -> Iterator[Row]:
    """Yield the rows; raise MisfitError for one that lacks a column or holds a value of another kind.

    So whoever restores them can take rows as they are, and a TypeError or KeyError there is our mistake.
    """
    types = {name: TYPES[table.kind(name)] for name in table.columns}
    for row in rows:
        for name, expected in types.items():
            if name not in row:
                raise MisfitError(f"{table.name} lacks {name}")
            value = row[name]
            if value is not None and not _fits(value, expected):
                raise MisfitError(f"{name} of {table.name} holds {value!r:.40}")
        yield row


def _fits(value: object, expected: tuple[type, ...]) -> bool:
    if isinstance(value, bool):
        return bool in expected
    if isinstance(value, str):
        return str in expected and "\0" not in value  # PostgreSQL holds no NUL
    if isinstance(value, float) and not isfinite(value):
        return False
    return isinstance(value, expected) and not (isinstance(value, int) and abs(value) > LARGEST)
