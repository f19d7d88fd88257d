"""Write operations on counting, gold items and practice."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext, gettext_noop

from annotate.core.audit import record
from annotate.core.configuration import lock_configurable, lock_project
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.guidelines import off_scale_sentence
from annotate.core.models import (
    CountingDecision,
    GoldItem,
    GoldValue,
    Item,
    Membership,
    OutsideRater,
    PracticeAnswer,
    Project,
    User,
)
from annotate.core.scale import is_on_scale
from annotate.quality.queries import practice_of, practice_values
from annotate.questions.scale import SCALE
from annotate.rating.commands.ratings import SubmittedAnswer, check_answer
from annotate.rating.evidence import check_passages, passages_to_json
from annotate.rating.queries.assignments import item_texts

# Leaving an annotator's ratings out of the statistics, and taking them in again.


@transaction.atomic
def decide_counting(*, membership: Membership, counted: bool, note: str, by: User) -> Membership:
    """Include an annotator's ratings in the statistics or exclude them, with the reason. Locks the project.

    Nothing is deleted: ratings and history stay, and the export marks them. Repeating the same decision
    changes nothing. Raises InvalidValueError without a reason.
    """
    lock_project(membership.project)
    # Another admin may have decided before this one got the lock.
    membership.refresh_from_db()
    if membership.counted == counted:
        return membership
    if not note.strip():
        raise InvalidValueError(
            gettext("Add a note; Concord stores it with the decision."),
            fields={"note": gettext("Give a reason.")},
        )
    membership.counted = counted
    membership.save(update_fields=["counted"])
    CountingDecision.objects.create(membership=membership, counted=counted, note=note.strip(), by=by)
    before, after = {"counted": not counted}, {"counted": counted}
    record(
        membership.project,
        "place.counting_decided",
        membership,
        note=note.strip(),
        by=by,
        before=before,
        after=after,
    )
    return membership


# Marking items whose right values are known, for practice or hidden in Round I.


@dataclass(frozen=True)
class RightValue:
    value: float
    explanation: str = ""


@transaction.atomic
def mark_gold(*, project: Project, item: Item, use: str) -> GoldItem:
    """Remove an item from the work of Round I, for practice or as a hidden check, and return it.

    Marking a gold item again keeps its values. Locks the project. Raises FrozenError once Round I was opened.
    """
    lock_configurable(project)
    before: dict[str, object] = {**(GoldItem.objects.filter(item=item).values("use").first() or {})}
    gold, _ = GoldItem.objects.update_or_create(item=item, defaults={"use": use})
    record(project, "gold.marked", _name(gold), before=before, after={"use": use})
    return gold


@transaction.atomic
def describe_gold(
    *, project: Project, gold: GoldItem, explanation: str, values: Mapping[int, RightValue]
) -> None:
    """Replace the right values of a gold item, by dimension (its key).

    Locks the project. Raises FrozenError once Round I was opened, InvalidValueError for a value outside the
    dimension's scale.
    """
    lock_configurable(project)
    dimensions = {each.pk: each for each in project.dimensions.all()}
    for key, right in values.items():
        dimension = dimensions[key]
        if dimension.kind != SCALE.key:
            raise InvalidValueError(
                gettext("{name} has no scale, so it takes no right value.").format(name=dimension.name)
            )
        scale = dimension.scale_minimum, dimension.scale_maximum, dimension.scale_step
        if not is_on_scale(right.value, *scale):
            raise InvalidValueError(off_scale_sentence(dimension.name, right.value, *scale))
    before = _values_of(gold)
    gold.explanation = explanation
    gold.save(update_fields=["explanation"])
    # Values that stay keep their rows, to which practice answers refer.
    gold.values.exclude(dimension__in=values).delete()
    for key, right in values.items():
        GoldValue.objects.update_or_create(
            gold=gold,
            dimension_id=key,
            defaults={"value": right.value, "explanation": right.explanation},
        )
    record(project, "gold.described", _name(gold), before=before, after=_values_of(gold))


@transaction.atomic
def unmark_gold(*, project: Project, gold: GoldItem) -> None:
    """Return an item to the work of Round I; delete its gold values and practice answers.

    Locks the project. Raises FrozenError once Round I was opened.
    """
    lock_configurable(project)
    record(project, "gold.unmarked", _name(gold), before=_values_of(gold))
    GoldItem.objects.filter(pk=gold.pk).delete()


def _name(gold: GoldItem) -> str:
    return f"{gold.item.document.key}/{gold.item.system.name}"


def _values_of(gold: GoldItem) -> dict[str, object]:
    values = gold.values.order_by().values_list("dimension__key", "value", "explanation")
    known = {key: [value, why] for key, value, why in values}
    return {**known, "explanation": gold.explanation}


# Practice before Round I: answers that are no ratings, and whether they pass the bar.


@transaction.atomic
def set_practice_bar(*, project: Project, bar: int | None) -> None:
    """Set the percentage of right practice answers required for Round I; None switches practice off.

    Locks the project. Raises FrozenError once Round I was opened, NotReadyError without practice items.
    """
    locked = lock_configurable(project)
    if bar is not None and not practice_values(project).exists():
        raise NotReadyError(
            gettext("Mark an item for practice and give its right values before you set a bar.")
        )
    Project.objects.filter(pk=project.pk).update(practice_bar=bar)
    before = {"practice_bar": locked.practice_bar}
    record(project, "practice.bar_set", project, before=before, after={"practice_bar": bar})


STANDS = gettext_noop("You have seen the reference value, so your first answer counts.")


@transaction.atomic
def save_practice(
    *, membership: Membership, gold: GoldItem, attempt: int, given: Sequence[SubmittedAnswer]
) -> list[InvalidValueError | None]:
    """Store answers on a practice item; they stay editable until the annotator sees the reference values.

    Locks the annotator's row. The same answer again changes nothing. Returns an error for each invalid
    answer, None for each stored one. Raises NotReadyError, and stores nothing, for an attempt that is over.
    """
    membership = _lock(membership)
    if attempt != membership.practice_attempt:
        raise NotReadyError(gettext("You restarted practice, so this answer no longer counts."))
    asked = {each.dimension_id: each for each in GoldValue.objects.filter(gold=gold)}
    problems: list[InvalidValueError | None] = []
    # An invalid answer must not keep the others of the same request from being stored.
    for each in given:
        try:
            _save_practice_answer(membership, gold, asked.get(each.dimension.id), each)
            problems.append(None)
        except InvalidValueError as error:
            problems.append(error)
    return problems


def _save_practice_answer(
    membership: Membership, gold: GoldItem, asked: GoldValue | None, given: SubmittedAnswer
) -> None:
    answer, sent = given.answer, given.sent
    if asked is None:
        raise InvalidValueError(gettext("Practice does not ask for this dimension."))
    check_answer(given.dimension, answer)
    if answer.evidence:
        check_passages(answer.evidence, item_texts(gold.item_id))
    values = {**vars(answer), "evidence": passages_to_json(answer.evidence)}
    del values["data"]  # only scales have gold values
    key: dict[str, Any] = {
        "membership": membership,
        "attempt": membership.practice_attempt,
        "gold_value": asked,
    }
    known = PracticeAnswer.objects.filter(**key).first()
    if known and known.settled_at:
        if any(getattr(known, name) != value for name, value in values.items()):
            raise InvalidValueError(gettext(STANDS))
        return
    if known and sent.client and known.client == sent.client and known.sequence > sent.sequence:
        return  # overtaken by a later answer of the same browser
    sequence = {"client": sent.client, "sequence": sent.sequence}
    PracticeAnswer.objects.update_or_create(**key, defaults={**values, **sequence})


@transaction.atomic
def settle_practice_item(*, membership: Membership, gold: GoldItem) -> None:
    """Make the answers on a practice item final, before their annotator sees the right values.

    Practice is passed when all questions are answered and enough answers are right. Safe to run twice. Locks
    the annotator's row. Raises NotReadyError unless every dimension with a gold value is answered.
    """
    membership = _lock(membership)
    asked = GoldValue.objects.filter(gold=gold).select_related("dimension")
    answers = PracticeAnswer.objects.filter(
        membership=membership, attempt=membership.practice_attempt, gold_value__gold=gold
    )
    given = {each.gold_value_id for each in answers if each.is_answered}
    if missing := [each.dimension.name for each in asked if each.pk not in given]:
        raise NotReadyError(
            gettext("Rate {listed} too; then you see the right values.").format(listed=", ".join(missing))
        )
    # Answers that are final already keep their time.
    answers.filter(settled_at=None).update(settled_at=timezone.now())
    _pass_if_enough(membership)


def _lock(membership: Membership) -> Membership:
    return Membership.objects.select_for_update(of=("self",)).select_related("project").get(pk=membership.pk)


@transaction.atomic
def finish_practice(*, membership: Membership) -> Membership:
    """Mark practice as passed if it is sufficient now, because the bar or the questions changed in the
    meantime.

    Locks the annotator's row, and returns it.
    """
    membership = _lock(membership)
    _pass_if_enough(membership)
    return membership


@transaction.atomic
def practise_again(*, membership: Membership) -> None:
    """Start another attempt if the annotator finished the last one and failed it. Locks the annotator's row.

    Practice screens raters from outside, so they have one attempt.
    """
    membership = _lock(membership)
    practice = practice_of(membership)
    is_screened = OutsideRater.objects.filter(membership=membership).exists()
    if practice.is_finished and not practice.is_passed and not is_screened:
        Membership.objects.filter(pk=membership.pk).update(practice_attempt=practice.attempt + 1)


def _pass_if_enough(membership: Membership) -> None:
    practice = practice_of(membership)
    if practice.is_finished and practice.is_passed and membership.practised_at is None:
        membership.practised_at = timezone.now()
        membership.save(update_fields=["practised_at"])
