"""Judges made, and changed until they have judgments."""

from typing import Any

from django.db import transaction
from django.utils.translation import gettext

from annotate.commands.audit import facts, record
from annotate.commands.configuration import lock_project
from annotate.errors import InvalidValueError
from annotate.models import Project, User
from judges.commands.templates import shipped_template
from judges.errors import UsedError
from judges.methods import METHODS
from judges.models import Judge, ScoreFrom
from judges.specification import JudgeSpec


@transaction.atomic
def add_judge(*, project: Project, judge: JudgeSpec, by: User | None) -> Judge:
    """Make a judge. Locks the project. Raises InvalidValueError."""
    lock_project(project)
    _refuse(project, judge)
    made = Judge.objects.create(project=project, **_values(project, judge, by))
    record(project, "judge.added", made, after=facts(made, _RECORDED), by=by)
    return made


@transaction.atomic
def update_judge(*, judge: Judge, to: JudgeSpec, by: User | None) -> Judge:
    """Make a judge that has no judgments what is given. Locks the project, which planning a run does too.

    Raises InvalidValueError, and UsedError once judgments of it were planned.
    """
    project = lock_project(judge.project)
    judge = Judge.objects.select_for_update().get(pk=judge.pk)
    if judge.judgments.exists():
        raise UsedError(
            gettext("{name} has judgments, so it stays as it is; make a new judge.").format(name=judge.name)
        )
    _refuse(project, to, besides=judge)
    values = _values(project, to, by)
    before = facts(judge, _RECORDED)
    for field, value in values.items():
        setattr(judge, field, value)
    judge.save(update_fields=list(values))
    record(project, "judge.changed", judge, before=before, after=facts(judge, _RECORDED), by=by)
    return judge


_RECORDED = ["name", "endpoint", "model", "method", "template", "temperature", "samples", "max_tokens"]
_RECORDED += ["score_from", "structured"]


def _values(project: Project, judge: JudgeSpec, by: User | None) -> dict[str, Any]:
    template = judge.template
    if isinstance(template, str):
        template = shipped_template(project=project, method=template, by=by)
    return {
        "name": judge.name,
        "endpoint": judge.endpoint,
        "model": judge.model,
        "method": template.method,
        "template": template,
        "temperature": judge.temperature,
        "samples": judge.samples,
        "max_tokens": judge.max_tokens or METHODS[template.method].max_tokens,
        "score_from": judge.score_from,
        "structured": judge.structured,
    }


def _refuse(project: Project, judge: JudgeSpec, *, besides: Judge | None = None) -> None:
    others = Judge.objects.filter(project=project).exclude(pk=besides.pk if besides else 0)
    if others.filter(name=judge.name).exists():
        raise _invalid("name", f"The project has a judge {judge.name} already; choose another name.")
    if judge.endpoint.project_id != project.pk:
        raise _invalid("endpoint", "This endpoint belongs to another project.")
    if not isinstance(judge.template, str) and judge.template.project_id != project.pk:
        raise _invalid("template", "This prompt belongs to another project.")
    if judge.structured and judge.score_from == ScoreFrom.PROBABILITIES:
        raise _invalid("structured", "Probabilities are read in plain replies; choose one of both.")


def _invalid(field: str, message: str) -> InvalidValueError:
    return InvalidValueError(message, fields={field: message})
