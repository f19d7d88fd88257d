"""Members of a project, and its invitations."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count, Q, QuerySet
from django.utils import timezone

from annotate.core.models import Assignment, Invitation, Membership, Project, Role, User
from annotate.people.invitations import invitation_token


@dataclass(frozen=True)
class PendingInvitation:
    """An invitation that can still be accepted, with the part of its link that is secret."""

    invitation: Invitation
    token: str


@dataclass(frozen=True)
class Workload:
    """An annotator's items of Round I: finished, finished today, started but not finished, not started."""

    done: int = 0
    today: int = 0
    begun: int = 0
    waiting: int = 0

    @property
    def open(self) -> int:
        return self.begun + self.waiting


@dataclass(frozen=True)
class MemberEntry:
    """A membership; `pending`: its open invitations; `load`: None for a person who is not an annotator."""

    membership: Membership
    pending: list[PendingInvitation]
    load: Workload | None


@dataclass(frozen=True)
class ProjectPeople:
    """All memberships of a project, and the invitations that create new ones."""

    members: list[MemberEntry]
    pending: list[PendingInvitation]


def projects_needing(user: User) -> QuerySet[Project]:
    """Return the projects with this person as the only admin.

    A blocked or erased admin cannot sign in, and so does not count.
    """
    admins = Membership.objects.filter(role=Role.ADMIN, active=True, user__is_active=True)
    own = Membership.objects.filter(role=Role.ADMIN, active=True, user=user)
    others = admins.exclude(user=user)
    return Project.objects.filter(pk__in=own.values("project")).exclude(pk__in=others.values("project"))


def people_of(project: Project) -> ProjectPeople:
    """Return a project's members for its admins, active ones first, by role and alias. Three queries."""
    loads = loads_of(project)
    open_ones = Invitation.objects.filter(
        project=project, accepted_at=None, withdrawn_at=None, expires_at__gt=timezone.now()
    )
    pending = [PendingInvitation(one, invitation_token(one)) for one in open_ones.order_by("pk")]
    members = Membership.objects.filter(project=project).select_related("user", "outside")
    return ProjectPeople(
        members=[
            MemberEntry(
                member,
                [one for one in pending if one.invitation.membership_id == member.pk],
                loads.get(member.pk, Workload()) if member.role == Role.ANNOTATOR else None,
            )
            for member in members.order_by("-active", "role", "pk")
        ],
        pending=[one for one in pending if one.invitation.membership_id is None],
    )


def loads_of(project: Project) -> Mapping[int, Workload]:
    """Return the load of every annotator (by key) with items of Round I. One query."""
    midnight = timezone.localtime().replace(hour=0, minute=0, second=0, microsecond=0)
    held = Assignment.objects.filter(round__project=project, round__number=1, annotator__isnull=False)
    unfinished = Q(completed_at__isnull=True)
    counts = (
        held.order_by()
        .values_list("annotator")
        .annotate(
            done=Count("pk", filter=~unfinished),
            # Imported ratings come from elsewhere and are no work of today.
            today=Count("pk", filter=Q(completed_at__gte=midnight) & ~Q(plan=Assignment.Plan.IMPORTED)),
            begun=Count("pk", filter=unfinished & Q(started_at__isnull=False)),
            waiting=Count("pk", filter=unfinished & Q(started_at__isnull=True)),
        )
    )
    return {annotator: Workload(*rest) for annotator, *rest in counts}


def other_annotators(membership: Membership) -> list[Membership]:
    """Return the project's other active annotators, who could receive this one's items. One query."""
    annotators = Membership.objects.filter(project=membership.project_id, role=Role.ANNOTATOR, active=True)
    return list(annotators.exclude(pk=membership.pk).order_by("label"))


def open_offers(project: Project, role: Role) -> QuerySet[Invitation]:
    """Return the valid invitations in a role that are not for a specific membership."""
    offers = project.invitations.filter(role=role, membership=None, accepted_at=None, withdrawn_at=None)
    return offers.filter(expires_at__gt=timezone.now()).order_by("pk")
