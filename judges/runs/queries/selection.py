"""Filters of judgments: of a judge, on a dimension, unreadable, or far from people's values."""

from dataclasses import dataclass, replace

import numpy as np
from django.db.models import Count, Q, QuerySet, TextChoices
from django.utils.translation import gettext_lazy as _

from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import current_guideline
from annotate.core.models import Project
from annotate.core.rounds import last_round
from judges.core.mapping import map_values
from judges.core.models import Judge, Judgment
from judges.core.specification import Scope
from judges.endpoints.prices import prices_of
from judges.endpoints.work import UNKNOWN_PRICES
from judges.methods.scales import OwnScale
from judges.results.queries.scores import Material, material_of, mean_of_samples
from judges.runs.queries.plans import JudgePlan, RunPlan, Usage, mean_usage
from judges.runs.queries.samples import among
from judges.runs.queries.shared import group_by_call, sizes_of_calls

Status = Judgment.Status
FAR = 2.0  # points of the scale


class AnswerSelection(TextChoices):
    """The kinds of a judge's answers to select."""

    ANSWERED = "answered", _("all that are answered")
    UNREADABLE = "unreadable", _("unreadable")
    FAR = "far", _("two points or more from people’s mean")


@dataclass(frozen=True)
class Selection:
    """The filter; None matches any. `only`: this judgment, even if a person corrected it."""

    judge: int | None = None
    dimension: str | None = None
    which: AnswerSelection = AnswerSelection.ANSWERED
    only: int | None = None


def answers_of(project: Project, selection: Selection) -> QuerySet[Judgment]:
    """Return the matching answers, without answers that a person corrected or excluded."""
    # By their ids, so that the database counts in an index; a join would read all judgments.
    own = list(Judge.objects.filter(project=project).values_list("pk", flat=True))
    judgments = Judgment.objects.filter(judge__in=own)
    if selection.only is not None:
        return judgments.filter(
            pk=selection.only, status__in=[Status.DONE, Status.UNREADABLE, Status.EXCLUDED]
        )
    judgments = judgments.filter(is_corrected=False, status__in=[Status.DONE, Status.UNREADABLE])
    if selection.judge is not None:
        judgments = judgments.filter(judge=selection.judge)
    if selection.dimension is not None:
        judgments = judgments.filter(dimension__key=selection.dimension)
    if selection.which == AnswerSelection.UNREADABLE:
        return judgments.filter(status=Status.UNREADABLE)
    return _far(project, judgments) if selection.which == AnswerSelection.FAR else judgments


def _far(project: Project, judgments: QuerySet[Judgment]) -> QuerySet[Judgment]:
    """Return the judgments with a value far from people's mean at the end of the last round. Seven queries.

    Named categories have no mean, and a comparison of two outputs is no rating: none of them is far.
    """
    last = last_round(project)
    material = material_of(project, last, current_guideline(project), with_development=True)
    judges = Judge.objects.filter(project=project, scale_minimum__isnull=False)
    scales = {judge.pk: judge.own_scale for judge in judges}
    far = []
    for dimension in material.dimensions:
        if not dimension.is_named:
            means = _means(material, dimension.key)
            given = judgments.filter(dimension=dimension.id, other__isnull=True, status=Status.DONE)
            rows = given.values_list("pk", "item", "judge", "value").iterator(5000)
            far += [
                pk
                for pk, item, judge, value in rows
                if abs(_rescale(value or 0.0, scales.get(judge), dimension) - means.get(item, np.nan)) >= FAR
            ]
    return judgments.filter(pk__in=among(far))


def _rescale(value: float, scale: OwnScale | None, dimension: FrozenDimension) -> float:
    return float(map_values(value, scale, dimension)) if scale else value


def _means(material: Material, key: str) -> dict[int, float]:
    means = mean_of_samples(material.human(key).T)
    return dict(zip(material.items.tolist(), means.tolist(), strict=True))


def plan_of_asking(judgments: QuerySet[Judgment]) -> RunPlan:
    """Return the cost of requesting judgments again, without judgments of imported judges.

    Three queries, and one for each judge.
    """
    counts = dict(judgments.order_by().values_list("judge").annotate(Count("pk")))
    judges = Judge.with_candidates.filter(Q(pk__in=counts), endpoint__isnull=False).select_related("endpoint")
    found = list(judges.order_by("name"))
    used = mean_usage(Scope(found, []))
    plans = [
        replace(
            _asking_plan(each, judgments, counts[each.pk], used.get(each.pk)),
            prices=prices_of(each.endpoint, each.model) if each.endpoint else UNKNOWN_PRICES,
        )
        for each in found
    ]
    return RunPlan(plans, [])


def _asking_plan(judge: Judge, judgments: QuerySet[Judgment], count: int, usage: Usage | None) -> JudgePlan:
    """Return the plan for requesting a judge's answers again. Two queries more if a call gives several.

    A call that gives several covers all of its dimensions, even if only some are wanted.
    """
    if not judge.asks_several:
        return JudgePlan(judge, count, 0, 0, 0, usage)
    own = judgments.filter(judge=judge).order_by("pk")
    calls = len(group_by_call(own, {judge.pk}))
    size = sizes_of_calls(Judge.with_candidates.filter(pk=judge.pk))[judge.pk]
    return JudgePlan(judge, calls * size, 0, 0, 0, usage, shared_calls=calls, size=size)
