"""Marking items whose right values are known, for practice or hidden in Round I."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db import transaction
from django.utils.translation import gettext

from annotate.commands.audit import record
from annotate.commands.configuration import lock_configurable
from annotate.errors import InvalidValueError
from annotate.models import GoldItem, GoldValue, Item, Project


@dataclass(frozen=True)
class RightValue:
    """The right value of an item on a dimension, and why."""

    value: int
    explanation: str = ""


@transaction.atomic
def mark_gold(*, project: Project, item: Item, use: str) -> GoldItem:
    """Take an item out of the work of Round I, for practice or to be hidden in it, and return it.

    An item that is marked keeps its gold values. Locks the project. Raises FrozenError once Round I was
    opened.
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
    """Store the right values of a gold item by dimension (its key), in place of those it had.

    Locks the project. Raises FrozenError once Round I was opened, InvalidValueError for a value that the
    dimension's scale does not have.
    """
    lock_configurable(project)
    dimensions = {each.pk: each for each in project.dimensions.all()}
    for key, right in values.items():
        dimension = dimensions[key]
        if not dimension.scale_minimum <= right.value <= dimension.scale_maximum:
            low, high = dimension.scale_minimum, dimension.scale_maximum
            raise InvalidValueError(
                gettext("{name} is rated from {low} to {high}, not with {value}.").format(
                    name=dimension.name, low=low, high=high, value=right.value
                )
            )
    before = _values_of(gold)
    gold.explanation = explanation
    gold.save(update_fields=["explanation"])
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
    """Give an item back to the work of Round I; its gold values and what was practised on it are gone.

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
