"""Rows of facts on a command line: aligned columns for people, JSON for programs."""

import json
from collections.abc import Iterable, Mapping
from typing import Any

from django.core.management.base import OutputWrapper
from django.core.serializers.json import DjangoJSONEncoder

Row = Mapping[str, Any]


def print_rows(out: OutputWrapper, rows: Iterable[Row], *, as_json: bool, nothing: str) -> None:
    """Print a JSON list of objects, or aligned lines with a header. nothing: printed if there are no rows."""
    found = list(rows)
    if as_json:
        out.write(json.dumps(found, ensure_ascii=False, indent=1, cls=DjangoJSONEncoder))
    elif found:
        cells = [list(found[0]), *([_format_value(value) for value in row.values()] for row in found)]
        widths = [max(len(row[index]) for row in cells) for index in range(len(cells[0]))]
        lines = [
            "  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)) for row in cells
        ]
        out.write("\n".join(lines))
    else:
        out.write(nothing)


def _format_value(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, list):
        return ", ".join(map(str, value)) or "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return value.isoformat(" ", "minutes") if hasattr(value, "isoformat") else str(value)


class RowCounter:
    """Rewrites one line of a terminal with the number of processed rows."""

    def __init__(self, stream: OutputWrapper, wanted: bool) -> None:
        self._stream = stream
        self._wanted = wanted and stream.isatty()

    def __call__(self, rows: int) -> None:
        if self._wanted:
            self._stream.write(f"\r{rows:,} rows   ", ending="")
            self._stream.flush()

    def end(self) -> None:
        if self._wanted:
            self._stream.write("\r" + " " * 30 + "\r", ending="")
