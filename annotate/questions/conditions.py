"""Questions that depend on answers to other questions."""

from collections.abc import Iterable, Mapping

from annotate.core.guideline import FrozenDimension
from annotate.questions.kind import Given


def hidden_dimensions(dimensions: Iterable[FrozenDimension], answers: Mapping[int, Given | None]) -> set[int]:
    """Return the ids of the dimensions that these answers (by dimension id) hide.

    A question whose condition is on one that is hidden, or that was not answered, is hidden as well.
    """
    known = {each.key: each for each in dimensions}
    hidden: set[int] = set()
    for each in known.values():
        if each.shown_if is None:
            continue
        asked = known.get(each.shown_if["dimension"])
        given = answers.get(asked.id) if asked and asked.id not in hidden else None
        if not given or not said_values(given) & set(each.shown_if["values"]):
            hidden.add(each.id)
    return hidden


def said_values(given: Given) -> set[float | str]:
    """Return the labels of an answer, else its number, for conditions."""
    labels = (given.data or {}).get("labels")
    return set(labels) if labels is not None else {given.value}
