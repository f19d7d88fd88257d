"""XLSX: the first visible worksheet, streamed; its shared strings wait on disk."""

import tempfile
import zipfile
import zlib
from array import array
from collections.abc import Iterator
from datetime import date, time, timedelta
from typing import IO, Any
from xml.etree.ElementTree import ParseError, iterparse

from openpyxl.cell.text import Text
from openpyxl.reader.excel import ExcelReader
from openpyxl.utils.escape import unescape
from openpyxl.utils.exceptions import InvalidFileException
from openpyxl.worksheet._reader import WorkSheetParser
from openpyxl.xml.constants import SHARED_STRINGS, SHEET_MAIN_NS

from annotate.importing.lines import MAX_FILE_BYTES, MAX_LINE_BYTES
from annotate.importing.rows import Record, RefusedLine, UnreadableFileError
from annotate.importing.tables import header_names, named_cells

STRING_TAG = f"{{{SHEET_MAIN_NS}}}si"
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    InvalidFileException,
    NotImplementedError,  # a compression that zipfile does not know
    RuntimeError,  # an encrypted part
    KeyError,
    IndexError,
    ValueError,
    TypeError,
    AttributeError,
    EOFError,
    OSError,
)


def read_xlsx(stream: IO[bytes]) -> Iterator[Record | RefusedLine]:
    """The records of a workbook's first visible worksheet, numbered as the spreadsheet numbers its rows."""
    try:
        with _Workbook(stream) as workbook:
            yield from _records(workbook.rows())
    except DAMAGED as error:
        reason = (
            f"The workbook cannot be read ({type(error).__name__}); save it again as .xlsx or as “CSV UTF-8”."
        )
        raise UnreadableFileError(0, reason) from error


def _records(rows: Iterator[tuple[int, list[object]]]) -> Iterator[Record | RefusedLine]:
    header: tuple[str, ...] = ()
    for number, cells in rows:
        if all(cell in (None, "") for cell in cells):
            continue
        if not header:
            header = header_names(cells, number)
        elif len(cells) > len(header):
            yield RefusedLine(number, "", "The row has more cells than the header; name every column.")
        else:
            padded = cells + [None] * (len(header) - len(cells))
            yield Record(number, named_cells(header, padded))


class _BoundedPart:
    """A part of the workbook that refuses to be read on when one row or string exceeds the limit."""

    def __init__(self, stream: IO[bytes]) -> None:
        self.stream = stream
        self.held = 0

    def read(self, size: int = -1) -> bytes:
        data = self.stream.read(size)
        self.held += len(data)
        if self.held > MAX_LINE_BYTES:
            limit = MAX_LINE_BYTES // 1024**2
            raise UnreadableFileError(
                0, f"A row of the workbook is longer than {limit} MiB; shorten its texts."
            )
        return data


class _StringsOnDisk:
    """The workbook's shared strings in a temporary file, with only their places in memory."""

    def __init__(self, part: _BoundedPart) -> None:
        self.file = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the workbook
        self.ends = array("Q", [0])
        for _, node in iterparse(part):
            if node.tag == STRING_TAG:
                self._append(unescape(Text.from_tree(node).content))  # type: ignore[arg-type, union-attr]
                node.clear()
                part.held = 0

    def _append(self, text: str) -> None:
        written = self.file.write(text.encode("utf-8", "surrogatepass"))
        self.ends.append(self.ends[-1] + written)

    def __getitem__(self, index: int) -> str:
        start, end = self.ends[index], self.ends[index + 1]
        self.file.seek(start)
        return self.file.read(end - start).decode("utf-8", "surrogatepass")

    def close(self) -> None:
        self.file.close()


class _Workbook(ExcelReader):
    """openpyxl's reader without what an import never looks at, and without holding the strings."""

    def __init__(self, stream: IO[bytes]) -> None:
        super().__init__(stream, read_only=True, data_only=True)
        self.strings: _StringsOnDisk | None = None
        declared = sum(part.file_size for part in self.archive.infolist())
        if declared > MAX_FILE_BYTES:
            reason = f"The workbook unpacks to more than {MAX_FILE_BYTES // 1024**2} MiB; split it."
            raise UnreadableFileError(0, reason)

    def __enter__(self) -> "_Workbook":
        self.read()
        return self

    def __exit__(self, *_: object) -> None:
        self.archive.close()
        if self.strings:
            self.strings.close()

    def read_strings(self) -> None:
        part = self.package.find(SHARED_STRINGS)  # type: ignore[no-untyped-call]
        if part is not None:
            with self.archive.open(part.PartName[1:]) as source:
                self.strings = _StringsOnDisk(_BoundedPart(source))

    def read_properties(self) -> None:
        """Leave out."""

    read_custom = read_theme = read_worksheets = read_properties

    def rows(self) -> Iterator[tuple[int, list[object]]]:
        """Each row's number in the spreadsheet and its cells as texts, numbers or None."""
        with self.archive.open(self._first_visible_sheet()) as source:
            part = _BoundedPart(source)
            for number, cells in self._parser(part).parse():
                part.held = 0
                yield number, _placed(cells)

    def _first_visible_sheet(self) -> str:
        for sheet, relation in self.parser.find_sheets():
            if sheet.state == "visible" and "chartsheet" not in relation.Type:
                return str(relation.target)
        raise UnreadableFileError(0, "The workbook has no visible worksheet; show the sheet with the data.")

    def _parser(self, part: _BoundedPart) -> WorkSheetParser:
        return WorkSheetParser(
            part,
            self.strings or [],
            data_only=True,
            epoch=self.wb.epoch,
            date_formats=self.wb._date_formats,  # type: ignore[attr-defined]
            timedelta_formats=self.wb._timedelta_formats,  # type: ignore[attr-defined]
        )


def _placed(cells: list[dict[str, Any]]) -> list[object]:
    row: list[object] = [None] * max((cell["column"] for cell in cells), default=0)
    for cell in cells:
        row[cell["column"] - 1] = _plain(cell["value"])
    while row and row[-1] in (None, ""):
        row.pop()
    return row


def _plain(value: object) -> object:
    return str(value) if isinstance(value, date | time | timedelta) else value
