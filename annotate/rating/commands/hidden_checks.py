from collections.abc import Mapping, Sequence

from agreement.streams import Stream
from annotate.core.database import write_rows
from annotate.core.models import AssignedUnit, Assignment, Membership, Round
from annotate.fastpath.queries import NUMBERS, Prepared
from annotate.rating.commands.new_assignments import NewAssignment, next_slots, write_assignments
from annotate.rating.planning.checks import Checking, Turn, due
from annotate.rating.queries.assignments import own_order
from annotate.rating.queries.hidden_checks import checking_of, hidden_gold
from annotate.rating.queries.plans import plan_of

Plan = Assignment.Plan
PLANS = {"gold": Plan.GOLD, "repeat": Plan.REPEAT}
CHECKS = {plan: check for check, plan in PLANS.items()}
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
    own = own_order(round, annotator).values_list("item", "plan", "item__document")
    checking = checking_of(plan_of(round.project))
    if round.every_item:
        own = own.filter(partial=False)
    else:  # items are rated in part, so none is repeated; gold comes among them
        checking = Checking(checking.gold_every)
    order = [Turn(item, CHECKS.get(Plan(plan), "")) for item, plan, _ in own]
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
    parts = asks or {}
    slots = next_slots(checks, {turn.item for _, _, turn in turns})
    assignments = []
    for annotator, position, turn in turns:
        slot = slots[turn.item]
        assignments.append(
            NewAssignment(checks.pk, turn.item, slot, annotator, position, PLANS[turn.check], checks.seed)
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
