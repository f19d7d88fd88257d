"""Preview of an experiment's calls and cost."""

from collections.abc import Sequence

from annotate.core.models import Project
from judges.core.specification import Scope
from judges.endpoints.commands import preview_judges
from judges.laboratory.factors import CrossedDesign
from judges.runs.queries.plans import RunPlan, plan_of


def plan_of_experiment(
    project: Project,
    design: CrossedDesign,
    *,
    dimensions: Sequence[str],
    documents: int | None,
) -> RunPlan:
    judges = preview_judges(project=project, judges=design.variants)
    return plan_of(project, Scope(judges, dimensions, documents=documents))
