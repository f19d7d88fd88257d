"""Parquet files and Arrow shards, read record by record from a child process that may use little memory.

pyarrow takes a quarter of a second and 60 MB, which processes that never see such a file shall not pay.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from annotate.material.reading.lines import MAX_FILE_BYTES, MAX_LINE_BYTES
from annotate.material.reading.rows import Record, UnreadableFileError

ROOT = Path(__file__).parents[3]
# No variable of ours: whatever takes the child over finds no key. Threads would reserve memory each.
ENVIRONMENT = {
    "ARROW_DEFAULT_MEMORY_POOL": "system",
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "MALLOC_ARENA_MAX": "2",
    "PYTHONPATH": str(ROOT),
    "PYTHONIOENCODING": "utf-8",
}


def read_parquet(stream: IO[bytes]) -> Iterator[Record]:
    """The records of a Parquet file, numbered from 1; raises UnreadableFileError."""
    yield from _read(stream, "parquet", "Parquet file")


def read_arrow(stream: IO[bytes]) -> Iterator[Record]:
    """The records of an Arrow shard, as `datasets` writes it to a folder; raises UnreadableFileError."""
    yield from _read(stream, "arrow", "Arrow file")


def _read(stream: IO[bytes], kind: str, name: str) -> Iterator[Record]:
    stream.seek(0)
    os.lseek(stream.fileno(), 0, os.SEEK_SET)  # what is buffered here was read already
    command = [sys.executable, "-m", "annotate.material.reading.columnar", kind, str(MAX_FILE_BYTES)]
    with (
        TemporaryFile() as complaints,
        subprocess.Popen(
            command, stdin=stream, stdout=subprocess.PIPE, stderr=complaints, env=ENVIRONMENT, cwd=ROOT
        ) as child,
    ):
        assert child.stdout
        try:
            yield from _records(child.stdout, name)
        finally:
            child.kill()  # a preview reads the first records only


def _records(lines: IO[bytes], name: str) -> Iterator[Record]:
    number = 0
    while line := lines.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            limit = MAX_LINE_BYTES // 1024**2
            raise UnreadableFileError(
                number, f"Record {number} is longer than {limit} MiB; shorten its texts."
            )
        content = json.loads(line[1:])
        if line.startswith(b"="):
            yield Record(number, content)
        elif content:
            raise UnreadableFileError(
                0, f"The {name} cannot be read ({content}); write it again, or upload JSONL."
            )
        else:
            return
    raise UnreadableFileError(
        0, f"The {name} cannot be read: it needs too much memory or time. Split it, or upload JSONL."
    )
