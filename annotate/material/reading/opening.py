"""The start of an uploaded file: read once, in a process with little memory and time, and stored as JSON.

Pages read this JSON, and no request opens an upload. Run as a module, this file is that process: it takes
path, name and part of a file, and writes the JSON.
"""

import json
import resource
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from annotate.core.translation import gettext, gettext_noop
from annotate.material.reading.datasets import Split
from annotate.material.reading.parquet import ENVIRONMENT, ROOT
from annotate.material.reading.readers import RecordFile, sheets_in, splits_in
from annotate.material.reading.rows import Record, RefusedLine, UnreadableFileError
from annotate.material.reading.tables import SheetChoice, choice_of_part

SHOWN_RECORDS = 3
GUESSED_RECORDS = 20
KEPT_RECORDS = 100
LONGEST_CELL = 80
KEPT_BYTES = 4 * 1024**2  # Of records; the first is stored at any length.
MEMORY_BYTES = 2 * 1024**3
PROCESSOR_SECONDS = 60
WAITED_SECONDS = 120.0  # where the processor is busy with others
GONE = gettext_noop("The uploaded file is gone. Discard this upload, and upload the file again.")
TOO_MUCH_MEMORY = gettext_noop(
    "The first rows take more than {limit} GiB of memory to read. Split the file, or save it as JSONL or "
    "CSV, "
    "and upload it again."
)
TOO_SLOW = gettext_noop(
    "The first rows take more than {limit} seconds to read. Split the file, or save it as JSONL or CSV, "
    "and upload it again."
)


@dataclass(frozen=True)
class Opening:
    """The start of an uploaded file: its first records, or the reason why it is unreadable.

    splits: the splits of a data set's folder. sheets: the visible sheets of a workbook, with the choice; None
    means the first sheet. is_whole: True if the file has no more records.
    """

    records: Sequence[Record | RefusedLine] = ()
    problem: RefusedLine | None = None
    splits: Sequence[Split] = ()
    sheets: Sequence[str] = ()
    choice: SheetChoice | None = None
    is_whole: bool = True
    empty_rows: int = 0

    @property
    def guessed(self) -> Sequence[Record | RefusedLine]:
        return self.records[:GUESSED_RECORDS]

    @property
    def columns(self) -> list[str]:
        readable = [record for record in self.guessed if isinstance(record, Record)]
        return list(dict.fromkeys(name for record in readable for name in record.fields))

    @property
    def examples(self) -> list[str]:
        return self.rows[0][1] if self.rows else []

    @property
    def rows(self) -> list[tuple[int, list[str]]]:
        """Return the first records as a table of shortened strings under `columns`, each with its line."""
        readable = [record for record in self.guessed if isinstance(record, Record)][:SHOWN_RECORDS]
        columns = self.columns
        return [(record.line, [_shorten(record.fields.get(name)) for name in columns]) for record in readable]

    # The interface of RecordFile: a preview reads these records instead of the file.
    fraction_read: ClassVar[float] = 1.0

    def __enter__(self) -> "Opening":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def __iter__(self) -> Iterator[Record | RefusedLine]:
        return iter(self.records)


def read_opening(path: Path, name: str, part: str) -> str:
    """Return the start of a file as JSON: its rows, or the limit that it exceeds. Decodes in a child."""
    try:
        done = subprocess.run(
            [sys.executable, "-m", "annotate.material.reading.opening", str(path), name, part],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            env=ENVIRONMENT,
            cwd=ROOT,
            timeout=WAITED_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        return _problem(gettext(TOO_SLOW).format(limit=PROCESSOR_SECONDS))
    if done.returncode == -signal.SIGXCPU:
        return _problem(gettext(TOO_SLOW).format(limit=PROCESSOR_SECONDS))
    if done.returncode in (-signal.SIGKILL, -signal.SIGABRT):  # by the system, or a library without memory
        return _problem(gettext(TOO_MUCH_MEMORY).format(limit=MEMORY_BYTES // 1024**3))
    # Any other failure is a bug, not a property of the file.
    if done.returncode:
        raise RuntimeError(done.stderr.decode(errors="replace")[-4000:])
    return done.stdout.decode()


def _problem(reason: str) -> str:
    return json.dumps({"problem": [0, reason]})


def opening_from_json(text: str, part: str) -> Opening:
    said: Mapping[str, Any] = json.loads(text)
    problem = said.get("problem")
    return Opening(
        [
            # The second value is a record's fields, or the name of a rejected field.
            (Record(row[0], row[1]) if isinstance(row[1], dict) else RefusedLine(*row))
            for row in said.get("records", ())
        ],
        RefusedLine(problem[0], "", problem[1]) if problem else None,
        [Split(config, split, tuple(shards)) for config, split, shards in said.get("splits", ())],
        said.get("sheets", ()),
        choice_of_part(part),
        said.get("is_whole", True),
        said.get("empty_rows", 0),
    )


def _main(path: Path, name: str, part: str) -> None:
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    # At the first limit SIGXCPU tells the parent the reason; SIGKILL follows at the second.
    resource.setrlimit(resource.RLIMIT_CPU, (PROCESSOR_SECONDS, PROCESSOR_SECONDS + 5))
    said: dict[str, Any] = {}
    try:
        said["splits"] = [[each.config, each.split, each.shards] for each in splits_in(path)]
        said["sheets"] = sheets_in(path)
        rows: list[list[Any]] = []
        size, said["is_whole"] = 0, True
        with RecordFile(path, name, part) as file:
            for record in file:
                row = (
                    [record.line, record.fields]
                    if isinstance(record, Record)
                    else [record.line, record.field, record.reason, record.text]
                )
                size += len(json.dumps(row))
                # The loop reads one record more than it stores: this record shows that the file has more.
                if rows and (len(rows) == KEPT_RECORDS or size > KEPT_BYTES):
                    said["is_whole"] = False
                    break
                rows.append(row)
            said["empty_rows"] = file.empty_rows
        said["records"] = rows
        # Without a readable record there is nothing to map, so the first reason stops the upload.
        if not any(isinstance(row[1], Mapping) for row in rows):
            first = rows[0] if rows else [0, "", gettext("The file is empty; upload one with data.")]
            said["problem"] = [first[0], first[2]]
    except UnreadableFileError as error:
        said["problem"] = [error.line, error.reason]
    except FileNotFoundError:
        said["problem"] = [0, gettext(GONE)]
    except MemoryError:
        said = {"problem": [0, gettext(TOO_MUCH_MEMORY).format(limit=MEMORY_BYTES // 1024**3)]}
    sys.stdout.write(json.dumps(said))


def _shorten(value: object) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = "" if value is None else text
    return text if len(text) <= LONGEST_CELL else f"{text[:LONGEST_CELL]}…"


if __name__ == "__main__":
    _main(Path(sys.argv[1]), sys.argv[2], sys.argv[3])
