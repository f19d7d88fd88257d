"""The run of the pending judges of certificates and policies."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext

from annotate.core.models import Project
from judges.core.models import Judge
from judges.core.specification import Scope
from judges.core.stages import JudgeToAsk
from judges.runs.queries.plans import RunPlan, plan_of


@dataclass(frozen=True)
class RunToAsk:
    """A run on the pending units. units: their number."""

    scope: Scope
    plan: RunPlan
    units: int

    @property
    def names(self) -> str:
        return gettext(" and ").join(judge.name for judge in self.scope.judges)


def scope_to_ask(project: Project, waiting: Sequence[JudgeToAsk]) -> Scope:
    """Return the judges with the units that any of them lacks. Two queries."""
    units: dict[int, set[int]] = {}
    for each in waiting:
        for dimension, items in each.items_by_dimension.items():
            units.setdefault(dimension, set()).update(items)
    keys = project.dimensions.filter(pk__in=units).order_by("position").values_list("key", flat=True)
    judges = Judge.objects.filter(pk__in=[each.judge.pk for each in waiting]).order_by("name")
    related = judges.select_related("endpoint", "template", "reference")
    return Scope(list(related), list(keys), units={key: sorted(items) for key, items in units.items()})


def asking_of(project: Project, waiting: Sequence[JudgeToAsk]) -> RunToAsk | None:
    """Return the run of the pending judges; None if no judge is pending. Up to twelve queries."""
    if not waiting:
        return None
    scope = scope_to_ask(project, waiting)
    assert scope.units is not None
    return RunToAsk(scope, plan_of(project, scope), sum(len(items) for items in scope.units.values()))
