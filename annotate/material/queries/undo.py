"""Whether an import can be undone: rows of any app that depend on its rows."""

from collections import Counter
from collections.abc import Iterator

from django.db.models import Model, Q, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.models import (
    Assignment,
    DataImport,
    Document,
    Item,
    ItemPart,
    ItemTag,
    Rating,
    Round,
    System,
)
from annotate.material.reading.report import ImportCounts


def items_of(data_import: DataImport) -> QuerySet[Item]:
    return Item.objects.filter(brought_by=data_import)


def documents_of(data_import: DataImport) -> QuerySet[Document]:
    return Document.objects.filter(brought_by=data_import)


def unused_systems_of(data_import: DataImport) -> QuerySet[System]:
    return System.objects.filter(brought_by=data_import, items__isnull=True)


def explain_no_undo(data_import: DataImport) -> str:
    """Return the reason for which an import cannot be undone, naming the dependent rows; empty if it can.

    A fixed number of queries: one for each table that refers to items or documents, and four.
    """
    made = ImportCounts(**(data_import.report or {}).get("made", {}))
    if made.ratings:
        return gettext(
            "This import brought {ratings:,} recorded ratings, and the history of a rating is never "
            "deleted; only deleting the whole project does that."
        ).format(ratings=made.ratings)
    items = items_of(data_import)
    dependent = Counter(dict(_dependent(items, documents_of(data_import))))
    if dependent:
        listed = ", ".join(f"{count:,} {what}" for what, count in dependent.items())
        return gettext(
            "This import cannot be undone, because there are already {listed} of what it brought."
        ).format(listed=listed)
    # Items of another import need the documents that this one would delete.
    later = Item.objects.filter(document__brought_by=data_import).exclude(brought_by=data_import)
    if names := sorted({str(name) for name in later.values_list("brought_by__name", flat=True).distinct()}):
        return gettext(
            "Items of a later import are about documents of this one; undo that first: {names}."
        ).format(names=", ".join(names))
    closed = Round.objects.filter(project=data_import.project_id, number=1, status=Round.Status.CLOSED)
    if closed.filter(assignments__item__in=items).exists():
        return gettext("Round I was closed with the items of this import in it, so they stay.")
    return ""


def _dependent(items: QuerySet[Item], documents: QuerySet[Document]) -> Iterator[tuple[str, int]]:
    """Yield the numbers of rows, by kind, that refer to items or documents.

    Free assignments, parts and tags do not count: they are deleted with their item.
    """
    held = Q(started_at__isnull=False) | Q(annotator__isnull=False, reserved_until__gt=timezone.now())
    assignments = Assignment.objects.filter(held, item__in=items).count()
    ratings = Rating.objects.filter(assignment__item__in=items).count()
    found = Counter({gettext("started assignments"): assignments, gettext("ratings"): ratings})
    for rows in (items, documents):
        for model, field in _referring_to(rows.model):
            name = str(model._meta.verbose_name_plural)
            # A model's own manager may omit rows, and omitted rows also refer to the item.
            found[name] += model._base_manager.filter(**{f"{field}__in": rows}).count()
    yield from ((what, count) for what, count in found.items() if count)


def _referring_to(model: type[Model]) -> Iterator[tuple[type[Model], str]]:
    # Every relation counts, so a new table of any app prevents an undo without a change here. Relations
    # without a reverse name are hidden fields.
    for relation in model._meta.get_fields(include_hidden=True):
        if relation.auto_created and not relation.concrete and (relation.one_to_many or relation.one_to_one):
            related = relation.related_model
            if isinstance(related, type) and related not in (Assignment, Item, ItemPart, ItemTag):
                yield related, relation.field.name  # type: ignore[union-attr]
