"""An annotator's assignments: reserved on request, renewed, handed to others, and finished."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import islice

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import ROUND_ONE_CLOSED, InvalidValueError, NotReadyError, RoundClosedError
from annotate.core.guideline import FrozenGuideline
from annotate.core.mails import give_notice
from annotate.core.models import (
    Acknowledgement,
    AssignedUnit,
    Assignment,
    Guideline,
    Item,
    Membership,
    NoticeKind,
    OutsideRater,
    OutsideStudy,
    Rating,
    Role,
    Round,
    User,
    WorkOrder,
)
from annotate.core.models.ratings import has_answer
from annotate.fastpath.queries import MOMENT, NUMBERS, PendingRows, Prepared, PreparedUpdate
from annotate.fastpath.statements import send_together
from annotate.rating.commands.plans import CHECKS_OF, choose_dimensions, due_turns, next_slots, write_checks
from annotate.rating.planning import MOST_KEPT_BACK, keep_back
from annotate.rating.queries.assignments import (
    available_assignments,
    first_items,
    last_positions,
    met_together,
    own_order,
)
from annotate.rating.queries.plans import plan_of

RESERVED_AT_ONCE = 5
LOADED_AHEAD = 8  # items of a page that were loaded ahead are reserved, too


@transaction.atomic
def reserve_items(*, round: Round, annotator: Membership, how_many: int = RESERVED_AT_ONCE) -> int:
    """Reserve up to `how_many` more items for the annotator, in the annotator's own random order.

    Locks the annotator's row, then each assignment that it reserves. It skips assignments that someone else
    is reserving. Assignments never reserved come first, then assignments with an expired, unused reservation.
    Hidden checks follow the reserved items; if annotators rate by document, only at the end of a document. At
    that point an item of some documents stays in reserve: it returns with a repeat of the document, as an
    ordinary item. A rater from outside gets no more ordinary items than the study allows. Returns the number
    of reserved items.
    """
    with send_together():
        # Without this lock two windows of one annotator would take the same positions.
        _ANNOTATOR.ask(annotator.pk)
        asked_open, asked_last = _OPEN.ask(round.pk), _LAST.ask(round.project_id, annotator.pk)
        asked_checks, asked_study = CHECKS_OF.ask(round.project_id), _STUDY.ask(annotator.pk)
    _refuse_closed(round, asked_open)
    # The limit of a study counts the ordinary items of Round I, not the checks.
    if (study := asked_study.first()) and study.items_per_rater is not None:
        # Counted under the annotator's lock, so two windows together cannot exceed the limit.
        taken = Assignment.objects.filter(round=round, annotator=annotator).count()
        how_many = min(how_many, study.items_per_rater - taken)
        if how_many <= 0:
            return 0
    # The ordinary items, as far as other annotators leave them.
    last, checks = asked_last.first(), asked_checks.first()
    found, kept = _next_items(round, annotator, how_many, keeps_back=checks is not None)
    items = iter(found)
    assignments: list[Assignment] = []
    # Items that others are reserving are skipped, so further ones take their turn.
    while some := list(islice(items, how_many - len(assignments))):
        assignments += _locked_assignments(round, [item.pk for item in some])
    position = _write_assignments(annotator, assignments, (last.position or 0) if last else 0)
    # Due checks, and the reserve items that return with a repeat.
    if assignments and checks and not _continues_document(round, assignments[-1], found, next(items, None)):
        turns = due_turns(round=round, annotator=annotator, kept={item.pk: item.document_id for item in kept})
        due_checks = []
        for turn in turns:
            if turn.check:
                position += 1
                due_checks.append((annotator.pk, position, turn))
            else:
                position = _write_assignments(annotator, _locked_assignments(round, [turn.item]), position)
        checked = [turn.item for _, _, turn in due_checks]
        write_checks(checks, due_checks, choose_dimensions(round, annotator, checked))
    _refuse_closed(round, _OPEN.ask(round.pk))  # another process may have closed it during the reservation
    return len(assignments)


def _next_items(
    round: Round, annotator: Membership, how_many: int, *, keeps_back: bool
) -> tuple[list[Item], list[Item]]:
    by_document = round.work_order == WorkOrder.BY_DOCUMENT
    if not (keeps_back and by_document and plan_of(round.project).repeat_every):
        # More than wanted, as other annotators may be reserving the first ones.
        return first_items(round, annotator, 2 * how_many), []
    found = first_items(round, annotator, 2 * how_many + MOST_KEPT_BACK)
    met = list(own_order(round, annotator).values_list("item__document", flat=True))
    last = met[-1] if met else None
    # All documents but the last one count as left.
    now, kept = keep_back([(item.pk, item.document_id) for item in found], {*met} - {last}, last)
    of = {item.pk: item for item in found}
    return [of[item] for item in now], [of[item] for item in kept]


def _write_assignments(annotator: Membership, assignments: Sequence[Assignment], position: int) -> int:
    until = timezone.now() + timedelta(minutes=annotator.project.reservation_minutes)
    with send_together():
        for assignment in assignments:
            position += 1
            assignment.annotator_id, assignment.position, assignment.reserved_until = (
                annotator.pk,
                position,
                until,
            )
            # The query that found the row has locked it, so the update needs no condition.
            _TAKEN.run(assignment)
    return position


def _continues_document(round: Round, last: Assignment, found: list[Item], after: Item | None) -> bool:
    if round.work_order == WorkOrder.MIXED or after is None:
        return False
    document_of = {item.pk: item.document_id for item in found}
    return document_of[last.item_id] == after.document_id


def renew_reservation(*, assignment: Assignment, annotator: Membership) -> None:
    """Restart the reservation of an item that its annotator is viewing.

    A permanent assignment is no reservation and never expires. A reservation stays unchanged in the first
    tenth of its time: most items are viewed right after reserving.
    """
    if assignment.started_at is None and assignment.reserved_until is not None:
        lasts = timedelta(minutes=annotator.project.reservation_minutes)
        until = timezone.now() + lasts
        if until - assignment.reserved_until < lasts / 10:
            return
        # Checked again in the database: it may have been handed over since it was read.
        mine = Assignment.objects.filter(pk=assignment.pk, annotator=annotator)
        mine.filter(reserved_until__isnull=False).update(reserved_until=until)


def renew_reservations(*, assignment: Assignment, annotator: Membership) -> list[Assignment]:
    """Restart the reservations of the item in view and of the items loaded ahead of it.

    Returns the items that still belong to the annotator. Raises RoundClosedError.
    """
    if not assignment.round.is_open:
        raise RoundClosedError(gettext(ROUND_ONE_CLOSED))
    lasts = timedelta(minutes=annotator.project.reservation_minutes)
    until, here = timezone.now() + lasts, assignment.position or 0
    in_reach = met_together(annotator.project_id).filter(
        annotator=annotator, position__range=(here, here + LOADED_AHEAD)
    )
    # A reservation younger than a tenth of its time stays, so most requests write nothing. A permanent
    # assignment has NULL here, which satisfies no comparison.
    waiting = in_reach.filter(started_at__isnull=True, reserved_until__lt=until - lasts / 10)
    waiting.update(reserved_until=until)
    return list(in_reach.order_by("position").only("position", "annotator"))


def _refuse_closed(round: Round, asked: PendingRows[Round]) -> None:
    if not asked.all():
        raise RoundClosedError(
            gettext("{round} is closed, so there is nothing more to rate.").format(round=round)
        )


def _locked_assignments(round: Round, items: list[int]) -> list[Assignment]:
    """Lock an assignment of each of these items, skipping assignments that another annotator is reserving."""
    now = timezone.now()
    with send_together():
        asked = [_AVAILABLE.ask(round.pk, now, item) for item in items]
    return [assignment for each in asked if (assignment := each.first())]


def _available(round: int, now: datetime, item: int) -> QuerySet[Assignment]:
    assignments = available_assignments(round, now).filter(item=item).select_for_update(skip_locked=True)
    return assignments.order_by(F("annotator_id").asc(nulls_first=True), "slot").only("started_at")[:1]


_ANNOTATOR = Prepared(lambda pk: Membership.objects.select_for_update().only("pk").filter(pk=pk), NUMBERS[0])
_OPEN = Prepared(lambda pk: Round.objects.filter(pk=pk, status=Round.Status.OPEN).only("pk"), NUMBERS[0])
_STUDY = Prepared(
    lambda membership: OutsideStudy.objects.filter(raters__membership=membership).only("items_per_rater"),
    NUMBERS[0],
)
_LAST = Prepared(
    lambda project, annotator: (
        met_together(project).filter(annotator=annotator).order_by("-position").only("position")[:1]
    ),
    *NUMBERS[:2],
)
_AVAILABLE = Prepared(_available, NUMBERS[0], MOMENT, NUMBERS[1])
_TAKEN = PreparedUpdate(Assignment, "annotator", "position", "reserved_until")


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
    # Locked after the annotators, in the order in which `reserve_items` locks them.
    mine = Assignment.objects.filter(round=round, annotator=membership, completed_at=None)
    unfinished = list(mine.select_for_update().order_by("position"))
    divided = _divide(round, [row for row in unfinished if row.started_at])
    work = [row for row in unfinished if row.started_at is None]
    moved = [*work, *(rest for rest, _ in divided)]
    _deal(round, receivers, moved, membership)
    # Whole assignments move; of divided ones only the new part is written here, with its units.
    fields = ["annotator", "position", "reserved_until", "origin"]
    Assignment.objects.bulk_update(work, fields, batch_size=BATCH)
    Assignment.objects.bulk_create([rest for rest, _ in divided], BATCH)
    AssignedUnit.objects.bulk_create([unit for _, units in divided for unit in units], BATCH)
    given = sum(row.annotator_id is not None for row in moved)
    told = {"to": [each.label for each in receivers], "given": given, "freed": len(moved) - given}
    record(membership.project, "place.work_handed_over", membership, after={**told, "begun": len(divided)})
    counts = Counter(row.annotator_id for row in moved if row.annotator_id is not None)
    for receiver, count in counts.items():
        give_notice(
            project=round.project,
            kind=NoticeKind.HANDED_OVER,
            # An equal `about` creates no second notice, and each handover needs its own.
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
        # Units of a whole item have the probability of the item.
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


def _deal(
    round: Round, receivers: Sequence[Membership], assignments: Iterable[Assignment], before: Membership
) -> None:
    """Assign each item to the annotator with the least work who does not rate it yet."""
    rows = Assignment.objects.filter(round=round, annotator__in=receivers)
    keys = [each.pk for each in receivers]
    held = set(rows.values_list("annotator", "item"))
    open_counts = Counter(rows.filter(completed_at=None).values_list("annotator", flat=True))
    last = last_positions(round.project_id, keys)
    for row in assignments:
        able = [each for each in keys if (each, row.item_id) not in held]
        # Routing counts its progress by origin, so an existing one stays.
        row.origin = row.origin or f"taken over from {before.rater_name}"
        row.annotator_id = row.position = row.reserved_until = None
        # Without a possible annotator the assignment is free for the next reservation.
        if able:
            taker = min(able, key=lambda each: open_counts[each])
            last[taker] += 1
            row.annotator_id, row.position = taker, last[taker]
            open_counts[taker] += 1
            held.add((taker, row.item_id))


Outcome = OutsideRater.Outcome


def complete_study(*, membership: Membership) -> bool:
    """Record that a rater from outside has rated every item; return True if the study is completed.

    False for everyone else, and for a rater without ratings, who did no work to be paid for. Safe to run
    twice. Locks the rater's row only if it records something, so other raters do not block on writers.
    """
    outcome = OutsideRater.objects.filter(membership=membership).values_list("outcome", flat=True).first()
    # Everyone else has no such row, and so gets here after one query.
    if outcome in (None, Outcome.COMPLETED):
        return outcome is not None
    return _complete(membership)


@transaction.atomic
def _complete(membership: Membership) -> bool:
    rater = _lock(membership)
    if rater is None:
        return False
    if rater.outcome != Outcome.COMPLETED:
        if (
            not met_together(membership.project_id)
            .filter(annotator=membership, completed_at__isnull=False)
            .exists()
        ):
            return False
        _end(rater, Outcome.COMPLETED)
    return True


@transaction.atomic
def screen_out(*, membership: Membership) -> bool:
    """Record that a rater from outside failed practice; return False for others. Locks the rater's row."""
    rater = _lock(membership)
    if rater is None:
        return False
    if rater.outcome == Outcome.WORKING:
        _end(rater, Outcome.SCREENED_OUT)
    return True


def _lock(membership: Membership) -> OutsideRater | None:
    return OutsideRater.objects.select_for_update().filter(membership=membership).first()


def _end(rater: OutsideRater, outcome: Outcome) -> None:
    rater.outcome, rater.ended_at = outcome, timezone.now()
    rater.save(update_fields=["outcome", "ended_at"])


@transaction.atomic
def acknowledge_wording(*, annotator: Membership, version: int, by: User) -> None:
    """Record that the annotator has read a version of the guideline; a repeated call changes nothing.

    Locks the annotator's row. Raises InvalidValueError for an unknown version.
    """
    # Without the lock two requests at once would both find no acknowledgement and write one each.
    Membership.objects.select_for_update().get(pk=annotator.pk)
    guideline = Guideline.objects.filter(project=annotator.project_id, version=version).first()
    if guideline is None:
        raise InvalidValueError(gettext("The guideline has no such version."))
    last = Acknowledgement.objects.filter(annotator=annotator).order_by("-pk").first()
    if last and last.guideline_id == guideline.pk:
        return
    Acknowledgement.objects.create(annotator=annotator, guideline=guideline, at=timezone.now())
    record(annotator.project, "guideline.acknowledged", guideline, after={"version": version}, by=by)
