"""Putting hidden checks among an annotator's items: in a round of their own, met as part of Round I."""

from collections.abc import Sequence

from django.db.models import Max

from agreement.streams import Stream
from annotate.core.models import Assignment, Membership, Round
from annotate.fastpath.queries import NUMBERS, Prepared
from annotate.rating.commands.new_places import NewPlace, next_slots, write_places
from annotate.rating.planning.checks import Turn, due
from annotate.rating.queries.hidden_checks import checking_of, hidden_gold
from annotate.rating.queries.places import own_order
from annotate.rating.queries.plans import plan_of

Plan = Assignment.Plan
PLANS = {"gold": Plan.GOLD, "repeat": Plan.REPEAT}
CHECKS = {plan: check for check, plan in PLANS.items()}


def round_of_checks(round: Round) -> Round | None:
    """Return the round of checks beside Round I, made if the project has any to come. Two queries at most."""
    existing = _checks_beside(round)
    checking = checking_of(plan_of(round.project))
    if existing or not (checking.repeat_every or (checking.gold_every and hidden_gold(round.project))):
        return existing
    return Round.with_checks.create(
        project=round.project,
        number=Round.CHECKS,
        guideline=round.guideline,
        seed=round.seed,
        work_order=round.work_order,
        dimension_order=round.dimension_order,
        revises_documents=round.revises_documents,
        opened_at=round.opened_at,
        opened_by=round.opened_by,
    )


def _checks_beside(round: Round) -> Round | None:
    return _CHECKS.first(round.project_id)


_CHECKS = Prepared(lambda project: Round.with_checks.filter(project=project, number=Round.CHECKS), NUMBERS[0])


def gold_for(round: Round, annotator: Membership) -> list[int]:
    """Return the hidden gold items in an order of the annotator's own. One query."""
    gold = hidden_gold(round.project)
    Stream(round.seed).of("gold", annotator.pseudonym).shuffler().shuffle(gold)
    return gold


def give_due_checks(*, round: Round, annotator: Membership) -> int:
    """Give the annotator the checks that are due after what was taken so far; return how many.

    Inside the caller's transaction, which holds the annotator's row.
    """
    checks = _checks_beside(round)
    if checks is None:
        return 0
    own = own_order(round, annotator)
    order = [
        Turn(item, CHECKS.get(Plan(plan), ""))
        for item, plan in own.filter(partial=False).values_list("item", "plan")
    ]
    last = own.aggregate(last=Max("position"))["last"] or 0
    generator = Stream(round.seed).of("checks", annotator.pseudonym, len(order)).shuffler()
    turns = due(order, gold_for(round, annotator), checking_of(plan_of(round.project)), generator)
    write_checks(checks, [(annotator.pk, last + step, turn) for step, turn in enumerate(turns, start=1)])
    return len(turns)


def write_checks(checks: Round, turns: Sequence[tuple[int, int, Turn]]) -> None:
    """Store checks: the annotator's key, the position in the order, the turn."""
    slots = next_slots(checks, {turn.item for _, _, turn in turns})
    places = []
    for annotator, position, turn in turns:
        slot = slots[turn.item]
        places.append(
            NewPlace(checks.pk, turn.item, slot, annotator, position, PLANS[turn.check], checks.seed)
        )
        slots[turn.item] += 1
    write_places(places)
