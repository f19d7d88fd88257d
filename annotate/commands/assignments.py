"""Handing out work: an annotator asks, and free places of items become reservations."""

from datetime import timedelta

from django.db import transaction
from django.db.models import F
from django.utils import timezone

from annotate.commands.checks import give_due_checks
from annotate.errors import RoundClosedError
from annotate.models import Assignment, Membership, Round
from annotate.queries.places import available_places, items_in_order, last_positions

RESERVED_AT_ONCE = 5


@transaction.atomic
def reserve_items(*, round: Round, annotator: Membership, how_many: int = RESERVED_AT_ONCE) -> int:
    """Reserve up to `how_many` more items for the annotator, in the annotator's own random order.

    Locks the annotator's row, then each place that it takes, skipping places that someone else is taking.
    Places never taken go first; then places whose reservation ran out unused. Returns how many were taken.
    """
    Membership.objects.select_for_update().get(pk=annotator.pk)
    _refuse_closed(round)
    position = last_positions(round.project_id, [annotator.pk])[annotator.pk]
    until = timezone.now() + timedelta(minutes=annotator.project.reservation_minutes)
    taken = 0
    for item in items_in_order(round, annotator)[: 2 * how_many]:
        if taken == how_many:
            break
        if _take_place(round, item, annotator, position + taken + 1, until):
            taken += 1
    if taken:
        give_due_checks(round=round, annotator=annotator)
    _refuse_closed(round)  # it may have been closed while places were taken
    return taken


def renew_reservation(*, assignment: Assignment, annotator: Membership) -> None:
    """Let the reservation of an item that its annotator is looking at run from now on.

    A place that was given to the annotator for good is no reservation and never runs out.
    """
    if assignment.started_at is None:
        until = timezone.now() + timedelta(minutes=annotator.project.reservation_minutes)
        mine = Assignment.objects.filter(pk=assignment.pk, annotator=annotator)
        mine.filter(reserved_until__isnull=False).update(reserved_until=until)


def _refuse_closed(round: Round) -> None:
    if not Round.objects.filter(pk=round.pk, status=Round.Status.OPEN).exists():
        raise RoundClosedError(f"{round} is closed, so there is nothing more to rate.")


def _take_place(round: Round, item: int, annotator: Membership, position: int, until: object) -> bool:
    place = (
        available_places(round)
        .filter(item=item)
        .select_for_update(skip_locked=True)
        .order_by(F("annotator_id").asc(nulls_first=True), "slot")
        .values_list("pk", flat=True)
        .first()
    )
    if place is None:
        return False
    Assignment.objects.filter(pk=place).update(
        annotator=annotator, position=position, reserved_until=until, started_at=None
    )
    return True
