"""Files of judgments made elsewhere, read as typed rows; no Django."""

import math
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, ClassVar, TypeVar

from annotate.core.translation import gettext, ngettext
from annotate.material.reading.guessing import columns_by_words
from annotate.material.reading.mapping_json import MappingError
from annotate.material.reading.report import Cause, FileReport, Tally
from annotate.material.reading.rows import Record
from annotate.material.reading.values import RefusedFieldError, is_blank, key_of, require_field, text_of


@dataclass(slots=True)
class JudgmentCounts(Tally):
    judges: int = 0
    judgments: int = 0


@dataclass(frozen=True, kw_only=True)
class JudgmentReport(FileReport):
    """The report of a file of judgments. unreadable: the new replies without a value, by reason."""

    counts: ClassVar[type[Tally]] = JudgmentCounts

    made: JudgmentCounts
    already_there: JudgmentCounts
    unreadable_count: int
    unreadable: tuple[Cause, ...]

    @property
    def remarks(self) -> list[str]:
        if not self.unreadable_count:
            return super().remarks
        unreadable = ngettext(
            "{count:,} reply is unreadable: kept with the reason, counted, and left out of every figure.",
            "{count:,} replies are unreadable: kept with the reason, counted, and left out of every figure.",
            self.unreadable_count,
        ).format(count=self.unreadable_count)
        return [*super().remarks, unreadable]

    @property
    def unread(self) -> tuple[Cause, ...]:
        """The reasons for unreadable values of new rows."""
        return self.unreadable


WORDS: dict[str, tuple[str, ...]] = {
    "judge": ("judge", "judge_name", "judge_id", "llm_judge", "evaluator", "rater", "annotator"),
    "model": ("model", "model_name", "judge_model", "llm", "model_id"),
    "method": ("method", "judging_method", "protocol"),
    "document": (
        "document",
        "document_key",
        "document_id",
        "doc",
        "doc_id",
        "doc_key",
        "article_id",
        "product_id",
        "id",
        "key",
    ),
    "system": ("system", "system_name", "system_id", "system_1", "first_system", "system_a", "summarizer"),
    "other": ("other_system", "other", "system_2", "second_system", "system_b", "opponent"),
    "dimension": ("dimension", "criterion", "quality", "aspect"),
    "sample": ("sample", "sample_number", "sample_index"),
    "reply": ("reply", "raw_reply", "response", "raw_response", "completion", "output", "answer", "raw"),
    "value": ("value", "score", "rating", "preference"),
    "rationale": ("rationale", "explanation", "justification"),
    "input_tokens": ("input_tokens", "prompt_tokens", "tokens_in"),
    "output_tokens": ("output_tokens", "completion_tokens", "tokens_out"),
    "cost": ("cost",),
    "seconds": ("seconds", "latency", "latency_seconds", "duration"),
}
"""The fields of a judgment, and what files call them."""

GIVEN = ("judge", "model", "method", "dimension")
"""Fields that can be the same for all rows of a file."""


@dataclass(frozen=True)
class JudgmentMapping:
    """columns: the column of each field that has one; given: the fields that are the same for all rows."""

    columns: Mapping[str, str]
    given: Mapping[str, str]

    def __post_init__(self) -> None:
        given = {field: value for field, value in self.given.items() if value}
        columns = {field: column for field, column in self.columns.items() if column and field not in given}
        # A value for all rows replaces the column of that field; the class is frozen.
        object.__setattr__(self, "given", given)
        object.__setattr__(self, "columns", columns)

    def has(self, *fields: str) -> bool:
        """Return True if rows have at least one of these fields."""
        return any(field in self.columns or field in self.given for field in fields)

    @property
    def problem(self) -> str:
        """The missing fields of rows as a message; empty if none is missing."""
        # Each row needs one of the fields of every group.
        needed = (
            ("judge", "model"),
            ("method",),
            ("document",),
            ("system",),
            ("dimension",),
            ("reply", "value"),
        )
        missing = [" or ".join(fields) for fields in needed if not self.has(*fields)]
        return (
            gettext("Nothing says what is the {missing} of a row.").format(missing=", the ".join(missing))
            if missing
            else ""
        )

    def to_json(self) -> dict[str, Any]:
        return {"columns": dict(self.columns), "given": dict(self.given)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "JudgmentMapping":
        return cls(content["columns"], content["given"])


def guess_judgment_mapping(columns: Iterable[str], given: Mapping[str, str]) -> JudgmentMapping:
    return JudgmentMapping(columns_by_words(list(columns), WORDS), given)


def judgment_mapping_from_options(
    options: Iterable[str], columns: Iterable[str], given: Mapping[str, str]
) -> JudgmentMapping:
    """Return the mapping suggested by names, overridden by options such as `system=model` (`cost=`:

    no column).

    A column mapped by an option loses the meaning of its name. Raises MappingError with the invalid option.
    """
    named: dict[str, str] = {}
    for option in options:
        field, equals, column = option.partition("=")
        if not equals:
            raise MappingError(
                option, gettext("“{option}” is not of the form field=column.").format(option=option)
            )
        if field not in WORDS or field in named:
            raise MappingError(
                field,
                gettext("“{field}” is given twice or is not one of {fields}.").format(
                    field=field, fields=", ".join(WORDS)
                ),
            )
        named[field] = column
    # A column that an option names must not be guessed for another field, too.
    guessed = columns_by_words([each for each in columns if each not in named.values()], WORDS)
    return JudgmentMapping({**guessed, **named}, given)


JUDGE_LIMIT = 80
MODEL_LIMIT = 120
MOST_SAMPLES = 1000
# The database's columns end here: 32 bits for a count, 14 digits with eight decimals for a cost.
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
        # An empty reply is an answer of the model, which counts as unreadable.
        if isinstance(empty := cells.cell("reply"), str):
            return empty, None
        raise RefusedFieldError(
            "reply", gettext("There is neither a reply nor a value; give the row one of them.")
        )
    return reply, value


def number_of(cell: object, name: str) -> Decimal:
    """Return a number; a string with a decimal point or comma is accepted."""
    # `repr` gives the shortest number that equals a float, so 0.1 stays 0.1.
    written = cell.strip() if isinstance(cell, str) else repr(cell)
    # In Python a truth value is a number, too, and in a file it is none.
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
