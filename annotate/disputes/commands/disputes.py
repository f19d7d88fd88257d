"""Discussing disputes in Round II: answers, posts, adjudication."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import ChangedElsewhereError, DisputeClosedError, FrozenError, InvalidValueError
from annotate.core.models import (
    Assignment,
    Dispute,
    DisputeEvent,
    DisputeLook,
    Membership,
    Post,
    Project,
    Rating,
    RatingChange,
    Round,
    User,
)
from annotate.disputes.commands.state import (
    current_answers,
    decide,
    lock_dispute,
    locked_for_discussion,
    settle_or_reopen,
    status_with,
)
from annotate.disputes.queries.rules import Rule
from annotate.questions import Given, kind_of
from annotate.questions.kind import Data
from annotate.questions.scale import SCALE
from annotate.rating.commands.ratings import Answer, checked_answer, seen_guideline, write_rating
from annotate.rating.evidence import Passage, check_passages, passages_from_json
from annotate.rating.queries.assignments import item_texts

MOST_REASONS, LONGEST_REASON = 9, 100


@dataclass(frozen=True)
class OwnRule:
    """A dimension's own rule; a field with None follows the project's rule."""

    threshold: float | None
    tolerance: float | None


@transaction.atomic
def set_dispute_rules(
    *,
    project: Project,
    rule: Rule,
    own: Mapping[int, OwnRule],
    keep_reasons: Sequence[str] | None = None,
    by: User,
) -> Project:
    """Set the project's rule, the own rules of dimensions (by key), and short reasons (None: as before).

    Dimensions without an entry keep their rules. Raters do not see the rule, so it may change while Round I
    is open. Locks the project, as closing does. Raises FrozenError once Round I is closed, InvalidValueError.
    """
    locked = lock_project(project)
    if locked.rounds.filter(number=1, status=Round.Status.CLOSED).exists():
        raise FrozenError(gettext("Round I is closed, and its disputes keep the rules that opened them."))
    _refuse_wide_tolerance(rule.threshold, rule.tolerance)
    reasons = locked.keep_reasons if keep_reasons is None else list(keep_reasons)
    if len(reasons) > MOST_REASONS or any(len(reason) > LONGEST_REASON for reason in reasons):
        raise InvalidValueError(
            gettext("At most {most} short reasons of at most {longest} characters can be offered.").format(
                most=MOST_REASONS, longest=LONGEST_REASON
            ),
            fields={"keep_reasons": gettext("Shorten this list.")},
        )
    before: dict[str, object] = {"threshold": locked.dispute_threshold, "tolerance": locked.tolerance}
    after: dict[str, object] = {"threshold": rule.threshold, "tolerance": rule.tolerance}
    before["keep_reasons"], after["keep_reasons"] = locked.keep_reasons, reasons
    record(locked, "project.dispute_rule_set", locked, before=before, after=after, by=by)
    locked.dispute_threshold, locked.tolerance = rule.threshold, rule.tolerance
    locked.keep_reasons = reasons
    locked.save(update_fields=["dispute_threshold", "tolerance", "keep_reasons"])
    # Dimensions follow, with the project's rule that this command has just set.
    for dimension in locked.dimensions.filter(pk__in=own):
        wanted = own[dimension.pk]
        if wanted.tolerance is not None:
            kind = kind_of(dimension)
            # Without an own threshold a scale follows the project, and another question its kind.
            usual = rule.threshold if kind is SCALE else kind.threshold
            _refuse_wide_tolerance(wanted.threshold or usual, wanted.tolerance)
        before = {"threshold": dimension.dispute_threshold, "tolerance": dimension.tolerance}
        after = {"threshold": wanted.threshold, "tolerance": wanted.tolerance}
        record(locked, "dimension.dispute_rule_set", dimension, before=before, after=after, by=by)
        dimension.dispute_threshold, dimension.tolerance = wanted.threshold, wanted.tolerance
        dimension.save(update_fields=["dispute_threshold", "tolerance"])
    return locked


def _refuse_wide_tolerance(threshold: float, tolerance: float) -> None:
    if not 0 <= tolerance < threshold:
        raise InvalidValueError(
            gettext("A tolerance must be less than its threshold, or a dispute is settled at once.")
        )


LONGEST_POST = 10_000


@transaction.atomic
def answer_dispute(
    *,
    dispute: Dispute,
    rater: Membership,
    value: float | None,
    data: Data = None,
    comment: str = "",
    evidence: tuple[Passage, ...] | None = None,
    short_reason: str = "",
    differs: bool = False,
    seen_revision: int | None = None,
    seen_status: str = "",
    guideline_version: int | None = None,
) -> Dispute:
    """Keep or change the rater's answer about a disputed unit, and settle the unit if all answers have met.

    Without `value` and `data` the rater keeps the answer.

    A kept value needs a reason: a comment, a marked passage, one of the project's short reasons, or that the
    raters differ (`differs`). A comment or a passage is an argument, which the other raters must answer; a
    short reason or `differs` is not. If no rater has to answer and the values still differ, the unit is
    irresolvable by discussion.

    Locks the dispute's row before reading anything. Each answer, also a kept value, is a row of history.
    Without `evidence` (None) the passages marked with the previous answer remain. An answer without marked
    passages has those in Round I. `seen_revision` is the revision of the rater's answer that a page showed, 0
    for the value of Round I: an answer from an outdated page is rejected, unless it equals the current one.
    None: there was no page. `seen_status` is the dispute's status on that page. An answer that would reopen a
    settled unit is rejected once if the page did not show it as settled: raters must not undo an agreement
    unknowingly. `guideline_version` is the version of the wording that the page showed; None for the version
    in force. Raises NotYoursError, RoundClosedError, DisputeClosedError, InvalidValueError,
    ChangedElsewhereError.
    """
    dispute, round, dimension = locked_for_discussion(dispute, rater)
    held = current_answers(dispute)
    standing = held[rater.pk]
    kept = value is None and data is None
    assignment = Assignment.objects.get(round=round, item=dispute.item_id, annotator=rater)
    # The first answer starts from the value of Round I, which the history then has as the value before.
    unit = {"assignment": assignment, "dimension_id": dispute.dimension_id}
    rating = Rating.objects.filter(**unit).first() or Rating(
        **unit, revision=0, value=standing.value, data=standing.data
    )
    # None means the passages of the previous answer; an empty tuple removes them.
    marked = passages_from_json(rating.evidence)
    evidence = marked if evidence is None else evidence
    answer = Answer(
        value=standing.value if kept else value,
        data=standing.data if kept else data,
        comment=comment.strip(),
        evidence=evidence,
    )
    answer = checked_answer(dimension, answer, assignment)
    if answer.value is None:
        raise InvalidValueError(gettext("This answer is not complete; give every part of it."))
    given = Given(answer.value, answer.data)
    # The command for an earlier answer has checked unchanged passages already.
    if evidence != marked:
        check_passages(evidence, item_texts(dispute.item_id))
    # An outdated page must not overwrite an answer from another window.
    if seen_revision is not None and rating.revision != seen_revision:
        return _return_unchanged(dispute, rating, kind_of(dimension).describe(dimension, standing), answer)
    # A changed value speaks for itself; a kept one needs a reason.
    if given == standing and not differs:
        _refuse_without_reason(answer, short_reason, dispute)
    after = {**held, rater.pk: given}
    # Judged before the write, by the status that this answer would lead to.
    _refuse_unseen_reopening(dispute, seen_status, status_with(dispute, after))
    cause = RatingChange.Cause.DIFFERS if differs else RatingChange.Cause.KEPT
    if given != standing:
        cause = RatingChange.Cause.CHANGED
    write_rating(
        rating,
        answer,
        by=rater.user,
        cause=cause,
        guideline=seen_guideline(round, guideline_version),
        # A kept value is a separate act in the history.
        repeat=True,
        short_reason=short_reason if given == standing else "",
    )
    return settle_or_reopen(dispute, after, rater.user)


def _refuse_without_reason(answer: Answer, short_reason: str, dispute: Dispute) -> None:
    if short_reason and short_reason not in (known := dispute.round.project.keep_reasons):
        raise InvalidValueError(
            gettext("“{reason}” is none of this project’s short reasons: {known}.").format(
                reason=short_reason, known=", ".join(known)
            )
        )
    if not (short_reason or answer.comment or answer.evidence):
        raise InvalidValueError(
            gettext(
                "Say why you keep your value: write a sentence, mark a passage or choose a short reason. Or "
                "choose “We differ” if nothing new is left to say."
            ),
            fields={"comment": gettext("Give a reason.")},
        )


def _refuse_unseen_reopening(dispute: Dispute, seen: str, after: Dispute.Status) -> None:
    settled = Dispute.Status.SETTLED
    if dispute.status == settled and seen not in ("", settled) and after != settled:
        raise ChangedElsewhereError(
            gettext(
                "Not saved: this dispute was settled at {time}, while you were writing. Your value would "
                "reopen it. Read the others’ values, then answer again if you want to reopen it."
            ).format(time=f"{timezone.localtime(dispute.updated_at):%H:%M}")
        )


def _return_unchanged(dispute: Dispute, rating: Rating, standing: str, answer: Answer) -> Dispute:
    stands = (rating.value, rating.data, rating.comment, passages_from_json(rating.evidence))
    if stands != (answer.value, answer.data, answer.comment, answer.evidence):
        raise ChangedElsewhereError(
            gettext(
                "Not saved: you answered in another window, and your value is now {standing}. "
                "Check it, then keep or change it."
            ).format(standing=standing)
        )
    return dispute  # the same answer came twice


@transaction.atomic
def take_back(*, dispute: Dispute, rater: Membership, revision: int) -> Dispute:
    """Undo the rater's answer of this revision, if it is still their last one.

    Before the first answer that restores the value of Round I, and the unit needs the rater again. Locks the
    dispute's row; both answers remain in the history. Safe to run twice. Raises as answering does.
    """
    dispute, round, _ = locked_for_discussion(dispute, rater)
    rating = Rating.objects.filter(
        assignment__round=round,
        assignment__item=dispute.item_id,
        assignment__annotator=rater,
        dimension=dispute.dimension_id,
    ).first()
    if rating is None or rating.revision != revision:
        # A request that arrives twice finds that its first arrival has undone this revision.
        undone = {"revision": revision + 1, "cause": RatingChange.Cause.TAKEN_BACK}
        if rating is not None and rating.changes.filter(**undone).exists():
            return dispute
        raise ChangedElsewhereError(gettext("Nothing was taken back: this is not your last answer any more."))
    # Without an earlier answer in Round II, an empty one brings back the value of Round I.
    answer = Answer()
    if before := rating.changes.filter(revision=revision - 1).first():
        answer = Answer(
            value=before.value_after,
            data=before.data,
            comment=before.comment,
            evidence=passages_from_json(before.evidence),
        )
    write_rating(
        rating,
        answer,
        by=rater.user,
        cause=RatingChange.Cause.TAKEN_BACK,
        guideline=round.guideline,
        repeat=True,
    )
    return settle_or_reopen(dispute, current_answers(dispute), rater.user)


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
    post = Post.objects.create(dispute=dispute, author=author, text=text, at=timezone.now())
    settle_or_reopen(dispute, current_answers(dispute), author.user)  # the others must answer it
    return post


@transaction.atomic
def adjudicate(*, dispute: Dispute, value: float | None, note: str, by: User, data: Data = None) -> Dispute:
    """Give a disputed unit its final answer, with the reason; the raters' own answers remain in the history.

    Another answer, or the same with a corrected reason, is another event. Locks the dispute's row. Raises
    InvalidValueError, RoundClosedError, NotReadyError.
    """
    dispute, round, dimension = lock_dispute(dispute)
    # Not saved: the check of the answer reads the item's content through an assignment.
    shown = Assignment(round=round, item=dispute.item)
    answer = checked_answer(dimension, Answer(value=value, data=data), shown)
    if answer.value is None:
        raise InvalidValueError(gettext("Choose the final value."))
    given, note = Given(answer.value, answer.data), _reason(note)
    # A request that arrives twice must not write a second event.
    if _is_stored_already(dispute, Dispute.Status.ADJUDICATED, given, note):
        return dispute
    return decide(dispute, Dispute.Status.ADJUDICATED, by, given=given, note=note)


@transaction.atomic
def leave_open(*, dispute: Dispute, note: str, by: User) -> Dispute:
    """End an open dispute without a common value, with the reason.

    Locks the dispute's row. Raises InvalidValueError, DisputeClosedError, RoundClosedError, NotReadyError.
    """
    dispute, _, _ = lock_dispute(dispute)
    note = _reason(note)
    if _is_stored_already(dispute, Dispute.Status.LEFT_OPEN, None, note):
        return dispute
    if not dispute.may_be_left_open:
        raise DisputeClosedError(
            gettext("Only an open dispute can be left open; this one is {status}.").format(
                status=dispute.get_status_display()
            )
        )
    return decide(dispute, Dispute.Status.LEFT_OPEN, by, note=note)


@transaction.atomic
def open_again(*, dispute: Dispute, note: str, by: User) -> Dispute:
    """Undo a decision, with the reason: its raters may answer again.

    A dispute that accepts answers already is returned unchanged. Locks the dispute's row. Raises
    InvalidValueError, RoundClosedError, NotReadyError.
    """
    dispute, _, _ = lock_dispute(dispute)
    note = _reason(note)
    if dispute.takes_answers:
        return dispute
    status = status_with(dispute, current_answers(dispute), heeds_requests=False)
    return decide(dispute, status, by, kind=DisputeEvent.Kind.RESUMED, note=note)


@transaction.atomic
def ask_again(*, dispute: Dispute, note: str, by: User) -> Dispute:
    """Reopen a settled or irresolvable unit, with the reason. Every rater must answer again.

    An open dispute is returned unchanged. Locks the dispute's row. Raises InvalidValueError,
    DisputeClosedError, RoundClosedError, NotReadyError.
    """
    dispute, _, _ = lock_dispute(dispute)
    note = _reason(note)
    if dispute.status == Dispute.Status.OPEN:
        return dispute
    if not dispute.takes_answers:
        raise DisputeClosedError(
            gettext("This dispute was {status}; open it again instead.").format(
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


def _is_stored_already(dispute: Dispute, status: Dispute.Status, given: Given | None, note: str) -> bool:
    decided = (dispute.adjudicated_value, dispute.adjudicated_data)
    if (dispute.status, decided) != (status, given or (None, None)):
        return False
    last = dispute.events.last()
    return last is not None and last.note == note


def note_look(*, dispute: Dispute, rater: Membership) -> None:
    """Record that the rater sees the dispute as it is now. One statement, and no lock of the dispute."""
    DisputeLook.objects.bulk_create(
        [DisputeLook(rater=rater, dispute=dispute, at=timezone.now())],
        update_conflicts=True,
        unique_fields=["rater", "dispute"],
        update_fields=["at"],
    )
