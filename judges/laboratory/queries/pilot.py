"""A judge tried out on the development documents: where it differs from people, and what comes next."""

from collections.abc import Sequence
from dataclasses import dataclass

from annotate.core.addresses import query_of
from annotate.core.models import Dimension
from judges.core.material import outputs_of
from judges.core.models import Judge, Judgment
from judges.laboratory.cases import Case, most_different
from judges.laboratory.queries.cases import FAR, cases_of

DEVELOPMENT_ITEMS = "marked=development"
"""The filter of the list of items that finds the items of development documents."""


@dataclass(frozen=True)
class PilotUnit:
    """A unit with the judge's value, people's, their reasons, and what the judge wrote."""

    case: Case
    judgment: Judgment | None


@dataclass(frozen=True)
class Pilot:
    """A judge on one dimension of the development documents.

    items: of these documents. rated: those that people agree on or settled. cases: those of them for which
    the judge has a value, too, where it differs most first. example: an item to try it on, by its filter.
    """

    judge: Judge
    dimension: Dimension
    items: int
    rated: int
    cases: Sequence[Case]
    example: str

    @property
    def off(self) -> int:
        """Return on how many units the judge is a point or more away from people."""
        return sum(abs(case.error) >= FAR for case in self.cases)

    @property
    def mean_difference(self) -> float | None:
        """Return the mean distance of the judge from people in points, None without any unit."""
        return sum(abs(case.error) for case in self.cases) / len(self.cases) if self.cases else None


def pilot_of(judge: Judge, dimension: Dimension) -> Pilot:
    """Return what a judge does there. Eleven queries. Raises InvalidValueError where no document is drawn."""
    found = cases_of(judge, dimension)
    items = outputs_of(judge.project).filter(document__development__isnull=False)
    named = list(items.order_by("document__key", "pk").values_list("document__key", "system__name"))
    example = query_of(dict(zip(("document", "system"), named[0], strict=True))) if named else ""
    return Pilot(judge, dimension, len(named), len(found), most_different(found), example)


def units_of(pilot: Pilot, cases: Sequence[Case]) -> list[PilotUnit]:
    """Return some of its cases with the judge's first answer about each. One query."""
    answers = Judgment.objects.filter(
        judge=pilot.judge, dimension=pilot.dimension, item__in=[case.item for case in cases], other=None
    )
    found: dict[int, Judgment] = {}
    for judgment in answers.filter(status=Judgment.Status.DONE).order_by("sample", "pk"):
        found.setdefault(judgment.item_id, judgment)
    return [PilotUnit(case, found.get(case.item)) for case in cases]
