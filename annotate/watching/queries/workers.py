"""Whether work waits for a worker."""

from datetime import timedelta
from functools import reduce
from operator import or_

from django.db.models import BooleanField, Exists, ExpressionWrapper, OuterRef, Q
from django.utils import timezone

from annotate.core.models import DataImport, Export
from annotate.material.queries.imports import SILENT_FOR, WORKER_SHOULD_TAKE
from annotate.watching.registry import WATCHED


def work_waits() -> "ExpressionWrapper[Q]":
    """Return whether the project of a row (its `project`) has work that no worker takes, as an expression."""
    others = (watched.work_waits() for watched in WATCHED.values())
    waiting: list[Exists] = [_imports_wait(), _exports_wait(), *others]
    return ExpressionWrapper(reduce(or_, waiting, Q()), output_field=BooleanField())


def _imports_wait() -> Exists:
    now = timezone.now()
    silent = reduce(
        or_, (Q(status=status, touched_at__lt=now - _patience(status)) for status in SILENT_FOR), Q()
    )
    return Exists(DataImport.objects.filter(silent, project=OuterRef("project")))


def _exports_wait() -> Exists:
    should_be_taken = timezone.now() - WORKER_SHOULD_TAKE
    waiting = Export.objects.filter(status=Export.Status.WAITING, touched_at__lt=should_be_taken)
    return Exists(waiting.filter(project=OuterRef("project")))


def _patience(status: str) -> timedelta:
    return max(SILENT_FOR[DataImport.Status(status)], WORKER_SHOULD_TAKE)
