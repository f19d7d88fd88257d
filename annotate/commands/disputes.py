"""Discussing disputes in Round II: answers, posts, adjudication."""

from collections.abc import Collection, Mapping

from django.db import transaction
from django.utils import timezone

from annotate.commands.ratings import Answer, check_answer, write_rating
from annotate.errors import (
    ChangedElsewhereError,
    DisputeClosedError,
    InvalidValueError,
    NotReadyError,
    NotYoursError,
    RoundClosedError,
)
from annotate.guideline import FrozenDimension, FrozenGuideline
from annotate.models import (
    Assignment,
    Dispute,
    DisputeEvent,
    Membership,
    Post,
    Rating,
    RatingChange,
    Round,
    User,
)
from annotate.queries.raters import raters_of

LONGEST_POST = 10_000


@transaction.atomic
def answer_dispute(
    *,
    dispute: Dispute,
    rater: Membership,
    value: int | None,
    comment: str = "",
    seen_revision: int | None = None,
) -> Dispute:
    """Keep (None) or change the rater's value of a disputed unit, and settle the unit if all values have met.

    Locks the dispute's row before anything is read. Each answer, also a kept value, is a row of history.
    `seen_revision` is the revision of the rater's answer that a page showed, 0 for the value of Round I: an
    answer to what no longer stands is refused, unless it is the one that stands. None: there was no page.
    Raises NotYoursError, RoundClosedError, DisputeClosedError, InvalidValueError, ChangedElsewhereError.
    """
    dispute, round, dimension = _locked_for_discussion(dispute, rater)
    held = current_values(dispute)
    standing = held[rater.pk]
    value = standing if value is None else value
    answer = Answer(value=value, comment=comment.strip())
    check_answer(dimension, answer)
    assignment = Assignment.objects.get(round=round, item=dispute.item_id, annotator=rater)
    unit = {"assignment": assignment, "dimension_id": dispute.dimension_id}
    rating = Rating.objects.filter(**unit).first() or Rating(**unit, revision=0, value=standing)
    if seen_revision is not None and rating.revision != seen_revision:
        return _as_it_stands(dispute, rating, answer)
    write_rating(
        rating,
        answer,
        by=rater.user,
        cause=RatingChange.Cause.KEPT if value == standing else RatingChange.Cause.CHANGED,
        guideline=round.guideline,
        repeat=True,
    )
    values = _counted({**held, rater.pk: value})
    return _settle_or_reopen(dispute, values, rater.user)


def _as_it_stands(dispute: Dispute, rating: Rating, answer: Answer) -> Dispute:
    if (rating.value, rating.comment) != (answer.value, answer.comment):
        raise ChangedElsewhereError(
            f"Nothing was saved, since you answered in another window after this page was shown: "
            f"your value is {rating.value} now. Look again, then keep or change it."
        )
    return dispute  # the same answer came twice


@transaction.atomic
def post_message(*, dispute: Dispute, author: Membership, text: str) -> Post:
    """Add a message to a dispute's thread. Locks the dispute's row. Raises as answering does."""
    dispute, _, _ = _locked_for_discussion(dispute, author)
    text = text.strip()
    if not text:
        raise InvalidValueError("Write something before you send it.", fields={"text": "Write something."})
    if len(text) > LONGEST_POST:
        raise InvalidValueError(
            f"The message has {len(text):,} characters; at most {LONGEST_POST:,} can be sent at once.",
            fields={"text": "Shorten the message or send it in parts."},
        )
    return Post.objects.create(dispute=dispute, author=author, text=text, at=timezone.now())


@transaction.atomic
def adjudicate(*, dispute: Dispute, value: int, note: str, by: User) -> Dispute:
    """Give a disputed unit its final value, with the reason; the raters' own values stay in the history.

    Another value, or the same with a corrected reason, is another event. Locks the dispute's row.
    Raises InvalidValueError, RoundClosedError, NotReadyError.
    """
    dispute, _, dimension = _locked(dispute)
    check_answer(dimension, Answer(value=value))
    note = _reason(note)
    if _stands_already(dispute, Dispute.Status.ADJUDICATED, value, note):
        return dispute
    return _decide(dispute, Dispute.Status.ADJUDICATED, by, value=value, note=note)


@transaction.atomic
def leave_open(*, dispute: Dispute, note: str, by: User) -> Dispute:
    """End an open dispute without a common value, with the reason.

    Locks the dispute's row. Raises InvalidValueError, DisputeClosedError, RoundClosedError, NotReadyError.
    """
    dispute, _, _ = _locked(dispute)
    note = _reason(note)
    if _stands_already(dispute, Dispute.Status.LEFT_OPEN, None, note):
        return dispute
    if dispute.status != Dispute.Status.OPEN:
        raise DisputeClosedError(
            f"Only an open dispute can be left open; this one is {dispute.get_status_display()}."
        )
    return _decide(dispute, Dispute.Status.LEFT_OPEN, by, note=note)


@transaction.atomic
def open_again(*, dispute: Dispute, note: str, by: User) -> Dispute:
    """Take an admin's decision back, with the reason: its raters may answer again.

    One that takes answers already is returned as it is. Locks the dispute's row.
    Raises InvalidValueError, RoundClosedError, NotReadyError.
    """
    dispute, _, _ = _locked(dispute)
    note = _reason(note)
    if dispute.takes_answers:
        return dispute
    status = _status_of(dispute, _counted(current_values(dispute)))
    return _decide(dispute, status, by, kind=DisputeEvent.Kind.RESUMED, note=note)


@transaction.atomic
def ask_again(*, dispute: Dispute, note: str, by: User) -> Dispute:
    """Open a settled unit again, with the reason, until every rater has answered since and the values meet.

    One that is open is returned as it is. Locks the dispute's row.
    Raises InvalidValueError, DisputeClosedError, RoundClosedError, NotReadyError.
    """
    dispute, _, _ = _locked(dispute)
    note = _reason(note)
    if dispute.status == Dispute.Status.OPEN:
        return dispute
    if dispute.status != Dispute.Status.SETTLED:
        raise DisputeClosedError(
            f"This dispute was {dispute.get_status_display()} by an admin; open it again instead."
        )
    return _decide(dispute, Dispute.Status.OPEN, by, kind=DisputeEvent.Kind.ASKED_AGAIN, note=note)


def _reason(note: str) -> str:
    if not note.strip():
        raise InvalidValueError(
            "Say why you decide so; the note is kept with the decision.", fields={"note": "Give a reason."}
        )
    return note.strip()


def _stands_already(dispute: Dispute, status: Dispute.Status, value: int | None, note: str) -> bool:
    if (dispute.status, dispute.adjudicated_value) != (status, value):
        return False
    last = dispute.events.last()
    return last is not None and last.note == note


def current_values(dispute: Dispute) -> dict[int, int]:
    """Return the value that each rater of the unit holds now, by membership id."""
    ratings = (
        Rating.objects.filter(assignment__item=dispute.item_id, dimension=dispute.dimension_id)
        .filter(assignment__annotator__isnull=False, value__isnull=False)
        .filter(assignment__round__number__lt=Round.CHECKS)
        .order_by("assignment__round__number")
        .values_list("assignment__annotator", "value")
    )
    return {annotator: value for annotator, value in ratings if annotator is not None and value is not None}


def _counted(values: Mapping[int, int]) -> Collection[int]:
    """Return the values of raters whom the statistics count; of all of them where they count none."""
    counted = Membership.objects.filter(pk__in=values, counted=True).values_list("pk", flat=True)
    return [values[rater] for rater in counted] or list(values.values())


def _locked(dispute: Dispute) -> tuple[Dispute, Round, FrozenDimension]:
    dispute = Dispute.objects.select_for_update(of=("self",)).select_related("round").get(pk=dispute.pk)
    round = (
        Round.objects.select_related("guideline").filter(project=dispute.round.project_id, number=2).first()
    )
    if round is None:
        raise NotReadyError("Open Round II before disputes are discussed.")
    if not round.is_open:
        raise RoundClosedError("Round II was closed, so its disputes take no more answers.")
    guideline = FrozenGuideline.from_json(round.guideline.content)
    dimension = next(each for each in guideline.dimensions if each.id == dispute.dimension_id)
    return dispute, round, dimension


def _locked_for_discussion(dispute: Dispute, rater: Membership) -> tuple[Dispute, Round, FrozenDimension]:
    dispute, round, dimension = _locked(dispute)
    if not raters_of(dispute).filter(pk=rater.pk).exists():
        raise NotYoursError("Only who gave this unit a value in Round I discusses it in Round II.")
    if not dispute.takes_answers:
        raise DisputeClosedError(
            f"This dispute was {dispute.get_status_display()} by an admin and takes no more answers."
        )
    return dispute, round, dimension


def _settle_or_reopen(dispute: Dispute, values: Collection[int], by: User | None) -> Dispute:
    status = Dispute.Status.OPEN if _waits_since_asked_again(dispute) else _status_of(dispute, values)
    return dispute if status == dispute.status else _decide(dispute, status, by)


def _status_of(dispute: Dispute, values: Collection[int]) -> Dispute.Status:
    met = max(values) - min(values) <= dispute.tolerance
    return Dispute.Status.SETTLED if met else Dispute.Status.OPEN


def _waits_since_asked_again(dispute: Dispute) -> bool:
    asked = dispute.events.filter(kind=DisputeEvent.Kind.ASKED_AGAIN).last()
    if asked is None:
        return False
    answered = Rating.objects.filter(
        assignment__round__number=2,
        assignment__item=dispute.item_id,
        dimension=dispute.dimension_id,
        updated_at__gt=asked.at,
    )
    who_can = raters_of(dispute).filter(active=True, counted=True)
    return who_can.exclude(pk__in=answered.values("assignment__annotator")).exists()


_KIND_OF = {
    Dispute.Status.SETTLED: DisputeEvent.Kind.SETTLED,
    Dispute.Status.OPEN: DisputeEvent.Kind.REOPENED,
    Dispute.Status.ADJUDICATED: DisputeEvent.Kind.ADJUDICATED,
    Dispute.Status.LEFT_OPEN: DisputeEvent.Kind.LEFT_OPEN,
}


def _decide(
    dispute: Dispute,
    status: Dispute.Status,
    by: User | None,
    *,
    kind: DisputeEvent.Kind | None = None,
    value: int | None = None,
    note: str = "",
) -> Dispute:
    dispute.status, dispute.adjudicated_value, dispute.updated_at = status, value, timezone.now()
    dispute.save(update_fields=["status", "adjudicated_value", "updated_at"])
    DisputeEvent.objects.create(
        dispute=dispute,
        at=dispute.updated_at,
        actor=by,
        kind=kind or _KIND_OF[status],
        value=value,
        note=note,
    )
    return dispute
