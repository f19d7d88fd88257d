"""Copying documents with their outputs into another project."""

from collections.abc import Sequence

from annotate.core.models import ComparisonSide, Item, ItemPart, Project, System


def copy_documents(project: Project, into: Project, keys: Sequence[int]) -> None:
    """Copy documents with their outputs, comparisons and parts; system names are as in the project."""
    documents = {}
    for document in project.documents.filter(pk__in=keys).order_by("pk"):
        old = document.pk
        document.pk, document.project, document.brought_by = None, into, None
        document._state.adding = True
        document.save()
        documents[old] = document
    items = Item.objects.filter(document__in=documents, gold__isnull=True).order_by("pk")
    old_items = list(items.select_related("system"))
    systems = {
        name: System.objects.create(project=into, name=name, compares=compares)
        for name, compares in dict.fromkeys((each.system.name, each.system.compares) for each in old_items)
    }
    made = {
        each.pk: Item.objects.create(
            document=documents[each.document_id],
            system=systems[each.system.name],
            **{name: getattr(each, name) for name in ("kind", "text", "digest", "format", "metadata")},
        )
        for each in old_items
    }
    ComparisonSide.objects.bulk_create(
        ComparisonSide(item=made[side.item_id], position=side.position, output=made[side.output_id])
        for side in ComparisonSide.objects.filter(item__in=made, output__in=made)
    )
    ItemPart.objects.bulk_create(
        ItemPart(item=made[part.item_id], position=part.position, text=part.text)
        for part in ItemPart.objects.filter(item__in=made)
    )
