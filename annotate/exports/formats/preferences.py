"""Preference pairs for TRL: a table of prompt, chosen and rejected for each dimension."""

from collections.abc import Iterator, Mapping, Set
from functools import partial
from itertools import combinations, groupby

from annotate.core.models import Document, Item, Project
from annotate.exports.registry import COLUMNS, ExportPart, ExportTable, Row
from annotate.exports.tables.outcomes import final_values_by_item
from annotate.exports.tables.rows import TEXTS_AT_ONCE


def preference_tables(project: Project, left_out: Set[ExportPart]) -> list[ExportTable]:
    """Return a table for each dimension: pairs of items of one document with different means.

    A mean is over raters' last values. Named categories have no mean.
    """
    means: dict[str, dict[int, float]] = {
        key: {} for key in project.dimensions.order_by("position").values_list("key", flat=True)
    }
    for item, row in final_values_by_item(project):
        if row["mean"] is not None:
            means[row["dimension"]][item] = row["mean"]
    columns = tuple(column for column in COLUMNS["preferences"] if column.part not in left_out)
    return [
        ExportTable(key, "pairs of items whose means differ", columns, partial(_pairs, means=of_items))
        for key, of_items in means.items()
        if of_items
    ]


def _pairs(project: Project, means: Mapping[int, float]) -> Iterator[Row]:
    items = Item.objects.filter(document__project=project).select_related("document", "system")
    in_order = items.order_by("document", "pk").iterator(TEXTS_AT_ONCE)
    for document, group in groupby(in_order, key=lambda item: item.document):
        rated = [item for item in group if item.pk in means]
        for pair in combinations(rated, 2):
            rejected, chosen = sorted(pair, key=lambda item: means[item.pk])
            if means[chosen.pk] > means[rejected.pk]:
                yield {
                    "prompt": _prompt(document),
                    "chosen": chosen.text,
                    "rejected": rejected.text,
                    "score_chosen": means[chosen.pk],
                    "score_rejected": means[rejected.pk],
                    "system_chosen": chosen.system.name,
                    "system_rejected": rejected.system.name,
                    "document": document.key,
                }


def _prompt(document: Document) -> str:
    """Return the document's text. Several parts follow each other under their labels."""
    if len(document.parts) == 1:
        return str(document.parts[0]["text"])
    return "\n\n".join(f"{part['label']}\n{part['text']}".strip() for part in document.parts)
