from collections.abc import Sequence
from decimal import Decimal

from django.db import transaction

from annotate.core.models import Project, User
from judges.core.models import Experiment, ExperimentVariant
from judges.core.specification import Scope
from judges.endpoints.commands import add_judges, preview_judges
from judges.laboratory.factors import CrossedDesign
from judges.runs.commands.runs import plan_run, start_run
from judges.runs.queries.plans import RunPlan, plan_of


def plan_of_experiment(
    project: Project, design: CrossedDesign, *, dimensions: Sequence[str], documents: int | None
) -> RunPlan:
    """Return the calls and cost of an experiment, without writing."""
    judges = preview_judges(project=project, judges=design.variants)
    return plan_of(project, Scope(judges, dimensions, documents=documents))


@transaction.atomic
def start_experiment(
    *,
    project: Project,
    design: CrossedDesign,
    dimensions: Sequence[str],
    documents: int | None,
    budget: Decimal | None,
    by: User | None,
) -> Experiment:
    """Create the judges of a design, store its factors, and start one run of them all. Locks the project.

    If an experiment has these judges and factors already and no call is missing, return it: a second press
    starts nothing. Raises InvalidValueError and RunRefusedError; then nothing is created.
    """
    judges = add_judges(project=project, judges=design.variants, numbers_names=True, by=by)
    scope = Scope(judges, dimensions, documents=documents)
    # No call is missing, so an earlier request may have started the same experiment.
    if not plan_of(project, scope).calls:
        alike = Experiment.objects.filter(run__project=project, factors=design.factors).order_by("-pk")
        for experiment in alike.prefetch_related("variants__judge"):
            if [each.judge for each in experiment.variants.all()] == judges:
                return experiment
    run = plan_run(project=project, scope=scope, budget=budget, by=by)
    experiment = Experiment.objects.create(run=run, factors=design.factors)
    ExperimentVariant.objects.bulk_create(
        ExperimentVariant(experiment=experiment, judge=judge, position=position)
        for position, judge in enumerate(judges)
    )
    start_run(run=run)
    return experiment
