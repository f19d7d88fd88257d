"""Keeping what annotators write down for themselves."""

from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError
from annotate.core.models import Assignment, PrivateNote
from annotate.rating.commands.ratings import LONGEST_COMMENT


def save_note(*, assignment: Assignment, text: str) -> None:
    """Keep the annotator's private note about the item, also when the round is closed; the last one stands.

    Locks the note. Raises InvalidValueError where it is too long.
    """
    if len(text) > LONGEST_COMMENT:
        raise InvalidValueError(
            gettext("The note has {count:,} characters; at most {longest_comment:,} can be kept.").format(
                count=len(text), longest_comment=LONGEST_COMMENT
            ),
            fields={"comment": gettext("Shorten the note.")},
        )
    assert assignment.annotator_id is not None
    PrivateNote.objects.update_or_create(
        annotator_id=assignment.annotator_id, item_id=assignment.item_id, defaults={"text": text}
    )
