"""Holding a project while an upload is written in steps, and removing an unfinished upload."""

from collections.abc import Callable, Sequence
from time import monotonic, sleep
from typing import TypeVar

from django.utils import timezone

from annotate.core.configuration import ProjectHeldError, lock_project
from annotate.core.database import step, write_in_steps, writes_in_steps
from annotate.core.jobs import TakenOverError, own_row
from annotate.core.models import (
    Assignment,
    DataImport,
    Document,
    Item,
    ItemPart,
    ItemTag,
    Project,
    Round,
    System,
)
from annotate.material.reading.report import FileReport
from annotate.rating.commands.rounds import finish_round

T = TypeVar("T")
Written = DataImport.Written
LOOK_SECONDS, PATIENCE = 0.25, 1.0


def hold_project(data_import: DataImport, checked: FileReport) -> Project:
    """Lock the project. If the upload is written in steps, hold the project from now on.

    Raises ProjectHeldError, TakenOverError.
    """
    in_steps = writes_in_steps()

    def note(project: Project) -> Project:
        if in_steps and data_import.written == Written.NOTHING:
            note_written(data_import, Written.ITEMS, report=checked.to_json())
        return project

    return write_when_free(data_import.project, note, held_by=data_import)


def wait_for_project(project: Project, *, held_by: DataImport | None = None) -> None:
    """Finish the project's rounds, and block until running imports release it. Raises ProjectHeldError."""
    begun = monotonic()
    # A long write in one transaction blocks on the lock of the project's row instead.
    while writes_in_steps():
        # A crash can leave a round half opened or closed, and no import may write into it.
        for round in Round.objects.filter(project=project, is_unfinished=True):
            finish_round(round=round)
        imports = DataImport.objects.filter(project=project).exclude(written=Written.NOTHING)
        others = [each for each in imports if each != held_by]
        if not others:
            return
        # A stopped import holds the project until somebody starts it again.
        if monotonic() - begun > PATIENCE and not any(each.is_under_way for each in others):
            raise ProjectHeldError
        sleep(LOOK_SECONDS)


def write_when_free(
    project: Project, write: Callable[[Project], T], *, held_by: DataImport | None = None
) -> T:
    """Write in one transaction that locks the project, after the long writes into it are finished.

    write: gets the locked project. held_by: the caller's import. Raises ProjectHeldError as
    `wait_for_project`.
    """
    while True:
        wait_for_project(project, held_by=held_by)
        try:
            with step():
                return write(lock_project(project, held_by=held_by))
        # Another import may take the project between waiting and locking; the loop then waits again.
        except ProjectHeldError:
            # Inside a transaction the other import cannot continue, so waiting would never end.
            if not writes_in_steps():
                raise


def keep_lease(data_import: DataImport) -> None:
    """Renew the lease within a step. Raises TakenOverError if another worker has it."""
    # Without a lease no worker runs it, and the caller has locked its row.
    if data_import.lease and not own_row(data_import).update(touched_at=timezone.now()):
        raise TakenOverError


def note_written(data_import: DataImport, written: str, **noted: object) -> None:
    """Record within a step how much of an upload is written. Raises as `keep_lease`."""
    if data_import.lease and not own_row(data_import).update(written=written, **noted):
        raise TakenOverError
    data_import.written = written
    for name, value in noted.items():
        setattr(data_import, name, value)


def delete_items(keys: Sequence[int]) -> None:
    """Delete items with their assignments, parts and tags; nothing else may refer to the items."""
    for model in (Assignment, ItemPart, ItemTag):
        model._default_manager.filter(item__in=keys).delete()
    rows = Item.objects.filter(pk__in=keys)
    # Django's collector would load every output to look for rows that refer to it.
    rows._raw_delete(rows.db)


def remove_written(data_import: DataImport) -> None:
    """Remove the items of an unfinished upload in steps, and release the project."""

    def remove(model: type[Document | Item | System]) -> None:
        own = model._default_manager.filter(brought_by=data_import)

        def write(keys: Sequence[int]) -> None:
            keep_lease(data_import)
            if model is Item:
                delete_items(keys)
            else:
                # Only items of this upload refer to its new documents and systems, and these are deleted.
                rows = own.filter(pk__in=keys)
                rows._raw_delete(rows.db)

        write_in_steps(list(own.values_list("pk", flat=True)), write)

    # Items first, because they refer to documents and systems.
    for model in (Item, Document, System):
        remove(model)
    with step():
        note_written(data_import, Written.NOTHING, report=None)
