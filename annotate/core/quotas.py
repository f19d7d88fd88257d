"""How much of the installation's disk a project takes: uploads that wait and exports that are kept."""

from django.conf import settings
from django.db.models import Sum
from django.utils.translation import gettext

from annotate.core.errors import NotReadyError
from annotate.core.models import DataImport, Export, Project

MIB = 1024**2


def bytes_kept(project: Project) -> int:
    """Return how many bytes of files a project has. Two queries."""
    uploads = DataImport.objects.filter(project=project).exclude(file="")
    exports = Export.objects.filter(project=project).exclude(file="")
    return sum(files.aggregate(all=Sum("size"))["all"] or 0 for files in (uploads, exports))


def refuse_over_quota(project: Project, *, more: int = 0) -> None:
    """Raise NotReadyError where a project's files, with `more` bytes, take more than it may have."""
    if bytes_kept(project) + more > settings.PROJECT_BYTES:
        raise NotReadyError(
            gettext(
                "The files of this project would take more than {limit:,} MiB. Delete exports or discard "
                "imports first, or ask the operator for more room."
            ).format(limit=settings.PROJECT_BYTES // MIB)
        )
