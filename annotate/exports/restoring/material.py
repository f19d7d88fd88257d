"""Documents, systems and items, in the order in which they were exported."""

from itertools import groupby
from operator import itemgetter

from annotate.core.models import ComparisonSide, Document, Item, ItemPart, System, TextFormat, text_digest
from annotate.exports.restoring.archive import ExportArchive
from annotate.exports.restoring.restored import Restored
from annotate.exports.tables.material import COMPARISONS, PARTS

TEXTS_AT_ONCE = 500


def restore_material(restored: Restored, archive: ExportArchive) -> None:
    """Make the documents with their parts, the systems, and the items."""
    for key, rows in groupby(archive.rows("documents"), key=itemgetter("document")):
        found = list(rows)
        texts = [{"label": row["label"], "text": row["text"]} for row in found]
        parts = [
            part if row["format"] == TextFormat.PLAIN else {**part, "format": row["format"]}
            for part, row in zip(texts, found, strict=True)
        ]
        document = Document.objects.create(
            project=restored.project,
            key=key,
            title=found[0]["title"],
            parts=parts,
            digest=text_digest(texts),
            metadata=found[0].get("metadata", {}),  # exports of earlier versions have none
        )
        restored.documents[key] = document.pk
    _restore_items(restored, archive)
    _restore_comparisons(restored, archive)
    pieces = (ItemPart(item_id=restored.item(row), **PARTS.fields(row)) for row in archive.rows("parts"))
    ItemPart.objects.bulk_create(pieces, TEXTS_AT_ONCE)


def _restore_comparisons(restored: Restored, archive: ExportArchive) -> None:
    """Make the sides; their texts give the comparison's digest, which sets the order of sides."""
    of_item = itemgetter("document", "system")
    for (document, _), found in groupby(archive.rows("comparisons"), key=of_item):
        rows = list(found)
        item = restored.item(rows[0])
        outputs = [restored.items[document, row["output_system"]] for row in rows]
        ComparisonSide.objects.bulk_create(
            ComparisonSide(item_id=item, output_id=output, **COMPARISONS.fields(row))
            for row, output in zip(rows, outputs, strict=True)
        )
        texts = dict(Item.objects.filter(pk__in=outputs).values_list("pk", "text"))
        Item.objects.filter(pk=item).update(digest=text_digest([texts[each] for each in outputs]))


def _restore_items(restored: Restored, archive: ExportArchive) -> None:
    systems: dict[str, int] = {}
    waiting: list[tuple[tuple[str, str], Item]] = []
    for row in archive.rows("items"):
        name, key = row["system"], row["document"]
        if name not in systems:
            made = System.objects.create(
                project=restored.project, name=name, compares=row["kind"] != Item.Kind.OUTPUT
            )
            systems[name] = made.pk
        item = Item(
            document_id=restored.documents[key],
            system_id=systems[name],
            kind=row["kind"],
            text=row["text"],
            digest=text_digest(row["text"]),
            format=row["format"],
            metadata=row.get("metadata", {}),
        )
        waiting.append(((key, name), item))
        if len(waiting) == TEXTS_AT_ONCE:
            _write_items(restored, waiting)
    _write_items(restored, waiting)


def _write_items(restored: Restored, waiting: list[tuple[tuple[str, str], Item]]) -> None:
    Item.objects.bulk_create([item for _, item in waiting])
    restored.items.update((unit, item.pk) for unit, item in waiting)
    restored.comparisons.update((item.pk, item.kind) for _, item in waiting if item.is_comparison)
    waiting.clear()
