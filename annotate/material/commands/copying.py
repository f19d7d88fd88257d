from collections.abc import Collection, Mapping

from annotate.core.models import ComparisonSide, Document, Item, ItemPart, Project, System


def copy_documents(project: Project, into: Project, keys: Collection[int]) -> dict[int, Document]:
    originals = list(project.documents.filter(pk__in=keys).order_by("pk"))
    fields = ("key", "title", "parts", "digest", "metadata")
    copies = Document.objects.bulk_create(
        Document(project=into, **{name: getattr(each, name) for name in fields}) for each in originals
    )
    return {old.pk: new for old, new in zip(originals, copies, strict=True)}


def copy_outputs(documents: Mapping[int, Document], into: Project) -> None:
    """Copy outputs, comparisons and parts of copied documents; system names are as in the project."""
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
    # Sides refer to copied outputs, so outputs and comparisons come first.
    ComparisonSide.objects.bulk_create(
        ComparisonSide(item=made[side.item_id], position=side.position, output=made[side.output_id])
        for side in ComparisonSide.objects.filter(item__in=made, output__in=made)
    )
    ItemPart.objects.bulk_create(
        ItemPart(item=made[part.item_id], position=part.position, text=part.text)
        for part in ItemPart.objects.filter(item__in=made)
    )
