"""The only check that a configuration frozen by a round does not change."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from django.db.models import Exists, OuterRef
from django.utils.translation import gettext

from annotate.core.errors import FrozenError, NotReadyError
from annotate.core.models import DataImport, Project, Round
from annotate.core.projects import is_frozen

_HOLDS: ContextVar[bool] = ContextVar("holds", default=False)


class ProjectHeldError(NotReadyError):
    """A long write into the project has committed some steps and not the last one."""

    def __init__(self) -> None:
        super().__init__(
            gettext("An import or a round of this project is being written. Try again in a moment.")
        )


def lock_project(project: Project, *, held_by: DataImport | None = None) -> Project:
    """Lock the project's row until the transaction ends, and return its current state.

    Raises ProjectHeldError while another import, or a round, is written step by step. held_by: the caller's
    import.
    """
    imports = DataImport.objects.filter(project=OuterRef("pk")).exclude(written="")
    if held_by:
        imports = imports.exclude(pk=held_by.pk)
    rounds = Round.objects.filter(project=OuterRef("pk"), is_unfinished=True)
    found = Project.objects.select_for_update().annotate(held=Exists(imports) | Exists(rounds))
    locked = found.get(pk=project.pk)
    if locked.held and not _HOLDS.get():
        raise ProjectHeldError
    return locked


@contextmanager
def holding_project() -> Iterator[None]:
    token = _HOLDS.set(True)
    try:
        yield
    finally:
        _HOLDS.reset(token)


def refuse_frozen(project: Project) -> None:
    """Raise FrozenError if a round was ever opened."""
    if is_frozen(project):
        raise FrozenError(gettext("Round I was opened, and froze this. It can no longer be changed."))


def lock_configurable(project: Project) -> Project:
    """Lock the project's row and return it. Raises FrozenError if a round was ever opened.

    Opening a round locks the same row, so nothing changes between the check and the write.
    """
    locked = lock_project(project)
    refuse_frozen(locked)
    return locked
