"""Requests for individual units: assignments of Round I for some dimensions of an item."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext

from annotate.core.database import long_write, write_in_steps, write_rows
from annotate.core.errors import NotReadyError
from annotate.core.guideline import FrozenGuideline
from annotate.core.models import AssignedUnit, Assignment, GoldItem, Round
from annotate.rating.commands.plans import next_slots
from annotate.rating.commands.rounds import BATCH
from annotate.rating.queries.assignments import Unit


@dataclass(frozen=True)
class WantedUnit:
    """A unit (ids of item and dimension) that people should rate, and its inclusion probability."""

    item: int
    dimension: int
    inclusion_probability: float


@dataclass
class _DealtAssignment:
    row: Assignment
    asks: set[int]
    gets: dict[int, float]


def ask_for_units(*, round: Round, units: Iterable[WantedUnit], raters: int, origin: str, seed: int) -> int:
    """Provide assignments to `raters` raters for every unit; return the number of units that lacked some.

    Existing assignments count. Missing units first extend the origin's own assignments of the item, so that
    its present raters rate them too, and then get new assignments. A repeated request adds nothing. The
    caller holds the project's lock. A long write, which locks all assignments of the items. Raises
    NotReadyError for gold items.
    """
    by_item: dict[int, list[WantedUnit]] = defaultdict(list)
    for unit in units:
        by_item[unit.item].append(unit)
    refuse_gold(round, by_item)
    missing_count = 0

    def write(batch: Sequence[int]) -> None:
        nonlocal missing_count
        there = _dealt_assignments(round, batch)
        slots = next_slots(round, batch)
        changed = []
        for item in batch:
            assignments = there.get(item, [])
            missing_count += _assign_units(
                round, item, by_item[item], assignments, slots[item], raters, origin, seed
            )
            changed += [assignment for assignment in assignments if assignment.gets]
        _write(changed)

    with long_write():
        write_in_steps(sorted(by_item), write)  # in one lock order for all callers
    return missing_count


@transaction.atomic
def withdraw_units(*, round: Round, units: Collection[Unit], origin: str) -> set[Unit]:
    """Withdraw the origin's units without answers; return those that stay in started assignments.

    Removes assignments without any units. The caller holds the project's lock; locks the origin's
    assignments, so that none can be started during the withdrawal.
    """
    # Answers to these exist, or may come at any moment, so they stay.
    begun = begun_units(round=round, origin=origin)
    ordered = sorted(set(units) - begun)
    for start in range(0, len(ordered), BATCH):
        batch = set(ordered[start : start + BATCH])
        rows = AssignedUnit.objects.filter(
            assignment__round=round,
            assignment__origin=origin,
            assignment__item__in={item for item, _ in batch},
        ).values_list("pk", "assignment__item", "dimension")
        gone = [pk for pk, item, dimension in rows if (item, dimension) in batch]
        AssignedUnit.objects.filter(pk__in=gone).delete()
    # An assignment without units would have no questions and could never be completed.
    Assignment.objects.filter(round=round, origin=origin, partial=True, units__isnull=True).delete()
    return begun & set(units)


def begun_units(*, round: Round, origin: str) -> set[Unit]:
    """Lock the origin's assignments and return the units of started items."""
    mine = Assignment.objects.filter(round=round, origin=origin)
    list(mine.select_for_update().order_by("pk").values_list("pk"))
    units = AssignedUnit.objects.filter(assignment__in=mine.filter(started_at__isnull=False))
    return set(units.values_list("assignment__item", "dimension"))


@transaction.atomic
def change_probabilities(*, round: Round, units: Mapping[Unit, float], origin: str) -> None:
    """Store another inclusion probability for units that the origin requested already."""
    items = sorted({item for item, _ in units})
    mine = AssignedUnit.objects.filter(assignment__round=round, assignment__origin=origin)
    for start in range(0, len(items), BATCH):
        changed = []
        for row in mine.filter(assignment__item__in=items[start : start + BATCH]).select_related(
            "assignment"
        ):
            probability = units.get((row.assignment.item_id, row.dimension_id))
            if probability is not None:
                row.inclusion_probability = probability
                changed.append(row)
        AssignedUnit.objects.bulk_update(changed, ["inclusion_probability"], batch_size=500)


def refuse_gold(round: Round, items: Collection[int]) -> None:
    gold = GoldItem.objects.filter(item__document__project=round.project_id).values_list("item", flat=True)
    if count := len(set(gold) & set(items)):
        raise NotReadyError(
            gettext(
                "{count} of these items have gold values, for practice or hidden checks, and are "
                "not for people to rate like others. Make them ordinary items before Round I "
                "opens, then ask again."
            ).format(count=count)
        )


def _dealt_assignments(round: Round, items: Sequence[int]) -> dict[int, list[_DealtAssignment]]:
    everything = {each.id for each in FrozenGuideline.from_json(round.guideline.content).dimensions}
    # In the order in which closing the round locks them: another order could deadlock.
    rows = Assignment.objects.select_for_update().filter(round=round, item__in=items).order_by("pk")
    units = AssignedUnit.objects.filter(assignment__round=round, assignment__item__in=items)
    asked: dict[int, set[int]] = defaultdict(set)
    found: dict[int, list[_DealtAssignment]] = defaultdict(list)
    locked = list(rows)  # before its units are read
    for assignment, dimension in units.values_list("assignment", "dimension"):
        asked[assignment].add(dimension)
    for row in sorted(locked, key=lambda row: row.slot):
        asks = asked[row.pk] if row.partial else set(everything)
        found[row.item_id].append(_DealtAssignment(row, asks, {}))
    return found


def _assign_units(
    round: Round,
    item: int,
    units: Sequence[WantedUnit],
    assignments: list[_DealtAssignment],
    next_slot: int,
    raters: int,
    origin: str,
    seed: int,
) -> int:
    missing_count = 0
    # Only assignments of the same origin grow: another policy can withdraw its own without affecting these.
    own = [
        assignment for assignment in assignments if assignment.row.partial and assignment.row.origin == origin
    ]
    for unit in units:
        missing = raters - sum(unit.dimension in assignment.asks for assignment in assignments)
        missing_count += missing > 0
        # The origin's own raters of the item come first; new assignments fill the rest.
        open_to_it = [assignment for assignment in own if unit.dimension not in assignment.asks]
        while missing > len(open_to_it):
            new_assignment = Assignment(
                round=round,
                item_id=item,
                slot=next_slot,
                plan=Assignment.Plan.ROUTED,
                origin=origin,
                partial=True,
                seed=seed,
                inclusion_probability=None,
            )
            assignment = _DealtAssignment(new_assignment, set(), {})
            next_slot += 1
            own.append(assignment)
            assignments.append(assignment)
            open_to_it.append(assignment)
        for assignment in open_to_it[: max(missing, 0)]:
            assignment.asks.add(unit.dimension)
            assignment.gets[unit.dimension] = unit.inclusion_probability
    return missing_count


def _write(changed: Sequence[_DealtAssignment]) -> None:
    new = [assignment.row for assignment in changed if assignment.row.pk is None]
    keys = write_rows(
        Assignment,
        ("round", "item", "slot", "plan", "origin", "partial", "seed"),
        [(row.round_id, row.item_id, row.slot, row.plan, row.origin, True, row.seed) for row in new],
    )
    for row, key in zip(new, keys, strict=True):
        row.pk = key
    # A completed assignment that gets another question is open again.
    again = [assignment.row.pk for assignment in changed if assignment.row.completed_at is not None]
    Assignment.objects.filter(pk__in=again).update(completed_at=None)
    write_rows(
        AssignedUnit,
        ("assignment", "dimension", "inclusion_probability"),
        [
            (assignment.row.pk, dimension, probability)
            for assignment in changed
            for dimension, probability in assignment.gets.items()
        ],
    )
