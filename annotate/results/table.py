"""The form of every result: a table of values, each with its interval, count and method."""

import json
import math
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, overload

from agreement import Coefficient
from annotate.core.translation import gettext

ROWS_IN_TEXT = 50
Value = str | int | float | None


class ColumnKind(StrEnum):
    """The content of a column:

    names, whole numbers, numbers with decimals, shares from 0 to 1, or p values.
    """

    TEXT = "text"
    COUNT = "count"
    NUMBER = "number"
    SHARE = "share"
    P_VALUE = "p value"


GOOD, PARTLY, BAD, OPEN = "good", "partly", "bad", "open"
"""The tones of a status."""


@dataclass(frozen=True)
class Cell:
    """One entry of a table; an undefined value has a reason.

    low, high: its interval. interval_reason: the reason for a missing interval. warning: the reason not to
    use the value unchanged. count: the number of units (items, documents) behind it. how: the function, its
    parameters and its source. link: URL of its subject. key: the ID of its subject for programs. rank: 1
    for the best of its column, 2 for the second best. tone: of a status, such as GOOD. note: a few words that
    pages show below it.
    """

    value: Value = None
    low: float | None = None
    high: float | None = None
    interval_reason: str = ""
    count: int | None = None
    reason: str = ""
    warning: str = ""
    how: str = ""
    link: str = ""
    key: str = ""
    rank: int | None = None
    tone: str = ""
    note: str = ""

    def __post_init__(self) -> None:
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise ValueError(f"A result is {self.value}; an undefined result is None with a reason.")
        if self.value is None and not self.reason:
            raise ValueError("A result without a value needs a reason.")


@dataclass(frozen=True)
class Column:
    """A column: its key in data files, its name for people, its kind, its number of decimals.

    label: the name, or a function that returns it in the reader's language if many tables share a column.
    """

    key: str
    label: str | Callable[[], str]
    kind: ColumnKind = ColumnKind.NUMBER
    decimals: int = 3

    @property
    def name(self) -> str:
        return self.label if isinstance(self.label, str) else self.label()

    def to_dict(self) -> dict[str, Any]:
        return {"key": self.key, "name": self.name, "kind": self.kind, "decimals": self.decimals}


DIMENSION = Column("dimension", lambda: gettext("Dimension"), ColumnKind.TEXT)
"""The first column of most tables."""


class KeptRows(Sequence[Sequence[Cell]]):
    """Rows of a stored table, as strings of many rows each, parsed only for requested rows.

    A page shows the first rows of a table that may have thousands: to read all took .3 s.
    """

    def __init__(self, plain: Mapping[str, Any]) -> None:
        self._count: int = plain["count"]
        self._texts: Sequence[str] = plain["texts"]
        self.how: list[str] = plain["how"]
        self.warnings: list[str] = plain["warnings"]

    @staticmethod
    def plain(table: "Table") -> dict[str, Any]:
        """Return the rows of a table as plain values for JSON, with its methods and warnings."""
        rows = [[_cell_as_dict(cell) for cell in row] for row in table.rows]
        parts = [rows[start : start + ROWS_IN_TEXT] for start in range(0, len(rows), ROWS_IN_TEXT)]
        texts = [json.dumps(part, ensure_ascii=False) for part in parts]
        return {"count": len(rows), "texts": texts, "how": table.how, "warnings": table.warnings}

    def __len__(self) -> int:
        return self._count

    def __iter__(self) -> Iterator[Sequence[Cell]]:
        return (row for index in range(len(self._texts)) for row in self._part(index))

    @overload
    def __getitem__(self, index: int) -> Sequence[Cell]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[Cell]]: ...
    def __getitem__(self, index: int | slice) -> Sequence[Cell] | Sequence[Sequence[Cell]]:
        """Return a row, or some; parse only the parts that contain them."""
        chosen = range(self._count)[index]
        if isinstance(chosen, int):
            return self._part(chosen // ROWS_IN_TEXT)[chosen % ROWS_IN_TEXT]
        # Each part that contains a requested row is parsed once.
        parts = {part: self._part(part) for part in {row // ROWS_IN_TEXT for row in chosen}}
        return [parts[row // ROWS_IN_TEXT][row % ROWS_IN_TEXT] for row in chosen]

    def _part(self, index: int) -> list[list[Cell]]:
        return [[Cell(**cell) for cell in row] for row in json.loads(self._texts[index])]


@dataclass(frozen=True)
class Table:
    """A result: values in rows, under a title. The first `heads` columns name the rows.

    key: letters, digits and hyphens, for URLs and file names. says: its content and an explanation for
    readers. plot: its plot function (see `annotate.results.plots`), empty without one.
    """

    key: str
    title: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    heads: int = 1
    says: str = ""
    plot: str = ""
    parameters: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if isinstance(self.rows, KeptRows):
            return  # checked before they were stored
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"Every row of {self.title!r} needs {len(self.columns)} cells.")

    @property
    def how(self) -> list[str]:
        if isinstance(self.rows, KeptRows):
            return self.rows.how
        return list(dict.fromkeys(cell.how for cell in self.cells() if cell.how))

    @property
    def warnings(self) -> list[str]:
        if isinstance(self.rows, KeptRows):
            return self.rows.warnings
        return list(dict.fromkeys(cell.warning for cell in self.cells() if cell.warning))

    @property
    def is_doubtful(self) -> bool:
        """Whether a value has a warning; a warning in a cell that names the row does not count."""
        return any(cell.warning for row in self.rows for cell in row[self.heads :])

    @property
    def reasons(self) -> list[str]:
        """The distinct reasons for undefined values."""
        return list(dict.fromkeys(cell.reason for cell in self.cells() if cell.reason))

    def select(self, keys: Collection[str]) -> "Table":
        """Return the table with only the columns of these keys, in the order that they have."""
        shown = [index for index, column in enumerate(self.columns) if column.key in keys]
        rows = [[row[index] for index in shown] for row in self.rows]
        heads = sum(index < self.heads for index in shown)
        return replace(self, columns=[self.columns[index] for index in shown], rows=rows, heads=heads)

    def cells(self) -> Iterator[Cell]:
        return (cell for row in self.rows for cell in row)

    def to_dict(self) -> dict[str, Any]:
        """Return the same as plain values for JSON; empty parts of a cell are omitted."""
        return self._to_dict_without_rows() | {
            "rows": [[_cell_as_dict(cell) for cell in row] for row in self.rows]
        }

    def to_kept(self) -> dict[str, Any]:
        """Return the same for JSON that is parsed in parts, with the rows as strings."""
        return self._to_dict_without_rows() | {"rows": KeptRows.plain(self)}

    def _to_dict_without_rows(self) -> dict[str, Any]:
        columns = [column.to_dict() for column in self.columns]
        return asdict(replace(self, rows=[], columns=[])) | {"columns": columns}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Table":
        columns = [
            Column(each["key"], each["name"], ColumnKind(each["kind"]), each["decimals"])
            for each in plain["columns"]
        ]
        rows: Sequence[Sequence[Cell]]
        if isinstance(plain["rows"], Mapping):
            rows = KeptRows(plain["rows"])
        else:
            rows = [[Cell(**cell) for cell in row] for row in plain["rows"]]
        return cls(**{**plain, "columns": columns, "rows": rows})


def mark_best(rows: Sequence[Sequence[Cell]], columns: Sequence[Column], heads: int = 1) -> list[list[Cell]]:
    """Return the rows with the largest and second largest value of each column marked.

    Values are compared as printed, so equal ones share a rank; if all are equal none is marked.
    """
    marked = [list(row) for row in rows]
    for index, column in enumerate(columns[heads:], start=heads):
        figures = [row[index].value for row in marked]
        # Counts and names are not floats, so only measured values are marked.
        printed = {round(value, column.decimals) for value in figures if isinstance(value, float)}
        best = sorted(printed, reverse=True)[:2]
        rank = {value: rank for rank, value in enumerate(best, start=1)} if len(best) > 1 else {}
        for row in marked:
            value = row[index].value
            if isinstance(value, float):
                row[index] = replace(row[index], rank=rank.get(round(value, column.decimals)))
    return marked


def text(value: str, *, link: str = "", key: str = "", warning: str = "") -> Cell:
    """Return a cell with a name; `key` is its ID for programs, `warning` a problem with it."""
    return Cell(value, link=link, key=key, warning=warning)


def figure(coefficient: Coefficient, *, count: int | None = None, link: str = "") -> Cell:
    """Return a coefficient as a cell; the default count is the number of pairable units."""
    found = coefficient.interval
    return Cell(
        value=coefficient.value,
        low=found.low if found else None,
        high=found.high if found else None,
        interval_reason=(coefficient.interval_reason or "") if not found and coefficient.defined else "",
        count=coefficient.counts.pairable_units if count is None else count,
        reason=coefficient.reason or "",
        warning=coefficient.warning,
        how=describe_computation(coefficient),
        link=link,
    )


def describe_computation(coefficient: Coefficient) -> str:
    """Return the name, function, parameters, source and kind of interval of a coefficient in one line."""
    parts = [f"{coefficient.label} (function {coefficient.name})"]
    parts += [f"{name.replace('_', ' ')}: {value}" for name, value in coefficient.parameters.items()]
    parts.append(f"source: {coefficient.source}")
    found = coefficient.interval
    if found:
        resamples = f", {found.replicates} replicates" if "bootstrap" in found.method else ""
        parts.append(f"{100 * found.confidence_level:g} % interval: {found.method}{resamples}")
    return "; ".join(parts) + "."


_CELL = [each.name for each in fields(Cell)]


def _cell_as_dict(cell: Cell) -> dict[str, Any]:
    said = {name: value for name in _CELL if (value := getattr(cell, name)) not in (None, "")}
    return said if cell.value is None else {"value": cell.value, **said}


@dataclass(frozen=True)
class Section:
    """Tables under one heading, with the notes needed to read them.

    anchor: its anchor on the page, for links. packed: data too large for tables, as a string that only one
    page reads; neither files nor the API contain it.
    """

    title: str
    says: str
    tables: Sequence[Table]
    anchor: str = ""
    packed: str = ""

    def heading(self) -> dict[str, Any]:
        return {"title": self.title, "says": self.says, "anchor": self.anchor}

    def to_kept(self) -> dict[str, Any]:
        return {**self.heading(), "tables": [each.to_kept() for each in self.tables], "packed": self.packed}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Section":
        tables = [Table.from_dict(each) for each in plain["tables"]]
        return cls(plain["title"], plain["says"], tables, plain.get("anchor", ""), plain.get("packed", ""))
