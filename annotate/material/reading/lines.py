"""Bytes as numbered UTF-8 lines, within stated limits and never the whole file at once."""

import codecs
import gzip
import zlib
from collections.abc import Iterator
from typing import IO

from annotate.core.translation import gettext
from annotate.material.reading.rows import UnreadableFileError

MAX_LINE_BYTES = 16 * 1024 * 1024
MAX_FILE_BYTES = 2 * 1024 * 1024 * 1024
MOST_COLUMNS = 500
BYTE_ORDER_MARKS = (
    # UTF-32 first: its little-endian mark starts with the mark of UTF-16.
    (codecs.BOM_UTF32_LE, "UTF-32"),
    (codecs.BOM_UTF32_BE, "UTF-32"),
    (codecs.BOM_UTF16_LE, "UTF-16"),
    (codecs.BOM_UTF16_BE, "UTF-16"),
)


def too_many_columns(number: int) -> str:
    return gettext(
        "The file has {columns:,} columns, and the limit is {limit}. Delete the columns that are not "
        "imported, and upload the file again."
    ).format(columns=number, limit=MOST_COLUMNS)


def numbered_lines(stream: IO[bytes]) -> Iterator[tuple[int, str | None]]:
    """Yield each line's number and content without a byte order mark; None for a line beyond the limit."""
    try:
        for number, raw in _raw_lines(stream):
            yield number, None if raw is None else _decode_line(number, raw)
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise UnreadableFileError(
            0, gettext("The compressed file is damaged or cut short; compress it again.")
        ) from error


def _raw_lines(stream: IO[bytes]) -> Iterator[tuple[int, bytes | None]]:
    total = number = 0
    # One byte beyond the limit shows that a line is too long; the rest of such a line is skipped.
    while raw := stream.readline(MAX_LINE_BYTES + 1):
        number += 1
        overlong = len(raw) > MAX_LINE_BYTES
        total += len(raw)
        while overlong and raw and not raw.endswith(b"\n"):
            raw = stream.readline(MAX_LINE_BYTES)
            total += len(raw)
            _refuse_beyond_limit(number, total)
        _refuse_beyond_limit(number, total)
        yield number, None if overlong else raw


def _refuse_beyond_limit(number: int, total: int) -> None:
    if total > MAX_FILE_BYTES:
        limit = MAX_FILE_BYTES // 1024**2
        raise UnreadableFileError(
            number, gettext("The file holds more than {limit} MiB of text; split it.").format(limit=limit)
        )


def _decode_line(number: int, raw: bytes) -> str:
    if number == 1:
        for mark, encoding in BYTE_ORDER_MARKS:
            if raw.startswith(mark):
                reason = gettext(
                    "The file is {encoding}; save it as UTF-8 (in a spreadsheet: “CSV UTF-8”) "
                    "and import it again."
                ).format(encoding=encoding)
                raise UnreadableFileError(1, reason)
        # UTF-16 without a byte order mark shows itself by NUL bytes.
        if b"\0" in raw:
            reason = gettext(
                "This line holds NUL bytes, as UTF-16 does; save it as UTF-8 (in a spreadsheet: “CSV UTF-8”) "
                "and import it again."
            )
            raise UnreadableFileError(1, reason)
        raw = raw.removeprefix(codecs.BOM_UTF8)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        reason = gettext(
            "This line is not UTF-8 (byte 0x{byte:02X} at position {position}); "
            "save it as UTF-8 (in a spreadsheet: “CSV UTF-8”) and import it again."
        ).format(byte=raw[error.start], position=error.start + 1)
        raise UnreadableFileError(number, reason) from error
