"""What every result is: a table of figures, each with its interval, its count, and how it was computed."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any

from annotate.agreement import Coefficient

Value = str | int | float | None


class Kind(StrEnum):
    """What a column holds: names, whole numbers, numbers with decimals, shares from 0 to 1, or p values."""

    TEXT = "text"
    COUNT = "count"
    NUMBER = "number"
    SHARE = "share"
    P_VALUE = "p value"


@dataclass(frozen=True)
class Cell:
    """One entry of a table; a figure without a value has a reason.

    low, high: its interval. interval_reason: why there is none. warning: why the value should not be used as
    it is. count: how many units (items, documents) it rests on. how: the function, its parameters and its
    source. link: what opens what it is about. key: the word for programs of what it names.
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

    def __post_init__(self) -> None:
        if isinstance(self.value, float) and not math.isfinite(self.value):
            raise ValueError(f"A figure is {self.value}; where it is undefined it is None with a reason.")
        if self.value is None and not self.reason:
            raise ValueError("A figure without a value needs a reason.")


@dataclass(frozen=True)
class Column:
    """A column: its key in data files, its name for people, what it holds, how many decimals are shown."""

    key: str
    name: str
    kind: Kind = Kind.NUMBER
    decimals: int = 3


@dataclass(frozen=True)
class Table:
    """A result: figures in rows, under a title. The first `heads` columns name the rows.

    key: a word of letters, digits and hyphens, which addresses and file names use. says: what is in it and
    how to read it. plot: what draws it (see `annotate.results.plots`), empty where nothing does.
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
        if any(len(row) != len(self.columns) for row in self.rows):
            raise ValueError(f"Every row of {self.title!r} needs {len(self.columns)} cells.")

    @property
    def how(self) -> list[str]:
        """The different ways in which its figures were computed."""
        return list(dict.fromkeys(cell.how for cell in self.cells() if cell.how))

    @property
    def warnings(self) -> list[str]:
        """The different warnings about its figures."""
        return list(dict.fromkeys(cell.warning for cell in self.cells() if cell.warning))

    @property
    def is_doubtful(self) -> bool:
        """Whether a figure has a warning; one about what a row is named after says nothing of them."""
        return any(cell.warning for row in self.rows for cell in row[self.heads :])

    @property
    def reasons(self) -> list[str]:
        """The different reasons why figures are undefined."""
        return list(dict.fromkeys(cell.reason for cell in self.cells() if cell.reason))

    def cells(self) -> Iterator[Cell]:
        """Yield every cell, row by row."""
        return (cell for row in self.rows for cell in row)

    def as_dict(self) -> dict[str, Any]:
        """Return the same as plain values for JSON; what a cell does not say is left out."""
        rows = [[_cell_as_dict(cell) for cell in row] for row in self.rows]
        return {**asdict(replace(self, rows=[])), "rows": rows}

    @classmethod
    def from_dict(cls, plain: Mapping[str, Any]) -> "Table":
        """Return the table that `as_dict` gave."""
        columns = [Column(**{**each, "kind": Kind(each["kind"])}) for each in plain["columns"]]
        rows = [[Cell(**cell) for cell in row] for row in plain["rows"]]
        return cls(**{**plain, "columns": columns, "rows": rows})


def text(value: str, *, link: str = "", key: str = "", warning: str = "") -> Cell:
    """Return a cell that names something; `key` is its word for programs, `warning` what is wrong with it."""
    return Cell(value, link=link, key=key, warning=warning)


def figure(coefficient: Coefficient, *, count: int | None = None, link: str = "") -> Cell:
    """Return a coefficient as a cell; its count is of pairable units unless another is given."""
    found = coefficient.interval
    return Cell(
        value=coefficient.value,
        low=found.low if found else None,
        high=found.high if found else None,
        interval_reason=(coefficient.interval_reason or "") if not found and coefficient.defined else "",
        count=coefficient.counts.pairable_units if count is None else count,
        reason=coefficient.reason or "",
        warning=coefficient.warning,
        how=how_computed(coefficient),
        link=link,
    )


def how_computed(coefficient: Coefficient) -> str:
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
