"""Creating versions, requested by an admin and created by a worker; starting the next edition."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project, refuse_over_quota
from annotate.core.database import snapshot
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.files import keep_file, scratch
from annotate.core.jobs import JobKind, TakenOverError, own_row, wake_worker
from annotate.core.models import Edition, Project, Role, User, Version, VersionPart, VersionRequest
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands import store_export
from annotate.exports.files import SUFFIXES, write_file
from annotate.exports.manifest import Manifest
from annotate.exports.queries import FOLDER
from annotate.leaderboard.queries import finished_additions, leaderboard_of
from annotate.material.commands.copying import copy_documents, copy_outputs
from annotate.people.commands import add_member
from annotate.setup.commands import create_project
from annotate.setup.queries import template_of
from annotate.versions.queries import UNDER_WAY, content_hash, first_edition, next_version, read_values

Status = VersionRequest.Status
EVERYTHING = ExportChoice(Format.JSONL)


@transaction.atomic
def request_version(*, project: Project, changelog: str, by: User | None) -> VersionRequest:
    """Enqueue the creation of the next version; return an active request if there is one.

    Locks the project. Raises NotReadyError, and InvalidValueError without a changelog.
    """
    project = lock_project(project)
    # The lock on the project comes first, so two clicks at once get the same request.
    if under_way := project.version_requests.filter(status__in=UNDER_WAY).first():
        return under_way
    if refusal := next_version(project).refusal:
        raise NotReadyError(refusal)
    if not changelog.strip():
        raise InvalidValueError(
            gettext("Describe what this version contains."), fields={"changelog": gettext("Write it here.")}
        )
    request = VersionRequest.objects.create(
        project=project, changelog=changelog.strip(), created_by=by, touched_at=timezone.now()
    )
    record(project, "version.requested", "", by=by)
    wake_worker(VERSION_JOB, request.pk)
    return request


@transaction.atomic
def start_edition(*, project: Project, by: User) -> Edition:
    """Create a project for a new rating of this benchmark's items; its guideline can still be changed.

    It has copies of dimensions, documents and outputs, and the same admins and researchers. Returns an
    existing edition whose Round I was never opened. Locks the first edition. Raises NotReadyError while a
    round is open.
    """
    first = lock_project(first_edition(project))
    if unopened := first.next_editions.filter(project__rounds=None).first():
        return unopened
    if refusal := next_version(project).refusal:
        raise NotReadyError(refusal)
    number = 1 + max([1, *first.next_editions.values_list("number", flat=True)])
    # The rest of the 150 characters of a name is for the edition.
    name = gettext("{project}, edition {number}").format(project=first.name[:130], number=number)
    made = create_project(user=by, name=name, template=template_of(project))
    documents = copy_documents(project, made, project.documents.values_list("pk", flat=True))
    copy_outputs(documents, made)
    # `create_project` makes this person an admin already.
    watching = project.memberships.filter(
        role__in=[Role.ADMIN, Role.RESEARCHER], active=True, user__isnull=False
    ).exclude(user=by, role=Role.ADMIN)
    for member in watching.select_related("user"):
        add_member(project=made, role=Role(member.role), user=member.user, label=member.label)
    record(first, "edition.started", made.name, by=by)
    return Edition.objects.create(project=made, follows=first, number=number, created_by=by)


def _make(request: VersionRequest) -> None:
    """Make a version of what the database shows at one moment: hash, standings, values and exports.

    Without a change since the newest version, the request gets that one. A worker without the lease keeps no
    file.
    """
    kept = False
    try:
        read = _read_state(request)
        for written in read.files:
            # Files are moved before the transaction: a slow storage then holds no lock on the project.
            keep_file(scratch(written.name), written.name)
        kept = _keep(request, read)
    finally:
        # An exception, a takeover or an unchanged benchmark leaves files that no row names.
        if not kept:
            _forget_files(request)


@dataclass(frozen=True)
class _WrittenFile:
    project: Project
    name: str
    size: int
    manifest: Manifest


@dataclass(frozen=True)
class _BenchmarkState:
    """A benchmark with its finished additions at one moment. Without a change only `digest` is filled."""

    digest: str
    additions: Sequence[int] = ()
    standings: dict[str, Any] = field(default_factory=dict)
    values: Sequence[dict[str, Any]] = ()
    files: Sequence[_WrittenFile] = ()


def _read_state(request: VersionRequest) -> _BenchmarkState:
    """Read everything in one snapshot, so that a correction of a rating is in all of it or in none."""
    project = request.project
    with snapshot():
        if refusal := next_version(project).refusal:
            raise NotReadyError(refusal)
        additions = finished_additions(project)
        projects = [project, *(each.project for each in additions)]
        digest, newest = content_hash(projects), project.versions.first()
        # Writing exports takes long, and an unchanged benchmark needs none.
        if newest is not None and newest.content_hash == digest:
            return _BenchmarkState(digest)
        files = []
        for index, each in enumerate(projects):
            refuse_over_quota(each)
            name = _name_of_file(request, index)
            manifest = write_file(each, EVERYTHING, scratch(name))
            files.append(_WrittenFile(each, name, scratch(name).stat().st_size, manifest))
        return _BenchmarkState(
            digest,
            [each.number for each in additions],
            leaderboard_of(project).to_dict(),
            [read_values(each) for each in projects],
            files,
        )


def _keep(request: VersionRequest, read: _BenchmarkState) -> bool:
    """Store the version; return whether its files belong to it. Locks the project."""
    with transaction.atomic():
        locked = lock_project(request.project)
        # A worker that lost its lease must not make the version that the next one makes.
        if not own_row(request).exists():
            raise TakenOverError
        version = locked.versions.first()
        # Another request may have made the same version since the snapshot.
        is_new = version is None or version.content_hash != read.digest
        if is_new:
            # A round may have opened since the snapshot.
            coming = next_version(locked)
            if coming.refusal:
                raise NotReadyError(coming.refusal)
            major, minor = map(int, coming.number.split("."))
            by = request.created_by
            exports = [
                store_export(
                    project=each.project,
                    choice=EVERYTHING,
                    name=each.name,
                    size=each.size,
                    manifest=each.manifest,
                    by=by,
                )
                for each in read.files
            ]
            version = Version.objects.create(
                project=locked,
                major=major,
                minor=minor,
                changelog=request.changelog,
                additions=list(read.additions),
                content_hash=read.digest,
                leaderboard=read.standings,
                export=exports[0],
                created_by=by,
            )
            VersionPart.objects.bulk_create(
                VersionPart(version=version, project=export.project, export=export, values=values)
                for export, values in zip(exports, read.values, strict=True)
            )
            facts = {"content_hash": read.digest, "additions": version.additions}
            record(locked, "version.made", version, after=facts, by=by)
        own_row(request).update(status=Status.READY, version=version, lease=None, touched_at=timezone.now())
    return is_new


def _name_of_file(request: VersionRequest, index: int) -> str:
    """Return a name that only the lease tells, so that the next worker can remove the file."""
    assert request.lease
    return f"{FOLDER}/{request.lease.hex}-{index}{SUFFIXES[Format.JSONL]}"


def _forget_files(request: VersionRequest) -> None:
    if not request.lease:
        return
    expected = request.project.additions.count() + 1
    for index in count():
        name = _name_of_file(request, index)
        # An addition may have been deleted since its file was written.
        if index >= expected and not scratch(name).exists() and not default_storage.exists(name):
            return
        default_storage.delete(name)
        scratch(name).unlink(missing_ok=True)


VERSION_JOB = JobKind(
    "version",
    VersionRequest,
    _make,
    does="makes a version of a benchmark",
    statuses={Status.WAITING: Status.MAKING},
    reason="message",
    related=("project", "created_by"),
    prepare=_forget_files,
)
