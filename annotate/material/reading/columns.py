"""Column mappings: the columns or fields of a flat file for document, system and value."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial

from annotate.core.translation import gettext_noop
from annotate.material.reading.rows import (
    ImportedDocument,
    ImportedItem,
    ImportedRating,
    Part,
    Record,
    RefusedLine,
    Row,
)
from annotate.material.reading.values import (
    RATER_LIMIT,
    RefusedFieldError,
    is_blank,
    key_from_parts,
    key_of,
    metadata_of,
    parts_of,
    rated_value,
    require_field,
    round_of,
    text_of,
    title_of,
)

Fields = Mapping[str, object]


@dataclass(frozen=True, slots=True)
class PartColumn:
    column: str
    label: str


@dataclass(frozen=True, slots=True)
class ValueColumn:
    column: str
    dimension: str


@dataclass(frozen=True, slots=True)
class ColumnMapping:
    """Columns of a flat file by their meaning; an empty name means that the file has no such column.

    format: the rendering on pages, see `choose_format`.
    metadata: the columns that documents or items keep as metadata.
    """

    document_key: str = ""
    document_title: str = ""
    parts: tuple[PartColumn, ...] = ()
    system: str = ""
    text: str = ""
    rater: str = ""
    dimension: str = ""
    value: str = ""
    round: str = ""
    value_columns: tuple[ValueColumn, ...] = ()
    format: str = ""
    metadata: tuple[str, ...] = ()

    name = ""
    title = gettext_noop("Columns of this file")

    @property
    def gives_items(self) -> bool:
        """An output needs its system."""
        return self.has_document and (bool(self.system) if self.text else bool(self.parts))

    @property
    def gives_ratings(self) -> bool:
        has_value = bool(self.value_columns) or bool(self.dimension and self.value)
        return self.has_document and bool(self.system and self.rater) and has_value

    @property
    def has_document(self) -> bool:
        return bool(self.document_key or self.parts)

    @property
    def needed_columns(self) -> list[str]:
        single = (
            self.document_key,
            self.system,
            self.text,
            self.rater,
            self.dimension,
            self.value,
            self.round,
        )
        return [*filter(None, single), *(part.column for part in self.parts)]

    def item_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        yield attempt(record.line, partial(self._item, record))

    def rating_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        """The ratings of a record: one, or one per value column that is not blank."""
        fields = record.fields
        if not self.value_columns:
            yield attempt(record.line, partial(self._rating, record, self.dimension, self.value))
        for column in self.value_columns:
            # A missing column is no blank cell: `_rating` then reports it.
            if not is_blank(fields.get(column.column, "?")):
                yield attempt(record.line, partial(self._rating, record, "", column.column, column.dimension))

    def _item(self, record: Record) -> Row:
        fields = record.fields
        parts = self._parts(fields)
        key = self._document_key(fields, parts)
        title = title_of(fields.get(self.document_title), self.document_title)
        metadata = metadata_of(fields, self.metadata)
        if not self.system or not self.text:
            return ImportedDocument(record.line, key, title, parts, metadata)
        system = key_of(require_field(fields, self.system), self.system)
        text = text_of(require_field(fields, self.text), self.text)
        return ImportedItem(record.line, key, title, parts, system, text, metadata)

    def _rating(self, record: Record, dimension_column: str, value_column: str, dimension: str = "") -> Row:
        fields = record.fields
        # Without a key, a rating finds its document by the same parts as the item.
        parts = () if self.document_key else self._parts(fields)
        return ImportedRating(
            record.line,
            self._document_key(fields, parts),
            key_of(require_field(fields, self.system), self.system),
            key_of(require_field(fields, self.rater), self.rater, RATER_LIMIT),
            dimension or key_of(require_field(fields, dimension_column), dimension_column),
            rated_value(require_field(fields, value_column), value_column),
            round_of(require_field(fields, self.round), self.round) if self.round else 0,
        )

    def _parts(self, fields: Fields) -> tuple[Part, ...]:
        return tuple(
            part
            for column in self.parts
            for part in parts_of(require_field(fields, column.column), column.label, column.column)
        )

    def _document_key(self, fields: Fields, parts: tuple[Part, ...]) -> str:
        if self.document_key:
            return key_of(require_field(fields, self.document_key), self.document_key)
        return key_from_parts(parts)


def attempt(line: int, make: Callable[[], Row]) -> Row | RefusedLine:
    try:
        return make()
    except RefusedFieldError as refused:
        return refused.at(line)
