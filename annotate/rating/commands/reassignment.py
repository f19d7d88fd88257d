"""Handing an annotator's unfinished work of Round I to others; answers stay with their raters."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.guideline import FrozenGuideline
from annotate.core.mails import give_notice
from annotate.core.models import AssignedUnit, Assignment, Membership, NoticeKind, Rating, Role, Round, User
from annotate.core.models.ratings import has_answer
from annotate.rating.commands.new_assignments import next_slots
from annotate.rating.queries.assignments import last_positions

BATCH = 500


@dataclass(frozen=True)
class HandedOver:
    given: int
    freed: int
    begun: int


@transaction.atomic
def hand_over_work(*, membership: Membership, to: Collection[Membership] = ()) -> HandedOver:
    """Hand all unfinished assignments of an annotator in Round I to others, evenly, or free them.

    An assignment without answers changes its annotator. A started one is split. It stays with the annotator
    for the answered dimensions, and a new assignment of the item covers the others, so that every unit keeps
    its number of raters. Raters of an item do not get it again; if no annotator remains, the assignment is
    free for the next reservation. Locks the project, the annotators and these assignments. Raises
    NotReadyError unless Round I is open, InvalidValueError for members who cannot rate.
    """
    lock_project(membership.project)
    round = _open_round(membership)
    receivers = _lock_receivers(membership, to)
    mine = Assignment.objects.filter(round=round, annotator=membership, completed_at=None)
    unfinished = list(mine.select_for_update().order_by("position"))
    divided = _divide(round, [row for row in unfinished if row.started_at])
    work = [row for row in unfinished if row.started_at is None]
    _Dealer(round, receivers).deal([*work, *(rest for rest, _ in divided)], membership)
    fields = ["annotator", "position", "reserved_until", "origin"]
    Assignment.objects.bulk_update(work, fields, batch_size=BATCH)
    Assignment.objects.bulk_create([rest for rest, _ in divided], BATCH)
    AssignedUnit.objects.bulk_create([unit for _, units in divided for unit in units], BATCH)
    moved = [*work, *(rest for rest, _ in divided)]
    given = sum(row.annotator_id is not None for row in moved)
    told = {"to": [each.label for each in receivers], "given": given, "freed": len(moved) - given}
    record(membership.project, "place.work_handed_over", membership, after={**told, "begun": len(divided)})
    counts = Counter(row.annotator_id for row in moved if row.annotator_id is not None)
    for receiver, count in counts.items():
        give_notice(
            project=round.project,
            kind=NoticeKind.HANDED_OVER,
            about=f"round {round.pk} {timezone.now().isoformat()}",
            facts={"count": count},
            to=User.objects.filter(memberships=receiver),
        )
    return HandedOver(given, len(moved) - given, len(divided))


def _open_round(membership: Membership) -> Round:
    round = Round.objects.select_related("guideline").filter(project=membership.project_id, number=1).first()
    if round is None or not round.is_open:
        raise NotReadyError(
            gettext(
                "Only items of an open Round I can be handed over. A dispute belongs to the "
                "raters who gave its values. If one of them is missing, adjudicate it."
            )
        )
    return round


def _lock_receivers(membership: Membership, to: Collection[Membership]) -> list[Membership]:
    wanted = {each.pk for each in to}
    # In one order, including the previous annotator: two who hand over to each other do not deadlock.
    rows = Membership.objects.select_for_update(of=("self",)).filter(pk__in={membership.pk, *wanted})
    receivers = [each for each in rows.order_by("pk") if each.pk in wanted]
    for each in receivers:
        if each.project_id != membership.project_id or each.role != Role.ANNOTATOR or not each.active:
            raise InvalidValueError(
                gettext("{label} is not an active annotator of this project. Choose someone else.").format(
                    label=each.label
                )
            )
        if each.pk == membership.pk:
            raise InvalidValueError(
                gettext("{label} has this work already. Choose someone else.").format(label=each.label)
            )
    return receivers


Divided = tuple[Assignment, list[AssignedUnit]]


def _divide(round: Round, begun: Sequence[Assignment]) -> list[Divided]:
    """Close started assignments for their answers; return unsaved ones for the rest, with their units."""
    everything = [each.id for each in FrozenGuideline.from_json(round.guideline.content).dimensions]
    given: dict[int, set[int]] = defaultdict(set)  # the answered dimensions
    answered = Rating.objects.filter(has_answer(), assignment__in=begun)
    for assignment, dimension in answered.values_list("assignment", "dimension"):
        given[assignment].add(dimension)
    # A new assignment needs another slot: the started one keeps its slot.
    slots = next_slots(round, {row.item_id for row in begun})
    units: dict[int, dict[int, float]] = defaultdict(dict)
    for unit in AssignedUnit.objects.filter(assignment__in=begun):
        units[unit.assignment_id][unit.dimension_id] = unit.inclusion_probability
    divided, kept, now = [], [], timezone.now()
    for row in begun:
        asked = units[row.pk] if row.partial else dict.fromkeys(everything, row.inclusion_probability or 1.0)
        rest = Assignment(
            round=round,
            item_id=row.item_id,
            slot=slots[row.item_id],
            plan=row.plan,
            origin=row.origin,
            partial=True,
            seed=row.seed,
            inclusion_probability=None,
        )
        slots[row.item_id] += 1
        left = {each: chance for each, chance in asked.items() if each not in given[row.pk]}
        divided.append((rest, _units(rest, left)))
        # A complete assignment has no units in the database: it becomes a partial one with the answered
        # units.
        if not row.partial:
            kept += _units(row, {each: asked[each] for each in asked if each in given[row.pk]})
        # Completed, so that it is not offered again; each unit keeps its own probability.
        row.partial, row.inclusion_probability, row.completed_at = True, None, now
    rows = AssignedUnit.objects.filter(assignment__in=[row.pk for row in begun])
    unanswered = [
        pk
        for pk, assignment, dimension in rows.values_list("pk", "assignment", "dimension")
        if dimension not in given[assignment]
    ]
    AssignedUnit.objects.filter(pk__in=unanswered).delete()
    Assignment.objects.bulk_update(begun, ["partial", "inclusion_probability", "completed_at"], BATCH)
    AssignedUnit.objects.bulk_create(kept, BATCH)
    return divided


def _units(row: Assignment, chances: dict[int, float]) -> list[AssignedUnit]:
    return [
        AssignedUnit(assignment=row, dimension_id=dimension, inclusion_probability=chance)
        for dimension, chance in chances.items()
    ]


class _Dealer:
    """Assigns each item to the annotator with the least work who does not rate it yet."""

    def __init__(self, round: Round, receivers: Sequence[Membership]) -> None:
        held = Assignment.objects.filter(round=round, annotator__in=receivers)
        self.receivers = [each.pk for each in receivers]
        self.held = set(held.values_list("annotator", "item"))
        self.open = Counter(held.filter(completed_at=None).values_list("annotator", flat=True))
        self.last = last_positions(round.project_id, self.receivers)

    def deal(self, assignments: Iterable[Assignment], before: Membership) -> None:
        for row in assignments:
            able = [each for each in self.receivers if (each, row.item_id) not in self.held]
            row.origin = row.origin or f"taken over from {before.rater_name}"
            row.reserved_until = None
            row.annotator_id = row.position = None
            if able:
                taker = min(able, key=lambda each: self.open[each])
                self.last[taker] += 1
                row.annotator_id, row.position = taker, self.last[taker]
                self.open[taker] += 1
                self.held.add((taker, row.item_id))
