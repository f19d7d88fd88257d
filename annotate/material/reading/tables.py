"""CSV and worksheets: a header row, then one record per row."""

import csv
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from typing import IO, Literal

from annotate.core.translation import gettext
from annotate.material.reading.lines import (
    MAX_LINE_BYTES,
    MOST_COLUMNS,
    numbered_lines,
    too_many_columns,
)
from annotate.material.reading.mqm import has_mqm_columns
from annotate.material.reading.rows import EmptyRow, LineReason, Record, RefusedLine, UnreadableFileError

DELIMITERS = ",;\t"
WIDEST_SHEET = 16_384  # columns of any spreadsheet, which may save the empty ones too
# The csv module's own limit is 128 KiB a cell, which a long document exceeds.
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
            # A quotation mark that is never closed would collect the rest of the file in one row.
            self.held += len(text or "")
            if text is None or self.held > MAX_LINE_BYTES:
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
    unquoted = re.sub(r'"[^"]*"', "", header_line)
    # Quoted names may hold separators; a given delimiter leaves nothing to choose.
    delimiter = max(delimiter or DELIMITERS, key=unquoted.count)
    columns = unquoted.count(delimiter) + 1
    if columns > WIDEST_SHEET:  # splitting the line would take much memory
        raise UnreadableFileError(lines.number, too_many_columns(columns))
    # MQM's files do not escape quotation marks.
    is_mqm = has_mqm_columns(header_line.rstrip().split("\t"))
    quoting: Literal[0, 3] = csv.QUOTE_NONE if is_mqm else csv.QUOTE_MINIMAL
    rows = csv.reader(chain([header_line], texts), delimiter=delimiter, quoting=quoting, strict=True)
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


def _csv_rows(rows: Iterator[list[str]], lines: _CsvLines) -> Iterator[list[str] | RefusedLine]:
    # The reader takes the header's line first, which may follow blank lines.
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
        # A quoted cell may continue over several lines; the next row starts after the last of them.
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


def header_names(cells: Sequence[object], line: int) -> tuple[str, ...]:
    """The column names of a header row; a duplicate or too many names make the file unreadable."""
    names = tuple("" if cell is None else str(cell).strip() for cell in cells)
    # A spreadsheet may save thousands of empty columns, which have no names and do not count.
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


SHEETS_PART = re.compile(r"row (\d{1,7})/(.+)", re.DOTALL)
ALL_SHEETS = "*"


@dataclass(frozen=True)
class SheetChoice:
    """header_row: from 1, the same in every sheet. sheets: their names; empty: all visible sheets."""

    header_row: int = 1
    sheets: tuple[str, ...] = ()

    @property
    def part(self) -> str:
        """Return the form in which an import stores it. No name of a worksheet has a slash."""
        return f"row {self.header_row}/{'/'.join(self.sheets) or ALL_SHEETS}"


def choice_of_part(part: str) -> SheetChoice | None:
    """Return the choice in a part, None if the part is empty or belongs to a data set's folder."""
    found = SHEETS_PART.fullmatch(part)
    if found is None:
        return None
    sheets = () if found[2] == ALL_SHEETS else tuple(found[2].split("/"))
    return SheetChoice(max(int(found[1]), 1), sheets)


def position_columns(file: str, sheet: str, row: int) -> dict[str, object]:
    """Return the position of a row, as columns that a mapping can give a meaning.

    file: its path in the folder. row: counted from 1 below the header. Cells lack the information that a
    release puts in names of folders, files and sheets (rater, document).
    """
    path = PurePosixPath(file)
    return {
        "[folder]": path.parent.name,
        "[file]": path.stem,
        "[sheet]": sheet,
        "[file/sheet]": f"{path.stem}/{sheet}",
        "[row]": row,
    }
