"""The end of a document: a rater's own values of all its items side by side, sorted, to be revised."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import attrgetter

from django.db.models import Count, Min, Q, QuerySet

from annotate.core.access import token_of
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_of
from annotate.core.models import Assignment, Document, Item, Membership, Rating, RevisedValue, Round
from annotate.rating.queries.assigned import in_own_order
from annotate.rating.queries.places import met_together
from annotate.rating.queries.work import ItemPage, Row


@dataclass(frozen=True)
class HeldValue:
    """An item's rating on one dimension, with the revised value where there is one."""

    assignment: Assignment
    rating: Rating
    row: Row

    @property
    def name(self) -> str:
        """What the fields of its form begin with."""
        return f"item-{self.assignment.position}"

    @property
    def token(self) -> str:
        """What a page says to mean its assignment."""
        return token_of(self.assignment)

    @property
    def revised(self) -> RevisedValue | None:
        """What was saved beside the rating."""
        return getattr(self.rating, "revised", None)

    @property
    def independent(self) -> float | None:
        """The value that was given before the others of the document were seen beside it."""
        return self.rating.value

    @property
    def value(self) -> float | None:
        """The value that is held: the revised one, else the independent one."""
        revised = self.revised
        return self.rating.value if revised is None or self.rating.value is None else revised.value

    @property
    def is_revised(self) -> bool:
        """Whether the value that is held is another than the independent one."""
        return self.value != self.rating.value


@dataclass(frozen=True)
class DocumentEnd:
    """What a rater sees at the end of a document: one dimension of it, the others to choose, where to go on.

    next: the position of the item that follows the document, None where none is reserved yet.
    following: the dimension after the one that is shown.
    """

    document: Document
    dimensions: Sequence[FrozenDimension]
    shown: FrozenDimension
    held: Sequence[HeldValue]
    next: int | None

    @property
    def before(self) -> FrozenDimension | None:
        """The dimension before the one that is shown, None before the first."""
        here = self.dimensions.index(self.shown)
        return self.dimensions[here - 1] if here else None

    @property
    def following(self) -> FrozenDimension | None:
        """The dimension after the one that is shown, None after the last."""
        here = self.dimensions.index(self.shown)
        return self.dimensions[here + 1] if here + 1 < len(self.dimensions) else None


def leads_to_end(round: Round, page: ItemPage) -> bool:
    """Return whether the end of its document comes after an item, before the next one."""
    ends = page.place_in_order is not None and page.place_in_order.ends_document
    return ends and round.revises_documents and round.is_open


def own_in_document(annotator: Membership, document: int) -> QuerySet[Assignment]:
    """Return the annotator's own items of a document in their order, without those met a second time."""
    own = met_together(annotator.project_id).filter(annotator=annotator, item__document=document)
    return own.exclude(plan=Assignment.Plan.REPEAT).order_by("position")


def own_in_document_of(assignment: Assignment) -> QuerySet[Assignment]:
    """Return the own items of the document that an assignment's item is of."""
    document = Item.objects.filter(pk=assignment.item_id).values("document")
    own = met_together(assignment.round.project_id).filter(annotator=assignment.annotator_id)
    return own.filter(item__document__in=document).exclude(plan=Assignment.Plan.REPEAT)


def ended_documents(round: Round, annotator: Membership) -> frozenset[int]:
    """Return the keys of the documents whose own values stand side by side on a page. One query at most."""
    if not (round.revises_documents and round.is_open):
        return frozenset()
    own = met_together(round.project_id).filter(annotator=annotator).exclude(plan=Assignment.Plan.REPEAT)
    missing = Count("pk", filter=Q(completed_at__isnull=True))
    of_document = own.order_by().values_list("item__document").annotate(items=Count("pk"), missing=missing)
    return frozenset(document for document, items, missing in of_document if items > 1 and not missing)


def is_rated(own: QuerySet[Assignment]) -> bool:
    """Return whether nothing is missing on any of these items. One query."""
    return not own.filter(completed_at__isnull=True).exists()


def after_document(annotator: Membership, document: int) -> int | None:
    """Return the position of what follows the last own item of a document in the annotator's order."""
    last = own_in_document(annotator, document).last()
    mine = met_together(annotator.project_id).filter(annotator=annotator)
    after = mine.filter(position__gt=last.position if last else 0).order_by()
    found: int | None = after.aggregate(first=Min("position"))["first"]
    return found


def document_end(
    round: Round, annotator: Membership, document: Document, key: str = ""
) -> DocumentEnd | None:
    """Return the annotator's values of a dimension side by side; of the first one if the key is unknown.

    Annotators can revise only values of scales. None if there are fewer than two items, or if an item is not
    completely rated.
    Five queries.
    """
    own = list(own_in_document(annotator, document.pk).select_related("item", "round"))
    if len(own) < 2 or any(each.completed_at is None for each in own):
        return None
    ratings = Rating.objects.filter(assignment__in=own).select_related("revised")
    by_dimension: dict[int, dict[int, Rating]] = {}
    for rating in ratings:
        by_dimension.setdefault(rating.dimension_id, {})[rating.assignment_id] = rating
    rated = [each for each in guideline_of(round).dimensions if each.is_scale and each.id in by_dimension]
    dimensions = in_own_order(rated, round, annotator)
    if not dimensions:
        return None
    shown = next((each for each in dimensions if each.key == key), dimensions[0])
    held = _sort_by_value(own, shown, by_dimension[shown.id])
    return DocumentEnd(document, dimensions, shown, held, after_document(annotator, document.pk))


def _sort_by_value(
    own: Sequence[Assignment], dimension: FrozenDimension, ratings: Mapping[int, Rating]
) -> list[HeldValue]:
    """Sort by value, the highest first; answers without a value stand last."""
    found = [
        HeldValue(each, ratings[each.pk], Row(dimension, ratings[each.pk]))
        for each in own
        if each.pk in ratings
    ]
    with_value = [each for each in found if each.value is not None]
    return [
        *sorted(with_value, key=attrgetter("value"), reverse=True),
        *(each for each in found if each.value is None),
    ]
