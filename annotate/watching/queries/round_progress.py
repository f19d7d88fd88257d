"""Progress of Round I: by annotator, by dimension, and its pace."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from math import ceil
from typing import NamedTuple

from django.db.models import Count, Max, Q
from django.db.models.functions import TruncDate
from django.utils import timezone
from django.utils.translation import gettext

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import AssignedUnit, Assignment, Item, Membership, Rating, Role, Round
from annotate.core.models.ratings import has_answer
from annotate.rating.queries.assignments import (
    count_opened_questions,
    dimensions_of_kind,
    has_comparisons,
    has_conditions,
)

ACTIVE_DAYS = 7
LEAST_DAYS = 2
LONGEST = timedelta(days=5 * 365)


@dataclass(frozen=True)
class Pace:
    """Ratings on a day with ratings, and the forecast last day; or the reason if undefined.

    per_day: over the last `active_days` days with ratings, which are within the last `calendar_days` days.
    """

    left: int
    active_days: int = 0
    calendar_days: int = 0
    per_day: float | None = None
    ends_on: date | None = None
    reason: str = ""


def pace_of(ratings: Mapping[date, int], *, left: int, today: date) -> Pace:
    """Return the pace of the last seven days with ratings, and the forecast day for `left` more ratings.

    Today is not over and does not count. The forecast is by the calendar: it assumes the same share of days
    without ratings, such as Sundays, and includes a pause up to today. Undefined with fewer than two such
    days.
    """
    days = sorted((day for day, count in ratings.items() if count and day < today), reverse=True)
    days = days[:ACTIVE_DAYS]
    if not left:
        return Pace(left, reason=gettext("All assignments are rated."))
    if len(days) < LEAST_DAYS:
        return Pace(left, reason=gettext("The forecast needs two days with ratings before today."))
    given = sum(ratings[day] for day in days)
    calendar_days = (today - days[-1]).days
    needed = timedelta(days=ceil(left * calendar_days / given))
    late = needed > LONGEST
    return Pace(
        left,
        active_days=len(days),
        calendar_days=calendar_days,
        per_day=given / len(days),
        ends_on=None if late else today + needed,
        reason=gettext("At this pace, rating would take more than five years.") if late else "",
    )


LOOKED_BACK = timedelta(days=60)
# Nearly all ratings of a large round are in complete assignments; to check each takes most of a second.
_COMPLETE = Q(partial=False, completed_at__isnull=False)
_OF_OTHERS = Q(assignment__partial=True) | Q(assignment__completed_at__isnull=True)


class ProgressCounts(NamedTuple):
    """Numbers of an annotator's items: completely rated, started, and all assigned."""

    done: int = 0
    begun: int = 0
    taken: int = 0


@dataclass(frozen=True)
class RaterProgress:
    """One annotator's items in one round, under the alias, and under the label for admins only.

    last_rated: the time of the last completed item, or of the last rating of an incomplete one; corrections
    of complete items do not change it. None also once the round is closed: its purpose is to remind raters.
    """

    name: str
    label: str | None
    has_account: bool
    active: bool
    joined_at: datetime
    counts: ProgressCounts
    last_rated: datetime | None


@dataclass(frozen=True)
class DimensionProgress:
    """The number of given ratings among the assigned ones on a dimension."""

    name: str
    rated: int
    asked: int


@dataclass(frozen=True)
class RoundProgress:
    """A round with the counts of its annotators and dimensions; `pace` is None once it is closed."""

    round: Round
    assignments: int
    done: int
    raters: list[RaterProgress]
    dimensions: list[DimensionProgress]
    pace: Pace | None

    @property
    def is_complete(self) -> bool:
        return self.done == self.assignments


def round_progress(round: Round, *, with_labels: bool) -> RoundProgress:
    """Return the progress of Round I. Seven queries, four once it is closed; the round needs its guideline.

    Two more if there are questions about comparisons, or questions with a condition.
    """
    # Count assignments by annotator, None for free ones. One query, since it reads all of
    # them.
    rows = (
        Assignment.objects.filter(round=round)
        .order_by()
        .values_list("annotator")
        .annotate(
            done=Count("pk", filter=Q(completed_at__isnull=False)),
            begun=Count("pk", filter=Q(started_at__isnull=False, completed_at__isnull=True)),
            taken=Count("pk"),
            whole=Count("pk", filter=Q(partial=False)),
            complete=Count("pk", filter=_COMPLETE),
            completed=Max("completed_at", filter=_COMPLETE),
        )
    )
    counts = {
        annotator: _Assignments(ProgressCounts(done, begun, taken), *others)
        for annotator, done, begun, taken, *others in rows
    }
    raters = _raters(round, counts, with_labels)
    # Without conditions and comparisons, a complete assignment has an answer to every dimension.
    every = sum(each.progress.taken for each in counts.values())
    guideline = FrozenGuideline.from_json(round.guideline.content)
    if has_comparisons(guideline) or has_conditions(guideline):
        dimensions = _dimensions_of_kinds(round, guideline)
    else:
        whole = sum(each.whole for each in counts.values())
        complete = sum(each.complete for each in counts.values())
        dimensions = _dimensions(round, guideline, whole, complete, has_others=complete < every)
    left = sum(max(each.asked - each.rated, 0) for each in dimensions)
    return RoundProgress(
        round=round,
        assignments=every,
        done=sum(rater.counts.done for rater in raters),
        raters=raters,
        dimensions=dimensions,
        pace=_pace(round, guideline, left) if round.is_open else None,
    )


class _Assignments(NamedTuple):
    """Counts of one annotator's assignments, or of free ones; `completed`: when the last was completed."""

    progress: ProgressCounts
    whole: int
    complete: int
    completed: datetime | None


def _raters(
    round: Round, counts: Mapping[int | None, _Assignments], with_labels: bool
) -> list[RaterProgress]:
    completed = {pk: own.completed for pk, own in counts.items() if pk is not None and own.completed}
    last = _last_rated(round, completed) if round.is_open else {}
    members = Membership.objects.filter(project=round.project_id, role=Role.ANNOTATOR).order_by("alias")
    return [
        RaterProgress(
            name=member.rater_name,
            label=member.label if with_labels else None,
            has_account=member.user_id is not None,
            active=member.active,
            joined_at=member.joined_at,
            counts=counts[member.pk].progress if member.pk in counts else ProgressCounts(),
            last_rated=last.get(member.pk),
        )
        for member in members
    ]


def _last_rated(round: Round, completed: Mapping[int, datetime]) -> dict[int, datetime]:
    """Return the time of each rater's (by key) last rating; completed:

    the time of each one's last completed assignment.
    """
    found = dict(completed)
    others = Rating.objects.filter(_OF_OTHERS, assignment__round=round).order_by()
    for annotator, at in others.values_list("assignment__annotator").annotate(Max("updated_at")):
        # Corrections of a complete item are not among `others`, so they change nothing.
        found[annotator] = max(at, found.get(annotator, at))
    return found


def _dimensions(
    round: Round, guideline: FrozenGuideline, whole_assignments: int, complete: int, *, has_others: bool
) -> list[DimensionProgress]:
    # A complete assignment for all dimensions has an answer to each, so its ratings need not be read.
    given = Rating.objects.filter(has_answer(), _OF_OTHERS, assignment__round=round).order_by()
    rated = dict(given.values_list("dimension").annotate(Count("pk"))) if has_others else {}
    units = AssignedUnit.objects.filter(assignment__round=round).order_by()
    asked = dict(units.values_list("dimension").annotate(Count("pk")))
    return [
        DimensionProgress(
            dimension.name,
            complete + rated.get(dimension.id, 0),
            whole_assignments + asked.get(dimension.id, 0),
        )
        for dimension in guideline.dimensions
    ]


def _dimensions_of_kinds(round: Round, guideline: FrozenGuideline) -> list[DimensionProgress]:
    """Count the questions to answer by dimension, if items have different questions.

    A question with a condition counts once an answer has opened it.
    """
    given = Rating.objects.filter(has_answer(), assignment__round=round).order_by()
    rated = dict(given.values_list("dimension").annotate(Count("pk")))
    whole = Assignment.objects.filter(round=round, partial=False).order_by()
    assignments = dict(whole.values_list("item__kind").annotate(Count("pk")))
    units = AssignedUnit.objects.filter(assignment__round=round).order_by()
    listed = dict(units.values_list("dimension").annotate(Count("pk")))
    opened = count_opened_questions(round)
    # A question without a condition is asked once for each assignment of its kind of item.
    asked = {
        each.id: assignments.get(kind, 0) + listed.get(each.id, 0)
        for kind in Item.Kind.values
        for each in dimensions_of_kind(guideline, kind)
    }
    return [
        DimensionProgress(
            each.name,
            rated.get(each.id, 0),
            rated.get(each.id, 0) + opened[each.id] if each.shown_if else asked[each.id],
        )
        for each in guideline.dimensions
    ]


def _pace(round: Round, guideline: FrozenGuideline, left: int) -> Pace:
    by_day = _count_by_day(round, guideline) if left else {}
    return pace_of(by_day, left=left, today=timezone.localdate())


def _count_by_day(round: Round, guideline: FrozenGuideline) -> Counter[date]:
    """Count ratings by day; a complete assignment's ratings count on the day of its completion.

    If items have different questions, each rating counts on the day on which it was first saved.
    """
    asks_all = not (has_comparisons(guideline) or has_conditions(guideline))
    since, imported = timezone.now() - LOOKED_BACK, Assignment.Plan.IMPORTED
    assignments = Assignment.objects.filter(_COMPLETE, round=round, completed_at__gte=since).exclude(
        plan=imported
    )
    given = Rating.objects.filter(has_answer(), assignment__round=round, created_at__gte=since)
    # Their ratings are already counted by the completion of their assignment.
    if asks_all:
        given = given.filter(_OF_OTHERS)
    given = given.exclude(assignment__plan=imported)
    counts: Counter[date] = Counter()
    counted = (
        (assignments, "completed_at", len(guideline.dimensions) if asks_all else 0),
        (given, "created_at", 1),
    )
    for rows, at, each in counted:
        days = rows.annotate(day=TruncDate(at)).order_by().values_list("day").annotate(Count("pk"))
        counts.update({day: each * number for day, number in days})
    return counts
