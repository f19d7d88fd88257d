"""Practice before Round I: answers that are no ratings, and whether they pass the bar."""

from collections.abc import Mapping

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.commands.audit import record
from annotate.commands.configuration import lock_configurable
from annotate.errors import InvalidValueError, NotReadyError
from annotate.models import GoldItem, GoldValue, Membership, PracticeAnswer, Project
from annotate.queries.practice import practice_of, practice_values


@transaction.atomic
def set_practice_bar(*, project: Project, bar: int | None) -> None:
    """Say what percentage of practice must be right before Round I; None: practice is not asked for.

    Locks the project. Raises FrozenError once Round I was opened, NotReadyError without anything to practise.
    """
    locked = lock_configurable(project)
    if bar is not None and not practice_values(project).exists():
        raise NotReadyError(
            gettext("Mark an item for practice and give its right values before you set a bar.")
        )
    Project.objects.filter(pk=project.pk).update(practice_bar=bar)
    before = {"practice_bar": locked.practice_bar}
    record(project, "practice.bar_set", project, before=before, after={"practice_bar": bar})


@transaction.atomic
def answer_practice(*, place: Membership, gold: GoldItem, values: Mapping[int, int]) -> None:
    """Store what an annotator answers on a practice item, by dimension; the first answer stands.

    When all is answered and enough is right, practice is passed. Locks the annotator's row.
    Raises InvalidValueError unless every dimension with a gold value has an answer.
    """
    place = Membership.objects.select_for_update(of=("self",)).select_related("project").get(pk=place.pk)
    asked = list(GoldValue.objects.filter(gold=gold).select_related("dimension"))
    if missing := [each.dimension.name for each in asked if each.dimension_id not in values]:
        raise InvalidValueError(
            gettext("Rate {listed} too; then you see what is right.").format(listed=", ".join(missing))
        )
    attempt = practice_of(place).attempt
    PracticeAnswer.objects.bulk_create(
        [
            PracticeAnswer(place=place, attempt=attempt, gold_value=each, value=values[each.dimension_id])
            for each in asked
        ],
        ignore_conflicts=True,
    )
    _pass_if_enough(place)


@transaction.atomic
def finish_practice(*, place: Membership) -> Membership:
    """Let practice pass where it is enough now, since the bar or what is asked was changed meanwhile.

    Locks the annotator's row, and returns it.
    """
    place = Membership.objects.select_for_update(of=("self",)).select_related("project").get(pk=place.pk)
    _pass_if_enough(place)
    return place


@transaction.atomic
def practise_again(*, place: Membership) -> None:
    """Begin another attempt, where the last one is finished and was not enough. Locks the annotator's row."""
    place = Membership.objects.select_for_update(of=("self",)).select_related("project").get(pk=place.pk)
    practice = practice_of(place)
    if practice.is_finished and not practice.is_passed:
        Membership.objects.filter(pk=place.pk).update(practice_attempt=practice.attempt + 1)


def _pass_if_enough(place: Membership) -> None:
    practice = practice_of(place)
    if practice.is_finished and practice.is_passed and place.practised_at is None:
        place.practised_at = timezone.now()
        place.save(update_fields=["practised_at"])
