"""MQM's table of translation errors: a row for each error, marked by <v>…</v> in its segment.

Columns and tags: github.com/google/wmt-mqm-human-evaluation.
"""

import re
from collections.abc import Collection, Iterator
from functools import partial

from annotate.core.translation import gettext, gettext_noop
from annotate.material.reading.columns import Fields, attempt
from annotate.material.reading.rows import ImportedItem, Record, RefusedLine, Row
from annotate.material.reading.shipped import ItemsOnly
from annotate.material.reading.values import (
    KEY_LIMIT,
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


class MqmSegments(ItemsOnly):
    name = "mqm"
    title = gettext_noop("MQM: segments and translations, without the marked errors")

    def item_rows(self, record: Record) -> Iterator[Row | RefusedLine]:
        yield attempt(record.line, partial(self._item, record))

    def _item(self, record: Record) -> Row:
        fields = record.fields
        source, target = _plain_text(fields, "source"), _plain_text(fields, "target")
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


def _plain_text(fields: Fields, name: str) -> str:
    """Return the content without tags. Raises RefusedFieldError unless they are in pairs."""
    tagged = text_of(require_field(fields, name), name)
    tags = TAG.findall(tagged)
    if tags != ["<v>", "</v>"] * (len(tags) // 2):
        raise RefusedFieldError(
            name, gettext("The tags <v> and </v> in “{name}” are not in pairs.").format(name=name)
        )
    return TAG.sub("", tagged)


def _segment_key(fields: Fields) -> str:
    column = next((name for name in SEGMENT_COLUMNS if not is_blank(fields.get(name))), "")
    # `docSegId` numbers the segments of one document, so the document is part of the key.
    document = key_of(require_field(fields, "doc"), "doc")
    segment = key_of(require_field(fields, column or SEGMENT_COLUMNS[0]), column)
    return key_of(f"{document}:{segment}", "doc", KEY_LIMIT)
