from math import comb

from django.db.models import Count

from annotate.core.models import Item, Project


def count_by_size(project: Project) -> dict[int, int]:
    comparisons = Item.objects.filter(document__project=project).exclude(kind=Item.Kind.OUTPUT)
    found: dict[int, int] = {}
    for sides in comparisons.annotate(count=Count("sides")).values_list("count", flat=True):
        found[sides] = found.get(sides, 0) + 1
    return dict(sorted(found.items()))


def count_comparisons(project: Project, size: int, per_document: int | None) -> dict[str, int]:
    """Return the numbers for `draw_comparisons`. Two queries."""
    items = Item.objects.filter(document__project=project).order_by()
    outputs = items.filter(kind=Item.Kind.OUTPUT).values_list("document")
    counts = {document: count for document, count in outputs.annotate(count=Count("pk")) if count >= size}
    comparisons = items.exclude(kind=Item.Kind.OUTPUT).annotate(count=Count("sides")).filter(count=size)
    have = list(comparisons.values_list("document", flat=True))
    left = [count for document, count in counts.items() if document not in set(have)]
    new = sum(
        comb(count, size) if per_document is None else min(per_document, comb(count, size)) for count in left
    )
    return {"size": size, "drawn": len(have), "new": new}
