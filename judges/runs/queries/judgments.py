"""Judgments: filters of them, what their replies say by the present rules, and their details."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

import numpy as np
from django.db.models import Count, Q, QuerySet, TextChoices
from django.utils.translation import gettext_lazy as _

from annotate.core import jobs
from annotate.core.guideline import FrozenDimension
from annotate.core.guidelines import current_guideline
from annotate.core.models import Dimension, Project
from annotate.core.rounds import last_round
from annotate.questions.scale import SCALE
from judges.core.judge_settings import SettingSection, names_of_settings
from judges.core.material import contents_of, rotate_sides
from judges.core.models import Judge, Judgment, Rereading
from judges.core.models.judges import ScoreFrom
from judges.core.values import map_values
from judges.endpoints.prices import prices_of
from judges.endpoints.work import UNKNOWN_PRICES
from judges.methods import METHODS
from judges.methods.base import Subject
from judges.methods.reading import Readable
from judges.results.queries.scores import material_of, mean_of_samples
from judges.runs.queries.calls import group_by_call
from judges.runs.queries.plans import JudgePlan, RunPlan, mean_usage
from judges.runs.queries.samples import among

Status = Judgment.Status
FAR = 2.0  # points of the scale
READ_AT_ONCE = 500
LONGEST = 60  # displayed characters of a reply
_REQUEST = list(names_of_settings(SettingSection.SAMPLING, SettingSection.READING, SettingSection.MORE))


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
            of_samples = mean_of_samples(material.human(dimension.key).T)
            means = dict(zip(material.items.tolist(), of_samples.tolist(), strict=True))
            given = judgments.filter(dimension=dimension.id, other__isnull=True, status=Status.DONE)
            rows = given.values_list("pk", "item", "judge", "value")
            for pk, item, judge, value in rows.iterator(5000):
                scale, value = scales.get(judge), value or 0.0
                mapped = float(map_values(value, scale, dimension)) if scale else value
                # A comparison with NaN is false: units without ratings are never far.
                if abs(mapped - means.get(item, np.nan)) >= FAR:
                    far.append(pk)
    return judgments.filter(pk__in=among(far))


def plan_of_asking(judgments: QuerySet[Judgment]) -> RunPlan:
    """Return the cost of requesting judgments again, without judgments of imported judges.

    Three queries, and one for each judge, or three if its calls give several.
    """
    counts = dict(judgments.order_by().values_list("judge").annotate(Count("pk")))
    judges = Judge.with_candidates.filter(Q(pk__in=counts), endpoint__isnull=False).select_related("endpoint")
    found = list(judges.order_by("name"))
    used = mean_usage(found)
    plans = []
    for judge in found:
        count, size = counts[judge.pk], 1
        calls: int | None = None
        if judge.asks_several:
            # A call is paid with all of its dimensions, also the ones that are not wanted.
            calls = len(group_by_call(judgments.filter(judge=judge).order_by("pk"), {judge.pk: judge}))
            scales = Dimension.objects.filter(project=judge.project_id, kind=SCALE.key)
            size = len(judge.asked_together) or scales.count()
            count = calls * size
        prices = prices_of(judge.endpoint, judge.model) if judge.endpoint else UNKNOWN_PRICES
        usage = used.get(judge.pk)
        plans.append(JudgePlan(judge, count, 0, 0, 0, usage, shared_calls=calls, size=size, prices=prices))
    return RunPlan(plans, [])


@dataclass(frozen=True)
class OtherReading:
    """A judgment whose reply has another reading by the present rules, and this reading."""

    judgment: Judgment
    status: Judgment.Status
    value: float | None
    rationale: str
    reason: str
    data: Mapping[str, Any] | None = None

    @property
    def changes_judgment(self) -> bool:
        """Return True if the reading changes."""
        before = self.judgment
        return (self.status, self.value, self.data) != (before.status, before.value, before.data)


def rereadings(judges: Sequence[Judge]) -> Iterator[OtherReading]:
    """Yield the changes from parsing the replies of judges again, in the order of the judgments.

    Excludes judgments that a person corrected, judges that read probabilities, and values from several
    replies.
    """
    for batch in rereadings_in_batches(judges):
        yield from batch


def rereadings_in_batches(judges: Sequence[Judge]) -> Iterator[list[OtherReading]]:
    """Yield the changes for every five hundred replies, even empty lists, so that the caller can report
    progress.
    """
    for judge in judges:
        if judge.score_from == ScoreFrom.TEXT and not judge.takes_steps:
            dimensions = {each.id: each for each in current_guideline(judge.project).dimensions}
            answered = Judgment.objects.filter(judge=judge, status__in=[Status.DONE, Status.UNREADABLE])
            # Retention removes replies, and an imported value may never have had one.
            stored = answered.filter(is_corrected=False).exclude(reply="").select_related("judge__project")
            replies = stored.order_by("pk").iterator(READ_AT_ONCE)
            while batch := list(islice(replies, READ_AT_ONCE)):
                contents = contents_of({each.item_id for each in batch}) if judge.asks_kinds else {}
                readings = [_read_anew(judge, each, dimensions, contents) for each in batch]
                yield [each for each in readings if each.changes_judgment]


def _read_anew(
    judge: Judge,
    judgment: Judgment,
    dimensions: Mapping[int, FrozenDimension],
    contents: Mapping[int, Subject],
) -> OtherReading:
    content = contents.get(judgment.item_id)
    # The list is empty if the dimension was the only one of its call.
    together = judgment.asked_dimensions or [judgment.dimension_id]
    reading = METHODS[judge.method].read_about(
        judgment.reply,
        judge.rescale(dimensions[judgment.dimension_id]),
        # A dimension of the call may no longer exist.
        [judge.rescale(dimensions[pk]) for pk in together if pk in dimensions],
        subject=content and rotate_sides(content, judgment.sample),
        pattern=judge.template.pattern if judge.template else "",
        structured=judge.structured,
    )
    if isinstance(reading, Readable):
        return OtherReading(judgment, Status.DONE, reading.value, reading.rationale, "", reading.data)
    return OtherReading(judgment, Status.UNREADABLE, None, "", reading.reason)


def as_row(found: OtherReading) -> dict[str, Any]:
    """Return the change, for lists and programs: judgment, value before and after, reply."""
    judgment, reply = found.judgment, " ".join(found.judgment.reply.split())
    return {
        "judgment": judgment.pk,
        "before": judgment.status if judgment.value is None else f"{judgment.value:g}",
        "after": str(found.status) if found.value is None else f"{found.value:g}",
        "reply": reply if len(reply) <= LONGEST else reply[: LONGEST - 1] + "…",
    }


def judges_of(rereading: Rereading) -> list[Judge]:
    """Return the judges of a rereading. One query."""
    judges = Judge.objects.filter(project=rereading.project_id).order_by("pk")
    return list(judges if rereading.judge_id is None else judges.filter(pk=rereading.judge_id))


def is_silent(rereading: Rereading) -> bool:
    """Return True if a rereading that needs a worker seems to have none."""
    return rereading.status in Rereading.UNDER_WAY and jobs.is_silent(rereading)


def parameters_of(judgment: Judgment) -> list[tuple[str, object]]:
    """Return the parameters of a judgment's call, as name and value, without the model.

    The judge's parameters if none were stored: it had no call, or its answer was imported.
    """
    if judgment.parameters:
        sent = {name: value for name, value in judgment.parameters.items() if name != "model"}
        return [(name.replace("_", " "), value) for name, value in sent.items()]
    judge = judgment.judge
    values = ((name.replace("_", " "), getattr(judge, name)) for name in _REQUEST)
    # 0 is a setting, while None, False and an empty string mean that the request has none.
    return [(name, value) for name, value in values if value or (value == 0 and value is not False)]


def names_asked_together(judgment: Judgment) -> list[str]:
    """Return the dimensions of its call in the prompt's order, empty if it was the only one. One query."""
    if len(judgment.asked_dimensions) < 2:
        return []
    names = dict(judgment.judge.project.dimensions.values_list("pk", "name"))
    return [names[pk] for pk in judgment.asked_dimensions if pk in names]
