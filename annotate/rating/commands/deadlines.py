"""Deadlines of rounds and their notices."""

from datetime import date, timedelta

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import InvalidValueError, RoundClosedError
from annotate.core.mails import give_notice, members_of
from annotate.core.models import Assignment, NoticeKind, Role, Round, User


@transaction.atomic
def set_deadline(*, round: Round, deadline: date | None, by: User) -> Round:
    """Set, move or remove (None) a round's deadline; its passing has no automatic effect.

    Locks the round's row. Raises RoundClosedError, and InvalidValueError for a different date in the past.
    """
    locked = Round.objects.select_for_update().get(pk=round.pk)
    if locked.deadline == deadline:
        return locked
    if not locked.is_open:
        raise RoundClosedError(gettext("{locked} is closed, so it needs no deadline.").format(locked=locked))
    if deadline is not None and deadline < timezone.localdate():
        raise InvalidValueError(gettext("This day is over; choose today or a later one."))
    before, after = {"deadline": locked.deadline}, {"deadline": deadline}
    record(locked.project, "round.deadline_set", locked, by=by, before=before, after=after)
    locked.deadline = deadline
    locked.save(update_fields=["deadline"])
    return locked


DAYS_BEFORE = (7, 2)


def note_deadlines() -> None:
    """Notify annotators with work in a round that ends in 7 or 2 days, once each; safe to run at any time.

    After a pause only the nearer notice is created. Three queries, and two for each round that ends soon.
    """
    today = timezone.localdate()
    soon = Round.objects.filter(
        status=Round.Status.OPEN, deadline__gte=today, deadline__lte=today + timedelta(days=DAYS_BEFORE[0])
    )
    for round in soon.select_related("project"):
        assert round.deadline is not None
        left = (round.deadline - today).days
        days = min(each for each in DAYS_BEFORE if left <= each)
        give_notice(
            project=round.project,
            kind=NoticeKind.DEADLINES,
            about=f"round {round.pk} {round.deadline} {days}",
            facts={"round": round.numeral, "deadline": f"{round.deadline}"},
            to=_annotators_with_work(round),
        )


def _annotators_with_work(round: Round) -> QuerySet[User]:
    annotators = members_of(round.project, Role.ANNOTATOR)
    open_assignments = Assignment.objects.filter(round=round, completed_at=None)
    if open_assignments.filter(annotator=None).exists():
        return annotators
    return annotators.filter(pk__in=open_assignments.values("annotator__user"))
