"""The items suitable for a question, and the number of a judge's samples for each."""

from collections.abc import Mapping
from enum import IntFlag

from django.db.models import Count, Q, QuerySet

from annotate.core.guideline import FrozenDimension
from annotate.core.models import Item, ItemPart
from annotate.questions import kind_of
from judges.core.models import Judge


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
