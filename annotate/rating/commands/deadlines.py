"""The day by which raters are asked to be done with a round."""

from datetime import date

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import InvalidValueError, RoundClosedError
from annotate.core.models import Round, User


@transaction.atomic
def set_deadline(*, round: Round, deadline: date | None, by: User) -> Round:
    """Set, move or take away (None) a round's deadline; nothing happens by itself when it passes.

    Locks the round's row. Raises RoundClosedError, and InvalidValueError for another day that is over.
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
