"""Choosing how Round I is shared out, and giving everyone their items when it opens."""

import random
from collections import defaultdict
from collections.abc import Iterator, Sequence

from django.db import transaction

from annotate.commands.configuration import lock_configurable
from annotate.errors import NotReadyError
from annotate.models import Assignment, AssignmentPlan, Project, Round
from annotate.planning import CannotBeMetError
from annotate.planning.lists import Pair
from annotate.queries.plans import PlannedWork, plan_of, planned_work

BATCH = 5000
PLANS = {
    AssignmentPlan.Kind.EVERYONE: Assignment.Plan.EVERYONE,
    AssignmentPlan.Kind.BALANCED: Assignment.Plan.BALANCED,
    AssignmentPlan.Kind.SHARING: Assignment.Plan.SHARING,
    AssignmentPlan.Kind.LISTED: Assignment.Plan.LISTED,
}


@transaction.atomic
def choose_plan(*, project: Project, kind: str, share: int, pairs: Sequence[Pair] = ()) -> AssignmentPlan:
    """Choose how Round I will be shared out. Locks the project. Raises FrozenError once it was opened."""
    lock_configurable(project)
    chosen, _ = AssignmentPlan.objects.update_or_create(
        project=project, defaults={"kind": kind, "share": share, "pairs": [list(pair) for pair in pairs]}
    )
    return chosen


@transaction.atomic
def give_planned_items(*, round: Round) -> bool:
    """Give every annotator the items of the project's plan, each in an order of their own.

    Returns whether there is a plan other than the shared queue. The caller holds the project's lock.
    Raises NotReadyError for a plan that cannot be met.
    """
    choice = plan_of(round.project)
    try:
        work = planned_work(choice)
    except CannotBeMetError as error:
        raise NotReadyError(f"{error}") from None
    if work is None:
        return False
    if not work.plan.ratings:
        raise NotReadyError("By this plan nobody rates anything. Choose another one.")
    Assignment.objects.bulk_create(
        _places(round, work, PLANS[AssignmentPlan.Kind(choice.kind)]), batch_size=BATCH
    )
    return True


def _places(round: Round, work: PlannedWork, plan: Assignment.Plan) -> Iterator[Assignment]:
    own: dict[int, list[tuple[int, int]]] = defaultdict(list)
    for item, raters in zip(work.items, work.plan.raters, strict=True):
        for slot, annotator in enumerate(raters):
            own[work.annotators[annotator].pk].append((item, slot))
    for annotator, items in own.items():
        random.Random(f"{round.seed} annotator {annotator}").shuffle(items)
        for position, (item, slot) in enumerate(items, start=1):
            yield Assignment(
                round=round,
                item_id=item,
                slot=slot,
                annotator_id=annotator,
                position=position,
                plan=plan,
                seed=round.seed,
                inclusion_probability=1.0,
            )
