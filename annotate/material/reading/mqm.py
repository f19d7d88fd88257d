"""MQM's table of translation errors: a row for each error, marked by <v>…</v> in its segment.

Columns and tags: github.com/google/wmt-mqm-human-evaluation. A row without an error has “No-error” as its
category or severity.
"""

import re
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial

from annotate.core.translation import gettext, gettext_noop
from annotate.material.reading.columns import Fields, attempt
from annotate.material.reading.rows import ImportedItem, Record, RefusedLine, Row
from annotate.material.reading.shipped import ItemsOnly
from annotate.material.reading.values import (
    KEY_LIMIT,
    RATER_LIMIT,
    RefusedFieldError,
    is_blank,
    key_of,
    metadata_of,
    require_field,
    text_of,
)

SEGMENT_COLUMNS = ("globalSegId", "seg_id", "docSegId", "segment_id")
MQM_COLUMNS = ("system", "doc", "rater", "source", "target", "category", "severity")
ANNOTATION_COLUMNS = (*MQM_COLUMNS, *SEGMENT_COLUMNS, "doc_id", "comment", "metadata")
TAG = re.compile(r"</?v>")
NO_ERROR = re.compile(r"no[-_ ]?error", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class MarkedError:
    side: str
    start: int
    end: int
    category: str
    severity: str


@dataclass(frozen=True, slots=True)
class MarkedSegment:
    document: str
    system: str
    rater: str
    source: str
    target: str
    errors: list[MarkedError] = field(default_factory=list)


class MqmSegments(ItemsOnly):
    name = "mqm"
    title = gettext_noop("MQM: segments and translations, without the marked errors")

    def item_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        yield attempt(record.line, partial(self._item, record))

    def _item(self, record: Record) -> Row:
        fields = record.fields
        source, _ = _text_and_spans(fields, "source")
        target, _ = _text_and_spans(fields, "target")
        others = [name for name in fields if name not in ANNOTATION_COLUMNS]
        return ImportedItem(
            record.line,
            _segment_key(fields),
            "",
            (("Source", source),),
            key_of(require_field(fields, "system"), "system"),
            target,
            {"doc": key_of(fields["doc"], "doc"), **metadata_of(fields, others)},
        )


def has_mqm_columns(columns: Collection[str]) -> bool:
    return set(MQM_COLUMNS) <= set(columns) and bool(set(SEGMENT_COLUMNS) & set(columns))


def read_marked_segments(records: Iterable[Record]) -> list[MarkedSegment]:
    """Return each rater's errors in each translation, in the order of the file.

    An error without tags covers the whole target. Raises RefusedFieldError for an unreadable row.
    """
    found: dict[tuple[str, str, str], MarkedSegment] = {}
    for record in records:
        fields = record.fields
        source, in_source = _text_and_spans(fields, "source")
        target, in_target = _text_and_spans(fields, "target")
        key = (
            _segment_key(fields),
            key_of(require_field(fields, "system"), "system"),
            key_of(require_field(fields, "rater"), "rater", RATER_LIMIT),
        )
        segment = found.setdefault(key, MarkedSegment(*key, source, target))
        # A segment without errors is kept: its rater found none.
        category, severity = (_word(fields, name) for name in ("category", "severity"))
        if NO_ERROR.match(category) or NO_ERROR.match(severity):
            continue
        spans = [("source", *span) for span in in_source] + [("target", *span) for span in in_target]
        for side, start, end in spans or [("target", 0, len(target))]:
            segment.errors.append(MarkedError(side, start, end, category, severity))
    return list(found.values())


def _text_and_spans(fields: Fields, name: str) -> tuple[str, list[tuple[int, int]]]:
    """Return the content without tags, and the start and end of each marked passage."""
    tagged = text_of(require_field(fields, name), name)
    plain, spans, start, last = "", [], -1, 0
    for tag in TAG.finditer(tagged):
        plain += tagged[last : tag.start()]
        last = tag.end()
        # An opening tag fits outside a passage only, a closing one inside.
        if (tag[0] == "<v>") != (start < 0):
            raise RefusedFieldError(name, _tag_problem(name))
        if start < 0:
            start = len(plain)
        else:
            spans.append((start, len(plain)))
            start = -1
    if start >= 0:
        raise RefusedFieldError(name, _tag_problem(name))
    return plain + tagged[last:], spans


def _tag_problem(name: str) -> str:
    return gettext("The tags <v> and </v> in “{name}” are not in pairs.").format(name=name)


def _segment_key(fields: Fields) -> str:
    column = next((name for name in SEGMENT_COLUMNS if not is_blank(fields.get(name))), "")
    # `docSegId` numbers the segments of one document, so the document is part of the key.
    document = key_of(require_field(fields, "doc"), "doc")
    segment = key_of(require_field(fields, column or SEGMENT_COLUMNS[0]), column)
    return key_of(f"{document}:{segment}", "doc", KEY_LIMIT)


def _word(fields: Fields, name: str) -> str:
    value = require_field(fields, name)
    return "" if is_blank(value) else text_of(value, name).strip()
