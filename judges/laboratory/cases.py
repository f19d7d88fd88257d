"""Training cases for judges: units of development documents with people's value and their reasons."""

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from statistics import median

from django.utils.translation import gettext


class CaseKind(StrEnum):
    """The reason why a unit is a useful case."""

    DISPUTE = "dispute"
    DIFFERENCE = "difference"
    AGREED = "agreed"


@dataclass(frozen=True)
class Case:
    """A unit of a development document.

    name: the same in every copy of a project. before: people's values of Round I. after: their last values,
    or the decided one. value: their settled value, or their mean. judge: the judge's value, if it has one.
    rationale: the judge's reason, without the score. document: the content of its source. reasons: the
    reasons of raters with the settled value, of the discussion, and of the person who decided.
    """

    item: int
    name: str
    kind: CaseKind
    before: tuple[float, ...]
    value: float
    judge: float | None = None
    text: str = ""
    document: str = ""
    rationale: str = ""
    reasons: tuple[str, ...] = ()
    after: tuple[float, ...] = ()

    @property
    def point(self) -> int | None:
        """Return the point of the scale nearest to people's value, None if two are equally near.

        For two points the median of people's values decides, because more people hold it. If the median is a
        half, too, the two camps are equally large, and an example must not teach one of them as the truth.
        """
        value = median(self.after) if self.after and self._is_half(self.value) else self.value
        return None if self._is_half(value) else math.floor(value + 0.5)

    @property
    def is_unanimous(self) -> bool:
        """Return True if people ended with one value."""
        return len(set(self.after)) == 1

    @staticmethod
    def _is_half(value: float) -> bool:
        return math.isclose(value % 1, 0.5)

    @property
    def error(self) -> float:
        """The judge's value minus people's value; 0 if the judge has none."""
        return 0.0 if self.judge is None else self.judge - self.value

    @property
    def direction(self) -> str:
        """The direction of a judge's error of half a point or more: too high or too low."""
        if self.error >= 0.5:
            return gettext("too high")
        return gettext("too low") if self.error <= -0.5 else gettext("as people")


def most_different(cases: Iterable[Case]) -> list[Case]:
    """Return the cases with a judge's value, the largest difference from people first."""
    judged = [case for case in cases if case.judge is not None]
    return sorted(judged, key=lambda case: (-abs(case.error), case.name))
