"""Saving an annotator's ratings, each with its history."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.access import ASSIGNMENT_GONE
from annotate.core.errors import ROUND_ONE_CLOSED, AssignmentGoneError, InvalidValueError, RoundClosedError
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import guideline_of
from annotate.core.models import Assignment, Guideline, PrivateNote, Rating, RatingChange, Round, User
from annotate.fastpath.queries import NUMBERS, Prepared, PreparedInsert, PreparedUpdate
from annotate.fastpath.statements import send_together
from annotate.questions import Given, ItemContent, kind_of
from annotate.questions.kind import Data, hidden_dimensions, is_storable, refuse_data
from annotate.rating.evidence import Passage, check_passages, passages_from_json, passages_to_json
from annotate.rating.queries.assignments import asked_dimensions, content_of, item_texts, stored_answer

LONGEST_COMMENT = 10_000


@dataclass(frozen=True)
class Answer:
    """A value, or the reason for its absence, with remarks and evidence."""

    value: float | None = None
    unsure: bool = False
    cannot_rate: bool = False
    comment: str = ""
    not_applicable: bool = False
    evidence: tuple[Passage, ...] = ()
    data: Data = None


@dataclass(frozen=True)
class SaveOrigin:
    """Metadata of an answer from a page.

    seen_revision: the revision on the page, 0 if none. client, sequence: the browser, and the number of its
    answer; a later request of the same browser overtakes this one, which then changes nothing.
    guideline_version: version on the page; None for the version in force.
    """

    seen_revision: int = 0
    active_seconds: float = 0
    client: str = ""
    sequence: int = 0
    guideline_version: int | None = None


@dataclass(frozen=True)
class SaveOutcome:
    """The outcome of a save.

    revision: the current revision. replaced: the answer of another window that it replaced unseen. overtaken:
    the later answer that is in force instead.
    """

    revision: int
    replaced: Answer | None
    overtaken: Answer | None
    assignment_complete: bool


@dataclass(frozen=True)
class SubmittedAnswer:
    dimension: FrozenDimension
    answer: Answer
    sent: SaveOrigin = SaveOrigin()


def save_rating(
    *,
    assignment: Assignment,
    dimension: FrozenDimension,
    answer: Answer,
    by: User | None,
    sent: SaveOrigin = SaveOrigin(),
) -> SaveOutcome:
    (saved,) = save_ratings(assignment=assignment, given=[SubmittedAnswer(dimension, answer, sent)], by=by)
    if isinstance(saved, InvalidValueError):
        raise saved
    return saved


@transaction.atomic
def save_ratings(
    *, assignment: Assignment, given: Sequence[SubmittedAnswer], by: User | None
) -> list[SaveOutcome | InvalidValueError]:
    """Save answers of Round I about one item together; the same answer again changes nothing.

    Locks the assignment's row for its annotator before it reads the round's status. So neither reassignment
    nor closing the round can interrupt a save. The later save wins, and returns the answer that the page had
    not seen. Returns an outcome for each answer; an invalid one does not block the others. Raises
    RoundClosedError or AssignmentGoneError for all of them, and then saves nothing.
    """
    locked, round, ratings = lock_assignment(assignment)
    asked = asked_dimensions(locked, guideline_of(round))
    steps: list[_Step | InvalidValueError] = []
    for position, each in enumerate(given):
        try:
            if any(each.dimension.id == other.dimension.id for other in given[:position]):
                raise InvalidValueError(
                    gettext("{name} was answered twice in one request; the first answer counts.").format(
                        name=each.dimension.name
                    )
                )
            steps.append(_step(locked, round, asked, ratings, each))
        except InvalidValueError as error:
            steps.append(error)
    # Conditions apply to all answers of the request: one answer may hide the question of another.
    hidden = hidden_dimensions(asked, _answers_after(ratings, steps))
    # All writes and the COMMIT make one round trip.
    with send_together(last=True):
        for step in steps:
            if isinstance(step, _Step) and not step.overtaken:
                key = step.given.dimension.id
                ratings[key] = _write(
                    replace(step, given=replace(step.given, answer=Answer())) if key in hidden else step,
                    round.guideline,
                    by,
                )
        for key in hidden & ratings.keys():
            # Empty the answer to a question that another answer has hidden.
            rating = ratings[key]
            in_force = round.guideline
            if rating.pk and rating.is_answered:
                cause = RatingChange.Cause.RATED
                write_rating(rating, Answer(), by=by, cause=cause, guideline=in_force, repeat=True)
        complete = _mark_progress(locked, [each for each in asked if each.id not in hidden], ratings)
    return [
        step
        if isinstance(step, InvalidValueError)
        else SaveOutcome(step.rating.revision, step.replaced, step.overtaken, complete)
        for step in steps
    ]


@dataclass(frozen=True)
class _Step:
    given: SubmittedAnswer
    rating: Rating
    seen: Guideline
    replaced: Answer | None
    overtaken: Answer | None


def _step(
    assignment: Assignment,
    round: Round,
    asked: Collection[FrozenDimension],
    ratings: Mapping[int, Rating],
    given: SubmittedAnswer,
) -> _Step:
    dimension, sent = given.dimension, given.sent
    answer = checked_answer(dimension, given.answer, assignment)
    given = replace(given, answer=answer)
    if all(each.id != dimension.id for each in asked):
        raise InvalidValueError(
            gettext("You are not asked to rate {name} of this item, so nothing was saved.").format(
                name=dimension.name
            )
        )
    rating = ratings.get(dimension.id)
    # Unchanged evidence needs no queries: an earlier save checked it.
    if answer.evidence and (rating is None or _answer_of(rating).evidence != answer.evidence):
        check_passages(answer.evidence, item_texts(assignment.item_id))
    seen = seen_guideline(round, sent.guideline_version)
    if rating and (bool(sent.client) and rating.client == sent.client and rating.sequence > sent.sequence):
        # The same page sent a later answer that arrived first, and this one must not overwrite it.
        return _Step(given, rating, seen, None, _answer_of(rating))
    replaced = None
    # Nothing is lost if the replaced answer is the same, or empty.
    if rating and rating.revision > sent.seen_revision and _answer_of(rating) not in (answer, Answer()):
        replaced = _answer_of(rating)
    rating = rating or Rating(assignment_id=assignment.pk, dimension_id=dimension.id, revision=0)
    return _Step(given, rating, seen, replaced, None)


def _write(step: _Step, in_force: Guideline, by: User | None) -> Rating:
    rating, sent = step.rating, step.given.sent
    rating.client, rating.sequence = sent.client, sent.sequence
    # A second look counts only if the page showed the wording in force.
    looked_again = rating.asked_again_at is not None and step.seen == in_force
    if looked_again:
        rating.asked_again_at = None
    return write_rating(
        rating,
        step.given.answer,
        by=by,
        cause=RatingChange.Cause.RATED,
        guideline=step.seen,
        active_seconds=sent.active_seconds,
        repeat=looked_again,
    )


def _answers_after(
    ratings: Mapping[int, Rating], steps: Sequence["_Step | InvalidValueError"]
) -> dict[int, Given | None]:
    answers = {key: stored_answer(rating) for key, rating in ratings.items()}
    for step in steps:
        if isinstance(step, _Step) and not step.overtaken:
            value, data = step.given.answer.value, step.given.answer.data
            answers[step.given.dimension.id] = None if value is None else Given(value, data)
    return answers


def lock_assignment(assignment: Assignment) -> tuple[Assignment, Round, dict[int, Rating]]:
    """Lock the assignment, then read its round and ratings in their state after the lock."""
    with send_together():
        # In this order: each statement has its own snapshot, so the last two see the state after the lock.
        asked_lock = _LOCKED.ask(assignment.pk, assignment.annotator_id or 0)
        asked_round = _ROUND.ask(assignment.round_id)
        asked_ratings = _RATINGS.ask(assignment.pk)
    locked, round = asked_lock.first(), asked_round.all()[0]
    if not round.is_open:
        raise RoundClosedError(gettext(ROUND_ONE_CLOSED))
    if locked is None:
        raise AssignmentGoneError(gettext(ASSIGNMENT_GONE))
    return locked, round, {rating.dimension_id: rating for rating in asked_ratings.all()}


_LOCKED = Prepared(
    lambda pk, annotator: (
        Assignment.objects.select_for_update(of=("self",))
        # No row if the assignment was handed to someone else.
        .filter(pk=pk, annotator=annotator)
        .only("item", "partial", "started_at", "completed_at")
    ),
    *NUMBERS[:2],
)
_ROUND = Prepared(
    lambda pk: (
        Round.all_rounds.select_related("guideline")
        .filter(pk=pk)
        .only("project", "status", "guideline", "guideline__version", "guideline__digest")
    ),
    NUMBERS[0],
)
_RATINGS = Prepared(
    lambda assignment: Rating.objects.filter(assignment=assignment).defer("created_at", "updated_at"),
    NUMBERS[0],
)


def seen_guideline(round: Round, version: int | None) -> Guideline:
    """Return the version on the page; the one in force if the version is missing or invalid."""
    if version is None or version == round.guideline.version:
        return round.guideline
    return round.project.guideline_versions.filter(version=version).first() or round.guideline


def checked_answer(dimension: FrozenDimension, answer: Answer, assignment: Assignment) -> Answer:
    """Return the stored form of an answer. Raises InvalidValueError as `check_answer` and its kind do.

    One query if the kind reads the item; two for a comparison or parts.
    """
    kind = kind_of(dimension)
    check_answer(dimension, answer)
    # Without a value the kind has nothing to check, so the item is not read.
    if answer.value is None and answer.data is None:
        return answer
    item = content_of(assignment) if kind.reads_item else ItemContent()
    if not is_storable(answer.data):
        raise refuse_data(dimension)
    value, data = kind.clean(dimension, answer.value, answer.data, item)
    return replace(answer, value=value, data=data)


def check_answer(dimension: FrozenDimension, answer: Answer) -> None:
    """Raise InvalidValueError unless the dimension's scale and the form allow the answer."""
    if dimension.is_scale and answer.value is not None:
        kind_of(dimension).clean(dimension, answer.value, answer.data, ItemContent())
    has_value = answer.value is not None or answer.data is not None
    if has_value + answer.cannot_rate + answer.not_applicable > 1:
        raise InvalidValueError(gettext("Either give a value or say why there is none, not both."))
    if answer.not_applicable and not dimension.not_applicable:
        raise InvalidValueError(
            gettext(
                "{name} has no answer “not applicable”; give a value or say that you cannot rate."
            ).format(name=dimension.name)
        )
    if len(answer.comment) > LONGEST_COMMENT:
        raise InvalidValueError(
            gettext("The comment has {count:,} characters; at most {longest_comment:,} can be kept.").format(
                count=len(answer.comment), longest_comment=LONGEST_COMMENT
            ),
            fields={"comment": gettext("Shorten the comment.")},
        )


def write_rating(
    rating: Rating,
    answer: Answer,
    *,
    by: User | None,
    cause: RatingChange.Cause,
    guideline: Guideline,
    active_seconds: float = 0,
    repeat: bool = False,
    short_reason: str = "",
) -> Rating:
    """Store the answer and one row of history, inside the caller's transaction.

    A new rating does not learn its key. Without `repeat` an answer equal to the stored one leaves no second
    row.
    """
    now = timezone.now()
    before = rating.value
    # Active time never decreases, as a late or repeated request may report less.
    rating.active_seconds = max(rating.active_seconds, active_seconds)
    # The same answer again stores only time, browser and sequence; the revision stays.
    if rating.pk and _answer_of(rating) == answer and not repeat:
        _SENT_AGAIN.run(rating)
        return rating
    rating.value = answer.value
    for name in _BESIDES_VALUE:
        setattr(rating, name, getattr(answer, name))
    rating.evidence = passages_to_json(answer.evidence)
    rating.guideline = guideline
    rating.revision += 1
    rating.updated_at = now
    if rating.pk:
        _STORED.run(rating)
    else:
        rating.created_at = now
        _FIRST_STORED.run(rating)
    change = RatingChange(
        rating=rating,
        revision=rating.revision,
        at=now,
        actor_id=by.pk if by else None,
        cause=cause,
        value_before=before,
        value_after=rating.value,
        short_reason=short_reason,
        evidence=rating.evidence,
        guideline_id=rating.guideline_id,
        **{name: getattr(rating, name) for name in _BESIDES_VALUE},
    )
    _CHANGE.run(change, rating.assignment_id, rating.dimension_id)
    return rating


_BESIDES_VALUE = ("data", "comment", "unsure", "cannot_rate", "not_applicable")
"""The same in an answer, its rating and its history."""
_FIRST_STORED = PreparedInsert(Rating)
_SENT_AGAIN = PreparedUpdate(Rating, "active_seconds", "client", "sequence")
_STORED = PreparedUpdate(
    Rating,
    *("value", *_BESIDES_VALUE, "evidence", "guideline", "asked_again_at"),
    *("revision", "updated_at", "active_seconds", "client", "sequence"),
)
_CHANGE = PreparedInsert(
    RatingChange,
    # The key of a rating inserted in the same round trip is not known yet.
    rating="(SELECT id FROM annotate_rating WHERE assignment_id = %s AND dimension_id = %s)",
)
_PROGRESS = PreparedUpdate(Assignment, "started_at", "completed_at")


def _answer_of(rating: Rating) -> Answer:
    besides = {name: getattr(rating, name) for name in _BESIDES_VALUE}
    return Answer(rating.value, evidence=passages_from_json(rating.evidence), **besides)


def _mark_progress(
    assignment: Assignment, asked: Collection[FrozenDimension], ratings: Mapping[int, Rating]
) -> bool:
    given = (ratings.get(each.id) for each in asked)
    # A requested second look keeps the item incomplete.
    complete = all(rating and rating.is_answered and rating.asked_again_at is None for rating in given)
    now = timezone.now()
    started = assignment.started_at or now
    # The first time of completion stays; an answer that is emptied makes the item incomplete again.
    completed = (assignment.completed_at or now) if complete else None
    if (started, completed) != (assignment.started_at, assignment.completed_at):
        assignment.started_at, assignment.completed_at = started, completed
        _PROGRESS.run(assignment)
    return complete


def save_note(*, assignment: Assignment, text: str) -> None:
    """Save the annotator's private note about the item, also after the round is closed; the last one wins.

    Locks the note. Raises InvalidValueError if it is too long.
    """
    if len(text) > LONGEST_COMMENT:
        raise InvalidValueError(
            gettext("The note has {count:,} characters; at most {longest_comment:,} can be kept.").format(
                count=len(text), longest_comment=LONGEST_COMMENT
            ),
            fields={"comment": gettext("Shorten the note.")},
        )
    assert assignment.annotator_id is not None
    # PostgreSQL stores no NUL characters.
    PrivateNote.objects.update_or_create(
        annotator_id=assignment.annotator_id,
        item_id=assignment.item_id,
        defaults={"text": text.replace("\0", "")},
    )
