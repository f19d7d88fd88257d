"""Tables of results and rows of lists as data frames. The first frame loads pandas."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from math import isnan
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    Table = pd.DataFrame | str | Path | Iterable[Mapping[str, Any]]

# Further contents of a cell, and the suffix of their columns.
BESIDE = ("low", "high", "count", "reason")


@dataclass(frozen=True)
class ResultTable:
    """A table of a page of results: its key, its title, and its content as the API answers it."""

    key: str
    title: str
    content: Mapping[str, Any]

    @cached_property
    def frame(self) -> "pd.DataFrame":
        """The table as a frame.

        A column for each of the table's, by its key. Cells with more than a value add `NAME_low` and
        `NAME_high` (ends of the interval), `NAME_count`, and `NAME_reason` (why it is undefined). Dimensions,
        systems and judges appear by their keys.
        """
        import pandas as pd

        keys = [column["key"] for column in self.content["columns"]]
        rows = [dict(_read_cells(keys, row)) for row in self.content["rows"]]
        beside = [f"{key}_{name}" for key in keys for name in BESIDE]
        # A column without any entry would only widen the frame.
        order = [*keys, *(each for each in beside if any(each in row for row in rows))]
        return pd.DataFrame(rows, columns=order)


def read_tables(result: Mapping[str, Any]) -> dict[str, ResultTable]:
    """Return the tables of a result by their keys."""
    found = (table for section in result["sections"] for table in section["tables"])
    return {each["key"]: ResultTable(each["key"], each["title"], each) for each in found}


def make_frame(rows: Iterable[Mapping[str, Any]], shape: type) -> "pd.DataFrame":
    """Return rows as a frame with the columns of their type, also without rows; times are times."""
    import pandas as pd

    frame = pd.DataFrame(list(rows), columns=list(shape.__annotations__))
    for name, kind in shape.__annotations__.items():
        # The annotations of that module are strings, so the type is recognised by its name.
        if "datetime" in str(kind):
            frame[name] = pd.to_datetime(frame[name], utc=True)
    return frame


def read_records(rows: "Table") -> list[dict[str, Any]]:
    """Return the rows of a frame, an iterable or a file (.csv, .tsv, .jsonl, .parquet), without blanks."""
    found: Any = _read_file(Path(rows)) if isinstance(rows, str | Path) else rows
    records = found.to_dict("records") if hasattr(found, "to_dict") else found
    return [{str(name): value for name, value in row.items() if not _is_blank(value)} for row in records]


def _read_file(path: Path) -> "pd.DataFrame":
    import pandas as pd

    match path.suffix.lower():
        case ".csv" | ".tsv":
            separator = "\t" if path.suffix.lower() == ".tsv" else ","
            # pandas would read a key such as 007 as the number 7.
            return pd.read_csv(path, sep=separator, dtype=dict.fromkeys(("document", "system", "rater"), str))
        case ".jsonl":
            return pd.read_json(path, lines=True, dtype=False)
        case ".parquet":
            return pd.read_parquet(path)
    raise ValueError(f"{path} is no .csv, .tsv, .jsonl or .parquet file.")


def _is_blank(value: Any) -> bool:
    # pandas marks a missing value by NaN, NA or NaT. Comparing NA gives NA, so its type is compared.
    is_nan = isinstance(value, float) and isnan(value)
    return value is None or is_nan or type(value).__name__ in ("NAType", "NaTType")


def _read_cells(keys: list[str], row: list[Any]) -> Iterator[tuple[str, Any]]:
    for key, cell in zip(keys, row, strict=True):
        held = cell if isinstance(cell, Mapping) else {"value": cell}
        # The key identifies the subject of a cell for programs.
        yield key, held.get("key", held.get("value"))
        yield from ((f"{key}_{name}", held[name]) for name in BESIDE if held.get(name) not in (None, ""))
