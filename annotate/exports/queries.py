from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils import timezone

from annotate.core.files import JobNotes
from annotate.core.jobs import WORKER_SHOULD_TAKE, is_silent
from annotate.core.models import Export, Project, Push
from annotate.exports.choice import LABELS, ExportChoice, Format
from annotate.exports.citation import Card
from annotate.exports.files import SUFFIXES
from annotate.exports.registry import ExportPart

FOLDER = "exports"  # of the files, and of the notes of workers


@dataclass(frozen=True)
class ExportState:
    export: Export
    rows: int
    waits_for_worker: bool
    is_silent: bool

    @property
    def label(self) -> str:
        return str(LABELS[Format(self.export.format)])

    @property
    def tables(self) -> list[tuple[str, int]]:
        return list(self.export.tables.items())

    @property
    def file_name(self) -> str:
        export = self.export
        made = f"{export.created_at:%Y-%m-%d-%H%M}"
        return f"{export.project.slug}-{made}-{export.format}{SUFFIXES[Format(export.format)]}"


def notes_of(export: Export) -> JobNotes:
    """Return the worker's notes to pages during its snapshot, which is read-only."""
    return JobNotes(FOLDER, export.pk)


def exports_of(project: Project) -> QuerySet[Export]:
    return Export.objects.filter(project=project).select_related("project", "created_by")


def pushes_of(export: Export) -> QuerySet[Push]:
    """Return the pushes of an export, done or pending, the newest first."""
    return Push.objects.filter(export=export).select_related("created_by")


def state_of(export: Export) -> ExportState:
    waiting = export.status == Export.Status.WAITING
    return ExportState(
        export=export,
        rows=notes_of(export).lines if export.is_under_way else sum(export.tables.values()),
        waits_for_worker=waiting and timezone.now() - export.touched_at > WORKER_SHOULD_TAKE,
        is_silent=export.status == Export.Status.WRITING and is_silent(export),
    )


def may_restart(export: Export) -> bool:
    """Return True if a worker may take it: it has none, or its worker has gone silent."""
    return export.status in (Export.Status.WAITING, Export.Status.STOPPED) or (
        export.status == Export.Status.WRITING and is_silent(export)
    )


def choice_of(export: Export) -> ExportChoice:
    parts = frozenset(ExportPart(each) for each in export.left_out)
    return ExportChoice(Format(export.format), parts, export.licence, Card.from_dict(export.card))
