"""A dimension's scale in words, for prompts and for parsing replies."""

from collections.abc import Mapping
from dataclasses import dataclass

from annotate.core.guideline import FrozenDimension

MODIFIER = 0.33
"""By how much "strong 4" is more than 4, and "weak 4" less."""


NUMBERS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")


@dataclass(frozen=True)
class ScaledDimension(FrozenDimension):
    """A dimension on a judge's own scale."""

    takes_modifiers: bool = False
    takes_thirds: bool = False


def takes_modifiers(dimension: FrozenDimension) -> bool:
    """Return True if a reply may contain "weak" or "strong" before a score."""
    return isinstance(dimension, ScaledDimension) and dimension.takes_modifiers


def takes_thirds(dimension: FrozenDimension) -> bool:
    """Return True if a reply may contain thirds of a point, such as 3.33."""
    return isinstance(dimension, ScaledDimension) and dimension.takes_thirds


def ends(dimension: FrozenDimension) -> tuple[float, float]:
    """Return the lowest and the highest value that a reply can give."""
    reach = MODIFIER if takes_modifiers(dimension) and not takes_thirds(dimension) else 0.0
    return dimension.scale_minimum - reach, dimension.scale_maximum + reach


def is_named(dimension: FrozenDimension) -> bool:
    """Return True if values are names of categories rather than amounts."""
    return dimension.measurement_level == "nominal"


def names(dimension: FrozenDimension) -> Mapping[str, int]:
    """Return the values by their labels; a label of two points names neither."""
    labels = [point.label.strip() for point in dimension.points]
    folded = [label.casefold() for label in labels]
    return {
        label: point.value
        for label, point in zip(labels, dimension.points, strict=True)
        if label and folded.count(label.casefold()) == 1 and point.value in dimension.whole_values
    }


def name_of(dimension: FrozenDimension, value: int) -> str:
    """Return a value's name in a reply: a category's label, an amount's number."""
    labels = {value: label for label, value in names(dimension).items()}
    return labels.get(value, str(value)) if is_named(dimension) else str(value)


def meaning(dimension: FrozenDimension, value: int) -> str:
    """Return label and description of a value, empty if it has neither."""
    point = dimension.point(value)
    return ": ".join(part for part in (point.label, point.description) if part.strip()) if point else ""


def points(dimension: FrozenDimension) -> str:
    """Return the scale: a line for each point with a meaning, and always its ends or all categories."""
    lines = (
        dict.fromkeys(dimension.whole_values, "no description")
        if is_named(dimension)
        else {dimension.scale_minimum: "the lower end", dimension.scale_maximum: "the upper end"}
    )
    lines |= {
        point.value: meaning(dimension, point.value)
        for point in [point for point in dimension.points if meaning(dimension, point.value)]
    }
    return "\n".join(f"{value} = {lines[value]}" for value in sorted(lines))


def answer(dimension: FrozenDimension) -> str:
    """Return the possible answers, as the continuation of "the score is ..."."""
    if is_named(dimension):
        return "the name of one of these: " + "; ".join(name_of(dimension, v) for v in dimension.whole_values)
    if takes_modifiers(dimension):
        words = (
            f"a number {extent(dimension)}, with the word weak before it where it is a little less, or "
            "strong where it is a little more"
        )
        ends = f"; there is no weak {dimension.scale_minimum} and no strong {dimension.scale_maximum}"
        return words + ends if takes_thirds(dimension) else words
    if takes_thirds(dimension):
        first = dimension.scale_minimum
        return f"a number {extent(dimension)} in steps of a third: {first}, {first}.33, {first}.67, and so on"
    if len(dimension.whole_values) == 2:
        return f"either {dimension.scale_minimum} or {dimension.scale_maximum}"
    return f"a number from {dimension.scale_minimum} to {dimension.scale_maximum}"


def ends_in_words(dimension: FrozenDimension) -> str:
    """Return 'from one to five, where one means “A pile” and five means “One text”'."""
    if is_named(dimension):
        return answer(dimension)
    first, last = in_words(dimension.scale_minimum), in_words(dimension.scale_maximum)
    is_plain = not (takes_modifiers(dimension) or takes_thirds(dimension))
    values = f"from {first} to {last}" if is_plain else answer(dimension)
    lowest, highest = ends_in_quotes(dimension)
    return f"{values}, where {first} means {lowest} and {last} means {highest}"


def ends_in_quotes(dimension: FrozenDimension) -> tuple[str, str]:
    """Return the quoted labels of the lowest and the highest point."""
    points = dimension.point(dimension.scale_minimum), dimension.point(dimension.scale_maximum)
    first, last = (point and (point.label.strip() or point.description.strip()) for point in points)
    return f"“{first}”" if first else "the lower end", f"“{last}”" if last else "the upper end"


def in_words(number: int) -> str:
    """Return a number up to ten as a word, others in digits."""
    return NUMBERS[number] if 0 <= number < len(NUMBERS) else str(number)


def extent(dimension: FrozenDimension) -> str:
    """Return "from 1 to 5"."""
    return f"from {dimension.scale_minimum} to {dimension.scale_maximum}"
