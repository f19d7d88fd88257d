"""Saving what a rater does at the end of a document: looks back at the own values, and revises some."""

from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.guideline import FrozenDimension
from annotate.core.models import (
    Assignment,
    Document,
    LookBack,
    Membership,
    Rating,
    RevisedValue,
    RevisedValueChange,
    User,
)
from annotate.rating.commands.ratings import Answer, Sent, check_answer, lock_assignment
from annotate.rating.queries.document_end import is_rated, own_in_document_of


@dataclass(frozen=True)
class Revised:
    """What became of a save.

    revision: the one that now stands. value: what the rater holds. replaced: the value of another window
    that it replaced unseen.
    """

    revision: int
    value: float
    replaced: float | None = None


@transaction.atomic
def revise_value(
    *,
    assignment: Assignment,
    dimension: FrozenDimension,
    value: float,
    comment: str = "",
    by: User | None,
    sent: Sent | None = None,
) -> Revised:
    """Keep what a rater holds of a unit after seeing all own values of its document; the rating stays.

    Locks the assignment as saving a rating does. The same value and comment again change nothing, a request
    that a later one of the same browser overtook neither. Raises InvalidValueError for a value that is not on
    the scale, or where no independent value is; NotReadyError where values are not revised, or the document
    is not completely rated; RoundClosedError and PlaceGoneError as for ratings.
    """
    sent = sent or Sent()
    if not dimension.is_scale:
        raise InvalidValueError(gettext("Only values on a scale can be revised."))
    check_answer(dimension, Answer(value, comment=comment))
    _, _, ratings = lock_assignment(assignment)
    rating = ratings.get(dimension.id)
    _refuse_unless_revisable(assignment, rating, dimension)
    assert rating is not None
    assert rating.value is not None
    revised = RevisedValue.objects.filter(rating=rating).first()
    if revised and sent.client and revised.client == sent.client and revised.sequence > sent.sequence:
        return Revised(revised.revision, revised.value)
    replaced = None
    if revised and revised.revision > sent.seen_revision and revised.value != value:
        replaced = revised.value
    revised = revised or RevisedValue(rating=rating, value=rating.value, revision=0)
    _write(revised, value, comment, by=by, sent=sent)
    return Revised(revised.revision, value, replaced)


def _refuse_unless_revisable(
    assignment: Assignment, rating: Rating | None, dimension: FrozenDimension
) -> None:
    if not assignment.round.revises_documents:
        raise NotReadyError(gettext("Values are not revised in this round, so nothing was saved."))
    if rating is None or rating.value is None:
        raise InvalidValueError(
            gettext("{name} has no value of this item, so there is nothing to revise.").format(
                name=dimension.name
            )
        )
    if not is_rated(own_in_document_of(assignment)):
        raise NotReadyError(gettext("Rate all items of this document first; nothing was saved."))


def note_look_back(*, annotator: Membership, document: Document, dimension: FrozenDimension) -> None:
    """Note that the rater has the own values of a document side by side, on a dimension. One statement."""
    LookBack.objects.create(
        annotator=annotator, document=document, dimension_id=dimension.id, at=timezone.now()
    )


def _write(revised: RevisedValue, value: float, comment: str, *, by: User | None, sent: Sent) -> None:
    before = revised.value
    revised.client, revised.sequence = sent.client, sent.sequence
    if (before, revised.comment) == (value, comment):
        if revised.pk:
            revised.save(update_fields=["client", "sequence"])
        return
    revised.value, revised.comment = value, comment
    revised.revision += 1
    revised.updated_at = timezone.now()
    if revised.pk:
        revised.save(update_fields=[*_SAVED, "client", "sequence"])
    else:
        revised.save(force_insert=True)
    RevisedValueChange.objects.create(
        revised=revised,
        revision=revised.revision,
        at=revised.updated_at,
        actor=by,
        value_before=before,
        value_after=value,
        comment=comment,
    )


_SAVED = ("value", "comment", "revision", "updated_at")
