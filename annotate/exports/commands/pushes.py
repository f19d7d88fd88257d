"""Pushing a data set to the Hub: an admin requests it, a worker does it, any number of times."""

from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir
from zipfile import ZipFile

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import NotReadyError
from annotate.core.jobs import JobKind, TakenOverError, is_silent, own_row, wake_worker
from annotate.core.models import Export, Push, User
from annotate.exports.choice import Format
from annotate.exports.hub import push_folder, refuse_repository

Status = Push.Status


@transaction.atomic
def start_push(*, export: Export, repository: str, private: bool, by: User) -> Push:
    """Start a push of an export, again or for the first time; a worker does it.

    Locks the export. Raises NotReadyError unless it is a data set that is ready, and during another push;
    InvalidValueError for an invalid repository name.
    """
    refuse_repository(repository)
    export = Export.objects.select_for_update(of=("self",)).select_related("project").get(pk=export.pk)
    if export.format != Format.HUGGING_FACE or export.status != Export.Status.READY:
        raise NotReadyError(gettext("Only a Hugging Face data set that is ready can be pushed."))
    push, is_new = Push.objects.get_or_create(
        export=export, repository=repository, defaults={"private": private, "created_by": by}
    )
    if not is_new:
        if push.status == Status.PUSHING and not is_silent(push):
            raise NotReadyError(gettext("A worker is already pushing this export."))
        push.status, push.message, push.lease = Status.WAITING, "", None
        push.private, push.created_by = private, by
        push.sent, push.attempts, push.touched_at = 0, 0, timezone.now()
        push.save()
    facts = {"repository": repository, "private": private, "content_hash": export.content_hash}
    record(export.project, "export.pushed", export, after=facts, by=by)
    wake_worker(PUSH_JOB, push.pk)
    return push


def _push(push: Push) -> None:
    def on_progress(sent: int, size: int) -> None:
        if not own_row(push).update(sent=sent, size=size, touched_at=timezone.now()):
            raise TakenOverError

    unpacked = _folder_of(push)
    unpacked.mkdir(mode=0o700)
    try:
        with push.export.file.open("rb") as file, ZipFile(file) as archive:
            archive.extractall(unpacked)
        (folder,) = unpacked.iterdir()
        slug = push.export.project.slug
        url = push_folder(
            folder, push.repository, project=slug, private=push.private, on_progress=on_progress
        )
    finally:
        rmtree(unpacked, ignore_errors=True)
    own_row(push).update(status=Status.PUSHED, url=url, lease=None, touched_at=timezone.now())


def _folder_of(push: Push) -> Path:
    """Return the folder in which the worker with this lease unpacks the export.

    The next worker removes its remains.
    """
    return Path(gettempdir(), f"concord-push-{push.lease}")


PUSH_JOB = JobKind(
    "push",
    Push,
    _push,
    does="pushes a data set to the Hub",
    statuses={Status.WAITING: Status.PUSHING},
    reason="message",
    related=("export__project",),
    prepare=lambda push: rmtree(_folder_of(push), ignore_errors=True),
)
