"""Subjects of questions that are no scales: sides and parts of items, in a sample's order."""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace

from annotate.core.models import ComparisonSide, Item, ItemPart
from judges.methods.base import Subject


def contents_of(items: Collection[int]) -> dict[int, Subject]:
    """Return items with their sides and parts. Three queries."""
    sides: dict[int, list[str]] = defaultdict(list)
    rows = ComparisonSide.objects.filter(item__in=items).order_by("item", "position")
    for item, text in rows.values_list("item", "output__text"):
        sides[item].append(text)
    parts: dict[int, list[str]] = defaultdict(list)
    listed = ItemPart.objects.filter(item__in=items).order_by("item", "position")
    for item, text in listed.values_list("item", "text"):
        parts[item].append(text)
    found = Item.objects.filter(pk__in=items).values_list("pk", "text", "document__parts")
    return {
        pk: Subject(
            tuple((part["label"], part["text"]) for part in of_document),
            text,
            sides=tuple(sides[pk]),
            parts=tuple(parts[pk]),
        )
        for pk, text, of_document in found
    }


def rotate_sides(subject: Subject, sample: int) -> Subject:
    """Return a subject with its sides rotated by sample: each sample starts with the next side."""
    sides = range(len(subject.sides))
    first = sample % max(len(sides), 1)
    return replace(subject, order=(*sides[first:], *sides[:first]))
