"""The one check that what a round froze is not changed afterwards."""

from django.utils.translation import gettext

from annotate.core.errors import FrozenError
from annotate.core.models import Project
from annotate.core.projects import is_frozen


def lock_project(project: Project) -> Project:
    """Lock the project's row until the transaction ends, and return it as it is now."""
    return Project.objects.select_for_update().get(pk=project.pk)


def refuse_frozen(project: Project) -> None:
    """Raise FrozenError once a round was opened."""
    if is_frozen(project):
        raise FrozenError(gettext("Round I was opened, and froze this. It can no longer be changed."))


def lock_configurable(project: Project) -> Project:
    """Lock the project's row and return it; raises FrozenError once a round was opened.

    Opening a round locks the same row, so nothing changes between the check and the write.
    """
    locked = lock_project(project)
    refuse_frozen(locked)
    return locked
