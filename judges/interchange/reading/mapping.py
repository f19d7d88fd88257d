"""Mapping of a file's columns to the fields of a judgment."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from annotate.core.translation import gettext
from annotate.material.reading.guessing import columns_by_words
from annotate.material.reading.mapping_json import MappingError

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
        object.__setattr__(self, "given", given)
        object.__setattr__(self, "columns", columns)

    def has(self, *fields: str) -> bool:
        """Return True if rows have at least one of these fields."""
        return any(field in self.columns or field in self.given for field in fields)

    @property
    def problem(self) -> str:
        """The missing fields of rows as a message; empty if none is missing."""
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
    guessed = columns_by_words([each for each in columns if each not in named.values()], WORDS)
    return JudgmentMapping({**guessed, **named}, given)
