"""Parquet files and Arrow shards, read in batches of rows; pyarrow is loaded when the first of them comes.

It takes a quarter of a second and 60 MB, which processes that never see such a file shall not pay.
"""

from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import IO, Any

from annotate.material.reading.lines import MAX_FILE_BYTES
from annotate.material.reading.rows import Record, UnreadableFileError

ROWS_AT_ONCE = 500
BUFFER = 2**20
AS_TEXT = (date, datetime, time, timedelta, Decimal)


def read_parquet(stream: IO[bytes]) -> Iterator[Record]:
    """The records of a Parquet file, numbered from 1; raises UnreadableFileError."""
    import pyarrow
    from pyarrow.parquet import ParquetFile

    try:
        file = ParquetFile(stream, buffer_size=BUFFER)
        groups = (file.metadata.row_group(number) for number in range(file.metadata.num_row_groups))
        if sum(group.total_byte_size for group in groups) > MAX_FILE_BYTES:
            limit = MAX_FILE_BYTES // 1024**2
            raise UnreadableFileError(0, f"The Parquet file unpacks to more than {limit} MiB; split it.")
        yield from _records(file.iter_batches(batch_size=ROWS_AT_ONCE, use_threads=False))
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise _unreadable_error("Parquet file", error) from error


def read_arrow(stream: IO[bytes]) -> Iterator[Record]:
    """The records of an Arrow shard, as `datasets` writes it to a folder; raises UnreadableFileError."""
    import pyarrow
    from pyarrow import ipc

    try:
        with ipc.open_stream(stream) as batches:
            yield from _records(batches)
    except (pyarrow.ArrowException, OSError, ValueError) as error:
        raise _unreadable_error("Arrow file", error) from error


def _records(batches: Any) -> Iterator[Record]:
    number = 0
    for batch in batches:
        for start in range(0, batch.num_rows, ROWS_AT_ONCE):
            for fields in batch.slice(start, ROWS_AT_ONCE).to_pylist():
                number += 1
                yield Record(number, {name: _plain(value) for name, value in fields.items()})


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return str(value) if isinstance(value, AS_TEXT) else value


def _unreadable_error(kind: str, error: Exception) -> UnreadableFileError:
    said = str(error).partition("\n")[0][:200]
    return UnreadableFileError(0, f"The {kind} cannot be read ({said}); write it again, or upload JSONL.")
