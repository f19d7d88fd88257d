"""Parts of items: a rule splits outputs, or a list gives facts."""

import csv
import io
import json
from collections.abc import Iterator, Mapping, Sequence

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_configurable
from annotate.core.errors import ImportRefusedError
from annotate.core.models import Item, ItemPart, Project
from annotate.core.strings import split_sentences

BATCH = 500
MOST_PARTS = 200


@transaction.atomic
def split_items(*, project: Project) -> int:
    """Give every output without parts its sentences as parts; return the number of these outputs.

    Locks the project. Safe to run twice. Raises FrozenError.
    """
    return _split(Item.objects.filter(document__project=lock_configurable(project)))


def split_written(items: Sequence[int]) -> None:
    """Split outputs that were just written, by their keys, also after Round I opened."""
    _split(Item.objects.filter(pk__in=items))


def _split(items: QuerySet[Item]) -> int:
    made = 0
    outputs = items.filter(kind=Item.Kind.OUTPUT, parts__isnull=True).order_by("pk")
    for item in outputs.iterator(BATCH):
        texts = enumerate(split_sentences(item.text)[:MOST_PARTS])
        ItemPart.objects.bulk_create(
            ItemPart(item=item, position=position, text=text) for position, text in texts
        )
        made += 1
    return made


@transaction.atomic
def import_parts(*, project: Project, parts: Mapping[tuple[str, str], Sequence[str]]) -> int:
    """Set the parts of the outputs of (document, system); return the number of outputs with new parts.

    All or none. Locks the project. Raises FrozenError, and ImportRefusedError for missing outputs.
    """
    project = lock_configurable(project)
    outputs = Item.objects.filter(document__project=project, kind=Item.Kind.OUTPUT)
    known = {
        (document, system): pk
        for document, system, pk in outputs.values_list("document__key", "system__name", "pk")
    }
    if unknown := [f"{document}, {system}" for document, system in parts if (document, system) not in known]:
        more = gettext(" and {count:,} more").format(count=len(unknown) - 3) if len(unknown) > 3 else ""
        raise ImportRefusedError(
            gettext("Nothing was imported. There is no output of {named}{more}.").format(
                named="; ".join(unknown[:3]), more=more
            )
        )
    items = [known[each] for each in parts]
    # New parts replace all earlier ones of these outputs.
    ItemPart.objects.filter(item__in=items).delete()
    ItemPart.objects.bulk_create(
        (
            ItemPart(item_id=known[each], position=position, text=text)
            for each, texts in parts.items()
            for position, text in enumerate(texts)
        ),
        batch_size=BATCH,
    )
    record(project, "parts.imported", project.name, after={"items": len(items)})
    return len(items)


MOST_BYTES = 50 * 1024 * 1024
Parts = dict[tuple[str, str], list[str]]


def read_parts(content: bytes) -> Parts:
    """Return the parts by document and system, in the order of the file. Raises ImportRefusedError.

    Columns: document, system, and `part`, or `parts` with a JSON list.
    """
    try:
        # Spreadsheets write a byte order mark, which would be part of the first column's name. Without
        # `strict` the csv module accepts broken quotation marks.
        rows = csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline=""), strict=True)
        named = {name.strip() for name in rows.fieldnames or ()}
        if not {"document", "system"} <= named or not {"part", "parts"} & named:
            raise ImportRefusedError(
                gettext("The file needs the columns document, system, and part or parts.")
            )
        parts: Parts = {}
        for document, system, texts, line in _rows(rows):
            found = parts.setdefault((document, system), [])
            # The rows of an output need not follow each other.
            found.extend(texts)
            if not all(texts) or len(found) > MOST_PARTS:
                raise ImportRefusedError(
                    gettext("Line {line}: an output has 1 to {most} parts, none of them empty.").format(
                        line=line, most=MOST_PARTS
                    )
                )
    except (UnicodeDecodeError, csv.Error) as error:
        raise ImportRefusedError(
            gettext("This is not a CSV file in UTF-8: {error}.").format(error=error)
        ) from None
    if not parts:
        raise ImportRefusedError(gettext("The file has no rows."))
    return parts


def _rows(rows: "csv.DictReader[str]") -> Iterator[tuple[str, str, list[str], int]]:
    for row in rows:
        # DictReader puts surplus cells into a list under None, and None into missing cells.
        given = {
            (name or "").strip(): (text or "").strip() for name, text in row.items() if isinstance(text, str)
        }
        texts = (
            [given.get("part", "")]
            if given.get("part") or "parts" not in given
            else _read_list(given["parts"], rows.line_num)
        )
        yield given.get("document", ""), given.get("system", ""), texts, rows.line_num


def _read_list(text: str, line: int) -> list[str]:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, list) or not found or not all(isinstance(each, str) for each in found):
        raise ImportRefusedError(
            gettext("Line {line}: parts is a JSON list of texts, such as {example}.").format(
                line=line, example='["One.", "Two."]'
            )
        )
    return [each.strip() for each in found]
