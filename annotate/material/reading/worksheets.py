"""XLSX: the first visible worksheet, or the chosen ones, read row by row."""

import logging
import zipfile
import zlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import date, time, timedelta
from typing import IO
from xml.etree.ElementTree import ParseError

from openpyxl import load_workbook
from openpyxl.utils.escape import unescape
from openpyxl.utils.exceptions import InvalidFileException

from annotate.core.translation import gettext
from annotate.material.reading.rows import Record, RefusedLine, UnreadableFileError
from annotate.material.reading.tables import SheetChoice, header_names, named_cells, position_columns

logger = logging.getLogger(__name__)

# Rows are streamed, but openpyxl holds a workbook's shared strings in memory: this limits their size.
MAX_WORKBOOK_BYTES = 512 * 1024 * 1024
MAX_TEXT_BYTES = 128 * 1024 * 1024
LAST_ROW = 1_048_576  # of any spreadsheet; openpyxl would count up to whatever number a damaged file gives
DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    ParseError,
    InvalidFileException,
    NotImplementedError,  # a compression that zipfile does not know
    RuntimeError,  # an encrypted part
    KeyError,  # a part that another one names is not there
    IndexError,  # a string index beyond the shared strings
    ValueError,
    EOFError,
    OSError,
)


def read_xlsx(stream: IO[bytes]) -> Iterator[Record | RefusedLine]:
    """The records of a workbook's first visible worksheet, numbered as the spreadsheet numbers its rows."""
    header: tuple[str, ...] = ()
    for number, cells in _rows(stream):
        if not cells:
            continue
        if not header:
            header = header_names(cells, number)
        elif len(cells) > len(header):
            yield RefusedLine(
                number, "", gettext("The row has more cells than the header; name every column.")
            )
        else:
            padded = cells + [None] * (len(header) - len(cells))
            yield Record(number, named_cells(header, padded))


def read_sheets(stream: IO[bytes], choice: SheetChoice, name: str) -> Iterator[Record | RefusedLine]:
    """Yield the records of the chosen sheets with their origin (`position_columns`).

    Line numbers continue across sheets. Rows above the header are skipped. name: the file's name, which
    distinguishes its records.
    """
    passed = 0
    for sheet in _choose_sheets(sheet_names(stream), choice):
        header: tuple[str, ...] = ()
        number = 0
        for number, cells in _rows(stream, sheet):
            if number == choice.header_row:
                header = header_names(cells, passed + number)
            elif number > choice.header_row and cells:
                position = position_columns(name, sheet, number - choice.header_row)
                padded = cells + [None] * (len(header) - len(cells))
                if len(padded) > len(header):
                    reason = gettext(
                        "In “{sheet}” the row has more cells than the header; name every column."
                    ).format(sheet=sheet)
                    yield RefusedLine(passed + number, "", reason)
                else:
                    yield Record(passed + number, {**named_cells(header, padded), **position})
        if not any(header):
            reason = gettext("The sheet “{sheet}” has no header in row {row}; choose another row.").format(
                sheet=sheet, row=choice.header_row
            )
            raise UnreadableFileError(passed + choice.header_row, reason)
        # The last row of this sheet: line numbers continue in the next one.
        passed += number


def sheet_names(stream: IO[bytes]) -> list[str]:
    with _library_errors():
        _check_size(stream)
        # `data_only` gives the stored results of formulas instead of the formulas.
        book = load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        names = [sheet.title for sheet in book.worksheets if sheet.sheet_state == "visible"]
    stream.seek(0)
    return names


def _choose_sheets(names: Sequence[str], choice: SheetChoice) -> Sequence[str]:
    missing = [sheet for sheet in choice.sheets if sheet not in names]
    if missing:
        reason = gettext("There is no visible sheet “{sheet}”; the workbook has {names}.").format(
            sheet=missing[0], names=", ".join(names)
        )
        raise UnreadableFileError(0, reason)
    return [name for name in names if name in choice.sheets] if choice.sheets else names


def _rows(stream: IO[bytes], sheet: str = "") -> Iterator[tuple[int, list[object]]]:
    for number, row in enumerate(_values(stream, sheet), start=1):
        if number > LAST_ROW:
            raise UnreadableFileError(
                number, gettext("No worksheet has a row {row}; save the workbook again.").format(row=number)
            )
        cells = [_plain(cell) for cell in row]
        # Spreadsheets also save empty cells behind the last filled one.
        while cells and cells[-1] in (None, ""):
            cells.pop()
        yield number, cells


def _values(stream: IO[bytes], name: str) -> Iterator[tuple[object, ...]]:
    """Yield the rows of a sheet (the first visible one without a name) as openpyxl reads them.

    Errors of the consumer do not pass through here: see below.
    """
    with _library_errors():
        _check_size(stream)
        # Rows are streamed: a reader that allocates whole sheets fails on one cell far away from the others.
        book = load_workbook(stream, read_only=True, data_only=True, keep_links=False)
        visible = (each for each in book.worksheets if each.sheet_state == "visible")
        sheet = next((each for each in visible if name in ("", each.title)), None)
        if sheet is None:
            raise UnreadableFileError(
                0, gettext("The workbook has no visible worksheet; show the sheet with the data.")
            )
        # Some programs write a dimension that leaves rows out; without one, openpyxl reads to the end.
        sheet.reset_dimensions()
        yield from sheet.iter_rows(values_only=True)


def _check_size(stream: IO[bytes]) -> None:
    with zipfile.ZipFile(stream) as archive:
        sizes = {part.filename: part.file_size for part in archive.infolist()}
    # The next reader of the stream starts at its beginning.
    stream.seek(0)
    # Worksheets are streamed; any other part may be read into memory as a whole.
    texts = [size for name, size in sizes.items() if "worksheets/" not in name]
    if max(texts, default=0) > MAX_TEXT_BYTES:
        limit = MAX_TEXT_BYTES // 1024**2
        reason = gettext(
            "The workbook's texts unpack to more than {limit} MiB. Split it, or save it as “CSV UTF-8”."
        ).format(limit=limit)
        raise UnreadableFileError(0, reason)
    declared = sum(sizes.values())
    if declared > MAX_WORKBOOK_BYTES:
        limit = MAX_WORKBOOK_BYTES // 1024**2
        raise UnreadableFileError(
            0,
            gettext(
                "The workbook unpacks to more than {limit} MiB; split it, or save it as “CSV UTF-8”."
            ).format(limit=limit),
        )


def _plain(cell: object) -> object:
    if isinstance(cell, str):
        return unescape(cell)  # tabs and the like are written as _x0009_
    return str(cell) if isinstance(cell, date | time | timedelta) else cell


@contextmanager
def _library_errors() -> Iterator[None]:
    """Report openpyxl's errors as an unreadable workbook; log its programming errors.

    These (AttributeError, TypeError and others) also come from unusual workbooks, but may be our own wrong
    call. The log shows their origin.
    """
    try:
        yield
    except UnreadableFileError:
        raise
    except DAMAGED as error:
        reason = gettext(
            "The workbook cannot be read ({error}); save it again as .xlsx or as “CSV UTF-8”."
        ).format(error=type(error).__name__)
        raise UnreadableFileError(0, reason) from error
    except Exception as error:
        logger.exception("openpyxl failed on a workbook")
        reason = gettext(
            "Reading the workbook failed ({error}), perhaps by an error in Concord; the log "
            "says more. Save it as “CSV UTF-8” and import that."
        ).format(error=type(error).__name__)
        raise UnreadableFileError(0, reason) from error
