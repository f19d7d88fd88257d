"""Reservations: an annotator requests work, and free assignments of items become reservations."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from itertools import islice

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.errors import ROUND_ONE_CLOSED, RoundClosedError
from annotate.core.models import Assignment, Item, Membership, OutsideStudy, Round, WorkOrder
from annotate.fastpath.queries import MOMENT, NUMBERS, PendingRows, Prepared
from annotate.fastpath.statements import send_together
from annotate.fastpath.writes import PreparedUpdate
from annotate.rating.commands.hidden_checks import CHECKS_OF, choose_dimensions, due_turns, write_checks
from annotate.rating.planning.checks import MOST_KEPT_BACK, keep_back
from annotate.rating.queries.assignments import available_assignments, first_items, met_together, own_order
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
    if (study := asked_study.first()) and study.items_per_rater is not None:
        taken = Assignment.objects.filter(round=round, annotator=annotator).count()
        how_many = min(how_many, study.items_per_rater - taken)
        if how_many <= 0:
            return 0
    last, checks = asked_last.first(), asked_checks.first()
    found, kept = _next_items(round, annotator, how_many, keeps_back=checks is not None)
    items = iter(found)
    assignments: list[Assignment] = []
    while some := list(islice(items, how_many - len(assignments))):
        assignments += _locked_assignments(round, [item.pk for item in some])
    position = _write_assignments(annotator, assignments, (last.position or 0) if last else 0)
    if assignments and checks and not _continues_document(round, assignments[-1], found, next(items, None)):
        _give_due_checks(round, checks, annotator, kept, position)
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
            _TAKEN.run(assignment)
    return position


def _give_due_checks(
    round: Round, checks: Round, annotator: Membership, kept: Sequence[Item], position: int
) -> None:
    """Assign the due checks, each repeat with the reserve item of its document if it is still free."""
    turns = due_turns(round=round, annotator=annotator, kept={item.pk: item.document_id for item in kept})
    due_checks = []
    for turn in turns:
        if turn.check:
            position += 1
            due_checks.append((annotator.pk, position, turn))
        else:
            position = _write_assignments(annotator, _locked_assignments(round, [turn.item]), position)
    items = [turn.item for _, _, turn in due_checks]
    write_checks(checks, due_checks, choose_dimensions(round, annotator, items))


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
    lambda membership: OutsideStudy.objects.filter(raters__place=membership).only("items_per_rater"),
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
