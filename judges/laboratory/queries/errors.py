"""Errors of judges: differences from people on documents that no prompt quotes."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from annotate.core.models import Dimension
from judges.core.models import Judge, Judgment
from judges.laboratory.cases import Case, most_different
from judges.laboratory.queries.cases import FAR, Part, cases_of

DEVELOPMENT_ITEMS = "marked=development"
"""The filter of the list of items that finds the items of documents for teaching and selecting."""


@dataclass(frozen=True)
class DifferingUnit:
    """A unit with the judge's value and rationale, and people's values and reasons."""

    case: Case
    judgment: Judgment | None

    @property
    def excerpt(self) -> str:
        """The most informative excerpt: a reason of people, or else the judge's, or else the output."""
        rationale = self.judgment.rationale if self.judgment else ""
        return next(iter(self.case.reasons), "") or rationale or self.case.text


@dataclass(frozen=True)
class JudgeErrors:
    """A judge on one dimension of the documents for selecting, or for teaching if there are no others.

    cases: units that people agree on or settled and the judge has a value for, the largest difference first.
    """

    judge: Judge
    dimension: Dimension
    part: str
    cases: Sequence[Case]

    @property
    def part_name(self) -> str:
        return gettext("for selecting") if self.part == Part.SELECT else gettext("for teaching")

    @property
    def off(self) -> int:
        """Return the number of units with a difference of a point or more from people."""
        return sum(abs(case.error) >= FAR for case in self.cases)


def errors_of(judge: Judge, dimension: Dimension, part: str) -> JudgeErrors:
    """Return the differences of a judge from people.

    Ten queries. Raises InvalidValueError before the split.
    """
    return JudgeErrors(judge, dimension, part, most_different(cases_of(judge, dimension, part)))


def units_of(errors: JudgeErrors, cases: Sequence[Case]) -> list[DifferingUnit]:
    """Return some of its cases with the judge's first answer about each. One query."""
    answers = Judgment.objects.filter(
        judge=errors.judge, dimension=errors.dimension, item__in=[case.item for case in cases], other=None
    )
    found: dict[int, Judgment] = {}
    for judgment in answers.filter(status=Judgment.Status.DONE).order_by("sample", "pk"):
        found.setdefault(judgment.item_id, judgment)
    return [DifferingUnit(case, found.get(case.item)) for case in cases]
