"""Rows of a file: one judgment each, as recorded by another program."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from typing import TypeVar

from annotate.core.translation import gettext
from annotate.material.reading.rows import Record
from annotate.material.reading.values import RefusedFieldError, is_blank, key_of, require_field, text_of
from judges.interchange.reading.mapping import JudgmentMapping

JUDGE_LIMIT = 80
MODEL_LIMIT = 120
MOST_SAMPLES = 1000
LARGEST_COUNT = 2**31 - 1
LARGEST_COST = Decimal(10**6)
SMALLEST_COST = Decimal(1).scaleb(-8)
NUMBER = re.compile(r"[+-]?\d{1,12}([.,]\d{1,30})?([eE][+-]?\d{1,2})?", re.ASCII)

Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class ImportedJudgment:
    """One judgment as recorded in a file. `judge`, `model` and `other` may be empty, reply or value None."""

    line: int
    judge: str
    model: str
    method: str
    document: str
    system: str
    other: str
    dimension: str
    sample: int | None
    reply: str | None
    value: float | None
    rationale: str
    # What a judgment took, as far as the file says.
    input_tokens: int | None
    output_tokens: int | None
    cost: Decimal | None
    seconds: float | None


def row_of(record: Record, mapping: JudgmentMapping) -> ImportedJudgment:
    """Return the judgment of a record; raises RefusedFieldError with the invalid field."""
    cells = _Cells(record, mapping)
    reply, value = _reply_and_value(cells)
    return ImportedJudgment(
        line=record.line,
        judge=cells.key("judge", JUDGE_LIMIT) if mapping.has("judge") else "",
        model=cells.optional("model", lambda cell, name: key_of(cell, name, MODEL_LIMIT)) or "",
        method=cells.key("method"),
        document=cells.key("document"),
        system=cells.key("system"),
        other=cells.optional("other", key_of) or "",
        dimension=cells.key("dimension"),
        sample=cells.optional("sample", _sample),
        reply=reply,
        value=value,
        rationale=cells.optional("rationale", text_of) or "",
        input_tokens=cells.optional("input_tokens", count_of),
        output_tokens=cells.optional("output_tokens", count_of),
        cost=cells.optional("cost", _cost),
        seconds=cells.optional("seconds", _seconds),
    )


class _Cells:
    """A record's cells by meaning."""

    def __init__(self, record: Record, mapping: JudgmentMapping) -> None:
        self.fields, self.mapping = record.fields, mapping

    def key(self, field: str, limit: int = 200) -> str:
        """Return a required name."""
        if field in self.mapping.given:
            return key_of(self.mapping.given[field], field, limit)
        column = self.mapping.columns[field]
        return key_of(require_field(self.fields, column), column, limit)

    def optional(self, field: str, read: Callable[[object, str], Made]) -> Made | None:
        """Return the content of a cell, None if it is blank or missing."""
        if field in self.mapping.given:
            return read(self.mapping.given[field], field)
        cell = self.cell(field)
        return None if is_blank(cell) else read(cell, self.mapping.columns[field])

    def cell(self, field: str) -> object:
        """Return a cell's raw content, None if it is missing."""
        return self.fields.get(self.mapping.columns.get(field, ""))


def _reply_and_value(cells: _Cells) -> tuple[str | None, float | None]:
    """Return reply and value; an empty string is a reply, unless there is a value."""
    reply, value = cells.optional("reply", text_of), cells.optional("value", _value)
    if reply is None and value is None:
        if isinstance(empty := cells.cell("reply"), str):
            return empty, None
        raise RefusedFieldError(
            "reply", gettext("There is neither a reply nor a value; give the row one of them.")
        )
    return reply, value


def number_of(cell: object, name: str) -> Decimal:
    """Return a number; a string with a decimal point or comma is accepted."""
    written = cell.strip() if isinstance(cell, str) else repr(cell)
    if isinstance(cell, bool) or not NUMBER.fullmatch(written):
        raise RefusedFieldError(name, gettext("“{name}” has to be a number.").format(name=name), written[:40])
    return Decimal(written.replace(",", "."))


def count_of(cell: object, name: str) -> int:
    """Return a whole number from 0."""
    number = number_of(cell, name)
    if number != number.to_integral_value() or not 0 <= number <= LARGEST_COUNT:
        raise RefusedFieldError(
            name, gettext("“{name}” has to be a whole number from 0.").format(name=name), number
        )
    return int(number)


def _sample(cell: object, name: str) -> int:
    sample = count_of(cell, name)
    if sample >= MOST_SAMPLES:
        raise RefusedFieldError(
            name, gettext("Samples are numbered from 0 to {most}.").format(most=MOST_SAMPLES - 1), sample
        )
    return sample


def _value(cell: object, name: str) -> float:
    return float(number_of(cell, name))


def _cost(cell: object, name: str) -> Decimal:
    cost = number_of(cell, name)
    if not 0 <= cost < LARGEST_COST:
        raise RefusedFieldError(
            name, gettext("A cost is an amount from 0 to below {most:,}.").format(most=LARGEST_COST), cost
        )
    return cost.quantize(SMALLEST_COST)


def _seconds(cell: object, name: str) -> float:
    seconds = float(number_of(cell, name))
    if seconds < 0 or not math.isfinite(seconds):
        raise RefusedFieldError(name, gettext("Seconds are counted from 0."), seconds)
    return seconds
