"""Tables of results as data frames."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

# What a cell may hold besides its value, and the column that it becomes.
BESIDE = ("low", "high", "count", "reason")


@dataclass(frozen=True)
class ResultTable:
    """A table of a page of results: its key, its title, and its rows.

    frame: a column for each of the table's, by its key, and where cells hold more than a value
    `NAME_low` and `NAME_high` (ends of the interval), `NAME_count`, and `NAME_reason` (why it is undefined).
    Dimensions, systems and judges are named by their keys.
    """

    key: str
    title: str
    frame: pd.DataFrame


def table_of(content: Mapping[str, Any]) -> ResultTable:
    """Return a table as the API answers it."""
    keys = [column["key"] for column in content["columns"]]
    rows = [dict(_cells(keys, row)) for row in content["rows"]]
    beside = [f"{key}_{name}" for key in keys for name in BESIDE]
    order = [*keys, *(each for each in beside if any(each in row for row in rows))]
    return ResultTable(content["key"], content["title"], pd.DataFrame(rows, columns=order))


def _cells(keys: list[str], row: list[Any]) -> Any:
    for key, cell in zip(keys, row, strict=True):
        held = cell if isinstance(cell, Mapping) else {"value": cell}
        yield key, held.get("key", held.get("value"))
        yield from ((f"{key}_{name}", held[name]) for name in BESIDE if held.get(name) not in (None, ""))
