"""Cost of a run's calls, and the number of further calls within its budget."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal

from django.db.models import Count, Exists, OuterRef, Q, Sum

from judges.core.models import Endpoint, Judge, Judgment, Run
from judges.endpoints.prices import EndpointPrices
from judges.runs.queries.shared import count_shared_calls

RESERVE = Decimal("1.5")  # maximum ratio of a call's cost to the present mean
Status = Judgment.Status
# Answers reused from another judgment cost nothing and give no information about calls.
_PAID = Q(answered_at__isnull=False, cost__isnull=False, reused_from__isnull=True)


@dataclass(frozen=True)
class _Calls:
    """All calls of a run to a model at an endpoint with the same number of judgments.

    answered, leased: numbers of calls, some with fewer judgments. is_open: True if further calls of this kind
    may follow.
    """

    endpoint: int
    model: str
    size: int
    answered: int
    cost: Decimal
    leased: int
    is_open: bool = True


def affordable_calls(run: Run, server: Endpoint, most: int, sizes: Mapping[int, int]) -> int:
    """Return the number of further calls to a server within the budget, up to `most`.

    Each counts at 1.5 times the mean cost of calls to the same model with the same number of judgments.
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
    """Return the mean cost of a call to a server, by model and number of judgments per call.

    A guess, before any was answered.
    """
    calls, guess = _group_by_model_and_size(run, server, sizes), _FirstGuess(server)
    means = {(each.model, each.size): _mean_cost(each, calls) for each in calls if each.endpoint == server.pk}
    return {key: guess.of(key[0]) if mean is None else mean for key, mean in means.items()}


def _calls_of(run: Run, server: Endpoint, sizes: Mapping[int, int]) -> list[_Calls]:
    """Return all calls of a run by model and size; if all are of one kind, without sums by judge."""
    asked = Judgment.objects.filter(run=run, judge=OuterRef("pk"))
    judges = Judge.with_candidates.filter(Exists(asked), project=run.project_id)
    models = judges.values_list("endpoint", "model")
    kinds = set(models.order_by().distinct())
    if sizes or len(kinds) != 1:
        return _group_by_model_and_size(run, server, sizes)
    judgments = Judgment.objects.filter(run=run)
    answered = judgments.filter(_PAID).count()
    leased = judgments.filter(status=Status.LEASED).count()
    return [_Calls(*kinds.pop(), 1, answered, run.spent, leased)]


def _group_by_model_and_size(run: Run, server: Endpoint, sizes: Mapping[int, int]) -> list[_Calls]:
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
    """Return the mean cost of a call by its size, or before the first of these by the model's others.

    One with more judgments may then cost proportionally more, one with fewer the same. None before any call
    to the model was answered.
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
        """Return the guess for a model; prices are read on first use."""
        self._prices = self._prices or EndpointPrices(self._server)
        return self._prices.of(model).cost(2000, 200) or Decimal(0)
