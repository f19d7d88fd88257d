"""Leaving an annotator's ratings out of the statistics, and taking them in again."""

from django.db import transaction
from django.utils.translation import gettext

from annotate.commands.audit import record
from annotate.commands.configuration import lock_project
from annotate.errors import InvalidValueError
from annotate.models import CountingDecision, Membership, User


@transaction.atomic
def decide_counting(*, place: Membership, counted: bool, note: str, by: User) -> Membership:
    """Let an annotator's ratings count in the statistics, or not, with the reason. Locks the project.

    Nothing is deleted: ratings and history stay, and the export marks them. What is so already stays so.
    Raises InvalidValueError without a reason.
    """
    lock_project(place.project)
    place.refresh_from_db()
    if place.counted == counted:
        return place
    if not note.strip():
        raise InvalidValueError(
            gettext("Say why; the note is kept with the decision."),
            fields={"note": gettext("Give a reason.")},
        )
    place.counted = counted
    place.save(update_fields=["counted"])
    CountingDecision.objects.create(place=place, counted=counted, note=note.strip(), by=by)
    before, after = {"counted": not counted}, {"counted": counted}
    record(
        place.project, "place.counting_decided", place, note=note.strip(), by=by, before=before, after=after
    )
    return place
