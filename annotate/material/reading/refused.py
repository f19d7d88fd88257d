"""The rejected lines of a file with the reasons, stored so that people can download and correct them."""

import csv
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO, Any

from annotate.material.reading.rows import Record, RefusedLine

ADDED = ("refused_line", "refused_field", "refused_reason")
UNREAD = "unread_line"
Opened = Callable[[], IO[bytes]]
"""Opens a file of refused lines for reading bytes."""


class RefusedFile:
    """Writes rejected lines as JSON, one a line; the first one creates the file."""

    def __init__(self, path: Path, *, append: bool = False) -> None:
        self.path = path
        self._opened = ExitStack()
        self._file: IO[str] | None = None
        if not append:
            # Lines of an earlier attempt must not mix with the lines of this one.
            path.unlink(missing_ok=True)

    def __enter__(self) -> "RefusedFile":
        return self

    def __exit__(self, *_: object) -> None:
        self._opened.close()

    def add(self, record: Record | RefusedLine, refused: Sequence[RefusedLine]) -> None:
        if self._file is None:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            self._file = self._opened.enter_context(self.path.open("a", encoding="utf-8"))
        fields = record.fields if isinstance(record, Record) else {UNREAD: record.text}
        reasons = " ".join(dict.fromkeys(each.reason for each in refused))
        names = ", ".join(dict.fromkeys(each.field for each in refused if each.field))
        added = dict(zip(ADDED, (record.line, names, reasons), strict=True))
        # JSON in ASCII can hold halves of surrogate pairs, which a UTF-8 file cannot.
        self._file.write(json.dumps({**fields, **added}, default=str) + "\n")


class LineEcho:
    """Gives the csv module's lines back instead of writing them."""

    def write(self, line: str) -> str:
        return line


def refused_jsonl(opened: Opened) -> Iterator[str]:
    with opened() as file:
        for line in file:
            yield line.decode()


def refused_csv(opened: Opened) -> Iterator[str]:
    """Yield the rejected lines as CSV under the file's own columns; composite values are JSON."""
    # A first pass over the file collects the columns, because lines may have different fields.
    columns = dict.fromkeys(name for fields in _lines(opened) for name in fields if name not in ADDED)
    names = [*columns, *ADDED]
    writer = csv.writer(LineEcho())
    yield str(writer.writerow(names))
    for fields in _lines(opened):
        yield str(writer.writerow([_cell(fields.get(name)) for name in names]))


FORMATS = {"jsonl": refused_jsonl, "csv": refused_csv}


def _lines(opened: Opened) -> Iterator[Mapping[str, Any]]:
    with opened() as file:
        for line in file:
            yield json.loads(line)


def _cell(value: Any) -> Any:
    if isinstance(value, str):
        # JSON may contain halves of surrogate pairs, which UTF-8 cannot encode.
        return value.encode("utf-8", "replace").decode()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | bool) else value
