"""CSV and worksheets: a header row, then one record per row."""

import csv
import re
from collections.abc import Iterator, Sequence
from typing import IO, Literal

from annotate.core.translation import gettext
from annotate.material.reading.lines import (
    MAX_LINE_BYTES,
    MOST_COLUMNS,
    OverlongLine,
    numbered_lines,
    too_many_columns,
)
from annotate.material.reading.mqm import has_mqm_columns
from annotate.material.reading.rows import EmptyRow, LineReason, Record, RefusedLine, UnreadableFileError

DELIMITERS = ",;\t"
WIDEST_SHEET = 16_384  # columns of any spreadsheet, which may save the empty ones too
csv.field_size_limit(MAX_LINE_BYTES)


class _CsvLines:
    """Feeds the csv module line by line and limits the size of one row."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.lines = numbered_lines(stream)
        self.row_starts = 1
        self.number = 0
        self.held = 0

    def __iter__(self) -> Iterator[str]:
        for number, text in self.lines:
            self.number = number
            self.held += len(text)
            if isinstance(text, OverlongLine) or self.held > MAX_LINE_BYTES:
                limit = MAX_LINE_BYTES // 1024**2
                reason = gettext(
                    "The row that begins here is longer than {limit} MiB; is a quotation mark not closed?"
                ).format(limit=limit)
                raise UnreadableFileError(self.row_starts, reason)
            yield text

    def next_row(self) -> None:
        self.row_starts = self.number + 1
        self.held = 0


def read_tsv(stream: IO[bytes]) -> Iterator[Record | RefusedLine | EmptyRow]:
    return read_csv(stream, delimiter="\t")


def read_csv(stream: IO[bytes], delimiter: str = "") -> Iterator[Record | RefusedLine | EmptyRow]:
    """The records of a CSV stream, separated by commas, semicolons or tabs as its header is."""
    lines = _CsvLines(stream)
    texts = iter(lines)
    header_line = next((text for text in texts if text.strip()), "")
    delimiter, columns = _delimiter(header_line, delimiter or DELIMITERS)
    if columns > WIDEST_SHEET:  # splitting the line would take much memory
        raise UnreadableFileError(lines.number, too_many_columns(columns))
    # MQM's files do not escape quotation marks.
    is_mqm = has_mqm_columns(header_line.rstrip().split("\t"))
    quoting: Literal[0, 3] = csv.QUOTE_NONE if is_mqm else csv.QUOTE_MINIMAL
    rows = csv.reader(_chain(header_line, texts), delimiter=delimiter, quoting=quoting, strict=True)
    header: tuple[str, ...] = ()
    for cells in _csv_rows(rows, lines):
        if isinstance(cells, RefusedLine):
            if not header:
                raise UnreadableFileError(cells.line, cells.reason)
            yield cells
        elif not header:
            header = header_names(cells, lines.row_starts)
        elif any(cells):
            yield _csv_record(lines.row_starts, header, cells)
        elif cells:  # a blank line has no cells, and is no row
            yield EmptyRow(lines.row_starts)


def _chain(first: str, rest: Iterator[str]) -> Iterator[str]:
    yield first
    yield from rest


def _csv_rows(rows: Iterator[list[str]], lines: _CsvLines) -> Iterator[list[str] | RefusedLine]:
    lines.row_starts = max(lines.number, 1)
    while True:
        try:
            yield next(rows)
        except StopIteration:
            return
        except csv.Error as error:
            yield RefusedLine(
                lines.row_starts,
                "",
                gettext("The row is not CSV ({error}); check its quotation marks.").format(error=error),
            )
        lines.next_row()


def _csv_record(line: int, header: Sequence[str], cells: Sequence[str]) -> Record | RefusedLine:
    if len(cells) != len(header):
        reason = LineReason.fill(
            gettext("The row has {cells} cells and the header {columns}; quote cells that hold separators."),
            example=len(cells),
            shared={"columns": len(header)},
            cells=len(cells),
        )
        return RefusedLine(line, "", reason, ",".join(cells))
    return Record(line, named_cells(header, cells))


def _delimiter(header_line: str, delimiters: str) -> tuple[str, int]:
    unquoted = re.sub(r'"[^"]*"', "", header_line)
    delimiter = max(delimiters, key=unquoted.count)
    return delimiter, unquoted.count(delimiter) + 1


def header_names(cells: Sequence[object], line: int) -> tuple[str, ...]:
    """The column names of a header row; a duplicate or too many names make the file unreadable."""
    names = tuple("" if cell is None else str(cell).strip() for cell in cells)
    if (named := sum(map(bool, names))) > MOST_COLUMNS:
        raise UnreadableFileError(line, too_many_columns(named))
    seen: set[str] = set()
    for name in filter(None, names):
        if name in seen:
            raise UnreadableFileError(
                line,
                gettext("The header names the column “{name}” twice; rename one of them.").format(name=name),
            )
        seen.add(name)
    return names


def named_cells(header: Sequence[str], cells: Sequence[object]) -> dict[str, object]:
    return {name: cell for name, cell in zip(header, cells, strict=True) if name}
