"""Questions that depend on answers to other questions."""

from collections.abc import Iterable, Mapping

from annotate.core.guideline import FrozenDimension
from annotate.questions.kind import Given


def hidden_dimensions(dimensions: Iterable[FrozenDimension], answers: Mapping[int, Given | None]) -> set[int]:
    """Return the ids of the dimensions that these answers (by dimension id) hide.

    A question is also hidden if its condition refers to a hidden or unanswered question. It is visible if
    that other question is not among these dimensions, as in part of an item's work.
    """
    known = {each.key: each for each in dimensions}
    hidden: set[int] = set()
    for each in known.values():
        asked = known.get(each.shown_if["dimension"]) if each.shown_if else None
        if each.shown_if is None or asked is None:
            continue
        given = None if asked.id in hidden else answers.get(asked.id)
        if not given or not values_for_conditions(given) & set(each.shown_if["values"]):
            hidden.add(each.id)
    return hidden


def values_for_conditions(given: Given) -> set[float | str]:
    labels = (given.data or {}).get("labels")
    return set(labels) if labels is not None else {given.value}
