"""Mappings by name: they read records, and report the reason if they do not fit a file."""

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Protocol

from annotate.core.translation import gettext
from annotate.material.reading.columns import ColumnMapping
from annotate.material.reading.mqm import MQM_COLUMNS, SEGMENT_COLUMNS, MqmSegments
from annotate.material.reading.prompts import (
    LIST_COLUMNS,
    TURN_COLUMNS,
    Conversations,
    OutputLists,
    PreferencePairs,
)
from annotate.material.reading.rows import Record, RefusedLine, Row
from annotate.material.reading.shipped import (
    SUMMEVAL_OP_DIMENSIONS,
    SummEval,
    SummEvalDocuments,
    SummEvalOp,
    SummEvalOpDetailed,
)
from annotate.material.reading.values import RefusedFieldError


class Mapping(Protocol):
    """Converts a record to documents, items and ratings."""

    @property
    def name(self) -> str:
        """The name of a shipped mapping, empty for columns."""

    @property
    def title(self) -> str:
        """Return the purpose of the mapping."""

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
    mapping.name: mapping
    for mapping in (
        *(SummEvalOp(), SummEvalOpDetailed(), SummEval(), SummEvalDocuments()),
        *(Conversations(), OutputLists(), PreferencePairs(), MqmSegments()),
    )
}
# The required columns of a mapping: one of each group.
NEEDED: dict[str, Sequence[Sequence[str]]] = {
    "summeval-op": (("reviews",), ("summaries",)),
    "summeval-op-detailed": (("reviews",), ("summaries",), *((code,) for code in SUMMEVAL_OP_DIMENSIONS)),
    "summeval": (("id",), ("model_id", "system"), ("decoded", "summary")),
    "summeval-documents": (("id",), ("source",)),
    "messages": (TURN_COLUMNS,),
    "outputs": (LIST_COLUMNS,),
    "preferences": (("chosen",), ("rejected",)),
    "mqm": (*((name,) for name in MQM_COLUMNS), SEGMENT_COLUMNS),
}


def rows_of(
    mapping: Mapping, record: Record | RefusedLine, *, items: bool, ratings: bool
) -> Iterator[Row | RefusedLine]:
    """Yield the rows of a record: its items first, then its ratings, each as a row or a rejection."""
    if isinstance(record, RefusedLine):
        yield record
        return
    if items:
        yield from _add_rejections(mapping.item_rows, record)
    if ratings:
        yield from _add_rejections(mapping.rating_rows, record)


def _add_rejections(
    rows: Callable[[Record], Iterator[Row | RefusedLine]], record: Record
) -> Iterator[Row | RefusedLine]:
    try:
        # A generator raises only when it is read, so the error is caught here.
        yield from rows(record)
    except RefusedFieldError as refused:
        yield refused.at(record.line)


def misfit(mapping: Mapping, columns: Collection[str]) -> str:
    """Return the reason for which a mapping does not fit a file with these columns; empty if it fits."""
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
