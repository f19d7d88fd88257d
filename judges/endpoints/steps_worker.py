"""Evaluation steps as a job: asked for on a prompt's page, written by a worker, dimension by dimension."""

from functools import partial

from django.db import transaction
from django.db.models import F, QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.configuration import lock_project
from annotate.core.errors import DomainError, InvalidValueError
from annotate.core.jobs import MESSAGE_LOST_AFTER, TakenOverError, due_jobs, own_row, work_on
from annotate.core.models import User
from judges.core.models import Judge, PromptTemplate, StepsWriting
from judges.endpoints.evaluation_steps import WrittenSteps, write_steps
from judges.methods.evaluation_steps import has_steps

Status = StepsWriting.Status


def due_steps_writings() -> QuerySet[StepsWriting]:
    """Return those that wait, and those whose worker died."""
    return due_jobs(StepsWriting.objects.all(), waiting=[Status.WAITING], running=[Status.ASKING])


def latest_steps_writing(template: PromptTemplate) -> StepsWriting | None:
    """Return what was asked for last for a prompt, whatever the version. One query."""
    same = StepsWriting.objects.filter(
        template__project=template.project_id, template__name=template.name
    ).select_related("template", "judge")
    return same.order_by("-pk").first()


@transaction.atomic
def start_steps_writing(*, template: PromptTemplate, judge: Judge, by: User | None) -> StepsWriting:
    """Have a worker ask a judge's model for the steps of each dimension without a wording of its own.

    One that is under way for this prompt is returned as it is. Locks the project. Raises InvalidValueError
    where the prompt has no steps, or the judge asks nobody.
    """
    lock_project(template.project)
    latest = latest_steps_writing(template)
    if latest and latest.status in StepsWriting.UNDER_WAY:
        return latest
    if not has_steps(template.text):
        raise InvalidValueError(
            gettext("The prompt has no numbered steps behind a line “Evaluation steps:”.")
        )
    if judge.endpoint_id is None:
        raise InvalidValueError(gettext("{name} was imported and asks nobody.").format(name=judge.name))
    # Workers look for what waits by themselves, at once where no message is thought to be on its way.
    due = timezone.now() - MESSAGE_LOST_AFTER
    return StepsWriting.objects.create(template=template, judge=judge, created_by=by, touched_at=due)


def run_steps_writing(*, writing: int) -> None:
    """Ask for what a job waits for, or what a worker died at; one that another has is left alone.

    No transaction is open during a call. Steps that came are a wording of the prompt already, so a worker
    that is killed loses the call that was in flight, and nothing else.
    """
    related = ("template__project", "judge__endpoint", "created_by")
    found = StepsWriting.objects.select_related(*related).filter(pk=writing).first()
    if found is not None:
        work = partial(_write_all, found)
        work_on(found, waiting=Status.WAITING, running=Status.ASKING, work=work)


def _write_all(writing: StepsWriting) -> str:
    """Ask dimension by dimension; return why some have no steps, or nothing."""
    problems = []
    try:
        for written in write_steps(template=writing.template, judge=writing.judge, by=writing.created_by):
            _note(writing, written)
            if written.problem:
                problems.append(f"{written.dimension}: {written.problem}")
    except DomainError as error:
        return error.message
    return " ".join(problems)


def _note(writing: StepsWriting, written: WrittenSteps) -> None:
    """Note which version has the steps, and what a call cost; raises TakenOverError."""
    spent = None if written.cost is None and not written.problem else F("spent") + (written.cost or 0)
    if not own_row(writing).update(template=written.template, spent=spent):
        raise TakenOverError
