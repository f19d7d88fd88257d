"""Preference pairs for TRL: a table of prompt, chosen and rejected for each dimension."""

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import partial
from itertools import combinations, groupby

from annotate.core.models import ComparisonSide, Document, Item, Project
from annotate.exports.registry import COLUMNS, ExportPart, ExportTable, Row
from annotate.exports.tables.outcomes import final_values_by_item
from annotate.exports.tables.rows import TEXTS_AT_ONCE
from annotate.questions.preference import PREFERENCE
from annotate.questions.scale import SCALE


def preference_tables(project: Project, left_out: Set[ExportPart]) -> list[ExportTable]:
    """Return a table for each scale and each question about preferences.

    Of a scale: pairs of items of one document with different means over raters' last values. Named categories
    have no mean. Of preferences: comparisons in which most raters prefer the same output.
    """
    kinds = dict(project.dimensions.order_by("position").values_list("key", "kind"))
    means: dict[str, dict[int, float]] = {key: {} for key, kind in kinds.items() if kind == SCALE.key}
    given: dict[str, dict[int, list[float]]] = {
        key: {} for key, kind in kinds.items() if kind == PREFERENCE.key
    }
    for item, row in final_values_by_item(project):
        if row["dimension"] in given:
            given[row["dimension"]][item] = list(row["values"].values())
        elif row["dimension"] in means and row["mean"] is not None:
            means[row["dimension"]][item] = row["mean"]
    columns = tuple(column for column in COLUMNS["preferences"] if column.part not in left_out)
    differing, preferred = "pairs of items whose means differ", "outputs that most raters prefer"
    tables = {
        **{key: (differing, partial(_pairs, means=own)) for key, own in means.items() if own},
        **{key: (preferred, partial(_preferences, given=own)) for key, own in given.items() if own},
    }
    return [ExportTable(key, tables[key][0], columns, tables[key][1]) for key in kinds if key in tables]


def _pairs(project: Project, means: Mapping[int, float]) -> Iterator[Row]:
    items = Item.objects.filter(document__project=project).select_related("document", "system")
    in_order = items.order_by("document", "pk").iterator(TEXTS_AT_ONCE)
    for _, group in groupby(in_order, key=lambda item: item.document_id):
        rated = [item for item in group if item.pk in means]
        for pair in combinations(rated, 2):
            rejected, chosen = sorted(pair, key=lambda item: means[item.pk])
            if means[chosen.pk] > means[rejected.pk]:
                yield _row(chosen, rejected, means[chosen.pk], means[rejected.pk])


def _preferences(project: Project, given: Mapping[int, Sequence[float]]) -> Iterator[Row]:
    """Yield comparisons of two outputs in which more than half of the raters prefer the same one."""
    sides = ComparisonSide.objects.filter(item__document__project=project, item__in=given)
    named = sides.select_related("output__document", "output__system").order_by("item", "position")
    for item, group in groupby(named.iterator(TEXTS_AT_ONCE), key=lambda side: side.item_id):
        outputs, values = [side.output for side in group], given[item]
        if len(outputs) != 2 or not values:
            continue
        shares = [sum(value * way > 0 for value in values) / len(values) for way in (-1, 1)]
        if max(shares) > 0.5:
            best = shares.index(max(shares))
            yield _row(outputs[best], outputs[1 - best], shares[best], shares[1 - best])


def _row(chosen: Item, rejected: Item, score_chosen: float, score_rejected: float) -> Row:
    return {
        "prompt": _prompt(chosen.document),
        "chosen": chosen.text,
        "rejected": rejected.text,
        "score_chosen": score_chosen,
        "score_rejected": score_rejected,
        "system_chosen": chosen.system.name,
        "system_rejected": rejected.system.name,
        "document": chosen.document.key,
    }


def _prompt(document: Document) -> str:
    """Return the document as one string. Several parts follow each other under their labels."""
    if len(document.parts) == 1:
        return str(document.parts[0]["text"])
    return "\n\n".join(f"{part['label']}\n{part['text']}".strip() for part in document.parts)
