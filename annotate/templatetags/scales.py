"""Answers and values for people: a category by its name, an amount by its number."""

from collections.abc import Iterable
from typing import Protocol

from django import template
from django.utils.translation import gettext

from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import extent as extent_of
from annotate.core.models import Dimension, Dispute, Rating, RatingChange
from annotate.core.scale import normalize
from annotate.questions import Given, kind_of
from annotate.questions.kind import Data

register = template.Library()


class _Answer(Protocol):
    """An object with an answer: a rating, a change of one, or an event."""

    @property
    def value(self) -> float | None: ...
    @property
    def data(self) -> Data: ...


@register.filter
def answer_name(answer: _Answer, dimension: FrozenDimension) -> str:
    """Return an answer in a few words from its kind of question, or a dash without an answer."""
    if answer.value is None:
        return "–"
    return kind_of(dimension).describe(dimension, Given(normalize(answer.value), answer.data))


@register.filter
def answer_to_all(answer: Rating | RatingChange, dimension: FrozenDimension) -> str:
    """Return an answer or a version of it in words; outputs have their stored numbers, the same for all."""
    value = answer.value_after if isinstance(answer, RatingChange) else answer.value
    if value is None:
        return "–"
    return kind_of(dimension).describe(dimension, Given(normalize(value), answer.data).unordered)


@register.filter
def describe_initial_distance(dispute: Dispute) -> str:
    """Return a message with the distance of the Round I answers, for questions that are not on a scale."""
    return kind_of(dispute.dimension).describe_distance(dispute.dimension.options or {}, dispute.spread)


@register.filter
def extent(dimension: Dimension | FrozenDimension) -> str:
    """Return the ends of a dimension's scale, and its steps if they are not whole points."""
    return extent_of(dimension.scale_minimum, dimension.scale_maximum, dimension.scale_step)


@register.filter
def plural_number(value: float) -> int:
    """Return a whole number whose plural a number has: languages have none for 1.5."""
    return int(value) if value == int(value) else 2


@register.filter
def kind_name(dimension: Dimension | FrozenDimension) -> str:
    return str(kind_of(dimension).name)


@register.filter
def answers_in_words(dimension: Dimension | FrozenDimension) -> str:
    kind = kind_of(dimension)
    if kind.key == "scale":
        return f"{extent(dimension)}, {dimension.measurement_level}"
    points = dimension.points.all() if isinstance(dimension, Dimension) else dimension.points
    lists = [[point.label or str(point.value) for point in points]] if kind.key == "category" else []
    for rows in (dimension.options or {}).values():
        if isinstance(rows, list):
            lists.append(
                [(f"{row['name']} {row['weight']}" if "weight" in row else str(row["name"])) for row in rows]
            )
    words = "; ".join(" / ".join(names) for names in lists if names)
    return f"{kind.name}: {words}" if words else str(kind.name)


@register.filter
def condition_in_words(
    dimension: Dimension | FrozenDimension, dimensions: Iterable[Dimension | FrozenDimension]
) -> str:
    """Return the condition of a question in words, or an empty string."""
    if not dimension.shown_if:
        return ""
    asked = next((each for each in dimensions if each.key == dimension.shown_if["dimension"]), None)
    if asked is None:
        return ""
    labels = {row["key"]: row["name"] for row in (asked.options or {}).get("labels", ())}
    if asked.measurement_level == "nominal":
        points = asked.points.all() if isinstance(asked, Dimension) else asked.points
        labels |= {point.value: point.label for point in points if point.label}
    answers = " / ".join(str(labels.get(value, value)) for value in dimension.shown_if["values"])
    return gettext("only if {name} is {answers}").format(name=asked.name, answers=answers)
