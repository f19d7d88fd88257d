"""Undoing a whole import, as long as nothing depends on its rows."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import NotReadyError
from annotate.core.models import Assignment, DataImport, User
from annotate.core.models.imports import MATERIAL
from annotate.material.commands.uploads import forget_files
from annotate.material.queries.catalogue import BATCH
from annotate.material.queries.undo import documents_of, explain_no_undo, items_of, unused_systems_of

Status = DataImport.Status


@transaction.atomic
def undo_import(*, data_import: DataImport, by: User | None) -> DataImport:
    """Delete the documents, items and systems that an import created. An undone import is returned unchanged.

    Free assignments of its items are deleted too; a system remains while other items use it. Locks the
    project, as importing and planning a run do, the import, then its items' assignments, so that none is
    started in the meantime. Raises NotReadyError.
    """
    lock_project(data_import.project)
    locked = DataImport.objects.select_for_update().get(pk=data_import.pk)
    if locked.status == Status.UNDONE:
        return locked
    if locked.status != Status.IMPORTED or locked.kind != MATERIAL:
        raise NotReadyError(gettext("You can undo only a completed import of documents and items."))
    items = items_of(locked)
    assignments = Assignment.objects.filter(item__in=items).order_by("pk")
    locked_assignments = list(assignments.select_for_update().values_list("pk", flat=True))
    if reason := explain_no_undo(locked):
        raise NotReadyError(reason)
    for start in range(0, len(locked_assignments), BATCH):
        Assignment.objects.filter(pk__in=locked_assignments[start : start + BATCH]).delete()
    # Directly in the tables: nothing refers to these rows, and Django's collector would load every output.
    items._raw_delete(items.db)
    documents_of(locked)._raw_delete(items.db)
    unused_systems_of(locked).delete()
    locked.status, locked.undone_at, locked.undone_by = Status.UNDONE, timezone.now(), by
    locked.save(update_fields=["status", "undone_at", "undone_by"])
    record(locked.project, "import.undone", locked, before=(locked.report or {}).get("made"), by=by)
    transaction.on_commit(lambda: forget_files(locked))
    return locked
