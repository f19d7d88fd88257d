"""What the first page of a project tells, by role."""

from dataclasses import dataclass

from django.db.models import Count, Q

from annotate.models import Assignment, Dispute, Item, Membership, Project, Role, Round
from annotate.queries.disputes import WorkList, work_list
from annotate.queries.rounds import rounds_of
from annotate.queries.work import Progress, progress


@dataclass(frozen=True)
class RaterProgress:
    """One annotator's counts in one round, under the alias, and under the label for admins only."""

    name: str
    label: str | None
    has_account: bool
    done: int
    begun: int
    taken: int


@dataclass(frozen=True)
class RoundProgress:
    """A round with the counts of its annotators."""

    round: Round
    places: int
    done: int
    raters: list[RaterProgress]

    @property
    def is_complete(self) -> bool:
        """Whether every place has been rated."""
        return self.done == self.places


@dataclass(frozen=True)
class DisputeCounts:
    """How many disputes there are and what became of them."""

    total: int
    open: int
    settled: int
    adjudicated: int
    left_open: int


@dataclass(frozen=True)
class Overview:
    """An admin's or researcher's view of a project."""

    items: int
    dimensions: int
    annotators: int
    round_one: RoundProgress | None
    round_two: Round | None
    disputes: DisputeCounts


@dataclass(frozen=True)
class OwnWork:
    """An annotator's view of a project: progress in Round I, disputes in Round II."""

    round_one: Round | None
    round_two: Round | None
    progress: Progress | None
    disputes: WorkList | None


def overview(project: Project, *, with_labels: bool) -> Overview:
    """Return the counts of a project, with its annotators' labels for admins. Eight queries at most."""
    rounds = rounds_of(project)
    return Overview(
        items=Item.objects.filter(document__project=project).count(),
        dimensions=project.dimensions.count(),
        annotators=project.memberships.filter(role=Role.ANNOTATOR, active=True).count(),
        round_one=round_progress(rounds[1], with_labels=with_labels) if 1 in rounds else None,
        round_two=rounds.get(2),
        disputes=dispute_counts(project),
    )


def round_progress(round: Round, *, with_labels: bool) -> RoundProgress:
    """Return the counts of Round I by annotator. Three queries."""
    done = Q(completed_at__isnull=False)
    assignments = Assignment.objects.filter(round=round)
    counts = (
        assignments.filter(annotator__isnull=False)
        .values_list("annotator")
        .annotate(
            done=Count("pk", filter=done),
            begun=Count("pk", filter=Q(started_at__isnull=False, completed_at__isnull=True)),
            taken=Count("pk"),
        )
        .order_by("annotator")
    )
    by_annotator = {annotator: (done, begun, taken) for annotator, done, begun, taken in counts}
    members = Membership.objects.filter(project=round.project_id, role=Role.ANNOTATOR).order_by("alias")
    return RoundProgress(
        round=round,
        places=assignments.count(),
        done=sum(done for done, _, _ in by_annotator.values()),
        raters=[
            RaterProgress(
                member.rater_name,
                member.label if with_labels else None,
                member.user_id is not None,
                *by_annotator.get(member.pk, (0, 0, 0)),
            )
            for member in members
        ],
    )


def dispute_counts(project: Project) -> DisputeCounts:
    """Return how many disputes the project has, by status. One query."""
    status = Dispute.Status
    counts = Dispute.objects.filter(round__project=project).aggregate(
        total=Count("pk"),
        **{name: Count("pk", filter=Q(status=name)) for name in status.values},
    )
    return DisputeCounts(**counts)


def own_work(place: Membership) -> OwnWork:
    """Return what waits for this annotator. Seven queries at most."""
    rounds = rounds_of(place.project)
    first, second = rounds.get(1), rounds.get(2)
    return OwnWork(
        round_one=first,
        round_two=second,
        progress=progress(first, place) if first else None,
        disputes=work_list(place) if second else None,
    )
