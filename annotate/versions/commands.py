"""Making versions, asked for by an admin and made by a worker; starting the next edition."""

from django.db import transaction
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.audit import record
from annotate.core.configuration import lock_project
from annotate.core.errors import InvalidValueError, NotReadyError
from annotate.core.jobs import JobKind, TakenOverError, own_row, wake_worker
from annotate.core.models import Edition, Project, Role, User, Version, VersionRequest
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.commands.exports import start_export
from annotate.leaderboard.queries import finished_additions, leaderboard_of
from annotate.material.commands.copying import copy_documents, copy_outputs
from annotate.people.commands import add_member
from annotate.setup.commands import create_project
from annotate.setup.queries import template_of
from annotate.versions.content import content_hash
from annotate.versions.queries import UNDER_WAY, first_edition, next_version

Status = VersionRequest.Status


@transaction.atomic
def request_version(*, project: Project, changelog: str, by: User | None) -> VersionRequest:
    """Have a worker make the next version; a request that is under way is returned.

    Locks the project. Raises NotReadyError, and InvalidValueError without a changelog.
    """
    project = lock_project(project)
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
    """Make a project that rates the items of this benchmark anew; its guideline can still be changed.

    It has copies of dimensions, documents and outputs, and the same admins and researchers. An edition whose
    Round I was never opened is returned. Locks the first edition. Raises NotReadyError while a round is open.
    """
    first = lock_project(first_edition(project))
    if unopened := first.next_editions.filter(project__rounds=None).first():
        return unopened
    if refusal := next_version(project).refusal:
        raise NotReadyError(refusal)
    number = 1 + max([1, *first.next_editions.values_list("number", flat=True)])
    name = gettext("{project}, edition {number}").format(project=first.name[:130], number=number)
    made = create_project(user=by, name=name, template=template_of(project))
    documents = copy_documents(project, made, project.documents.values_list("pk", flat=True))
    copy_outputs(documents, made)
    watching = project.memberships.filter(
        role__in=[Role.ADMIN, Role.RESEARCHER], active=True, user__isnull=False
    ).exclude(user=by, role=Role.ADMIN)
    for member in watching.select_related("user"):
        add_member(project=made, role=Role(member.role), user=member.user, label=member.label)
    record(first, "edition.started", made.name, by=by)
    return Edition.objects.create(project=made, follows=first, number=number, created_by=by)


def _make(request: VersionRequest) -> None:
    """Compute and store a version; without a change since the newest one, the request gets that one."""
    project = request.project
    additions = finished_additions(project)
    # Both take long on large data, so no lock is held; closed rounds change by corrections only.
    digest = content_hash([project, *(each.project for each in additions)])
    newest = project.versions.first()
    standings = leaderboard_of(project).as_dict() if newest is None or newest.content_hash != digest else None
    if standings is not None and content_hash([project, *(each.project for each in additions)]) != digest:
        raise NotReadyError(gettext("Ratings changed in the meantime. Make the version again."))
    with transaction.atomic():
        locked = lock_project(project)
        if not own_row(request).exists():
            raise TakenOverError
        coming = next_version(locked)
        if coming.refusal:
            raise NotReadyError(coming.refusal)
        newest = locked.versions.first()
        if standings is None or (newest is not None and newest.content_hash == digest):
            version = newest
        else:
            major, minor = map(int, coming.number.split("."))
            everything = ExportChoice(Format.JSONL)
            for each in additions:
                start_export(project=each.project, choice=everything, by=request.created_by)
            version = Version.objects.create(
                project=locked,
                major=major,
                minor=minor,
                changelog=request.changelog,
                additions=[each.number for each in additions],
                content_hash=digest,
                leaderboard=standings,
                export=start_export(project=locked, choice=everything, by=request.created_by),
                created_by=request.created_by,
            )
            facts = {"content_hash": digest, "additions": version.additions}
            record(locked, "version.made", version, after=facts, by=request.created_by)
        own_row(request).update(status=Status.READY, version=version, lease=None, touched_at=timezone.now())


VERSION_JOB = JobKind(
    "version",
    VersionRequest,
    _make,
    does="makes a version of a benchmark",
    statuses={Status.WAITING: Status.MAKING},
    reason="message",
    related=("project", "created_by"),
)
