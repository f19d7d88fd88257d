"""What calls of a run cost, and how many more its budget allows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Q, Sum

from judges.core.models import Endpoint, Judgment, Run
from judges.endpoints.work import Prices
from judges.runs.queries.shared import count_shared_calls

RESERVE = Decimal("1.5")  # how often the mean so far a call may cost
Status = Judgment.Status
# What was taken over from another judgment cost nothing and tells nothing about calls.
_PAID = Q(answered_at__isnull=False, cost__isnull=False, reused_from__isnull=True)


@dataclass(frozen=True)
class _Calls:
    """All calls of a run that give equally many judgments.

    answered, leased: calls, some of which gave fewer. is_open: whether the server may still be asked for any
    of them.
    """

    size: int
    answered: int
    cost: Decimal
    leased: int
    is_open: bool = True


def affordable_calls(run: Run, server: Endpoint, most: int, sizes: Mapping[int, int]) -> int:
    """Return how many more calls to a server the budget allows, at most so many.

    Each counts half as much again as calls that give as many judgments cost on average. sizes: see
    `sizes_of_calls`, of all judges of the run.
    """
    if run.budget is None:
        return most
    calls = _by_size(run, server, sizes) if sizes else [_single_calls(run)]
    costs = {each.size: RESERVE * mean for each in calls if (mean := _mean_cost(each, calls)) is not None}
    guess = _first_guess(server)
    in_flight = sum((costs.get(each.size, guess) * each.leased for each in calls), Decimal(0))
    dearest = max((costs.get(each.size, guess) for each in calls if each.is_open), default=Decimal(0))
    left = run.budget - run.spent - in_flight
    return max(min(most, int(left / dearest) if dearest else most), 0)


def expected_costs(run: Run, server: Endpoint, sizes: Mapping[int, int]) -> dict[int, Decimal]:
    """Return what a call to a server costs on average, by how many judgments it gives; a guess at first."""
    calls = _by_size(run, server, sizes)
    means = {each.size: _mean_cost(each, calls) for each in calls}
    return {size: _first_guess(server) if mean is None else mean for size, mean in means.items()}


def _single_calls(run: Run) -> _Calls:
    judgments = Judgment.objects.filter(run=run)
    answered = judgments.filter(_PAID).count()
    return _Calls(1, answered, run.spent, judgments.filter(status=Status.LEASED).count())


def _by_size(run: Run, server: Endpoint, sizes: Mapping[int, int]) -> list[_Calls]:
    answered, leased = _PAID, Q(status=Status.LEASED)
    judges = Judgment.objects.filter(run=run).order_by().values_list("judge", "judge__endpoint")
    counted = judges.annotate(
        paid=Sum("cost", filter=answered),
        under_way=Count("pk", filter=Q(status__in=[Status.PLANNED, Status.LEASED])),
        done=Count("pk", filter=answered),
        leased=Count("pk", filter=leased),
        calls_done=count_shared_calls(answered),
        calls_leased=count_shared_calls(leased),
    )
    found: dict[int, _Calls] = {}
    for judge, endpoint, paid, under_way, *judgments_and_calls in counted:
        size = sizes.get(judge, 1)
        done, in_flight = judgments_and_calls[2:] if judge in sizes else judgments_and_calls[:2]
        so_far = found.get(size, _Calls(size, 0, Decimal(0), 0, is_open=False))
        found[size] = _Calls(
            size,
            so_far.answered + done,
            so_far.cost + (paid or 0),
            so_far.leased + in_flight,
            so_far.is_open or (endpoint == server.pk and under_way > 0),
        )
    return list(found.values())


def _mean_cost(of: _Calls, calls: Sequence[_Calls]) -> Decimal | None:
    """Return what a call costs by those of its size, before the first of these by the others.

    One that gives more judgments may then cost as much more, one that gives fewer as much as they do. None
    before any was answered.
    """
    known = [of] if of.answered else [each for each in calls if each.answered]
    means = ((each.cost / each.answered, each.size) for each in known)
    return max((mean * max(size, of.size) / size for mean, size in means), default=None)


def _first_guess(server: Endpoint) -> Decimal:
    """Return a cautious cost of a call before any was answered: 2,000 tokens in, 200 out."""
    return Prices.of(server).cost(2000, 200) or Decimal(0)
