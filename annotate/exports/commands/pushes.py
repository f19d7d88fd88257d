"""Pushing a data set to the Hub: asked for by an admin, done by a worker, as often as one likes."""

from datetime import timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from uuid import UUID, uuid4
from zipfile import ZipFile

from django.db import transaction
from django.db.models import QuerySet
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import DomainError, NotReadyError
from annotate.core.models import Export, Push, User
from annotate.exports.choice import Format
from annotate.exports.hub import HubError, push_folder, refuse_repository

Status = Push.Status
SILENT_FOR = timedelta(minutes=15)  # a file of a million rows is sent without a word


class _TakenOverError(DomainError):
    """Another worker was sent to the push, or its export was deleted."""


@transaction.atomic
def start_push(*, export: Export, repository: str, private: bool, by: User) -> Push:
    """Ask for an export to be pushed, or to be pushed again; the caller tells a worker after the commit.

    Locks the export. Raises NotReadyError for what is not a data set that is ready, and while a worker is at
    it; InvalidValueError for what is no name of a repository.
    """
    refuse_repository(repository)
    export = Export.objects.select_for_update(of=("self",)).select_related("project").get(pk=export.pk)
    if export.format != Format.HUGGING_FACE or export.status != Export.Status.READY:
        raise NotReadyError(gettext("Only a Hugging Face data set that is ready can be pushed."))
    push, is_new = Push.objects.get_or_create(
        export=export, repository=repository, defaults={"private": private, "created_by": by}
    )
    if not is_new:
        _wait_again(push, private=private, by=by)
    facts = {"repository": repository, "private": private, "content_hash": export.content_hash}
    record(export.project, "export.pushed", export, after=facts, by=by)
    return push


def _wait_again(push: Push, *, private: bool, by: User) -> None:
    if push.status == Status.PUSHING and timezone.now() - push.touched_at < SILENT_FOR:
        raise NotReadyError(gettext("A worker is already pushing this export."))
    push.status, push.message, push.lease, push.private, push.created_by = (
        Status.WAITING,
        "",
        None,
        private,
        by,
    )
    push.sent, push.touched_at = 0, timezone.now()
    push.save(update_fields=["status", "message", "lease", "private", "created_by", "sent", "touched_at"])


def run_push(*, push_id: int) -> None:
    """Push what waits, and keep what came of it; one that another worker has taken is left alone."""
    lease = uuid4()
    waiting = Push.objects.filter(pk=push_id, status=Status.WAITING)
    waiting.update(status=Status.PUSHING, lease=lease, touched_at=timezone.now())
    push = _held_push(push_id, lease).select_related("export__project").first()
    if push is None:
        return
    try:
        url = _push(push)
    except _TakenOverError:
        return
    except (HubError, OSError) as error:
        _end(push, status=Status.STOPPED, message=getattr(error, "message", "") or type(error).__name__)
    except Exception:
        sentence = "An error in Concord stopped the push. The worker's log says more."
        _end(push, status=Status.STOPPED, message=sentence)
        raise
    else:
        _end(push, status=Status.PUSHED, url=url)


def _push(push: Push) -> str:
    def on_progress(sent: int, size: int) -> None:
        if not _held_push(push.pk, push.lease).update(sent=sent, size=size, touched_at=timezone.now()):
            raise _TakenOverError("")

    with TemporaryDirectory(prefix="concord-push-") as name:
        with push.export.file.open("rb") as file, ZipFile(file) as archive:
            archive.extractall(name)
        (folder,) = Path(name).iterdir()
        slug = push.export.project.slug
        return push_folder(
            folder, push.repository, project=slug, private=push.private, on_progress=on_progress
        )


def _end(push: Push, **became: object) -> None:
    _held_push(push.pk, push.lease).update(lease=None, touched_at=timezone.now(), **became)


def _held_push(push_id: int, lease: UUID | None) -> QuerySet[Push]:
    return Push.objects.filter(pk=push_id, lease=lease, lease__isnull=False)
