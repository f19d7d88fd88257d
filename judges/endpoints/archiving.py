"""Archiving of judges and endpoints with all their data, and deletion of unused ones."""

from collections.abc import Sequence

from django.db import models, transaction
from django.db.models import Q
from django.db.models.fields.reverse_related import ForeignObjectRel
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.models import User
from judges.core.errors import InUseError
from judges.core.models import (
    Endpoint,
    EndpointKey,
    Judge,
    Judgment,
    LeaseHolder,
    ModelPace,
    ModelPrice,
    Panel,
    Run,
)

# What belongs to a judge or an endpoint, and is deleted with it.
OWN = (Panel, EndpointKey, ModelPrice, ModelPace, LeaseHolder)
Archived = Judge | Endpoint


@transaction.atomic
def archive(*, kept: Archived, by: User | None) -> None:
    """Archive a judge or an endpoint: it is no longer offered or called, and its data stays.

    Locks the project, so that no run is planned, and its runs, so that none is started. Raises InUseError
    while a run calls it.
    """
    lock_project(kept.project)
    runs = Run.objects.filter(project=kept.project_id).exclude(status__in=Run.OVER)
    # Evaluated for its locks, in the order of ids, as the sweeper locks runs.
    list(runs.order_by("pk").select_for_update().values_list("pk"))
    if run := _run_that_asks(kept):
        message = gettext("Run {run} still calls {name}. Finish or cancel it first.")
        raise InUseError(message.format(run=run.pk, name=kept.name))
    if kept.archived_at is None:
        kept.archived_at = timezone.now()
        kept.save(update_fields=["archived_at"])
        record(kept.project, f"{kind_of_archived(kept)}.archived", kept, by=by)


@transaction.atomic
def unarchive(*, kept: Archived, by: User | None) -> None:
    """Offer an archived judge or endpoint again. Locks the project."""
    lock_project(kept.project)
    if kept.archived_at is not None:
        kept.archived_at = None
        kept.save(update_fields=["archived_at"])
        record(kept.project, f"{kind_of_archived(kept)}.unarchived", kept, by=by)


@transaction.atomic
def delete_unused(*, unused: Archived, by: User | None) -> None:
    """Delete a judge or an endpoint without references. Locks the project. Raises InUseError."""
    lock_project(unused.project)
    computed = isinstance(unused, Judge) and Panel.objects.filter(judge=unused.pk).exists()
    if computed:  # its replies come from its members, unless a person corrected them
        Judgment.objects.filter(judge=unused.pk, is_corrected=False).delete()
    # After the deletion above, so that only other references count.
    if user := user_of(unused):
        message = gettext("{name} is in use: there are {things} with it. Archive it instead.")
        raise InUseError(message.format(name=unused.name, things=user))
    record(unused.project, f"{kind_of_archived(unused)}.deleted", unused, by=by)
    unused.delete()


def refuse_archived(judge: Judge) -> str:
    """Return the reason why a judge cannot be called; empty if it can. Reads its endpoint."""
    if judge.archived_at is not None:
        return gettext("{name} is archived. Unarchive it first.").format(name=judge.name)
    if judge.endpoint is not None and judge.endpoint.archived_at is not None:
        return gettext("{name} calls {endpoint}, which is archived. Unarchive the endpoint first.").format(
            name=judge.name, endpoint=judge.endpoint.name
        )
    return ""


def kind_of_archived(kept: Archived) -> str:
    return "judge" if isinstance(kept, Judge) else "endpoint"


def _run_that_asks(kept: Archived) -> Run | None:
    """Return a run that has calls left for it, or would resume automatically."""
    by_it = {"judge": kept.pk} if isinstance(kept, Judge) else {"judge__endpoint": kept.pk}
    left = Judgment.objects.filter(**by_it, status__in=(Judgment.Status.PLANNED, Judgment.Status.LEASED))
    # A stopped run that may still resume would call an archived judge by itself.
    going = Q(status=Run.Status.RUNNING) | Q(resumes_until__gt=timezone.now())
    runs = Run.objects.filter(going, project=kept.project_id, pk__in=left.values("run"))
    return runs.order_by("pk").first()


def user_of(unused: Archived, besides: Sequence[type[models.Model]] = ()) -> str:
    """Return the plural name of an object that refers to a judge or an endpoint; empty if there is none."""
    # Hidden ones too, whose related_name is "+": some of these cascade.
    for relation in unused._meta.get_fields(include_hidden=True):
        if not isinstance(relation, ForeignObjectRel):
            continue
        model = relation.related_model
        # Rows that belong to it are deleted with it, and do not count as a use.
        if not isinstance(model, type) or model in (*OWN, *besides):
            continue
        # By the base manager, since default managers hide candidates and copies.
        if model._base_manager.filter(**{relation.field.name: unused}).exists():
            return str(model._meta.verbose_name_plural)
    return ""
