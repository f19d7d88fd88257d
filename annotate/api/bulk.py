"""Many rows at once, by the same importing as files: all of them, or none and a sentence for each refused."""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from annotate.errors import ImportRefusedError
from annotate.importing.rows import RefusedLine

MOST_ROWS = 10_000


@contextmanager
def as_file(rows: Sequence[Mapping[str, Any]]) -> Iterator[Path]:
    """Give the rows as a file with a line for each."""
    with TemporaryDirectory(prefix="concord-api-") as folder:
        path = Path(folder) / "rows.jsonl"
        with path.open("w", encoding="utf-8") as file:
            file.writelines(json.dumps(row) + "\n" for row in rows)
        yield path


def refuse_lines(refused: Sequence[RefusedLine], *, within: str) -> None:
    """Raise ImportRefusedError with a sentence for each refused row, if there is any."""
    if not refused:
        return
    fields: dict[str, str] = {}
    for line in refused:
        place = f"{within}.{line.line - 1}" if line.line else within
        fields.setdefault(f"{place}.{line.field}" if line.field else place, line.reason)
    message = f"Nothing was imported: {refused[0].reason}"
    raise ImportRefusedError(message, fields=fields)
