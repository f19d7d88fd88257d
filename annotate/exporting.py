"""Exports as streams of bytes: JSON lines or CSV, one table or all of them in a zip file."""

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import datetime
from typing import Any

from zipstream import ZIP_DEFLATED, ZipStream

from annotate.models import Project
from annotate.queries.export import TABLES, Row, Table

CHUNK = 64 * 1024


def jsonl(table: Table, rows: Iterable[Row]) -> Iterator[str]:
    """Yield one JSON object a line, its keys in the order of the columns."""
    for row in rows:
        values = {column: row[column] for column in table.columns}
        yield json.dumps(values, ensure_ascii=False, default=_plain) + "\n"


def comma_separated(table: Table, rows: Iterable[Row]) -> Iterator[str]:
    """Yield CSV after RFC 4180 with a header; what is not a single value stands in its cell as JSON."""
    echo = csv.writer(_Echo())
    yield echo.writerow(table.columns)
    for row in rows:
        yield echo.writerow([_cell(row[column]) for column in table.columns])


FORMATS: Mapping[str, Callable[[Table, Iterable[Row]], Iterator[str]]] = {
    "jsonl": jsonl,
    "csv": comma_separated,
}


def export_table(project: Project, table: Table, format: str) -> Iterator[bytes]:
    """Yield one table of a project in a format of FORMATS, in pieces of about 64 KB."""
    gathered: list[str] = []
    size = 0
    for line in FORMATS[format](table, table.rows(project)):
        gathered.append(line)
        size += len(line)
        if size >= CHUNK:
            yield "".join(gathered).encode()
            gathered, size = [], 0
    yield "".join(gathered).encode()


def export_everything(project: Project, format: str) -> Iterator[bytes]:
    """Yield a zip file with all tables of a project, while they are read."""
    archive = ZipStream(compress_type=ZIP_DEFLATED, compress_level=6)
    for table in TABLES.values():
        archive.add(export_table(project, table, format), f"{project.slug}/{table.name}.{format}")
    return iter(archive)


class _Echo:
    """Gives the csv module's lines back instead of writing them."""

    def write(self, line: str) -> str:
        """Return the line."""
        return line


def _plain(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"An export cannot hold {value!r}.")


def _cell(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list) else value
