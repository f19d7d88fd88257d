"""Previews of uploads: requested on arrival of a file, computed once by a worker, and stored for every
page.
"""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.errors import NotReadyError
from annotate.core.files import local_path
from annotate.core.jobs import JobKind, own_row, wake_worker
from annotate.core.models import DataImport, UploadPreview
from annotate.material.reading.opening import GONE, read_opening

Status = UploadPreview.Status


@transaction.atomic
def ask_for_preview(*, data_import: DataImport, again: bool = False) -> UploadPreview:
    """Return an upload's preview, which a worker computes.

    A preview of another part of the file is replaced. again: a preview that stopped is replaced too.
    """
    part = data_import.part
    preview, is_new = UploadPreview.objects.get_or_create(data_import=data_import, defaults={"part": part})
    if preview.fits(data_import, again=again):
        if is_new:
            wake_worker(PREVIEW_JOB, preview.pk)
        return preview
    preview.part, preview.status, preview.content, preview.reason = part, Status.WAITING, "", ""
    preview.lease, preview.attempts, preview.touched_at = None, 0, timezone.now()
    preview.save()
    wake_worker(PREVIEW_JOB, preview.pk)
    return preview


def _read(preview: UploadPreview) -> None:
    upload = preview.data_import
    try:
        path = local_path(upload.file)
    except FileNotFoundError as error:
        raise NotReadyError(gettext(GONE)) from error
    content = read_opening(path, upload.name, preview.part)
    own_row(preview).update(status=Status.READY, content=content, lease=None, touched_at=timezone.now())


PREVIEW_JOB = JobKind(
    "preview",
    UploadPreview,
    _read,
    does="reads the beginning of an uploaded file",
    statuses={Status.WAITING: Status.READING},
    related=("data_import",),
)
