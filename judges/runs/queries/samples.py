import json
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import IntFlag
from itertools import combinations, pairwise

import numpy as np
from django.db import connection
from django.db.models import Count, Q, QuerySet
from django.db.models.expressions import RawSQL
from django.utils.translation import gettext

from agreement.streams import Stream
from annotate.core.guideline import FrozenDimension, FrozenGuideline
from annotate.core.models import Item, ItemPart, Project, Rating, Round, System
from annotate.questions import kind_of
from annotate.results.queries.reliability_data import rated_items
from judges.core.errors import RunRefusedError
from judges.core.material import outputs_of
from judges.core.models import Judge, Judgment
from judges.core.specification import Scope

MOST_DOCUMENTS = MOST_ITEMS = 10_000
"""What fits into one statement; a run over more is a run over all."""
Pair = tuple[int, int]


def drawable_documents(
    project: Project, dimensions: Collection[str], items: Sequence[int] | None = None
) -> list[int]:
    """Return the ids of the documents available for a sample, in sampling order. Two queries.

    These are the documents that results use: outside development, with a counted rating on one of the
    dimensions (keys). Before the first rating, all documents. items: the documents of these items instead.
    The project's seed shuffles all documents first, so a larger sample includes a smaller one, and judges
    with samples of one size judge the same documents.
    """
    documents = project.documents.filter(items__isnull=False)
    if items is not None:
        documents = documents.filter(items__in=among(items))
    # Sorted by key before the shuffle: the order depends on the seed and the keys alone.
    drawn = list(documents.distinct().order_by("key").values_list("pk", flat=True))
    Stream(project.seed).of("sample of documents").shuffler().shuffle(drawn)
    if items is not None:
        return drawn
    rated = Rating.objects.filter(
        # Answers to other questions than scales have data and no value.
        Q(value__isnull=False) | Q(data__isnull=False),
        assignment__round__project=project,
        assignment__annotator__counted=True,
        assignment__item__document__development=None,
        dimension__key__in=dimensions,
    )
    # Before the first rating no document is used, and all are available.
    used = set(rated.order_by().values_list("assignment__item__document", flat=True).distinct())
    return [each for each in drawn if each in used] if used else drawn


@dataclass(frozen=True)
class ChosenItems:
    """The items of a run, by ids: of some documents, and of them only some; all if None.

    units: by dimension, only these items.
    """

    documents: Sequence[int] | None = None
    items: Sequence[int] | None = None
    units: Mapping[int, Sequence[int]] | None = None

    def for_judge(self, judge: Judge) -> "ChosenItems":
        """Return the items for a judge; one with all dimensions in a call needs all of them."""
        if self.units is None or not judge.asks_several:
            return self
        items = {item for items in self.units.values() for item in items}
        return replace(self, items=sorted(items), units=None)

    def filter_items(self, items: QuerySet[Item]) -> QuerySet[Item]:
        if self.documents is not None:
            items = items.filter(document__in=self.documents)
        return items if self.items is None else items.filter(pk__in=self.items)

    def filter_judgments(self, judgments: QuerySet[Judgment]) -> QuerySet[Judgment]:
        """Return the judgments with only selected items, one or two."""
        if self.documents is not None:
            judgments = judgments.filter(item__document__in=self.documents)
        if self.units is not None:
            # A condition that no row meets, for units without any item.
            wanted = Q(pk=None)
            for dimension, items in self.units.items():
                wanted |= Q(dimension=dimension, item__in=among(items))
            judgments = judgments.filter(wanted)
        if self.items is None:
            return judgments
        return judgments.filter(Q(other=None) | Q(other__in=self.items), item__in=self.items)

    def condition(self, *of_items: str) -> str:
        """Return the SQL condition on columns with the ids of items; it contains the ids as numbers,
        without a limit on their count.
        """
        # Numbers go into the statement itself: SQLite limits the number of parameters.
        found = ""
        if self.documents is not None:
            found += f" AND document.id IN ({_numbers(self.documents)})"
        if self.items is not None:
            found += "".join(f" AND {column} IN ({_numbers(self.items)})" for column in of_items)
        return found

    def condition_on_units(self, dimension: str, item: str) -> str:
        """Return the SQL condition on the combinations of dimensions and items, on columns with their ids."""
        if self.units is None:
            return ""
        wanted = [
            f"({dimension} = {int(key)} AND {item} IN ({_numbers(items)}))"
            for key, items in self.units.items()
        ]
        return f" AND ({' OR '.join(wanted) or '1 = 0'})"


def among(keys: Collection[int]) -> RawSQL:
    """Return keys as a subquery with one parameter: SQLite limits the length of a list to some thousands."""
    if connection.vendor == "sqlite":
        return RawSQL("SELECT value FROM json_each(%s)", [json.dumps(list(keys))])
    return RawSQL("SELECT unnest(%s::bigint[])", [list(keys)])


def chosen_items(project: Project, scope: Scope) -> ChosenItems:
    """Return the selected or sampled items of a scope. Up to two queries."""
    if scope.chosen is not None:
        return ChosenItems(list(scope.chosen), scope.items, scope.units)
    drawn = None
    if scope.documents is not None:
        drawn = drawable_documents(project, scope.dimensions, scope.items)[: scope.documents]
    return ChosenItems(drawn, scope.items, scope.units)


def _numbers(numbers: Sequence[int]) -> str:
    # An empty list is invalid SQL, and NULL equals no id.
    return ", ".join(map(str, numbers)) or "NULL"


# The material of items, which decides what questions can be asked about them.


class Offer(IntFlag):
    """Material of an item for questions; a question needs one of these."""

    OUTPUT = 1
    PAIR = 2
    COMPARISON = 4
    PARTS = 8


_NEEDS = {"preference": Offer.PAIR, "ranking": Offer.COMPARISON, "parts": Offer.PARTS}


def need_of(dimension: FrozenDimension) -> Offer:
    return _NEEDS.get(dimension.kind, Offer.OUTPUT)


def offer_in_sql(item: str) -> str:
    """Return the SQL of an item's offers as a number; `item` is the alias of its table."""
    parts = f"EXISTS (SELECT 1 FROM annotate_itempart part WHERE part.item_id = {item}.id)"
    # One bit for each offer, so that a single bitwise test finds a match.
    return (
        f"CASE {item}.kind WHEN 'comparison' THEN {Offer.COMPARISON:d} WHEN 'pair' THEN {Offer.PAIR:d} "
        f"ELSE {Offer.OUTPUT:d} + CASE WHEN {parts} THEN {Offer.PARTS:d} ELSE 0 END END"
    )


def count_offers(items: QuerySet[Item]) -> Mapping[Offer, int]:
    """Return the number of items by offer. One query."""
    is_output = Q(kind=Item.Kind.OUTPUT)
    with_parts = ItemPart.objects.values("item")
    found = items.aggregate(
        output=Count("pk", filter=is_output),
        pair=Count("pk", filter=Q(kind=Item.Kind.PAIR)),
        comparison=Count("pk", filter=Q(kind=Item.Kind.COMPARISON)),
        parts=Count("pk", filter=is_output & Q(pk__in=with_parts)),
    )
    return {Offer[name.upper()]: count for name, count in found.items()}


def samples_about(judge: Judge, dimension: FrozenDimension) -> int:
    """Return the number of calls for an item; a sample of a preference is one call in each order."""
    return judge.samples * (2 if kind_of(dimension).asks_both_orders else 1)


# Pairs of systems for head to head: all, neighbours in human rank, or selected ones.


def all_pairs(project: Project) -> dict[Pair, str]:
    """Return every pair of a project's systems that have items, in the order of names. One query."""
    systems = (
        System.objects.filter(project=project, compares=False, items__isnull=False)
        .distinct()
        .order_by("name")
    )
    return _name_pairs(combinations(systems, 2))


def neighbouring_pairs(project: Project) -> dict[Pair, str]:
    """Return the pairs of systems that are neighbours in rank of human mean scores. Five queries.

    A system's score is the mean over all dimensions but named categories, each on its scale from 0 to 1, of
    its items' mean ratings, after discussion if there was one. Raises RunRefusedError.
    """
    scores = _mean_scores(project)
    if len(scores) < 2:
        raise RunRefusedError(
            gettext(
                "Neighbours in rank need ratings by people of at least two systems, and there are none yet; "
                "choose all pairs or choose them yourself."
            )
        )
    systems = System.objects.in_bulk(scores)
    # Systems with equal scores are sorted by name, so that neighbours are the same on every database.
    ranked = sorted(systems.values(), key=lambda system: (-scores[system.pk], system.name))
    return _name_pairs(pairwise(ranked))


def _mean_scores(project: Project) -> dict[int, float]:
    rounds = Round.objects.select_related("guideline").filter(project=project)
    last = rounds.order_by("-number").first()
    if last is None:
        return {}
    scales = FrozenGuideline.from_json(last.guideline.content)
    system_of = dict(outputs_of(project).values_list("pk", "system"))
    means: dict[int, list[float]] = defaultdict(list)
    for key, rated in rated_items(last).items():
        dimension = scales.dimension(key)
        if dimension is None or not dimension.is_scale or dimension.is_named or not rated.items.size:
            continue
        extent = dimension.scale_maximum - dimension.scale_minimum
        # From 0 to 1, or a dimension with a wide scale would dominate the mean.
        shares = (np.nanmean(rated.data.values, axis=0) - dimension.scale_minimum) / extent
        of_system: dict[int, list[float]] = defaultdict(list)
        for item, share in zip(rated.items.tolist(), shares.tolist(), strict=True):
            of_system[system_of[item]].append(share)
        for system, values in of_system.items():
            means[system].append(sum(values) / len(values))
    return {system: sum(values) / len(values) for system, values in means.items()}


def _name_pairs(pairs: Iterable[tuple[System, System]]) -> dict[Pair, str]:
    return {(first.pk, second.pk): f"{first.name} and {second.name}" for first, second in pairs}
