from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import models
from django.db.models import Count, Exists, F, Max, OuterRef, Prefetch, Q, QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_at
from annotate.core.metadata import metadata_of_items, metadata_text
from annotate.core.models import Assignment, Dispute, Item, ItemTag, Project, Rating, RatingChange
from annotate.core.rounds import round_one
from annotate.items.registry import MARKS
from annotate.results.queries.disagreements import texts_of_sides


class RatedState(models.TextChoices):
    UNASKED = "unasked", _("not assigned")
    WAITING = "waiting", _("not started")
    BEGUN = "begun", _("started")
    COMPLETE = "complete", _("complete")


class ItemOrder(models.TextChoices):
    IMPORTED = "imported", _("as imported")
    NEWEST = "newest", _("newest first")
    DOCUMENT = "document", _("by document")
    FEWEST = "fewest", _("fewest raters first")
    APART = "apart", _("largest range first")


@dataclass(frozen=True)
class ItemFilter:
    """A selection of items and its order; an empty field selects all.

    words: in the output, or in key or title of its document. raters: the minimum number of complete ratings.
    `apart`: the minimum range of Round I values of a disputed unit. An item has all of `marked`. metadata: a
    name; metadata_value: its value, of the item or of its document.
    """

    words: str = ""
    document: str = ""
    system: str = ""
    state: str = ""
    raters: int | None = None
    apart: int | None = None
    tag: str = ""
    marked: tuple[str, ...] = ()
    metadata: str = ""
    metadata_value: str = ""
    order: str = ""


def items_of(project: Project, chosen: ItemFilter) -> QuerySet[Item]:
    found = Item.objects.filter(document__project=project)
    # Only these two filters need the round, which takes a query.
    round = round_one(project) if chosen.state or chosen.raters else None
    assignments: QuerySet[Any, Any] = Assignment.objects.filter(round=round).order_by().values("item")
    if chosen.words:
        in_document = Q(document__title__icontains=chosen.words) | Q(document__key__icontains=chosen.words)
        found = found.filter(Q(text__icontains=chosen.words) | in_document)
    if chosen.document:
        found = found.filter(document__key=chosen.document)
    if chosen.system:
        found = found.filter(system__name=chosen.system)
    if chosen.state == RatedState.UNASKED:
        # Not "in none of them": PostgreSQL then scans all assignments again for each item.
        found = found.filter(~Exists(Assignment.objects.filter(round=round, item=OuterRef("pk"))))
    elif chosen.state:
        found = found.filter(
            pk__in=assignments.annotate(**_PROGRESS).filter(_STATES[chosen.state]).values("item")
        )
    if chosen.raters:
        rated = assignments.annotate(**_PROGRESS).filter(Q(done__gte=chosen.raters))
        found = found.filter(pk__in=rated.values("item"))
    if chosen.apart:
        found = found.filter(pk__in=Dispute.objects.filter(spread__gte=chosen.apart).values("item"))
    if chosen.tag:
        found = found.filter(pk__in=ItemTag.objects.filter(name=chosen.tag).values("item"))
    if chosen.metadata:
        found = found.annotate(chosen_metadata=metadata_of_items(chosen.metadata))
        wanted = (
            Q(chosen_metadata=chosen.metadata_value) if chosen.metadata_value else ~Q(chosen_metadata=None)
        )
        found = found.filter(wanted)
    for mark in chosen.marked:
        found = found.filter(MARKS[mark].condition())
    return found


# Grouped once over the round: a condition on each of 100,000 items by itself took twice as long.
_PROGRESS: Mapping[str, Count] = {
    "asked": Count("pk"),
    "begun": Count("started_at"),
    "done": Count("completed_at"),
}
_STATES: Mapping[str, Q] = {
    RatedState.WAITING: Q(begun=0),
    RatedState.BEGUN: Q(begun__gt=0, done__lt=F("asked")),
    RatedState.COMPLETE: Q(done=F("asked")),
}


def select_keys(project: Project, chosen: ItemFilter) -> list[int]:
    """Return the keys of the selected items, in the chosen order. Up to three queries.

    Returns all keys: a count and then a page would run the slow part twice.
    """
    found = items_of(project, chosen)
    if chosen.order == ItemOrder.DOCUMENT:
        return list(found.order_by("document__key", "pk").values_list("pk", flat=True))
    keys = sorted(found.order_by().values_list("pk", flat=True), reverse=chosen.order == ItemOrder.NEWEST)
    if chosen.order == ItemOrder.FEWEST:
        # Sorting is stable, so items with equal numbers stay as imported.
        # Items without a complete rating are missing in these counts and sort as 0.
        rated = Assignment.objects.filter(round=round_one(project), completed_at__isnull=False)
        count = dict(rated.order_by().values_list("item").annotate(Count("pk")))
        keys.sort(key=lambda key: count.get(key, 0))
    elif chosen.order == ItemOrder.APART:
        units = Dispute.objects.filter(round__project=project).order_by()
        apart = dict(units.values_list("item").annotate(Max("spread")))
        keys.sort(key=lambda key: -apart.get(key, 0))
    return keys


def describe_contents(project: Project) -> str:
    """Return a summary with the numbers of outputs, documents, systems and comparisons. One query."""
    items = Item.objects.filter(document__project=project)
    is_output = Q(kind=Item.Kind.OUTPUT)
    counts = items.aggregate(
        items=Count("pk", filter=is_output),
        documents=Count("document", distinct=True),
        systems=Count("system", distinct=True, filter=is_output),
        comparisons=Count("pk", filter=~is_output),
    )
    sentence = gettext("{items} outputs of {documents} documents by {systems} systems.")
    if counts["comparisons"]:
        sentence = gettext(
            "{items} outputs of {documents} documents by {systems} systems, and {comparisons} comparisons."
        )
    return sentence.format(**{name: f"{count:,}" for name, count in counts.items()})


@dataclass(frozen=True)
class ListedItem:
    """An item in the list: its numbers of complete and required ratings, its disputes, the widest one, its
    tags.
    """

    item: Item
    rated: int
    asked: int
    disputes: int
    apart: int | None
    tags: Sequence[str]


def listed_items(keys: Sequence[int]) -> list[ListedItem]:
    """Return items (by key) for the list, in order. Four queries."""
    # Parts hold the whole document, which the list does not show.
    rows = Item.objects.select_related("document", "system").defer("document__parts").in_bulk(keys)
    # An item can be deleted between the query for the keys and this one.
    items = [rows[key] for key in keys if key in rows]
    done = Count("pk", filter=Q(completed_at__isnull=False))
    assignments = Assignment.objects.filter(item__in=keys, round__number=1).order_by().values_list("item")
    # By item: all assignments of Round I, and the complete ones.
    asked = {
        item: (all_of_it, rated)
        for item, all_of_it, rated in assignments.annotate(all=Count("pk"), done=done)
    }
    units = Dispute.objects.filter(item__in=keys).order_by().values_list("item")
    apart = {item: (count, most) for item, count, most in units.annotate(all=Count("pk"), most=Max("spread"))}
    tags: dict[int, list[str]] = {}
    for item, name in ItemTag.objects.filter(item__in=keys).order_by("name").values_list("item", "name"):
        tags.setdefault(item, []).append(name)
    return [
        ListedItem(
            item,
            rated=asked.get(item.pk, (0, 0))[1],
            asked=asked.get(item.pk, (0, 0))[0],
            disputes=apart.get(item.pk, (0, None))[0],
            apart=apart.get(item.pk, (0, None))[1],
            tags=tags.get(item.pk, []),
        )
        for item in items
    ]


def tags_of(project: Project) -> list[str]:
    tags = ItemTag.objects.filter(item__document__project=project)
    return list(tags.order_by("name").values_list("name", flat=True).distinct())


RaterAnswers = tuple[str, int, Sequence[tuple[FrozenDimension, Rating | None]]]
"""A rater's name, a round, and the answers about an item by dimension; None without an answer."""


@dataclass(frozen=True)
class ItemFacts:
    item: Item
    dimensions: Sequence[FrozenDimension]
    raters: Sequence[RaterAnswers]
    assignments: Sequence[Assignment]
    disputes: Sequence[Dispute]
    tags: Sequence[str]
    sides: Sequence[str] = ()

    @property
    def title(self) -> str:
        return str(self.item.document)

    @property
    def metadata_of_document(self) -> list[tuple[str, str]]:
        return [(name, metadata_text(value)) for name, value in self.item.document.metadata.items()]

    @property
    def metadata_of_item(self) -> list[tuple[str, str]]:
        """The names and values of the item's metadata, which may name the system."""
        return [(name, metadata_text(value)) for name, value in self.item.metadata.items()]

    @property
    def parts(self) -> list[dict[str, str]]:
        return list(self.item.document.parts)


def item_facts(project: Project, item: Item) -> ItemFacts:
    """Return everything about an item with its document and system loaded. Up to nine queries."""
    dimensions = guideline_at(project, round_one(project)).dimensions
    assignments = Assignment.objects.filter(item=item, round__number__in=(1, 2))
    disputes = Dispute.objects.filter(item=item).select_related("dimension").order_by("dimension__position")
    return ItemFacts(
        item=item,
        dimensions=dimensions,
        raters=_answers(item, dimensions),
        assignments=list(assignments.select_related("round", "annotator").order_by("round__number", "slot")),
        disputes=list(disputes),
        tags=list(item.tags.order_by("name").values_list("name", flat=True)),
        sides=texts_of_sides(item),
    )


def _answers(item: Item, dimensions: Sequence[FrozenDimension]) -> list[RaterAnswers]:
    ratings = (
        Rating.objects.filter(assignment__item=item, assignment__round__number__in=(1, 2))
        .select_related("assignment__annotator", "assignment__round")
        .prefetch_related(Prefetch("changes", RatingChange.objects.order_by("revision")))
        .order_by("assignment__round__number", "assignment__annotator__alias")
    )
    given: dict[tuple[int, str], dict[int, Rating]] = {}
    for rating in ratings:
        # An emptied rating keeps its row and its history, but it is no answer.
        if rating.is_answered and rating.assignment.annotator:
            key = rating.assignment.round.number, rating.assignment.annotator.rater_name
            given.setdefault(key, {})[rating.dimension_id] = rating
    return [
        (rater, number, [(each, answers.get(each.id)) for each in dimensions])
        for (number, rater), answers in given.items()
    ]
