"""Pushing a data set to the Hub: asked for by an admin, done by a worker, as often as one likes."""

from pathlib import Path
from shutil import rmtree
from tempfile import gettempdir
from uuid import uuid4
from zipfile import ZipFile

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.errors import NotReadyError
from annotate.core.jobs import GAVE_UP, MAX_ATTEMPTS, TakenOverError, heartbeat, is_silent, own_row, take
from annotate.core.models import Export, Push, User
from annotate.exports.choice import Format
from annotate.exports.hub import HubError, push_folder, refuse_repository

Status = Push.Status


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
    if push.status == Status.PUSHING and not is_silent(push):
        raise NotReadyError(gettext("A worker is already pushing this export."))
    push.status, push.message, push.lease, push.private, push.created_by = (
        Status.WAITING,
        "",
        None,
        private,
        by,
    )
    push.sent, push.attempts, push.touched_at = 0, 0, timezone.now()
    push.save()


def run_push(*, push_id: int) -> None:
    """Push what waits, or whose worker died, and keep what came of it; others are left alone."""
    push = _take(push_id)
    if push is None:
        return
    with heartbeat(lambda: own_row(push).update(touched_at=timezone.now())):
        _push_held(push)


def _take(push_id: int) -> Push | None:
    lease = uuid4()
    found = Push.objects.filter(pk=push_id, status__in=(Status.WAITING, Status.PUSHING)).first()
    if found is None or (found.status == Status.PUSHING and not is_silent(found)):
        return None
    if not take(found, lease=lease, status=Status.PUSHING):
        return None
    if found.lease:
        rmtree(_folder_of(found), ignore_errors=True)
    push = Push.objects.select_related("export__project").filter(pk=push_id, lease=lease).first()
    if push is not None and push.attempts > MAX_ATTEMPTS:
        _end(push, status=Status.STOPPED, message=GAVE_UP)
        return None
    return push


def _push_held(push: Push) -> None:
    try:
        url = _push(push)
    except TakenOverError:
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
        if not own_row(push).update(sent=sent, size=size, touched_at=timezone.now()):
            raise TakenOverError

    unpacked = _folder_of(push)
    unpacked.mkdir(mode=0o700)
    try:
        with push.export.file.open("rb") as file, ZipFile(file) as archive:
            archive.extractall(unpacked)
        (folder,) = unpacked.iterdir()
        slug = push.export.project.slug
        return push_folder(
            folder, push.repository, project=slug, private=push.private, on_progress=on_progress
        )
    finally:
        rmtree(unpacked, ignore_errors=True)


def _folder_of(push: Push) -> Path:
    """Return where the worker with this lease unpacks the export; its successor removes what is left."""
    return Path(gettempdir(), f"concord-push-{push.lease}")


def _end(push: Push, **became: object) -> None:
    own_row(push).update(lease=None, touched_at=timezone.now(), **became)
