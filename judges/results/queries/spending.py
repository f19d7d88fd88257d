"""Cost and duration of judges' answers."""

from collections.abc import Iterable
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Avg, Count, Q, Sum

from judges.core.models import Judge, Judgment
from judges.results.queries.scores import counted_judgments


@dataclass(frozen=True)
class Spent:
    """The number of a judge's answers on a dimension, cost (None: a price is unknown) and mean seconds."""

    answers: int
    unreadable: int
    cost: Decimal | None
    seconds: float | None


THOUSAND = 1_000


def cost_of_thousand_units(judge: Judge, spent: Iterable[Spent]) -> Decimal | None:
    """Return the mean cost of 1,000 units with all samples of each; None if no answer has a price."""
    priced = [each for each in spent if each.cost is not None and each.answers]
    if not priced:
        return None
    cost = sum((each.cost for each in priced if each.cost is not None), Decimal(0))
    return THOUSAND * judge.samples * cost / sum(each.answers for each in priced)


def spent_by_judges(
    judges: Iterable[Judge],
    *,
    with_corrected: bool = True,
    with_reused: bool = True,
) -> dict[tuple[int, str], Spent]:
    """Return the spending by judge and dimension key, in all runs. One query.

    with_corrected: True if answers that a person corrected count. with_reused: True if reused stored answers
    count, which cost nothing.
    """
    answered = Q(status__in=[Judgment.Status.DONE, Judgment.Status.UNREADABLE])
    judgments = counted_judgments(with_corrected=with_corrected).filter(answered, judge__in=list(judges))
    if not with_reused:
        judgments = judgments.filter(reused_from=None)
    rows = (
        judgments.order_by()
        .values_list("judge", "dimension__key")
        .annotate(
            answers=Count("pk"),
            unreadable=Count("pk", filter=Q(status=Judgment.Status.UNREADABLE)),
            total=Sum("cost"),
            priced=Count("cost"),
            mean_seconds=Avg("seconds"),
        )
    )
    return {
        (judge, key): Spent(answers, unreadable, cost if priced == answers else None, seconds)
        for judge, key, answers, unreadable, cost, priced, seconds in rows
    }
