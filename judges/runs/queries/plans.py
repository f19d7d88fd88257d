"""Preview of a run's calls, cost and duration."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from statistics import fmean

from django.db.models import Avg, Count, Q
from django.utils import timezone
from django.utils.translation import gettext, gettext_lazy

from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import current_guideline
from annotate.core.models import Document, Item, Project
from judges.core.material import outputs_of
from judges.core.models import Endpoint, Judge, Judgment, Run
from judges.core.specification import Scope
from judges.endpoints.prices import EndpointPrices
from judges.endpoints.queries import (
    CHARACTERS_A_TOKEN,
    estimated_tokens,
    refusal,
    refusal_of_reference,
    refusal_of_scope,
)
from judges.endpoints.work import BATCH_WINDOW, UNKNOWN_PRICES, Prices
from judges.methods import METHODS
from judges.methods.base import Subject
from judges.runs.queries.runs import abandoned_judgments
from judges.runs.queries.samples import ChosenItems, Offer, chosen_items, count_offers, need_of, samples_about
from judges.runs.queries.work import question

Sampled = tuple[Subject, dict[int, str]]
"""What is judged, and all texts for its document by their system."""
SAMPLED_DOCUMENTS = 8
SAMPLED_SUBJECTS = 2  # of each document
NOTHING_MISSING = gettext_lazy(
    "All of these judgments are there or belong to another run; nothing is missing."
)


@dataclass(frozen=True)
class Usage:
    """Tokens of one judgment: the mean of `answers` answered ones, or an estimate if 0.

    If a call gives several judgments, each has its share. The estimate counts the prompts of some items and
    the longest reply that the judge allows.
    """

    input_tokens: float
    output_tokens: float
    answers: int = 0


@dataclass(frozen=True)
class JudgePlan:
    """The plan for one judge. `problem`: the reason why it cannot judge some of the dimensions.

    Of the judgments that are `there`, some have `failed`, and others are `waiting` for an answer in another
    run. `shared_calls`: the number of calls for the missing judgments, if one call gives several: `size`, of
    which some may exist already. `calls_each`: the mean number of calls per value over some items; a call for
    all outputs of a document counts for each.
    """

    judge: Judge
    judgments: int
    there: int
    failed: int
    waiting: int
    usage: Usage | None
    problem: str = ""
    shared_calls: int | None = None
    size: int = 1
    calls_each: float = 1.0
    prices: Prices = UNKNOWN_PRICES

    @property
    def missing(self) -> int:
        """Judgments that no run has planned or made yet."""
        return self.judgments - self.there

    @property
    def calls(self) -> int:
        """The number of calls: one per judgment, unless a call gives several, or a value needs several."""
        return round(self.missing * self.calls_each) if self.shared_calls is None else self.shared_calls

    @property
    def _paid_judgments(self) -> int:
        """All judgments of the calls: a call for a single missing dimension costs the same as any."""
        return self.missing if self.shared_calls is None else self.calls * self.size

    @property
    def input_tokens(self) -> int | None:
        """Tokens that all calls send, None if unknown."""
        return round(self._paid_judgments * self.usage.input_tokens) if self.usage else None

    @property
    def output_tokens(self) -> int | None:
        """Tokens that all calls receive; the maximum if nothing was answered yet."""
        return round(self._paid_judgments * self.usage.output_tokens) if self.usage else None

    @property
    def cost(self) -> Decimal | None:
        """The cost of all calls; None if the endpoint's prices are unknown."""
        # A plan without calls costs nothing, even if the prices are unknown.
        return self.prices.cost(self.input_tokens, self.output_tokens) if self.calls else Decimal(0)


@dataclass(frozen=True)
class EndpointTime:
    """The duration of an endpoint's share: by its limits, and at the pace of its past answers.

    None if it has no limits, or has answered nothing yet.
    """

    endpoint: Endpoint
    calls: int
    seconds_by_limits: float | None
    seconds_by_pace: float | None

    @property
    def seconds(self) -> float | None:
        """The longer of both, None if neither is known."""
        known = [each for each in (self.seconds_by_limits, self.seconds_by_pace) if each is not None]
        return max(known, default=None)


@dataclass(frozen=True)
class RunPlan:
    """The whole run; through the batch interface endpoints have no separate duration."""

    judges: Sequence[JudgePlan]
    endpoints: Sequence[EndpointTime]
    via: Run.Via = Run.Via.CALLS

    @property
    def judgments(self) -> int:
        return sum(each.judgments for each in self.judges)

    @property
    def there(self) -> int:
        """Judgments of the scope that some run has planned or made."""
        return sum(each.there for each in self.judges)

    @property
    def failed(self) -> int:
        """Failed judgments among `there`; they are retried on the page of their run."""
        return sum(each.failed for each in self.judges)

    @property
    def waiting(self) -> int:
        """Unanswered judgments among `there`; they belong to another run."""
        return sum(each.waiting for each in self.judges)

    @property
    def calls(self) -> int:
        return sum(each.calls for each in self.judges)

    @property
    def problems(self) -> list[str]:
        """The reasons why the run cannot be planned with these settings."""
        return [each.problem for each in self.judges if each.problem]

    @property
    def cost(self) -> Decimal | None:
        """The cost of the run, None if a price is unknown."""
        costs = [each.cost for each in self.judges]
        return None if None in costs else sum((cost for cost in costs if cost is not None), Decimal(0))

    @property
    def is_upper_bound(self) -> bool:
        """Return True if the cost counts the longest replies of a judge that has not answered yet."""
        return any(each.calls and each.usage and not each.usage.answers and each.cost for each in self.judges)

    def remarks(self, budget: Decimal | None) -> list[str]:
        """Remarks before the start of the run within a budget."""
        # Without calls nothing is paid, so no remark about the cost applies.
        if self.judgments and not self.calls:
            return [str(NOTHING_MISSING)]
        remarks = []
        if following_up := [each for each in self.judges if each.calls and each.judge.follows_up]:
            names = ", ".join(each.judge.name for each in following_up)
            said = gettext("{judges}: each unreadable reply takes one more call, so the run may cost more.")
            remarks.append(said.format(judges=names))
        if budget is not None and self.cost is None:
            remarks.append(
                gettext(
                    "A price is unknown, so no budget can be kept: give the endpoint prices, or leave it "
                    "empty."
                )
            )
        elif budget is not None and self.cost is not None and self.cost > budget:
            remarks.append(
                gettext("It may cost more than the budget; it then stops, and goes on with a larger one.")
            )
        return remarks

    @property
    def seconds(self) -> float | None:
        """The duration with all endpoints working concurrently; None if one is unknown.

        Through the batch interface, the maximum: the end of a batch with a single call per judgment.
        """
        if self.via == Run.Via.BATCH:
            return BATCH_WINDOW.total_seconds()
        times = [each.seconds for each in self.endpoints]
        return None if None in times else max((time for time in times if time is not None), default=0.0)


def plan_of(project: Project, scope: Scope, via: Run.Via = Run.Via.CALLS) -> RunPlan:
    """Return a run's number of calls, cost and time over a scope.

    Up to ten queries, and one for each endpoint. The judges need their endpoints and templates.
    """
    guideline = current_guideline(project)
    dimensions = [each for each in guideline.dimensions if each.key in set(scope.dimensions)]
    chosen = chosen_items(project, scope)
    pairs, items = _count_pairs(project, scope, chosen), Item.objects.filter(document__project=project)
    # What all judges share: items by their material, existing judgments, and a sample of prompts.
    offers = count_offers(chosen.filter_items(items))
    there = _count_there(scope, dimensions, chosen)
    used, sample = mean_usage(scope.judges), list(_sample(project, scope))
    endpoints = {each.endpoint for each in scope.judges if each.endpoint}
    # One query for each endpoint, which serves all of its models.
    prices = {endpoint.pk: EndpointPrices(endpoint) for endpoint in endpoints}
    plans = []
    for judge in scope.judges:
        own, own_offers = chosen.for_judge(judge), offers
        if own is not chosen:  # units, of a judge that covers all dimensions of their items
            own_offers = count_offers(own.filter_items(items))
            # `|` of counters takes the larger count, which is the one over all dimensions.
            there |= _count_there(replace(scope, judges=[judge]), dimensions, own)
        own_prices = prices[judge.endpoint_id].of(judge.model) if judge.endpoint_id else UNKNOWN_PRICES
        plans.append(
            JudgePlan(
                judge=judge,
                judgments=_count_judgments(judge, dimensions, pairs, own_offers, own),
                there=there[judge.pk, "there"],
                failed=there[judge.pk, "failed"],
                waiting=there[judge.pk, "waiting"],
                usage=used.get(judge.pk) or _estimate_usage(judge, dimensions, sample),
                problem=_problem(judge, dimensions, guideline.scales),
                shared_calls=_shared_calls(judge, dimensions, own_offers[Offer.OUTPUT], own),
                size=len(dimensions) if judge.asks_several else 1,
                calls_each=_calls_each(judge, sample),
                prices=own_prices.in_batches() if via == Run.Via.BATCH else own_prices,
            )
        )
    return RunPlan(plans, [] if via == Run.Via.BATCH else _times(plans), via)


def _calls_each(judge: Judge, sample: Sequence[Sampled]) -> float:
    """Return the mean number of calls per judgment; 1 unless its method needs several."""
    if not judge.takes_steps or judge.template is None or not sample:
        return 1.0
    text, method = judge.template.text, METHODS[judge.method]
    # Methods with several calls judge one output, so the pairs of the sample do not count.
    return fmean(method.calls_of(text, subject) for subject, _ in sample if subject.other is None)


def _problem(
    judge: Judge, dimensions: Sequence[FrozenDimension], all_dimensions: Sequence[FrozenDimension]
) -> str:
    # The first reason is enough: each must be removed before the run can be planned.
    reasons = (refusal(judge, dimension) for dimension in dimensions)
    reason = next(filter(None, reasons), None) or refusal_of_scope(judge, dimensions, all_dimensions)
    reason = reason or refusal_of_reference(judge)
    return f"{judge.name}: {reason}" if reason else ""


def _shared_calls(
    judge: Judge, dimensions: Sequence[FrozenDimension], items: int, chosen: ChosenItems
) -> int | None:
    """Return the number of remaining calls of a judge of several dimensions, None for others. One query.

    Each item counts the dimension that lacks most.
    """
    if not judge.asks_several:
        return None
    rows = judge.judgments.filter(_counts_as_there(), dimension__in=[each.id for each in dimensions])
    there = dict(chosen.filter_judgments(rows).order_by().values_list("dimension").annotate(Count("pk")))
    return max((items * judge.samples - there.get(each.id, 0) for each in dimensions), default=0)


def _count_judgments(
    judge: Judge,
    dimensions: Sequence[FrozenDimension],
    pairs: int,
    offers: Mapping[Offer, int],
    chosen: ChosenItems,
) -> int:
    if chosen.units is not None:
        return sum(len(chosen.units.get(each.id, ())) * samples_about(judge, each) for each in dimensions)
    if judge.asks_pairs:
        return pairs * len(dimensions) * judge.samples
    return sum(offers[need_of(each)] * samples_about(judge, each) for each in dimensions)


def _count_pairs(project: Project, scope: Scope, chosen: ChosenItems) -> int:
    if not scope.pairs:
        return 0
    documents: dict[int, set[int]] = defaultdict(set)
    items = chosen.filter_items(outputs_of(project))
    for system, document in items.values_list("system", "document").iterator(5000):
        documents[system].add(document)
    # Each pair is judged in both orders, on documents with outputs of both systems.
    return 2 * sum(len(documents[first] & documents[second]) for first, second in scope.pairs)


def _count_there(
    scope: Scope, dimensions: Sequence[FrozenDimension], chosen: ChosenItems
) -> Counter[tuple[int, str]]:
    """Count by judge the existing judgments of the scope, and the failed or pending ones."""
    pairs = {*scope.pairs, *((second, first) for first, second in scope.pairs)}
    of_judges = {judge.pk: METHODS[judge.method].asks_pairs for judge in scope.judges}
    counts: Counter[tuple[int, str]] = Counter()
    status = Judgment.Status
    waiting = Q(status__in=[status.PLANNED, status.LEASED])
    counted_as_there = Judgment.objects.filter(
        _counts_as_there(), judge__in=of_judges, dimension__in=[each.id for each in dimensions]
    )
    rows = (
        chosen.filter_judgments(counted_as_there)
        .values_list("judge", "item__system", "other__system")
        .annotate(
            there=Count("pk"),
            failed=Count("pk", filter=Q(status=status.FAILED)),
            waiting=Count("pk", filter=waiting),
        )
        .order_by()
    )
    for judge, system, other, *counted in rows:
        # Judgments of pairs outside the scope are not counted.
        if not of_judges[judge] or (system, other) in pairs:
            for name, count in zip(("there", "failed", "waiting"), counted, strict=True):
                counts[judge, name] += count
    return counts


def _counts_as_there() -> Q:
    """Return the condition of existing judgments; excludes the ones that plan_run moves to a new run, or
    they would never be called.
    """
    # Imported judgments have no run, and exist in any case.
    return ~abandoned_judgments(timezone.now()) | Q(run__isnull=True)


def mean_usage(judges: Sequence[Judge]) -> dict[int, Usage]:
    answered = Judgment.objects.filter(
        judge__in=[judge.pk for judge in judges],
        input_tokens__isnull=False,
        output_tokens__isnull=False,
    )
    rows = answered.values("judge").annotate(
        answers=Count("pk"), input=Avg("input_tokens"), output=Avg("output_tokens")
    )
    return {row["judge"]: Usage(row["input"], row["output"], row["answers"]) for row in rows.order_by()}


def _sample(project: Project, scope: Scope) -> Iterator[Sampled]:
    """Yield some items, and some pairs of the scope.

    Documents are sorted by digest, which is practically random.
    """
    documents = Document.objects.filter(project=project, items__isnull=False).distinct()
    for document in documents.order_by("digest").prefetch_related("items")[:SAMPLED_DOCUMENTS]:
        parts = tuple((part["label"], part["text"]) for part in document.parts)
        items = document.items.all()
        texts = {item.system_id: item.text for item in items if item.kind == Item.Kind.OUTPUT}
        for text in list(texts.values())[:SAMPLED_SUBJECTS]:
            # Sides and parts of usual length, to estimate the length of prompts.
            yield Subject(parts, text, sides=(text, text), parts=(text,)), texts
        pairs = [pair for pair in scope.pairs if texts.keys() >= set(pair)]
        for first, second in pairs[:SAMPLED_SUBJECTS]:
            yield Subject(parts, texts[first], texts[second]), texts


def _estimate_usage(
    judge: Judge, dimensions: Sequence[FrozenDimension], sample: Sequence[Sampled]
) -> Usage | None:
    """Return the mean length of a judge's prompts about the sample, and of its longest replies."""
    method = METHODS[judge.method]
    if judge.takes_steps:
        return _estimate_steps(judge, sample)
    # Only dimensions that the judge can judge have a prompt to measure.
    possible = [
        each for each in dimensions if not (method.refuses_kind(each) or method.refuses(judge.rescale(each)))
    ]
    # A judge that asks about several dimensions asks about all of the scope's, or cannot be planned.
    calls = [possible] if judge.asks_several and possible else [[dimension] for dimension in possible]
    lengths = [
        estimated_tokens(
            question(
                judge, replace(subject, reference=texts.get(judge.reference_id or 0, "")), asked
            ).messages
        )
        for subject, texts in sample
        if (subject.other is not None) == method.asks_pairs
        for asked in calls
    ]
    if not lengths:
        return None
    # A call about several dimensions is paid once, and its judgments share it.
    return Usage(fmean(lengths) / len(calls[0]), judge.max_tokens / len(calls[0]))


def _estimate_steps(judge: Judge, sample: Sequence[Sampled]) -> Usage | None:
    """Return the maximum usage of a judgment of several calls: each with prompt, material and replies."""
    if not sample or judge.template is None:
        return None
    method, text = METHODS[judge.method], judge.template.text
    calls = [method.calls_of(text, subject) for subject, _ in sample]
    characters = [
        len(text) + sum(len(part) for _, part in subject.document_parts) + len(subject.text)
        for subject, _ in sample
    ]
    each = [count / CHARACTERS_A_TOKEN + 2 * judge.max_tokens for count in characters]
    sent = fmean(count * tokens for count, tokens in zip(calls, each, strict=True))
    return Usage(sent, fmean(calls) * judge.max_tokens)


def _times(plans: Sequence[JudgePlan]) -> list[EndpointTime]:
    endpoints = {each.judge.endpoint_id: each.judge.endpoint for each in plans if each.judge.endpoint}
    answered = Judgment.objects.filter(judge__endpoint__in=endpoints, seconds__isnull=False)
    paces = dict(answered.values_list("judge__endpoint").annotate(mean=Avg("seconds")).order_by())
    times = []
    for key, endpoint in endpoints.items():
        own = [each for each in plans if each.judge.endpoint_id == key]
        calls = sum(each.calls for each in own)
        tokens = sum((each.input_tokens or 0) + (each.output_tokens or 0) for each in own)
        # Limits are for a minute, and the duration is in seconds.
        limits = [
            60 * amount / limit
            for amount, limit in ((calls, endpoint.requests_per_minute), (tokens, endpoint.tokens_per_minute))
            if limit
        ]
        # Calls run concurrently: their total time is divided by the calls in flight.
        by_pace = calls * paces[key] / endpoint.calls_in_flight if key in paces else None
        times.append(EndpointTime(endpoint, calls, max(limits, default=None), by_pace))
    return times
