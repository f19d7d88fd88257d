"""Assignment plans: choosing one, and writing its assignments when Round I opens."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Required, TypedDict, Unpack

from django.db import transaction
from django.utils.translation import gettext

from agreement.streams import Stream
from annotate.core.audit import facts, record
from annotate.core.configuration import lock_configurable
from annotate.core.errors import NotReadyError
from annotate.core.models import Assignment, AssignmentPlan, Item, Membership, Project, Round, WorkOrder
from annotate.rating.commands.hidden_checks import gold_for, round_of_checks, write_checks
from annotate.rating.commands.new_assignments import NewAssignment, write_assignments
from annotate.rating.planning import CannotBeMetError
from annotate.rating.planning.checks import Turn, insert_checks, sort_by_group
from annotate.rating.planning.plan import Pair
from annotate.rating.queries.hidden_checks import checking_of
from annotate.rating.queries.plans import plan_of, planned_work

PLANS = {
    AssignmentPlan.Kind.EVERYONE: Assignment.Plan.EVERYONE,
    AssignmentPlan.Kind.BALANCED: Assignment.Plan.BALANCED,
    AssignmentPlan.Kind.SHARING: Assignment.Plan.SHARING,
    AssignmentPlan.Kind.LISTED: Assignment.Plan.LISTED,
}


class PlanSettings(TypedDict, total=False):
    """The settings in `AssignmentPlan.SETTINGS`; omitted ones have the defaults of a new row."""

    kind: Required[str]
    share: int
    gold_every: int
    repeat_every: int
    dealt_by: str
    work_order: str
    dimension_order: str


@transaction.atomic
def choose_plan(
    *, project: Project, pairs: Sequence[Pair] = (), **settings: Unpack[PlanSettings]
) -> AssignmentPlan:
    """Choose how Round I will be shared out, and how often hidden checks come.

    Locks the project. Raises FrozenError once it was opened.
    """
    lock_configurable(project)
    choice = AssignmentPlan(project=project, pairs=[list(pair) for pair in pairs], **settings)
    before = _audit_details(plan_of(project))
    columns = {name: getattr(choice, name) for name in (*AssignmentPlan.SETTINGS, "pairs")}
    chosen, _ = AssignmentPlan.objects.update_or_create(project=project, defaults=columns)
    record(project, "plan.chosen", chosen, before=before, after=_audit_details(chosen))
    return chosen


def _audit_details(choice: AssignmentPlan) -> dict[str, object]:
    return {**facts(choice, AssignmentPlan.SETTINGS), "listed": len(choice.pairs)}


@transaction.atomic
def give_planned_items(*, round: Round) -> bool:
    """Assign the items of the project's plan to every annotator, each in a separate order.

    Returns True if there is a plan other than the shared queue. The caller holds the project's lock. Raises
    NotReadyError for an impossible plan.
    """
    choice = plan_of(round.project)
    try:
        work = planned_work(choice)
    except CannotBeMetError as error:
        raise NotReadyError(f"{error}") from None
    if work is None:
        return False
    if not work.plan.ratings:
        raise NotReadyError(gettext("By this plan nobody rates anything. Choose another one."))
    checks, plan = round_of_checks(round), PLANS[AssignmentPlan.Kind(choice.kind)]
    slot_of: dict[int, dict[int, int]] = defaultdict(dict)
    for item, raters in zip(work.items, work.plan.raters, strict=True):
        for slot, annotator in enumerate(raters):
            slot_of[work.annotators[annotator].pk][item] = slot
    document_of = dict(Item.objects.filter(document__project=round.project_id).values_list("pk", "document"))
    orders = {
        annotator.pk: _order(round, checks, annotator, list(slot_of[annotator.pk]), document_of)
        for annotator in work.annotators
        if annotator.pk in slot_of
    }
    write_assignments(
        NewAssignment(
            round.pk, turn.item, slot_of[annotator][turn.item], annotator, position, plan, round.seed
        )
        for annotator, order in orders.items()
        for position, turn in enumerate(order, start=1)
        if not turn.check
    )
    if checks:
        turns = [
            (annotator, position, turn)
            for annotator, order in orders.items()
            for position, turn in enumerate(order, start=1)
            if turn.check
        ]
        write_checks(checks, turns)
    return True


def _order(
    round: Round,
    checks: Round | None,
    annotator: Membership,
    items: list[int],
    document_of: Mapping[int, int],
) -> list[Turn]:
    # By the pseudonym, which a copy of the project in another installation has, too.
    generator = Stream(round.seed).of("annotator", annotator.pseudonym).shuffler()
    generator.shuffle(items)
    if round.work_order == WorkOrder.BY_DOCUMENT:
        items = sort_by_group(items, document_of)
    else:
        document_of = {}
    if checks is None:
        return [Turn(item) for item in items]
    checking = checking_of(plan_of(round.project))
    return insert_checks(items, gold_for(round, annotator), checking, generator, document_of)
