"""The disk space of a project: pending uploads and stored exports."""

from django.conf import settings
from django.db.models import Sum
from django.utils.translation import gettext

from annotate.core.errors import NotReadyError
from annotate.core.models import DataImport, Export, Project

MIB = 1024**2


def bytes_kept(project: Project) -> int:
    """Return the size of a project's files in bytes. Two queries."""
    uploads = DataImport.objects.filter(project=project).exclude(file="")
    exports = Export.objects.filter(project=project).exclude(file="")
    return sum(files.aggregate(all=Sum("size"))["all"] or 0 for files in (uploads, exports))


def refuse_over_quota(project: Project, *, more: int = 0) -> None:
    """Raise NotReadyError if a project's files, with `more` bytes, exceed its quota."""
    if bytes_kept(project) + more > settings.PROJECT_BYTES:
        raise NotReadyError(
            gettext(
                "The files of this project would take more than {limit:,} MiB. Delete exports or discard "
                "imports first, or ask the operator for more room."
            ).format(limit=settings.PROJECT_BYTES // MIB)
        )
