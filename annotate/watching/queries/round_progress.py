"""How far Round I is: by annotator, by dimension, and at which pace."""

from collections import Counter
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Max, Q
from django.db.models.functions import TruncDate
from django.utils import timezone

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import AssignedUnit, Assignment, Membership, Rating, Role, Round
from annotate.core.models.ratings import answered
from annotate.watching.pace import Pace, pace_of

LOOKED_BACK = timedelta(days=60)


class ProgressCounts(NamedTuple):
    """An annotator's items: completely rated, begun, and all that were taken."""

    done: int = 0
    begun: int = 0
    taken: int = 0


@dataclass(frozen=True)
class RaterProgress:
    """One annotator's items in one round, under the alias, and under the label for admins only."""

    name: str
    label: str | None
    has_account: bool
    active: bool
    joined_at: datetime
    counts: ProgressCounts
    last_rated: datetime | None


@dataclass(frozen=True)
class DimensionProgress:
    """How many of the ratings that places ask for on a dimension were given."""

    name: str
    rated: int
    asked: int


@dataclass(frozen=True)
class RoundProgress:
    """A round with the counts of its annotators and dimensions; `pace` is None once it is closed."""

    round: Round
    places: int
    done: int
    raters: list[RaterProgress]
    dimensions: list[DimensionProgress]
    pace: Pace | None

    @property
    def is_complete(self) -> bool:
        """Whether every place has been rated."""
        return self.done == self.places


def round_progress(round: Round, *, with_labels: bool) -> RoundProgress:
    """Return how far Round I is. Seven queries; the round needs its guideline."""
    raters = _raters(round, with_labels)
    places = Assignment.objects.filter(round=round)
    whole = Count("pk", filter=Q(partial=False))
    counts = places.aggregate(all=Count("pk"), whole=whole)
    dimensions = _dimensions(round, counts["whole"])
    left = sum(max(each.asked - each.rated, 0) for each in dimensions)
    by_day = _by_day(round)
    return RoundProgress(
        round=round,
        places=counts["all"],
        done=sum(rater.counts.done for rater in raters),
        raters=raters,
        dimensions=dimensions,
        pace=pace_of(by_day, left=left, today=timezone.localdate()) if round.is_open else None,
    )


def _raters(round: Round, with_labels: bool) -> list[RaterProgress]:
    rows = (
        Assignment.objects.filter(round=round, annotator__isnull=False)
        .values_list("annotator")
        .annotate(
            done=Count("pk", filter=Q(completed_at__isnull=False)),
            begun=Count("pk", filter=Q(started_at__isnull=False, completed_at__isnull=True)),
            taken=Count("pk"),
        )
        .order_by("annotator")
    )
    by_annotator = {annotator: ProgressCounts(*rest) for annotator, *rest in rows}
    ratings = Rating.objects.filter(assignment__round=round).order_by()
    last = dict(ratings.values_list("assignment__annotator").annotate(Max("updated_at")))
    members = Membership.objects.filter(project=round.project_id, role=Role.ANNOTATOR).order_by("alias")
    return [
        RaterProgress(
            name=member.rater_name,
            label=member.label if with_labels else None,
            has_account=member.user_id is not None,
            active=member.active,
            joined_at=member.joined_at,
            counts=by_annotator.get(member.pk, ProgressCounts()),
            last_rated=last.get(member.pk),
        )
        for member in members
    ]


def _dimensions(round: Round, whole_places: int) -> list[DimensionProgress]:
    given = Rating.objects.filter(answered(), assignment__round=round).order_by()
    rated = dict(given.values_list("dimension").annotate(Count("pk")))
    units = AssignedUnit.objects.filter(assignment__round=round).order_by()
    asked = dict(units.values_list("dimension").annotate(Count("pk")))
    return [
        DimensionProgress(
            dimension.name, rated.get(dimension.id, 0), whole_places + asked.get(dimension.id, 0)
        )
        for dimension in FrozenGuideline.from_json(round.guideline.content).dimensions
    ]


def _by_day(round: Round) -> Counter[date]:
    since = timezone.now() - LOOKED_BACK
    given = Rating.objects.filter(answered(), assignment__round=round, created_at__gte=since)
    days = given.exclude(assignment__plan=Assignment.Plan.IMPORTED).annotate(day=TruncDate("created_at"))
    counts: Counter[date] = Counter()
    counts.update(dict(days.order_by().values_list("day").annotate(Count("pk"))))
    return counts
