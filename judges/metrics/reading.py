"""Files of metrics as typed rows, in the shapes of releases; no Django.

A line is one item with a column for each metric. Or it is one system, each cell a list with a number for
every document. Or it is one document, each cell an object with the metrics of one system.
"""

import json
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from annotate.core.translation import gettext
from annotate.material.reading.guessing import columns_by_words
from annotate.material.reading.rows import Record
from annotate.material.reading.values import RefusedFieldError, is_blank, key_of, require_field
from judges.interchange.reading import count_of

NAME_LIMIT = 120
WORDS: dict[str, tuple[str, ...]] = {
    "document": ("document", "document_key", "document_id", "doc_id", "doc", "article_id", "id", "key"),
    "number": ("case", "document_number"),
    "system": ("system", "system_name", "model", "model_name", "model_id", "summarizer"),
}
"""What says which item a line is about, and what files call it."""

Number = float | None


@dataclass(frozen=True)
class MetricMapping:
    """document: the column of a document's key; number:

    the column of its position among the project's documents, from 1.

    system: the column of a system; without it each column of `metrics` is a system, with objects as cells.
    Without document and number the cells of `metrics` are lists over all documents.
    """

    document: str
    number: str
    system: str
    metrics: tuple[str, ...]

    @property
    def problem(self) -> str:
        if not self.metrics:
            return gettext("No column is a metric; choose at least one.")
        if not (self.system or self.document or self.number):
            return gettext(
                "Nothing says which item a line is about; choose the columns of the document and the system."
            )
        return ""

    def to_json(self) -> dict[str, Any]:
        return {**vars(self), "metrics": list(self.metrics)}

    @classmethod
    def from_json(cls, content: Mapping[str, Any]) -> "MetricMapping":
        return cls(**{**content, "metrics": tuple(content["metrics"])})


@dataclass(frozen=True, slots=True)
class MetricRow:
    """The metrics of one item. document: its key, or its number from 1. A gap has no entry."""

    line: int
    document: str | int
    system: str
    values: Mapping[str, float]


def guess_metric_mapping(records: Sequence[Record], dimensions: Iterable[str] = ()) -> MetricMapping:
    """Return the mapping that the names and the first cells of a file suggest; people's columns are no
    metrics.
    """
    columns = list(dict.fromkeys(name for record in records for name in record.fields))
    found = columns_by_words(columns, WORDS)
    system = found["system"]
    people = {*found.values(), *(name for name in columns if _plain(name) in set(map(_plain, dimensions)))}
    metrics = [name for name in columns if name not in people and _holds(records, name, system=system)]
    # A key is enough, and a number next to it could mean another document.
    number = "" if found["document"] else found["number"]
    return MetricMapping(found["document"], number, system, tuple(metrics))


def metric_rows(record: Record, mapping: MetricMapping, documents: int) -> Iterator[MetricRow]:
    """Yield a line's values for each item; documents: the number of documents in the project.

    Raises RefusedFieldError with the problem and the remedy.
    """
    # A line is a document: each cell is an object with the metrics of one system.
    if not mapping.system:
        document = _document(record, mapping)
        for name in mapping.metrics:
            if not is_blank(cell := record.fields.get(name)):
                yield MetricRow(
                    record.line, document, key_of(name, name), dict(_iter_object_numbers(cell, name))
                )
        return
    system = key_of(require_field(record.fields, mapping.system), mapping.system)
    # A line is an item: each cell is a number.
    if mapping.document or mapping.number:
        cells = {name: number_in(record.fields.get(name), name) for name in mapping.metrics}
        yield MetricRow(record.line, _document(record, mapping), system, _numbers_in(cells))
        return
    # A line is a system: each cell is a list with a number for every document.
    lists = {name: _list_in(record.fields.get(name), name, documents) for name in mapping.metrics}
    for index in range(documents):
        cells = {name: numbers[index] for name, numbers in lists.items() if numbers}
        yield MetricRow(record.line, index + 1, system, _numbers_in(cells))


def number_in(cell: object, name: str) -> Number:
    """Return a number of any size, None for a blank cell, null or NaN; RefusedFieldError for all else."""
    if is_blank(cell):
        return None
    # Infinity marks all that is no number, and is rejected below, as is a written one.
    try:
        # A decimal comma is accepted, and `float` would read True as 1.
        number = float(str(cell).strip().replace(",", ".")) if not isinstance(cell, bool) else math.inf
    except ValueError:
        number = math.inf
    if math.isinf(number):
        reason = gettext(
            "“{name}” holds something other than a number; correct it, or leave the column out."
        ).format(name=name)
        raise RefusedFieldError(name, reason, str(cell)[:40])
    return None if math.isnan(number) else number


def _document(record: Record, mapping: MetricMapping) -> str | int:
    if mapping.document:
        return key_of(require_field(record.fields, mapping.document), mapping.document)
    return count_of(require_field(record.fields, mapping.number), mapping.number)


def _iter_object_numbers(cell: object, name: str) -> Iterator[tuple[str, float]]:
    """Yield the numbers of a system's object; objects in it are people's values, not metrics."""
    if not isinstance(cell, dict):
        raise RefusedFieldError(
            name,
            gettext("“{name}” holds no object of metrics; say which column is the system.").format(name=name),
        )
    for metric, inner in cell.items():
        if not isinstance(inner, dict) and (number := number_in(inner, metric)) is not None:
            yield metric, number


def _list_in(cell: object, name: str, documents: int) -> list[Number]:
    if is_blank(cell):
        return []
    values = _parse_cell(cell)
    if not isinstance(values, list):
        reason = gettext(
            "“{name}” is no list of numbers; say which column is the document, or leave the column out."
        ).format(name=name)
        raise RefusedFieldError(name, reason)
    # A list has no keys: only its length shows that it is about the documents of this project.
    if len(values) != documents:
        raise RefusedFieldError(
            name,
            gettext(
                "“{name}” lists {count:,} numbers, and the project has {documents:,} documents: a list "
                "needs one for each, in the order in which the documents were imported."
            ).format(name=name, count=len(values), documents=documents),
        )
    return [number_in(value, name) for value in values]


def _parse_cell(cell: object) -> object:
    """Return a cell, parsed if it is a list written as a string."""
    if not isinstance(cell, str) or not cell.lstrip().startswith("["):
        return cell
    try:
        return json.loads(cell)
    except ValueError:
        return cell


def _numbers_in(cells: Mapping[str, Number]) -> dict[str, float]:
    return {name: number for name, number in cells.items() if number is not None}


def _holds(records: Sequence[Record], name: str, *, system: str) -> bool:
    """Return True if the first cell of a column looks like a metric (without a system: like a system)."""
    cells = (record.fields.get(name) for record in records)
    first = _parse_cell(next((cell for cell in cells if not is_blank(cell)), None))
    if not system:
        return isinstance(first, dict)
    if isinstance(first, list):
        return bool(first) and all(isinstance(each, int | float) for each in first)
    try:
        return first is not None and not isinstance(first, dict) and number_in(first, name) is not None
    except RefusedFieldError:
        return False


def _plain(name: str) -> str:
    # Files and projects write one name with other capitals and spaces.
    return "".join(name.casefold().split())
