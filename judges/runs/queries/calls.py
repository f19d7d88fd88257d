"""Calls of a run: the judgments that one call gives, their cost, and how many the budget allows."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from functools import cache

from django.db.models import Count, Exists, F, OuterRef, Q, QuerySet, Sum

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import Item
from judges.core.models import Endpoint, Judge, Judgment, Run
from judges.endpoints.prices import EndpointPrices
from judges.methods import METHODS
from judges.runs.queries.samples import among

SEVERAL = [key for key, method in METHODS.items() if method.asks_several]
OF_DOCUMENTS = [key for key, method in METHODS.items() if method.document_section]
LOOKED_THROUGH = 200  # judgments searched per call, to find all outputs of a document
Key = tuple[int, ...]
_MOST_SAMPLES = 2**16  # more than a judge may have
RESERVE = Decimal("1.5")  # maximum ratio of a call's cost to the present mean
Status = Judgment.Status
# Answers reused from another judgment cost nothing and give no information about calls.
_PAID = Q(answered_at__isnull=False, cost__isnull=False, reused_from__isnull=True)


def count_shared_calls(counted: Q) -> Count:
    """Return the number of calls for the judgments of a judge that covers several dimensions.

    One number encodes item and sample, because databases count distinct values of a single expression only.
    """
    return Count(F("item") * _MOST_SAMPLES + F("sample"), distinct=True, filter=counted)


@dataclass(frozen=True)
class SharedCalls:
    """The judges of a run with several judgments per call.

    sizes: the number of judgments per call, if it covers several dimensions of the run's guideline. The first
    call of the other judges serves all outputs of a document.
    """

    judges: Mapping[int, Judge]
    sizes: Mapping[int, int]


def shared_calls(run: Run) -> SharedCalls:
    """Return the judges of a run whose calls give several judgments.

    One query, two if a judge covers several dimensions.
    """
    judges = Judge.with_candidates.filter(project=run.project_id, method__in=[*SEVERAL, *OF_DOCUMENTS])
    own = judges.filter(Exists(Judgment.objects.filter(run=run, judge=OuterRef("pk"))))
    found = {judge.pk: judge for judge in own.select_related("template")}
    several = {pk: judge for pk, judge in found.items() if judge.asks_several}
    dimensions = FrozenGuideline.from_json(run.guideline.content).scales if several else ()
    return SharedCalls(found, {pk: len(each.dimensions_of_call(dimensions)) for pk, each in several.items()})


def group_by_call(judgments: QuerySet[Judgment], shared: Mapping[int, Judge]) -> dict[Key, list[int]]:
    """Return judgments grouped by call, calls and judgments in order.

    shared: the judges whose calls may give several judgments. One query, two if one asks about documents.
    """
    rows = list(judgments.values_list("pk", "judge", "item", "sample", "dimension", "steps_done"))
    # Not by a join: rows are locked by this query, and items must not be.
    items = {item for _, judge, item, *_ in rows if judge in shared and shared[judge].asks_of_documents}
    documents: dict[int, int] = {}
    if items:
        documents = dict(Item.objects.filter(pk__in=among(items)).values_list("pk", "document"))
    calls: dict[Key, list[int]] = {}
    for pk, judge, item, sample, dimension, steps_done in rows:
        key: Key | None = None
        if judge in shared:
            key = shared_by(shared[judge], item, sample, documents.get(item, 0), dimension, steps_done)
        calls.setdefault(key or (pk,), []).append(pk)
    return calls


def shared_by(
    judge: Judge, item: int, sample: int, document: int, dimension: int, steps_done: int
) -> Key | None:
    """Return the key common to the judgments of one call; None if a call gives one."""
    if steps_done:  # each later step belongs to one judgment
        return None
    if judge.asks_several:
        return judge.pk, item, sample
    return document_key(judge, document, dimension) if judge.asks_of_documents else None


def document_key(judge: Judge, document: int, dimension: int) -> Key:
    """Return the key of a call about a document; it may contain the dimension if wordings differ."""
    worded = judge.template is not None and bool(judge.template.wordings)
    return judge.pk, document, dimension if worded else 0, 0


def first_calls(judgments: QuerySet[Judgment], most: int, shared: SharedCalls) -> Sequence[Sequence[int]]:
    """Return the judgments of the first calls, up to `most`. One query.

    Judgments of one call are planned consecutively, so that none is cut off. Outputs of a document may be
    beyond the searched judgments, and then receive the first call's reply later.
    """
    if not shared.judges:
        return [[pk] for pk in judgments.values_list("pk", flat=True)[:most]]
    asks_of_documents = len(shared.sizes) < len(shared.judges)
    largest = max([*shared.sizes.values(), LOOKED_THROUGH if asks_of_documents else 1])
    rows = judgments[: most * largest]
    return list(group_by_call(rows, shared.judges).values())[:most]


# The cost of calls, and the number of further calls within the budget of a run.


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
    sizes: see `SharedCalls`, of all judges of the run.
    """
    if run.budget is None:
        return most
    calls = _calls_of(run, server, sizes)
    guess = _first_guess(server)
    # Kinds of calls that were never answered cost as much as a guess.
    costs = [(RESERVE * mean if (mean := _mean_cost(each, calls)) is not None else None) for each in calls]
    known = [guess(each.model) if cost is None else cost for each, cost in zip(calls, costs, strict=True)]
    # Calls in flight are not in `spent` yet, so the budget reserves their cost.
    in_flight = sum((cost * each.leased for each, cost in zip(calls, known, strict=True)), Decimal(0))
    # The next calls may be of any open kind, so each counts as the dearest one.
    dearest = max((cost for each, cost in zip(calls, known, strict=True) if each.is_open), default=Decimal(0))
    left = run.budget - run.spent - in_flight
    # A cost of 0 sets no limit, and an expensive call may leave less than nothing.
    return max(min(most, int(left / dearest) if dearest else most), 0)


def expected_costs(run: Run, server: Endpoint, sizes: Mapping[int, int]) -> dict[tuple[str, int], Decimal]:
    """Return the mean cost of a call to a server, by model and number of judgments per call.

    A guess, before any was answered.
    """
    calls, guess = _group_by_model_and_size(run, server, sizes), _first_guess(server)
    means = {(each.model, each.size): _mean_cost(each, calls) for each in calls if each.endpoint == server.pk}
    return {key: guess(key[0]) if mean is None else mean for key, mean in means.items()}


def _calls_of(run: Run, server: Endpoint, sizes: Mapping[int, int]) -> list[_Calls]:
    """Return all calls of a run by model and size; if all are of one kind, without sums by judge."""
    asked = Judgment.objects.filter(run=run, judge=OuterRef("pk"))
    judges = Judge.with_candidates.filter(Exists(asked), project=run.project_id)
    models = judges.values_list("endpoint", "model")
    kinds = set(models.order_by().distinct())
    if sizes or len(kinds) != 1:
        return _group_by_model_and_size(run, server, sizes)
    # All calls are of one kind, so the total of the run replaces a sum over its judgments.
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
    # Judges of one model share a mean if their calls give equally many judgments.
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


def _first_guess(server: Endpoint) -> Callable[[str], Decimal]:
    """Return a cautious cost of a call to a model before any was answered: 2,000 tokens in, 200 out."""
    prices = cache(lambda: EndpointPrices(server))  # read on first use: a run with answers needs no guess
    return lambda model: prices().of(model).cost(2000, 200) or Decimal(0)
