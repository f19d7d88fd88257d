"""The child process that decodes Parquet files and Arrow shards; see `parquet` for its parent.

A file of some kilobytes can repeat one long string a million times, so the decoded size is unknown before
decoding. Therefore decoding happens under limits of memory and processor time that end only this process, and
with no secret in its environment. Its input is the open file. Its output is one line for each record, "=" and
JSON, and a last one, "." and JSON: empty at the end, else the reason of a stop, or a list with a message. The
sizes that a file declares are checked before decoding.
"""

import json
import resource
import sys
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import IO, Any

from annotate.core.translation import gettext
from annotate.material.reading.lines import MOST_COLUMNS, too_many_columns

MEMORY_BYTES = 2 * 1024**3
PROCESSOR_SECONDS = 600
ROWS_AT_ONCE = 100
BUFFER = 2**20
MOST_ROWS = 50_000_000
# On average in a group of rows; a few kilobytes can declare a list of many million values.
MOST_VALUES_IN_ROW = 100_000
MOST_BYTES_IN_ROW = 64 * 1024**2
AS_TEXT = (date, datetime, time, timedelta, Decimal)


class RefusedFileError(Exception):
    """The reason to reject a file, in messages for its owner."""


def main(kind: str, most_bytes: int) -> None:
    _limit(resource.RLIMIT_AS, MEMORY_BYTES)
    _limit(resource.RLIMIT_CPU, PROCESSOR_SECONDS)
    sys.stdout.write("." + json.dumps(_decode(kind, most_bytes)) + "\n")
    sys.stdout.flush()  # whatever happens to this process as it ends, its reader has all


def _limit(what: int, most: int) -> None:
    _, hard = resource.getrlimit(what)
    # A process without privileges cannot raise a limit above the hard one.
    most = most if hard == resource.RLIM_INFINITY else min(most, hard)
    resource.setrlimit(what, (most, most))


def _decode(kind: str, most_bytes: int) -> str | list[str]:
    """Write the records; return the reason of a stop, empty at the end; a list holds a message."""
    import pyarrow  # under the limits, too

    written = 0
    try:
        for fields in (_parquet if kind == "parquet" else _arrow)(sys.stdin.buffer, most_bytes):
            line = json.dumps({name: _plain(value) for name, value in fields.items()}, ensure_ascii=False)
            written += len(line.encode())
            if written > most_bytes:
                return [_too_large(most_bytes)]
            sys.stdout.write(f"={line}\n")
    except RefusedFileError as error:
        return [str(error)]
    except MemoryError:  # Arrow's own is one
        return gettext("it needs more than {limit} MiB of memory; write smaller row groups, or JSONL").format(
            limit=MEMORY_BYTES // 1024**2
        )
    except (pyarrow.ArrowException, OSError, ValueError, RecursionError) as error:
        return str(error).partition("\n")[0][:200] or type(error).__name__
    return ""


def _parquet(stream: IO[bytes], most_bytes: int) -> Iterator[dict[str, Any]]:
    from pyarrow.parquet import ParquetFile

    file = ParquetFile(stream, buffer_size=BUFFER)
    # The footer declares all sizes, so a bomb is rejected before anything is decoded.
    metadata = file.metadata
    _refuse_columns(file.schema_arrow.names)
    groups = [metadata.row_group(number) for number in range(metadata.num_row_groups)]
    if sum(group.total_byte_size for group in groups) > most_bytes or metadata.num_rows > MOST_ROWS:
        raise RefusedFileError(_too_large(most_bytes))
    for group in groups:
        values = max((group.column(number).num_values for number in range(group.num_columns)), default=0)
        if values > MOST_VALUES_IN_ROW * group.num_rows or (
            group.total_byte_size > MOST_BYTES_IN_ROW * group.num_rows
        ):
            raise RefusedFileError(
                gettext(
                    "Each row of the file may hold {values:,} values and "
                    "{limit} MiB, and these rows hold more. Delete the long lists and "
                    "texts, and upload the file again."
                ).format(values=MOST_VALUES_IN_ROW, limit=MOST_BYTES_IN_ROW // 1024**2)
            )
    # Dictionaries remain dictionaries, or a batch would hold the long string of each row.
    texts = [
        metadata.row_group(0).column(number).path_in_schema
        for number in range(metadata.num_columns if metadata.num_row_groups else 0)
        if metadata.row_group(0).column(number).physical_type == "BYTE_ARRAY"
    ]
    file = ParquetFile(stream, buffer_size=BUFFER, read_dictionary=texts)
    yield from _rows(file.iter_batches(batch_size=ROWS_AT_ONCE, use_threads=False))


def _arrow(stream: IO[bytes], _most_bytes: int) -> Iterator[dict[str, Any]]:
    from pyarrow import ipc

    with ipc.open_stream(stream) as batches:
        _refuse_columns(batches.schema.names)
        yield from _rows(batches)


def _rows(batches: Any) -> Iterator[dict[str, Any]]:
    for batch in batches:
        for row in range(batch.num_rows):
            # Row by row: converting the batch would expand every repeated string of a dictionary at once.
            yield batch.slice(row, 1).to_pylist()[0]


def _plain(value: object) -> object:
    if isinstance(value, dict):
        return {str(key): _plain(each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(each) for each in value]
    if isinstance(value, bytes):
        return {"bytes": len(value)}  # Images and other types that the importer does not support.
    return str(value) if isinstance(value, AS_TEXT) else value


def _refuse_columns(names: list[str]) -> None:
    if len(names) > MOST_COLUMNS:
        raise RefusedFileError(too_many_columns(len(names)))


def _too_large(most_bytes: int) -> str:
    return gettext("The file unpacks to more than {limit} MiB. Split it, and upload the parts.").format(
        limit=most_bytes // 1024**2
    )


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
