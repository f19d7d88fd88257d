"""Parquet files and Arrow shards, read record by record from a child process with limited memory.

pyarrow takes a quarter of a second and 60 MB, which processes without such files should not spend.
"""

import json
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Generator, Iterator
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO

from annotate.core.translation import gettext
from annotate.material.reading.lines import MAX_FILE_BYTES, MAX_LINE_BYTES
from annotate.material.reading.rows import Record, UnreadableFileError

logger = logging.getLogger(__name__)
ROOT = Path(__file__).parents[3]
READER = ("-X", "faulthandler", "-m", "annotate.material.reading.columnar")
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
    yield from _read(stream, "parquet", "Parquet file")


def read_arrow(stream: IO[bytes]) -> Iterator[Record]:
    yield from _read(stream, "arrow", "Arrow file")


def _read(stream: IO[bytes], kind: str, name: str) -> Iterator[Record]:
    read = 0
    for may_try_again in (True, False):
        try:
            for record in _read_in_child(stream, kind, name):
                read += 1
                yield record
            return
        except _DeadChildError as dead:
            logger.warning(
                "The reader of a %s died (%s) after %d records: %s", name, dead.how, read, dead.said
            )
            # After the first record a second try would yield records twice.
            if dead.by_limit or read or not may_try_again:
                raise UnreadableFileError(
                    0, gettext("The {name} cannot be read: {reason}").format(name=name, reason=dead.reason)
                ) from dead


def _read_in_child(stream: IO[bytes], kind: str, name: str) -> Iterator[Record]:
    stream.seek(0)
    os.lseek(stream.fileno(), 0, os.SEEK_SET)  # Buffered data here has been read already.
    with (
        # A file and no pipe: this process does not read it yet, and a full pipe would block the child.
        TemporaryFile() as complaints,
        subprocess.Popen(
            [sys.executable, *READER, kind, str(MAX_FILE_BYTES)],
            stdin=stream,
            stdout=subprocess.PIPE,
            stderr=complaints,
            env=ENVIRONMENT,
            cwd=ROOT,
        ) as child,
    ):
        assert child.stdout
        try:
            if not (yield from _records(child.stdout, name)):
                raise _DeadChildError(child.wait(), complaints)
        finally:
            child.kill()  # a preview reads the first records only


class _DeadChildError(Exception):
    def __init__(self, code: int, complaints: IO[bytes]) -> None:
        complaints.seek(0)
        self.said = complaints.read(4000).decode(errors="replace").strip()
        self.how = signal.Signals(-code).name if code < 0 else f"exit code {code}"
        self.by_limit = self.how in ("SIGXCPU", "SIGKILL", "SIGABRT")  # The last line if memory runs out.
        self.reason = (
            gettext("it needs too much memory or time. Split it, or upload JSONL.")
            if self.by_limit
            else gettext("its reader ended unexpectedly ({error}). Try again, or upload JSONL.").format(
                error=self.how
            )
        )


def _records(lines: IO[bytes], name: str) -> Generator[Record, None, bool]:
    """Yield the records; return True if the child has reported the end."""
    number = 0
    while line := lines.readline(MAX_LINE_BYTES + 1):
        number += 1
        if len(line) > MAX_LINE_BYTES:
            limit = MAX_LINE_BYTES // 1024**2
            raise UnreadableFileError(
                number,
                gettext("Record {number} is longer than {limit} MiB; shorten its texts.").format(
                    number=number, limit=limit
                ),
            )
        # “=” and a record, or “.” and the end: empty, a message in a list, or an error of the library.
        content = json.loads(line[1:])
        if line.startswith(b"="):
            yield Record(number, content)
        elif isinstance(content, list):
            raise UnreadableFileError(0, content[0])
        elif content:
            raise UnreadableFileError(
                0,
                gettext("The {name} cannot be read ({error}); write it again, or upload JSONL.").format(
                    name=name, error=content
                ),
            )
        else:
            return True
    return False
