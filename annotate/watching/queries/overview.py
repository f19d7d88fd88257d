"""The first page of a project, by role."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from annotate.core.jobs import WorkerHealth, worker_health
from annotate.core.models import Item, Membership, Project, Role, Round
from annotate.core.rounds import rounds_of
from annotate.disputes.queries.activity import (
    AgeCount,
    DisputeCounts,
    RaterDisputes,
    dispute_counts,
    open_by_age,
    open_by_rater,
)
from annotate.disputes.queries.disputes import MOST_NEW, WorkCounts, count_needing_and_new, work_counts
from annotate.rating.queries.progress import Progress, count_left, progress
from annotate.rating.queries.wording import new_wording
from annotate.watching.queries.needs import needs_of
from annotate.watching.queries.round_progress import RoundProgress, round_progress
from annotate.watching.registry import WATCHED, Need, OverviewSection


@dataclass(frozen=True)
class Overview:
    items: int
    comparisons: int
    dimensions: int
    annotators: int
    round_one: RoundProgress | None
    round_two: Round | None
    disputes: DisputeCounts
    ages: list[AgeCount]
    waited_for: list[RaterDisputes]
    sections: list[OverviewSection]
    needs: list[Need]
    workers: WorkerHealth | None


@dataclass(frozen=True)
class OwnWork:
    """An annotator's view of a project: progress in an open Round I, disputes in Round II."""

    round_one: Round | None
    round_two: Round | None
    progress: Progress | None
    disputes: WorkCounts | None
    practises: bool


def overview(project: Project, *, for_admin: bool) -> Overview:
    """Return a project's progress; for admins with labels, workers, and open tasks.

    Up to eighteen queries, two more for admins, and the queries of other apps' parts.
    """
    rounds = rounds_of(project)
    first, second = rounds.get(1), rounds.get(2)
    progress_one = round_progress(first, with_labels=for_admin) if first else None
    annotators = project.memberships.filter(role=Role.ANNOTATOR, active=True).count()
    ages = open_by_age(project, second) if second and second.is_open else []
    found = [watched.section(project) for watched in WATCHED.values()]
    items = Item.objects.filter(document__project=project)
    by_kind = dict(items.order_by().values_list("kind").annotate(Count("pk")))
    return Overview(
        items=by_kind.get(Item.Kind.OUTPUT, 0),
        comparisons=sum(count for kind, count in by_kind.items() if kind != Item.Kind.OUTPUT),
        dimensions=project.dimensions.count(),
        annotators=annotators,
        round_one=progress_one,
        round_two=second,
        disputes=dispute_counts(project),
        ages=ages,
        waited_for=open_by_rater(project) if second and second.is_open else [],
        sections=[section for section in found if section],
        needs=needs_of(project, progress_one, second, ages) if for_admin else [],
        workers=worker_health() if for_admin else None,
    )


@dataclass(frozen=True)
class Waiting:
    """An annotator's open tasks in an open round: items to rate, or disputes, and disputes with news.

    is_reworded: whether the annotator must read changed wording.
    """

    round: Round
    left: int
    new: int = 0
    is_reworded: bool = False

    @property
    def new_is_most(self) -> bool:
        """Whether there may be more disputes with news than counted."""
        return self.new == MOST_NEW


def waiting_for(membership: Membership, rounds: Sequence[Round]) -> Waiting | None:
    """Return an annotator's open tasks, None without an open round.

    Two queries, and three more if wording has changed. The rounds need their guideline.
    """
    current = next((each for each in rounds if each.is_open and each.number in (1, 2)), None)
    if current is None:
        return None
    left, new = (
        (count_left(current, membership), 0) if current.number == 1 else count_needing_and_new(membership)
    )
    return Waiting(current, left, new, new_wording(current, membership) is not None)


def own_work(membership: Membership) -> OwnWork:
    """Return this annotator's open tasks. Up to ten queries."""
    rounds = rounds_of(membership.project)
    first, second = rounds.get(1), rounds.get(2)
    return OwnWork(
        round_one=first,
        round_two=second,
        # Not for a closed round: the query would read all of the annotator's ratings.
        progress=progress(first, membership) if first and first.is_open else None,
        disputes=work_counts(membership) if second else None,
        practises=membership.must_practise,
    )
