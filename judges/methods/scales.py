"""A dimension's scale in words, for prompts and for parsing replies; a judge's own scale, and its mapping."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext

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
    # With thirds there is no "weak" lowest and no "strong" highest score, so the ends stay.
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


MOST_POINTS = 1001


class Scaled(Protocol):
    """An object with a scale: a dimension, frozen or not."""

    @property
    def scale_minimum(self) -> int: ...

    @property
    def scale_maximum(self) -> int: ...


@dataclass(frozen=True)
class OwnScale:
    """Integers from minimum to maximum, the scale of a judge's prompts for every dimension.

    modifiers: True if a reply may contain "weak 4" (0.33 less) or "strong 4" (0.33 more). thirds: True if it
    may contain 3.33 or 3.67. Modifiers alone extend beyond the ends: 1 to 5 has 15 values, from "weak 1" to
    "strong 5". With thirds they do not: 1 to 5 has 13 values (Stureborg et al., 2024, table 2). table: the
    value of the dimension for each point, the lowest first. Empty: linear, from the lowest answer at the
    dimension's lowest value to the highest at its highest.
    """

    minimum: int
    maximum: int
    modifiers: bool = False
    table: tuple[float, ...] = ()
    thirds: bool = False

    @property
    def ends(self) -> tuple[float, float]:
        reach = MODIFIER if self.modifiers and not self.thirds else 0.0
        return self.minimum - reach, self.maximum + reach

    @property
    def problem(self) -> str:
        """The problem of an invalid scale as a message, empty if it is valid."""
        points = self.maximum - self.minimum + 1
        if points < 2:
            return gettext("The scale ends above where it begins; enter a larger upper end.")
        if points > MOST_POINTS:
            return gettext("The scale has {points:,} points; {most:,} are the most.").format(
                points=points, most=MOST_POINTS
            )
        # The pattern of these words reads no sign, so “weak -1” would lose it.
        if self.modifiers and self.minimum < 0:
            return gettext("“Weak” and “strong” need a scale without negative numbers.")
        return self._problem_of_table(points) if self.table else ""

    def _problem_of_table(self, points: int) -> str:
        if len(self.table) != points:
            return gettext(
                "The table needs a value for each of the {points} points, and has {count}."
            ).format(points=points, count=len(self.table))
        if not all(isfinite(value) for value in self.table):
            return gettext("The table needs a number for each point.")
        # Equal neighbours are allowed: points of a finer scale may share a value.
        if any(after < before for before, after in zip(self.table, self.table[1:], strict=False)):
            return gettext(
                "The table falls: a higher score of the judge must not be a lower value of the dimension."
            )
        if self.table[0] == self.table[-1]:
            return gettext("The table gives all points the same value, so the judge would say nothing.")
        return ""

    def refuses(self, dimension: FrozenDimension) -> str | None:
        """Return the reason why its values cannot map to the dimension, None if they can."""
        if dimension.is_named:
            return gettext("{dimension} has named categories, for which no other scale can stand.").format(
                dimension=dimension.name
            )
        lowest, highest = dimension.scale_minimum, dimension.scale_maximum
        outside = [value for value in self.table if not lowest <= value <= highest]
        if outside:
            return gettext(
                "The judge’s table gives {value:g}, and {dimension} has values from {lowest} to {highest}."
            ).format(value=outside[0], dimension=dimension.name, lowest=lowest, highest=highest)
        return None

    def rescale(self, dimension: FrozenDimension) -> ScaledDimension:
        """Return the dimension on this scale.

        Descriptions of the dimension's points remain if the points are the same.
        """
        # Descriptions of the dimension's points would be wrong for the points of another scale.
        same = (self.minimum, self.maximum) == (dimension.scale_minimum, dimension.scale_maximum)
        return ScaledDimension(
            id=dimension.id,
            key=dimension.key,
            name=dimension.name,
            definition=dimension.definition,
            guidelines=dimension.guidelines,
            scale_minimum=self.minimum,
            scale_maximum=self.maximum,
            measurement_level=dimension.measurement_level,
            points=dimension.points if same else (),
            not_applicable=dimension.not_applicable,
            takes_modifiers=self.modifiers,
            takes_thirds=self.thirds,
        )

    def corners(self, dimension: Scaled) -> tuple[Sequence[float], Sequence[float]]:
        """Return points of this scale and the dimension's values there; lines join them."""
        if self.table:
            return range(self.minimum, self.maximum + 1), self.table
        # The ends include the modifiers, so that “weak 1” maps to the dimension's lowest value.
        return self.ends, (dimension.scale_minimum, dimension.scale_maximum)


# Models put emphasis, quotes or a hyphen between the word and the number.
BETWEEN = r"[\s*_\"'-]{1,6}"
MODIFIED = re.compile(
    # A decimal, such as “strong 4.5”, is no point of the scale.
    rf"\b(?:(?P<before>weak|strong){BETWEEN}(?P<first>\d{{1,4}})|"
    r"(?P<second>\d{1,4})\s?\((?P<after>weak|strong)\))(?![\w.]\d)",
    re.IGNORECASE,
)


def write_modifiers_as_numbers(reply: str) -> str:
    """Return a reply in which "weak 4", "strong 4" and "4 (strong)" are 3.67 and 4.33."""

    def number(match: re.Match[str]) -> str:
        point = int(match["first"] or match["second"])
        sign = -1 if (match["before"] or match["after"]).casefold() == "weak" else 1
        return f"{point + sign * MODIFIER:.2f}"

    return MODIFIED.sub(number, reply)
