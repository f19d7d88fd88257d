"""Repeated calls of answered judgments: one from its page, or all that match a filter."""

from django.db import transaction
from django.db.models import QuerySet
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from annotate.core.audit import record
from annotate.core.guideline import FrozenGuideline
from annotate.core.models import Project, User
from annotate.rating.commands.rounds import freeze_guideline
from judges.core.errors import JudgmentStandsError, RunRefusedError
from judges.core.models import Judge, Judgment, Run
from judges.endpoints.archiving import refuse_archived
from judges.endpoints.queries import refusal
from judges.runs.commands.corrections import ANSWERED
from judges.runs.commands.earlier_answers import AT_ONCE, EMPTY, keep_answers
from judges.runs.commands.runs import start_run

NOTHING_LEFT = _("There is no answer to request again; a request may already be pending.")


def ask_again(*, project: Project, judgments: QuerySet[Judgment], by: User | None) -> Run:
    """Request judgments again in a separate run; their earlier answers stay in the history.

    In transactions of five hundred, each of which locks its judgments. The run starts when it has all of
    them: a crash leaves a planned run, to start or cancel. Judgments with a pending answer are skipped, so
    that no call repeats. Messages are stored if an earlier run stored them. Raises JudgmentStandsError if no
    judgment remains, and RunRefusedError.
    """
    answered = judgments.filter(judge__project=project, status__in=ANSWERED).order_by("pk")
    run = _make_run(project, answered, by)
    count = last = 0
    while moved := _move_to(run, answered.filter(pk__gt=last)[:AT_ONCE], by):
        count, last = count + len(moved), moved[-1]
    with transaction.atomic():
        if not count:  # somebody was quicker
            run.delete()
        else:
            record(project, "judgments.asked_again", run, after={"judgments": count}, by=by)
            return start_run(run=run)
    raise JudgmentStandsError(str(NOTHING_LEFT))


@transaction.atomic
def _make_run(project: Project, answered: QuerySet[Judgment], by: User | None) -> Run:
    """Plan a run for judgments without adding them yet. Locks the project."""
    project = Project.objects.select_for_update().get(pk=project.pk)
    if not answered.exists():
        raise JudgmentStandsError(str(NOTHING_LEFT))
    guideline = freeze_guideline(project)
    _refuse_unsuitable(answered, FrozenGuideline.from_json(guideline.content))
    keeps = answered.filter(run__keeps_messages=True).exists()
    return Run.objects.create(project=project, guideline=guideline, created_by=by, keeps_messages=keeps)


@transaction.atomic
def _move_to(run: Run, answered: QuerySet[Judgment], by: User | None) -> list[int]:
    found = list(answered.select_for_update(of=("self",)))
    keys = [each.pk for each in found]
    keep_answers(found, by=by)
    Judgment.objects.filter(pk__in=keys).update(run=run, status=Judgment.Status.PLANNED, **EMPTY)
    return keys


def refuse_other_count(found: int, shown: int | None) -> None:
    """Raise JudgmentStandsError unless the number of judgments equals `shown`; None: no number to compare."""
    if shown is not None and shown != found:
        raise JudgmentStandsError(
            gettext("There were {shown} judgments, and there are {found} now. Look at them again.").format(
                shown=shown, found=found
            )
        )


def _refuse_unsuitable(judgments: QuerySet[Judgment], guideline: FrozenGuideline) -> None:
    dimensions = {dimension.id: dimension for dimension in guideline.dimensions}
    asked = set(judgments.order_by().values_list("judge", "dimension").distinct())
    judges = Judge.with_candidates.select_related("endpoint").in_bulk({pk for pk, key in asked})
    for judge, key in ((judges[pk], key) for pk, key in asked):
        if archived := refuse_archived(judge):
            raise RunRefusedError(archived)
        if judge.endpoint_id is None:
            raise RunRefusedError(
                gettext("{name} is imported and has no endpoint to call.").format(name=judge.name)
            )
        if reason := refusal(judge, dimensions[key]):
            raise RunRefusedError(reason)
