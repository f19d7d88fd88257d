"""What calls of a run cost, and how many more its budget allows."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Exists, OuterRef, Q, Sum

from judges.core.models import Endpoint, Judge, Judgment, Run
from judges.endpoints.prices import EndpointPrices
from judges.runs.queries.shared import count_shared_calls

RESERVE = Decimal("1.5")  # how often the mean so far a call may cost
Status = Judgment.Status
# What was taken over from another judgment cost nothing and tells nothing about calls.
_PAID = Q(answered_at__isnull=False, cost__isnull=False, reused_from__isnull=True)


@dataclass(frozen=True)
class _Calls:
    """All calls of a run to a model at an endpoint that give equally many judgments.

    answered, leased: calls, some of which gave fewer. is_open: whether the server may still be asked for any
    of them.
    """

    endpoint: int
    model: str
    size: int
    answered: int
    cost: Decimal
    leased: int
    is_open: bool = True


def affordable_calls(run: Run, server: Endpoint, most: int, sizes: Mapping[int, int]) -> int:
    """Return how many more calls to a server the budget allows, at most so many.

    Each counts half as much again as calls to the same model that give as many judgments cost on average.
    sizes: see `sizes_of_calls`, of all judges of the run.
    """
    if run.budget is None:
        return most
    calls = _calls_of(run, server, sizes)
    guess = _FirstGuess(server)
    costs = [(RESERVE * mean if (mean := _mean_cost(each, calls)) is not None else None) for each in calls]
    known = [guess.of(each.model) if cost is None else cost for each, cost in zip(calls, costs, strict=True)]
    in_flight = sum((cost * each.leased for each, cost in zip(calls, known, strict=True)), Decimal(0))
    dearest = max((cost for each, cost in zip(calls, known, strict=True) if each.is_open), default=Decimal(0))
    left = run.budget - run.spent - in_flight
    return max(min(most, int(left / dearest) if dearest else most), 0)


def expected_costs(run: Run, server: Endpoint, sizes: Mapping[int, int]) -> dict[tuple[str, int], Decimal]:
    """Return what a call to a server costs on average, by model and by how many judgments it gives.

    A guess, before any was answered.
    """
    calls, guess = _by_model_and_size(run, server, sizes), _FirstGuess(server)
    means = {(each.model, each.size): _mean_cost(each, calls) for each in calls if each.endpoint == server.pk}
    return {key: guess.of(key[0]) if mean is None else mean for key, mean in means.items()}


def _calls_of(run: Run, server: Endpoint, sizes: Mapping[int, int]) -> list[_Calls]:
    """Return all calls of a run by model and size; where all are of one kind, without sums by judge."""
    asked = Judgment.objects.filter(run=run, judge=OuterRef("pk"))
    judges = Judge.with_candidates.filter(Exists(asked), project=run.project_id)
    models = judges.values_list("endpoint", "model")
    kinds = set(models.order_by().distinct())
    if sizes or len(kinds) != 1:
        return _by_model_and_size(run, server, sizes)
    judgments = Judgment.objects.filter(run=run)
    answered = judgments.filter(_PAID).count()
    leased = judgments.filter(status=Status.LEASED).count()
    return [_Calls(*kinds.pop(), 1, answered, run.spent, leased)]


def _by_model_and_size(run: Run, server: Endpoint, sizes: Mapping[int, int]) -> list[_Calls]:
    answered, leased = _PAID, Q(status=Status.LEASED)
    judgments = Judgment.objects.filter(run=run).order_by()
    counted = judgments.values_list("judge", "judge__endpoint", "judge__model").annotate(
        paid=Sum("cost", filter=answered),
        under_way=Count("pk", filter=Q(status__in=[Status.PLANNED, Status.LEASED])),
        done=Count("pk", filter=answered),
        leased=Count("pk", filter=leased),
        calls_done=count_shared_calls(answered),
        calls_leased=count_shared_calls(leased),
    )
    found: dict[tuple[int, str, int], _Calls] = {}
    for judge, endpoint, model, paid, under_way, *judgments_and_calls in counted:
        key = (endpoint, model, sizes.get(judge, 1))
        done, in_flight = judgments_and_calls[2:] if judge in sizes else judgments_and_calls[:2]
        so_far = found.get(key, _Calls(*key, 0, Decimal(0), 0, is_open=False))
        found[key] = _Calls(
            *key,
            so_far.answered + done,
            so_far.cost + (paid or 0),
            so_far.leased + in_flight,
            so_far.is_open or (endpoint == server.pk and under_way > 0),
        )
    return list(found.values())


def _mean_cost(of: _Calls, calls: Sequence[_Calls]) -> Decimal | None:
    """Return what a call costs by those of its size, before the first of these by the model's others.

    One that gives more judgments may then cost as much more, one that gives fewer as much as they do. None
    before any call to the model was answered.
    """
    known = [of] if of.answered else [each for each in calls if each.answered and each.model == of.model]
    means = ((each.cost / each.answered, each.size) for each in known)
    return max((mean * max(size, of.size) / size for mean, size in means), default=None)


class _FirstGuess:
    """A cautious cost of a call before any was answered: 2,000 tokens in, 200 out."""

    def __init__(self, server: Endpoint) -> None:
        self._server = server
        self._prices: EndpointPrices | None = None

    def of(self, model: str) -> Decimal:
        """Return it for a model; prices are read when they are first needed."""
        self._prices = self._prices or EndpointPrices(self._server)
        return self._prices.of(model).cost(2000, 200) or Decimal(0)
