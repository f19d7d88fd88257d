"""Writing many places of a round at once, each for all dimensions of its item, and which slots are free."""

from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from django.db.models import Max

from annotate.core.bulk import write_rows
from annotate.core.models import Assignment, Round

BATCH = 5000


class NewPlace(NamedTuple):
    """A place to write, by keys: free where it has no annotator and no position."""

    round: int
    item: int
    slot: int
    annotator: int | None
    position: int | None
    plan: str
    seed: int


def next_slots(round: Round, items: Iterable[int]) -> dict[int, int]:
    """Return the first free slot of each item, by its key. One query."""
    wanted = list(items)
    taken = Assignment.objects.filter(round=round, item__in=wanted).order_by().values_list("item")
    last = dict(taken.annotate(last=Max("slot")))
    return {item: last.get(item, -1) + 1 for item in wanted}


def write_places(places: Iterable[NewPlace]) -> int:
    """Write places whose item is rated with certainty, inside the caller's transaction; return how many."""
    fields = (*NewPlace._fields, "inclusion_probability", "origin", "partial")
    rows, written = iter(places), 0
    while batch := [(*place, 1.0, "", False) for place in islice(rows, BATCH)]:
        written += len(write_rows(Assignment, fields, batch))
    return written
