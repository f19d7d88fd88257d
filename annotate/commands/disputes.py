"""Discussing disputes in Round II: answers, posts, adjudication."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.commands.dispute_state import (
    current_values,
    decide,
    locked,
    locked_for_discussion,
    settle_or_reopen,
    status_of,
    status_with,
)
from annotate.commands.ratings import Answer, check_answer, write_rating
from annotate.errors import (
    ChangedElsewhereError,
    DisputeClosedError,
    InvalidValueError,
)
from annotate.evidence import Passage, check_passages, passages_from_json
from annotate.models import (
    Assignment,
    Dispute,
    DisputeEvent,
    Membership,
    Post,
    Rating,
    RatingChange,
    User,
)
from annotate.queries.texts import item_texts

LONGEST_POST = 10_000


@transaction.atomic
def answer_dispute(
    *,
    dispute: Dispute,
    rater: Membership,
    value: int | None,
    comment: str = "",
    evidence: tuple[Passage, ...] | None = None,
    seen_revision: int | None = None,
    seen_status: str = "",
) -> Dispute:
    """Keep (None) or change the rater's value of a disputed unit, and settle the unit if all values have met.

    Locks the dispute's row before anything is read. Each answer, also a kept value, is a row of history.
    Without `evidence` (None) what was marked with the answer before stays; where none is marked with an
    answer, that of Round I stands.
    `seen_revision` is the revision of the rater's answer that a page showed, 0 for the value of Round I: an
    answer to what no longer stands is refused, unless it is the one that stands. None: there was no page.
    `seen_status` is the dispute's on that page: an answer that would open a unit again which the page did not
    show as settled is refused once, so that nobody undoes unknowingly what the others agreed on.
    Raises NotYoursError, RoundClosedError, DisputeClosedError, InvalidValueError, ChangedElsewhereError.
    """
    dispute, round, dimension = locked_for_discussion(dispute, rater)
    held = current_values(dispute)
    standing = held[rater.pk]
    value = standing if value is None else value
    assignment = Assignment.objects.get(round=round, item=dispute.item_id, annotator=rater)
    unit = {"assignment": assignment, "dimension_id": dispute.dimension_id}
    rating = Rating.objects.filter(**unit).first() or Rating(**unit, revision=0, value=standing)
    marked = passages_from_json(rating.evidence)
    evidence = marked if evidence is None else evidence
    answer = Answer(value=value, comment=comment.strip(), evidence=evidence)
    check_answer(dimension, answer)
    if evidence != marked:
        check_passages(evidence, item_texts(dispute.item_id))
    if seen_revision is not None and rating.revision != seen_revision:
        return _as_it_stands(dispute, rating, standing, answer)
    after = {**held, rater.pk: value}
    _refuse_unseen_reopening(dispute, seen_status, status_with(dispute, after))
    write_rating(
        rating,
        answer,
        by=rater.user,
        cause=RatingChange.Cause.KEPT if value == standing else RatingChange.Cause.CHANGED,
        guideline=round.guideline,
        repeat=True,
    )
    return settle_or_reopen(dispute, after, rater.user)


def _refuse_unseen_reopening(dispute: Dispute, seen: str, after: Dispute.Status) -> None:
    settled = Dispute.Status.SETTLED
    if dispute.status == settled and seen not in ("", settled) and after != settled:
        event = dispute.events.filter(kind=DisputeEvent.Kind.SETTLED).last()
        when = f" at {timezone.localtime(event.at):%H:%M}" if event else ""
        raise ChangedElsewhereError(
            gettext(
                "Nothing was saved: the unit was settled meanwhile{when}, and this value would "
                "open it again. Look at what the others hold; then give it once more if you "
                "still want to."
            ).format(when=when)
        )


def _as_it_stands(dispute: Dispute, rating: Rating, standing: int, answer: Answer) -> Dispute:
    stands = (rating.value, rating.comment, passages_from_json(rating.evidence))
    if stands != (answer.value, answer.comment, answer.evidence):
        raise ChangedElsewhereError(
            gettext(
                "Nothing was saved, since you answered in another window after this page was "
                "shown: your value is {standing} now. Look again, then keep or change it."
            ).format(standing=standing)
        )
    return dispute  # the same answer came twice


@transaction.atomic
def take_back(*, dispute: Dispute, rater: Membership, revision: int) -> Dispute:
    """Give a rater back what they held before the answer of this revision, if it is still their last one.

    Before the first answer that is the value of Round I, and the unit waits for the rater again. Locks the
    dispute's row; both answers stay in the history. Safe to run twice. Raises as answering does.
    """
    dispute, round, _ = locked_for_discussion(dispute, rater)
    rating = Rating.objects.filter(
        assignment__round=round,
        assignment__item=dispute.item_id,
        assignment__annotator=rater,
        dimension=dispute.dimension_id,
    ).first()
    if rating is None or rating.revision != revision:
        if _was_taken_back(rating, revision):
            return dispute
        raise ChangedElsewhereError(gettext("Nothing was taken back: this is not your last answer any more."))
    before = rating.changes.filter(revision=revision - 1).first()
    write_rating(
        rating,
        _answer_in(before) if before else Answer(),
        by=rater.user,
        cause=RatingChange.Cause.TAKEN_BACK,
        guideline=round.guideline,
        repeat=True,
    )
    return settle_or_reopen(dispute, current_values(dispute), rater.user)


def _answer_in(change: RatingChange) -> Answer:
    evidence = passages_from_json(change.evidence)
    return Answer(value=change.value_after, comment=change.comment, evidence=evidence)


def _was_taken_back(rating: Rating | None, revision: int) -> bool:
    taken_back = RatingChange.Cause.TAKEN_BACK
    return rating is not None and rating.changes.filter(revision=revision + 1, cause=taken_back).exists()


@transaction.atomic
def post_message(*, dispute: Dispute, author: Membership, text: str) -> Post:
    """Add a message to a dispute's thread. Locks the dispute's row. Raises as answering does."""
    dispute, _, _ = locked_for_discussion(dispute, author)
    text = text.strip()
    if not text:
        raise InvalidValueError(
            gettext("Write something before you send it."), fields={"text": gettext("Write something.")}
        )
    if len(text) > LONGEST_POST:
        raise InvalidValueError(
            gettext(
                "The message has {count:,} characters; at most {longest_post:,} can be sent at once."
            ).format(count=len(text), longest_post=LONGEST_POST),
            fields={"text": gettext("Shorten the message or send it in parts.")},
        )
    return Post.objects.create(dispute=dispute, author=author, text=text, at=timezone.now())


@transaction.atomic
def adjudicate(*, dispute: Dispute, value: int, note: str, by: User) -> Dispute:
    """Give a disputed unit its final value, with the reason; the raters' own values stay in the history.

    Another value, or the same with a corrected reason, is another event. Locks the dispute's row.
    Raises InvalidValueError, RoundClosedError, NotReadyError.
    """
    dispute, _, dimension = locked(dispute)
    check_answer(dimension, Answer(value=value))
    note = _reason(note)
    if _stands_already(dispute, Dispute.Status.ADJUDICATED, value, note):
        return dispute
    return decide(dispute, Dispute.Status.ADJUDICATED, by, value=value, note=note)


@transaction.atomic
def leave_open(*, dispute: Dispute, note: str, by: User) -> Dispute:
    """End an open dispute without a common value, with the reason.

    Locks the dispute's row. Raises InvalidValueError, DisputeClosedError, RoundClosedError, NotReadyError.
    """
    dispute, _, _ = locked(dispute)
    note = _reason(note)
    if _stands_already(dispute, Dispute.Status.LEFT_OPEN, None, note):
        return dispute
    if dispute.status != Dispute.Status.OPEN:
        raise DisputeClosedError(
            gettext("Only an open dispute can be left open; this one is {status}.").format(
                status=dispute.get_status_display()
            )
        )
    return decide(dispute, Dispute.Status.LEFT_OPEN, by, note=note)


@transaction.atomic
def open_again(*, dispute: Dispute, note: str, by: User) -> Dispute:
    """Take an admin's decision back, with the reason: its raters may answer again.

    One that takes answers already is returned as it is. Locks the dispute's row.
    Raises InvalidValueError, RoundClosedError, NotReadyError.
    """
    dispute, _, _ = locked(dispute)
    note = _reason(note)
    if dispute.takes_answers:
        return dispute
    status = status_of(dispute, current_values(dispute))
    return decide(dispute, status, by, kind=DisputeEvent.Kind.RESUMED, note=note)


@transaction.atomic
def ask_again(*, dispute: Dispute, note: str, by: User) -> Dispute:
    """Open a settled unit again, with the reason, until every rater has answered since and the values meet.

    One that is open is returned as it is. Locks the dispute's row.
    Raises InvalidValueError, DisputeClosedError, RoundClosedError, NotReadyError.
    """
    dispute, _, _ = locked(dispute)
    note = _reason(note)
    if dispute.status == Dispute.Status.OPEN:
        return dispute
    if dispute.status != Dispute.Status.SETTLED:
        raise DisputeClosedError(
            gettext("This dispute was {status} by an admin; open it again instead.").format(
                status=dispute.get_status_display()
            )
        )
    return decide(dispute, Dispute.Status.OPEN, by, kind=DisputeEvent.Kind.ASKED_AGAIN, note=note)


def _reason(note: str) -> str:
    if not note.strip():
        raise InvalidValueError(
            gettext("Say why you decide so; the note is kept with the decision."),
            fields={"note": gettext("Give a reason.")},
        )
    return note.strip()


def _stands_already(dispute: Dispute, status: Dispute.Status, value: int | None, note: str) -> bool:
    if (dispute.status, dispute.adjudicated_value) != (status, value):
        return False
    last = dispute.events.last()
    return last is not None and last.note == note
