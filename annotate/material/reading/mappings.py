"""Mappings by name, what a record becomes under one, and which one a file seems to need."""

import re
from collections import abc
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Protocol

from annotate.core.translation import gettext
from annotate.material.reading.columns import ColumnMapping, PartColumn, ValueColumn
from annotate.material.reading.rows import Record, RefusedLine, Row
from annotate.material.reading.shipped import (
    SUMMEVAL_OP_DIMENSIONS,
    SummEval,
    SummEvalDocuments,
    SummEvalOp,
    SummEvalOpDetailed,
)
from annotate.material.reading.values import RefusedFieldError, round_of


class Mapping(Protocol):
    """Says how a record becomes documents, items and ratings."""

    @property
    def name(self) -> str:
        """The name of a shipped mapping, empty for columns."""

    @property
    def title(self) -> str:
        """What the mapping is for."""

    @property
    def gives_items(self) -> bool:
        """Whether it makes documents or items."""

    @property
    def gives_ratings(self) -> bool:
        """Whether it makes ratings."""

    def item_rows(self, record: Record, /) -> Iterator[Row | RefusedLine]:
        """The documents and items of a record."""

    def rating_rows(self, record: Record, /) -> Iterator[Row | RefusedLine]:
        """The ratings of a record."""


SHIPPED: dict[str, Mapping] = {
    mapping.name: mapping for mapping in (SummEvalOp(), SummEvalOpDetailed(), SummEval(), SummEvalDocuments())
}
# What a file must have for a mapping: of each group one column.
NEEDED: dict[str, Sequence[Sequence[str]]] = {
    "summeval-op": (("reviews",), ("summaries",)),
    "summeval-op-detailed": (("reviews",), ("summaries",), *((code,) for code in SUMMEVAL_OP_DIMENSIONS)),
    "summeval": (("id",), ("model_id", "system"), ("decoded", "summary")),
    "summeval-documents": (("id",), ("source",)),
}
COLUMN_WORDS = {
    "document_key": (
        "document_key",
        "document_id",
        "doc_id",
        "doc_key",
        "article_id",
        "product_id",
        "id",
        "key",
    ),
    "document_title": ("document_title", "title", "headline", "product"),
    "system": ("system", "system_name", "system_id", "model", "model_id", "model_name", "summarizer"),
    "text": ("text", "summary", "output", "decoded", "system_output", "item_text", "generated", "response"),
    "rater": (
        "rater",
        "rater_id",
        "rater_name",
        "annotator",
        "annotator_id",
        "worker",
        "worker_id",
        "expert",
    ),
    "dimension": ("dimension", "criterion", "quality", "aspect"),
    "value": ("value", "rating", "score"),
    "round": ("round", "round_number", "annotation_round"),
}
WordsOfFields = abc.Mapping[str, Sequence[str]]
PART_WORD = re.compile(
    r"(source|source_text|article|document|document_text|doc|input|context|reviews?|rev|part)_?\d*"
)
LONGEST_PLAIN_KEY = 80


def rows_of(
    mapping: Mapping, record: Record | RefusedLine, *, items: bool, ratings: bool
) -> Iterator[Row | RefusedLine]:
    """What a record becomes: its items first, then its ratings, each as a row or a refusal."""
    if isinstance(record, RefusedLine):
        yield record
        return
    if items:
        yield from _with_refusals(mapping.item_rows, record)
    if ratings:
        yield from _with_refusals(mapping.rating_rows, record)


def _with_refusals(
    rows: Callable[[Record], Iterator[Row | RefusedLine]], record: Record
) -> Iterator[Row | RefusedLine]:
    try:
        yield from rows(record)
    except RefusedFieldError as refused:
        yield refused.at(record.line)


def misfit(mapping: Mapping, columns: Collection[str]) -> str:
    """Why a mapping cannot be that of a file with these columns, in a sentence; empty where it can be."""
    if isinstance(mapping, ColumnMapping):
        needed: Sequence[Sequence[str]] = [(name,) for name in mapping.needed_columns]
    else:
        needed = NEEDED[mapping.name]
    missing = [" or ".join(group) for group in needed if not set(group) & set(columns)]
    if not missing:
        return ""
    has = ", ".join(columns) or "no columns"
    sentence = (
        gettext(
            "This file has no {missing}, which this mapping needs; it has {has}. Please map other columns."
        )
        if isinstance(mapping, ColumnMapping)
        else gettext(
            "This file has no {missing}, which this mapping needs; it has {has}. "
            "Please choose another way to read it."
        )
    )
    return sentence.format(missing=", no ".join(missing), has=has)


def guess_mapping(records: Sequence[Record | RefusedLine], dimensions: Collection[str] = ()) -> Mapping:
    """The mapping that a file's first records suggest; `dimensions` are names that columns may bear."""
    readable = [record for record in records if isinstance(record, Record)]
    if not readable:
        return ColumnMapping()
    shipped = _shipped_shape(readable[0])
    return SHIPPED[shipped] if shipped else _guess_columns(readable, dimensions)


def _shipped_shape(record: Record) -> str:
    fields = record.fields
    if {"reviews", "summaries"} <= fields.keys():
        return "summeval-op" if isinstance(fields["summaries"], dict) else "summeval-op-detailed"
    if {"id", "expert_annotations"} <= fields.keys():
        return "summeval"
    return "summeval-documents" if fields.keys() == {"id", "source"} else ""


def _guess_columns(records: Sequence[Record], dimensions: Collection[str]) -> ColumnMapping:
    names = list(dict.fromkeys(name for record in records for name in record.fields))
    found = columns_by_words(names, COLUMN_WORDS)
    taken = set(found.values())
    parts = [name for name in names if name not in taken and PART_WORD.fullmatch(_word(name))]
    if not found["document_key"] and len(parts) == 1 and _looks_like_key(records, parts[0]):
        found["document_key"] = parts.pop()
    if not all(_is_round(record.fields.get(found["round"])) for record in records):
        found["round"] = ""
    known = {_word(name): name for name in dimensions}
    values = [ValueColumn(name, known[_word(name)]) for name in names if _word(name) in known]
    return ColumnMapping(
        **found,
        parts=tuple(PartColumn(name, _label(name)) for name in parts),
        value_columns=() if found["dimension"] and found["value"] else tuple(values),
    )


def columns_by_words(names: Sequence[str], fields: WordsOfFields) -> dict[str, str]:
    """The column of each field that bears the first of its words, empty where none does."""
    by_word = {_word(name): name for name in reversed(names)}
    return {field: _first(by_word, words) for field, words in fields.items()}


def _word(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def _first(by_word: dict[str, str], words: Iterable[str]) -> str:
    return next((by_word[word] for word in words if word in by_word), "")


def _looks_like_key(records: Sequence[Record], name: str) -> bool:
    values = [record.fields.get(name, "") for record in records]
    return all(isinstance(value, str | int) and len(str(value)) <= LONGEST_PLAIN_KEY for value in values)


def _is_round(value: object) -> bool:
    try:
        return bool(round_of(value, ""))
    except RefusedFieldError:
        return False


def _label(name: str) -> str:
    words = re.sub(r"[_\s]+", " ", re.sub(r"(?<=[A-Za-z])(?=\d)", " ", name)).strip()
    return words[:1].upper() + words[1:]
