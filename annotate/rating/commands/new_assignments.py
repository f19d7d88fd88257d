from collections.abc import Iterable
from itertools import islice
from typing import NamedTuple

from django.db.models import Max

from annotate.core.database import write_rows
from annotate.core.models import Assignment, Round

BATCH = 5000


class NewAssignment(NamedTuple):
    """An assignment to write, by keys: free without annotator and position."""

    round: int
    item: int
    slot: int
    annotator: int | None
    position: int | None
    plan: str
    seed: int


def next_slots(round: Round, items: Iterable[int]) -> dict[int, int]:
    wanted = list(items)
    taken = Assignment.objects.filter(round=round, item__in=wanted).order_by().values_list("item")
    last = dict(taken.annotate(last=Max("slot")))
    return {item: last.get(item, -1) + 1 for item in wanted}


def write_assignments(assignments: Iterable[NewAssignment]) -> int:
    """Write assignments of whole items with inclusion probability 1; return their number.

    The caller opens the transaction.
    """
    fields = (*NewAssignment._fields, "inclusion_probability", "origin", "partial")
    rows, written = iter(assignments), 0
    while batch := [(*assignment, 1.0, "", False) for assignment in islice(rows, BATCH)]:
        written += len(write_rows(Assignment, fields, batch))
    return written
