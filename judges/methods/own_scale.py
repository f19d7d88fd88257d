"""A judge's own scale, and the mapping of its values to a dimension."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Protocol

from annotate.core.guideline import FrozenDimension
from annotate.core.translation import gettext
from judges.methods.scales import MODIFIER, ScaledDimension

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
        return self.ends, (dimension.scale_minimum, dimension.scale_maximum)


BETWEEN = r"[\s*_\"'-]{1,6}"
MODIFIED = re.compile(
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
