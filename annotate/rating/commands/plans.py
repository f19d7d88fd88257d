"""Assignment plans, hidden checks, and the assignments that both write."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from django.db import transaction
from django.db.models import Max
from django.utils.translation import gettext

from agreement.streams import Stream
from annotate.core.audit import facts, record
from annotate.core.configuration import lock_configurable
from annotate.core.database import write_rows
from annotate.core.errors import NotReadyError
from annotate.core.models import (
    AssignedUnit,
    Assignment,
    AssignmentPlan,
    Item,
    Membership,
    Project,
    Round,
    WorkOrder,
)
from annotate.fastpath.queries import NUMBERS, Prepared
from annotate.rating.planning import CannotBeMetError, Checking, Pair, Turn, due, insert_checks, sort_by_group
from annotate.rating.queries.assignments import own_order
from annotate.rating.queries.hidden_checks import checking_of, hidden_gold
from annotate.rating.queries.plans import plan_of, planned_work

Plan = Assignment.Plan
PLAN_OF_CHECK = {"gold": Plan.GOLD, "repeat": Plan.REPEAT}
CHECK_OF_PLAN = {plan: check for check, plan in PLAN_OF_CHECK.items()}
CHECKS_OF = Prepared(
    lambda project: Round.all_rounds.filter(project=project, number=Round.CHECKS), NUMBERS[0]
)
"""The round of checks of a project."""


def round_of_checks(round: Round) -> Round | None:
    """Return the round of hidden checks of Round I; create it if the project has checks to come.

    Up to two queries.
    """
    existing = CHECKS_OF.first(round.project_id)
    checking = checking_of(plan_of(round.project))
    if existing or not (checking.repeat_every or (checking.gold_every and hidden_gold(round.project))):
        return existing
    # `Round.objects` omits the round of checks.
    return Round.all_rounds.create(
        project=round.project,
        number=Round.CHECKS,
        guideline=round.guideline,
        seed=round.seed,
        work_order=round.work_order,
        dimension_order=round.dimension_order,
        opened_at=round.opened_at,
        opened_by=round.opened_by,
    )


def gold_for(round: Round, annotator: Membership) -> list[int]:
    """Return the hidden gold items in the annotator's order. One query."""
    gold = hidden_gold(round.project)
    Stream(round.seed).of("gold", annotator.pseudonym).shuffler().shuffle(gold)
    return gold


def due_turns(*, round: Round, annotator: Membership, kept: Mapping[int, int]) -> list[Turn]:
    """Return the checks due after the annotator's reserved items, with reserve items for repeats.

    kept: the document of each reserve item. Runs in the caller's transaction, which holds the lock on the
    annotator's row.
    """
    # Checks already met count, too, so the whole order is read and not only the new items.
    own = own_order(round, annotator).values_list("item", "plan", "item__document")
    checking = checking_of(plan_of(round.project))
    if round.every_item:
        own = own.filter(partial=False)
    else:  # items are rated in part, so none is repeated; gold comes among them
        checking = Checking(checking.gold_every)
    order = [Turn(item, CHECK_OF_PLAN.get(Plan(plan), "")) for item, plan, _ in own]
    # The sample differs with the length of the order; a repeated call gets the same one.
    generator = Stream(round.seed).of("checks", annotator.pseudonym, len(order)).shuffler()
    return due(
        order,
        gold_for(round, annotator),
        checking,
        generator,
        kept=list(kept),
        document_of={**{item: document for item, _, document in own}, **kept},
    )


def choose_dimensions(round: Round, annotator: Membership, items: Sequence[int]) -> dict[int, list[int]]:
    """Return for each check, by item, the dimensions that it asks about if items are rated in part.

    Each check asks what one of the annotator's own items asks, chosen at random. So neither the dimensions of
    an item nor their frequency tells checks from ordinary items. Empty if every item is rated as a whole.
    """
    if round.every_item or not items:
        return {}
    units = AssignedUnit.objects.filter(assignment__round=round, assignment__annotator=annotator)
    asked: dict[int, list[int]] = {}
    rows = units.order_by("assignment__position", "dimension").values_list("assignment", "dimension")
    for assignment, dimension in rows:
        asked.setdefault(assignment, []).append(dimension)
    if not asked:
        return {}
    generator = Stream(round.seed).of("dimensions of checks", annotator.pseudonym, len(asked)).shuffler()
    return {item: generator.choice(list(asked.values())) for item in items}


def write_checks(
    checks: Round, turns: Sequence[tuple[int, int, Turn]], asks: Mapping[int, Sequence[int]] | None = None
) -> None:
    """Store checks: the annotator's key, the position in the order, the turn.

    asks: by item, the ids of its dimensions; a check of another item asks about all dimensions.
    """
    # An item can be a check of many annotators, each with its own slot.
    parts = asks or {}
    slots = next_slots(checks, {turn.item for _, _, turn in turns})
    assignments = []
    for annotator, position, turn in turns:
        slot = slots[turn.item]
        assignments.append(
            NewAssignment(
                checks.pk, turn.item, slot, annotator, position, PLAN_OF_CHECK[turn.check], checks.seed
            )
        )
        slots[turn.item] += 1
    write_assignments(assignment for assignment in assignments if assignment.item not in parts)
    partial = [assignment for assignment in assignments if assignment.item in parts]
    fields = (*NewAssignment._fields, "inclusion_probability", "origin", "partial")
    # A partial assignment stores probabilities with its units.
    keys = write_rows(Assignment, fields, [(*assignment, None, "", True) for assignment in partial])
    write_rows(
        AssignedUnit,
        ("assignment", "dimension", "inclusion_probability"),
        [
            (key, dimension, 1.0)
            for key, assignment in zip(keys, partial, strict=True)
            for dimension in parts[assignment.item]
        ],
    )


BATCH = 5000


class NewAssignment(NamedTuple):
    """An assignment to write, by keys: free without annotator and position."""

    round: int
    item: int
    slot: int
    annotator: int | None
    position: int | None
    plan: str
    seed: int


def next_slots(round: Round, items: Iterable[int]) -> dict[int, int]:
    wanted = list(items)
    taken = Assignment.objects.filter(round=round, item__in=wanted).order_by().values_list("item")
    last = dict(taken.annotate(last=Max("slot")))
    return {item: last.get(item, -1) + 1 for item in wanted}


def write_assignments(assignments: Iterable[NewAssignment]) -> int:
    """Write assignments of whole items with inclusion probability 1; return their number.

    The caller opens the transaction.
    """
    fields = (*NewAssignment._fields, "inclusion_probability", "origin", "partial")
    rows, written = iter(assignments), 0
    while batch := [(*assignment, 1.0, "", False) for assignment in islice(rows, BATCH)]:
        written += len(write_rows(Assignment, fields, batch))
    return written


PLANS = {
    AssignmentPlan.Kind.EVERYONE: Assignment.Plan.EVERYONE,
    AssignmentPlan.Kind.BALANCED: Assignment.Plan.BALANCED,
    AssignmentPlan.Kind.SHARING: Assignment.Plan.SHARING,
    AssignmentPlan.Kind.LISTED: Assignment.Plan.LISTED,
}


@transaction.atomic
def choose_plan(
    *, project: Project, kind: str, pairs: Sequence[Pair] = (), **settings: Any
) -> AssignmentPlan:
    """Choose how Round I will be shared out, and how often hidden checks come.

    settings: the others in `AssignmentPlan.SETTINGS`; omitted ones have the defaults of a new row. Locks the
    project. Raises FrozenError once it was opened.
    """
    lock_configurable(project)
    choice = AssignmentPlan(project=project, kind=kind, pairs=[list(pair) for pair in pairs], **settings)
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
    # The shared queue: `finish_round` writes free assignments in steps.
    if work is None:
        return False
    if not work.plan.ratings:
        raise NotReadyError(gettext("By this plan nobody rates anything. Choose another one."))
    # The slot that each annotator has for each item.
    checks, plan = round_of_checks(round), PLANS[AssignmentPlan.Kind(choice.kind)]
    slot_of: dict[int, dict[int, int]] = defaultdict(dict)
    for item, raters in zip(work.items, work.plan.raters, strict=True):
        for slot, annotator in enumerate(raters):
            slot_of[work.annotators[annotator].pk][item] = slot
    # Each annotator's order, with the checks among the items.
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
