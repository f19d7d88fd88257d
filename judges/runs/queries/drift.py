"""Drift of a judge's model: the model names that servers report, and the checks of its watch."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from decimal import Decimal
from typing import Any

import numpy as np
from django.db.models import Avg, Case, Count, F, Max, Min, Q, QuerySet, Sum, When
from django.urls import reverse
from django.utils import timezone
from django.utils.formats import date_format
from django.utils.translation import gettext

from agreement.data import FloatArray
from agreement.drift import ControlPoint, control_chart
from agreement.streams import Stream
from annotate.core.guidelines import current_guideline
from annotate.core.models import Item, Project
from annotate.watching.registry import Need
from judges.core.models import DriftCheck, DriftWatch, Judge, Judgment, PanelMember, Run
from judges.core.specification import Scope
from judges.runs.queries.plans import JudgePlan, plan_of

TOLERANCE = 0.5
"""A value that moved by more counts as changed, in points of the judge's scale."""
LEAST_ITEMS, USUAL_ITEMS, USUAL_DAYS = 5, 20, 7
Units = Mapping[int, Sequence[int]]
"""Ids of items by the id of the dimension."""


@dataclass(frozen=True)
class AnsweringModel:
    """The model name that a server reported for some judgments of a judge, and its period."""

    model: str
    fingerprint: str
    judgments: int
    first: datetime
    last: datetime

    def __str__(self) -> str:
        if not self.fingerprint:
            return self.model
        words = gettext("{model} (fingerprint {fingerprint})")
        return words.format(model=self.model or gettext("unnamed"), fingerprint=self.fingerprint)


def answering_models(judge: Judge) -> list[AnsweringModel]:
    """Return the model names that servers reported, in the order of their first answers. One query.

    Excludes reused stored answers, which needed no call.
    """
    named = Judgment.objects.filter(judge=judge, answered_at__isnull=False, reused_from__isnull=True)
    named = named.exclude(returned_model="", system_fingerprint="")
    rows = named.values_list("returned_model", "system_fingerprint").annotate(
        count=Count("pk"), first=Min("answered_at"), last=Max("answered_at")
    )
    return [AnsweringModel(*row) for row in rows.order_by("first", "returned_model", "system_fingerprint")]


def is_same_model(one: AnsweringModel, other: AnsweringModel) -> bool:
    """Return True if two names may belong to one model; a missing name matches any."""
    pairs = (one.model, other.model), (one.fingerprint, other.fingerprint)
    return all(first == second for first, second in pairs if first and second)


def describe_change(models: Sequence[AnsweringModel]) -> str:
    """Return the day since which only another model answers; empty if there is no such day."""
    if len(models) < 2:
        return ""
    newest, earlier = models[-1], models[:-1]
    if newest.first <= max(each.last for each in earlier):
        return ""  # several answer in turn
    says = gettext("Since {day} the server answers as {newest}; {judgments} judgments were made by {first}.")
    return says.format(
        day=date_format(timezone.localtime(newest.first), "DATE_FORMAT"),
        newest=newest,
        judgments=f"{sum(each.judgments for each in earlier):,}",
        first=", ".join(str(each) for each in earlier[:3]),
    )


def choose_units(judge: Judge, items: int) -> dict[int, list[int]]:
    """Return judged items from the largest possible number of documents, by dimension. Three queries.

    The choice ignores their values: repetitions of extreme values are closer to the middle, which would look
    like drift. Scales only; a mean of categories is meaningless.
    """
    guideline = current_guideline(judge.project)
    scales = [each.id for each in guideline.dimensions if each.is_scale and not each.is_named]
    judged = Judgment.objects.filter(
        judge=judge, other=None, status=Judgment.Status.DONE, is_corrected=False, dimension__in=scales
    )
    found = list(judged.values_list("dimension", "item", "item__document").distinct().order_by())
    documents: dict[int, list[int]] = {}
    for item, document in sorted({(item, document) for _, item, document in found}):
        documents.setdefault(document, []).append(item)
    shuffler = Stream(judge.project.seed).of("watch", judge.name).shuffler()
    # Sorted before the shuffle, so that the same seed gives the same order.
    queues = [documents[each] for each in sorted(documents)]
    shuffler.shuffle(queues)
    for queue in queues:
        shuffler.shuffle(queue)
    turns = max(map(len, queues), default=0)
    # Documents take turns: the first items come from as many documents as possible.
    in_turn = [queue[turn] for turn in range(turns) for queue in queues if turn < len(queue)]
    chosen = set(in_turn[:items])
    units: dict[int, list[int]] = {}
    for dimension, item, _ in sorted(found):
        if item in chosen:
            units.setdefault(dimension, []).append(item)
    return units


def scope_of_watch(judge: Judge, units: Units) -> Scope:
    keys = [each.key for each in current_guideline(judge.project).dimensions if each.id in units]
    items = {item for each in units.values() for item in each}
    return Scope([judge], keys, units=units, items=sorted(items))


def plan_of_check(judge: Judge, units: Units) -> JudgePlan:
    """Return the calls of one check and their cost, as for a judge without any answer."""
    plan = plan_of(judge.project, scope_of_watch(judge, units)).judges[0]
    # The plan subtracts calls for judgments that exist, while a check repeats all of them.
    shared = plan.shared_calls
    if shared is not None:
        shared = judge.samples * len({item for each in units.values() for item in each})
    # All calls are repeated, although the judge has these values.
    return replace(plan, there=0, failed=0, waiting=0, shared_calls=shared)


def units_of(watch: DriftWatch) -> dict[int, list[int]]:
    """Return the units of a watch with the ids as numbers, which JSON stores as strings."""
    return {int(dimension): items for dimension, items in watch.units.items()}


def due_watches() -> QuerySet[DriftWatch]:
    """Return the watches with a due check; not of archived judges, nor during a check."""
    return DriftWatch.objects.filter(
        is_active=True,
        next_at__lte=timezone.now(),
        judge__archived_at=None,
        judge__endpoint__archived_at=None,
    ).exclude(checks__state=DriftCheck.State.ASKING)


def ended_checks() -> QuerySet[DriftCheck]:
    """Return the checks with an ended run and without a comparison."""
    return DriftCheck.objects.filter(state=DriftCheck.State.ASKING, run__status__in=Run.OVER)


def money_spent(watch: DriftWatch) -> Decimal:
    """Return the cost of all checks of a watch. One query."""
    return watch.checks.aggregate(spent=Sum("run__spent"))["spent"] or Decimal(0)


def chart_of_watch(watch: DriftWatch, checks: Sequence[DriftCheck]) -> dict[int, tuple[ControlPoint, ...]]:
    """Return the control chart of some checks, in order, by dimension. Four queries."""
    units = units_of(watch)
    copies = dict(
        Judge.with_candidates.filter(rechecks__in=[each.pk for each in checks]).values_list("rechecks", "pk")
    )
    first = watch.judge_id
    if watch.baseline_id is not None:
        first = Judge.with_candidates.values_list("pk", flat=True).get(rechecks=watch.baseline_id)
    # The first row of each table has the first values, the others the ones of the checks, in order.
    judges = [first, *(copies[each.pk] for each in checks)]
    rows = Judgment.objects.filter(
        Q(judge__in=judges), other=None, status=Judgment.Status.DONE, is_corrected=False
    )
    items = {item for each in units.values() for item in each}
    # The mean of a judge's samples for each unit.
    rows = rows.filter(item__in=items).order_by()
    means = {
        tuple(key): value
        for *key, value in rows.values_list("judge", "dimension", "item").annotate(mean=Avg("value"))
    }
    documents = dict(Item.objects.filter(pk__in=items).values_list("pk", "document"))

    def table(dimension: int, items: Sequence[int]) -> FloatArray:
        return np.array(
            [[means.get((judge, dimension, item), np.nan) for item in items] for judge in judges], dtype=float
        )

    return control_chart(
        {dimension: table(dimension, items) for dimension, items in units.items()},
        # A deleted item is missing, and counts as a separate document.
        {dimension: [documents.get(item, -item) for item in items] for dimension, items in units.items()},
        tolerance=TOLERANCE,
    )


def figures_of_check(watch: DriftWatch, check: DriftCheck) -> dict[str, dict[str, Any]]:
    """Return the last point of each dimension's chart, ready for JSON."""
    finished = list(watch.checks.filter(state=DriftCheck.State.FINISHED, number__lt=check.number))
    charts = chart_of_watch(watch, [*finished, check])
    return {str(dimension): asdict(points[-1]) for dimension, points in charts.items()}


def latest_watch(judge: Judge) -> DriftWatch | None:
    """Return the judge's watch with an unconfirmed alarm, else its newest. One query."""
    # An unconfirmed alarm comes before a newer watch, since a person must look at it.
    is_alarm = When(alarmed_at__isnull=False, confirmed_at=None, then=0)
    watches = DriftWatch.objects.filter(judge=judge).select_related("judge__project")
    return watches.order_by(Case(is_alarm, default=1), "-pk").first()


def unconfirmed_alarms() -> QuerySet[DriftWatch]:
    return DriftWatch.objects.filter(alarmed_at__isnull=False, confirmed_at=None).order_by("pk")


def alarms_of(
    judges: Iterable[int | None], alarms: QuerySet[DriftWatch] | None = None
) -> QuerySet[DriftWatch]:
    """Return the alarms on these judges (ids), or on members of the panels among them.

    alarms: by default the unconfirmed ones.
    """
    keys = {each for each in judges if each is not None}
    members = PanelMember.objects.filter(panel__judge__in=keys).values("judge")
    found = unconfirmed_alarms() if alarms is None else alarms
    return found.filter(Q(judge__in=keys) | Q(judge__in=members))


def needs_of_drift(project: Project) -> list[Need]:
    """Return the judges with a change detected by a watch, without archived ones. One query."""
    says = gettext("{judge} has changed since its first values. Look at the checks, then begin anew.")
    alarms = unconfirmed_alarms().filter(
        judge__project=project, judge__archived_at=None, judge__endpoint__archived_at=None
    )
    found = alarms.values_list("judge", F("judge__name"))
    return [
        Need(says.format(judge=name), reverse("judge_watch", args=[project.slug, pk]), is_urgent=True)
        for pk, name in found
    ]


def state_of_watch(watch: DriftWatch) -> dict[str, Any]:
    """Return the data of a watch's page: its checks, the newest first, and a chart. Three queries.

    is_alarmed: True if it found a change that no admin has confirmed.
    """
    checks = list(watch.checks.select_related("run"))
    # Stored results name dimensions by id; a deleted one is shown by its id.
    names = {each.id: each.name for each in current_guideline(watch.judge.project).dimensions}
    lines: list[dict[str, Any]] = [
        {"check": check, "dimension": names.get(int(key), key), "figures": figures}
        for check in checks
        for key, figures in check.figures.items()
    ]
    points = [
        {
            "panel": "",
            "series": each["dimension"],
            "name": each["dimension"],
            "x": each["check"].number,
            **{name: each["figures"][name] for name in ("value", "low", "high")},
            "note": gettext("{dimension}, check {number}: {value} points").format(
                dimension=each["dimension"],
                number=each["check"].number,
                value=f"{each['figures']['value']:+.2f}",
            ),
        }
        for each in lines
        if each["figures"]["value"] is not None
    ]
    chart = {
        "kind": "lines",
        "key": "drift",
        "title": gettext("Mean difference from the first values, in points"),
        "lines": [],
        "points": points,
        "series": list(dict.fromkeys(each["series"] for each in points)),
        "across": gettext("check"),
        "up": gettext("points"),
    }
    return {
        "watch": watch,
        "is_alarmed": watch.alarmed_at is not None and watch.confirmed_at is None,
        "lines": lines[::-1],
        "asking": next((each for each in checks if each.state == DriftCheck.State.ASKING), None),
        "spent": money_spent(watch),
        "chart": chart if points else None,
        "items": len({item for each in watch.units.values() for item in each}),
    }
