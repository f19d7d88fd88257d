"""Recorded ratings of a file: each takes an assignment of its item in Round I and writes a row of history."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from datetime import timedelta
from typing import NamedTuple

from django.db import connection
from django.utils import timezone

from annotate.core.database import write_in_steps, write_rows, writes_in_steps
from annotate.core.jobs import TakenOverError
from annotate.core.models import Project, Rating, RatingChange, Round, User
from annotate.material.commands.assignments import AssignmentsToTake, mark_progress
from annotate.material.queries.assignments import ImportedRater
from annotate.material.queries.catalogue import Catalogue, ItemRecord
from annotate.material.queries.ratings import RatingCheck, Scale

ASSIGNMENTS_AT_ONCE = 200
MOMENT = timedelta(microseconds=1)

RATING = (
    *("assignment", "dimension", "value", "unsure", "cannot_rate", "not_applicable", "comment", "evidence"),
    *("active_seconds", "revision", "guideline", "client", "sequence", "created_at", "updated_at"),
)
CHANGE = (
    *("rating", "revision", "at", "actor", "cause", "value_before", "value_after", "guideline"),
    *("unsure", "cannot_rate", "not_applicable", "comment", "short_reason", "evidence"),
)


class Recorded(NamedTuple):
    """A recorded value to write, by assignment and dimension; before: the value until then."""

    assignment: int
    dimension: int
    value: float
    before: float | None = None


def write_recorded(rows: Iterable[Recorded], *, guideline: int | None, by: User | None) -> int:
    """Write recorded values, each with its row of history; return their number.

    guideline: the key of the `Guideline`. An existing rating is unchanged: its rater answered in the
    meantime. Each has a later time than the one before, since discussions depend on the order of answers.
    Runs in the caller's transaction.
    """
    wanted = list(rows)
    points = Rating._meta.get_field("value").get_prep_value
    rated = Rating.objects.filter(assignment__in={row.assignment for row in wanted})
    # Raters may have answered since the file was checked.
    there = set(rated.values_list("assignment", "dimension"))
    new = [row for row in wanted if row[:2] not in there]
    now = timezone.now()
    # `write_rows` writes plain SQL, so values are in the form of the database.
    times = [connection.ops.adapt_datetimefield_value(now + MOMENT * number) for number in range(len(new))]
    actor, imported = by.pk if by else None, RatingChange.Cause.IMPORTED
    # unsure, cannot rate, not applicable, comment
    answer = (False, False, False, "")
    ratings = write_rows(
        Rating,
        RATING,
        [
            (assignment, dimension, points(value), *answer, None, 0, 1, guideline, "", 0, at, at)
            for at, (assignment, dimension, value, _) in zip(times, new, strict=True)
        ],
    )
    write_rows(
        RatingChange,
        CHANGE,
        [
            (rating, 1, at, actor, imported, points(before), points(value), guideline, *answer, "", None)
            for rating, at, (_, _, value, before) in zip(ratings, times, new, strict=True)
        ],
    )
    return len(new)


class RatingImporter(RatingCheck):
    """Takes rows individually; `write` writes new ones. The caller holds the project."""

    def __init__(self, project: Project, catalogue: Catalogue, round: Round, by: User | None) -> None:
        self._assignments = AssignmentsToTake(project, catalogue, round)
        super().__init__(project, catalogue, round, self._assignments)
        self.by = by
        self._guideline = round.guideline_id
        self._ratings: dict[int, list[Recorded]] = defaultdict(list)

    def accept(
        self, assignment: int, item: ItemRecord, rater: ImportedRater, scale: Scale, value: float
    ) -> None:
        super().accept(assignment, item, rater, scale, value)
        self._ratings[assignment].append(Recorded(assignment, scale.id, value))

    def write(self, keep: Callable[[], object], decide: Callable[[], object]) -> None:
        """Write the ratings, each item's of a rater in one step.

        keep: raises if the caller may no longer write. decide: records that from here on ratings remain.
        """
        try:
            self._assignments.write(keep)
        except Exception as error:
            # Committed reservations do not roll back; without the lease nothing more may be written.
            if writes_in_steps() and not isinstance(error, TakenOverError):
                self._assignments.release()
            raise
        decide()

        def write(assignments: Sequence[int]) -> None:
            keep()
            # All ratings of an assignment are in one step, because its progress depends on all of them.
            rows = [row for assignment in assignments for row in self._ratings[assignment]]
            write_recorded(rows, guideline=self._guideline, by=self.by)
            mark_progress(assignments, len(self.scales))

        write_in_steps(self._ratings, write, most=ASSIGNMENTS_AT_ONCE)
