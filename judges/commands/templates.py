"""Prompt templates written, changed, and taken from their methods.

A version that a judgment was asked with stays as it is: changing it makes the next version.
"""

from django.db import transaction
from django.db.models import Max

from annotate.commands.audit import record
from annotate.commands.configuration import lock_project
from annotate.errors import InvalidValueError
from annotate.models import Project, User
from judges.methods import METHODS
from judges.models import Judgment, PromptTemplate, Run
from judges.queries.prompts import was_asked


def refuse_text(method: str, text: str) -> None:
    """Raise InvalidValueError for a placeholder that the method does not know, or needs and does not find."""
    try:
        METHODS[method].check(text)
    except ValueError as error:
        raise InvalidValueError(str(error), fields={"text": str(error)}) from None


@transaction.atomic
def create_template(
    *, project: Project, method: str, name: str, text: str, by: User | None
) -> PromptTemplate:
    """Write version 1 of a template. Locks the project. Raises InvalidValueError."""
    lock_project(project)
    refuse_text(method, text)
    if PromptTemplate.objects.filter(project=project, name=name).exists():
        message = f"The project has a prompt {name} already; choose another name, or open it and change it."
        raise InvalidValueError(message, fields={"name": message})
    return _write(project, method, name, text, by)


@transaction.atomic
def edit_template(*, template: PromptTemplate, text: str, by: User | None) -> PromptTemplate:
    """Change a version in place while nothing was asked with it, else write the next one; return the result.

    Locks the project, so that no run is planned meanwhile, then the runs that wait for this version, so that
    no worker begins to ask with it between the check and the write. Raises InvalidValueError.
    """
    lock_project(template.project)
    refuse_text(template.method, text)
    judgments = Judgment.objects.filter(judge__template=template)
    runs = Run.objects.filter(pk__in=judgments.values("run")).order_by("pk")
    list(runs.select_for_update().values_list("pk"))
    template = PromptTemplate.objects.select_for_update().get(pk=template.pk)
    if template.text == text:
        return template
    if was_asked(template):
        return _write(template.project, template.method, template.name, text, by)
    record(
        template.project,
        "prompt.changed",
        template,
        before={"text": template.text},
        after={"text": text},
        by=by,
    )
    template.text = text
    template.save(update_fields=["text"])
    return template


@transaction.atomic
def shipped_template(*, project: Project, method: str, by: User | None) -> PromptTemplate:
    """Return the project's version of a method's own text; write it if there is none. Locks the project."""
    lock_project(project)
    text = METHODS[method].default_template
    same = PromptTemplate.objects.filter(project=project, method=method, text=text)
    return same.order_by("pk").first() or _write(project, method, METHODS[method].label, text, by)


def _write(project: Project, method: str, name: str, text: str, by: User | None) -> PromptTemplate:
    versions = PromptTemplate.objects.filter(project=project, name=name)
    last = versions.aggregate(last=Max("version"))["last"] or 0
    made = PromptTemplate.objects.create(
        project=project, method=method, name=name, version=last + 1, text=text, created_by=by
    )
    record(project, "prompt.added", made, after={"method": method, "text": text}, by=by)
    return made
