"""The assignments of Round I that recorded ratings take."""

from collections.abc import Callable, Sequence
from datetime import timedelta

from django.db import connection
from django.db.models import Count
from django.utils import timezone

from annotate.core.database import lock_rows, step, write_in_steps
from annotate.core.models import Assignment, Membership, Project, Role, Round
from annotate.core.models.ratings import has_answer
from annotate.material.queries.assignments import ImportedRater, ItemAssignments
from annotate.material.queries.catalogue import Catalogue, ItemRecord
from annotate.people.commands import add_member
from annotate.rating.queries.assignments import last_positions

RATERS_AT_ONCE = 10
RESERVED_FOR = timedelta(minutes=10)  # for the ratings that follow within seconds
# Only if an assignment is still free, or its reservation has expired before its annotator started.
RESERVE = (
    "UPDATE annotate_assignment SET annotator_id = %s, position = %s, plan = %s, reserved_until = %s"
    " WHERE id = %s AND (annotator_id IS NULL OR (started_at IS NULL AND reserved_until < %s))"
)


class RefusedWhileWritingError(Exception):
    """A resource that was free when the file was checked is no longer free."""


class AssignmentsToTake(ItemAssignments):
    """Assignments that are also reserved in the database.

    The caller holds the project. In one transaction all annotators and assignments of the round are locked
    too.
    """

    def __init__(self, project: Project, catalogue: Catalogue, round: Round) -> None:
        # Locked before they are read below, so that free assignments stay free until the end.
        lock_rows(Membership.objects.filter(project=project, role=Role.ANNOTATOR))
        lock_rows(Assignment.objects.filter(round=round))
        super().__init__(project, catalogue, round)
        self._claims: list[tuple[int, ImportedRater]] = []
        self._new: list[tuple[str, ImportedRater]] = []

    def new_rater(self, label: str) -> ImportedRater:
        rater = super().new_rater(label)
        self._new.append((label, rater))
        return rater

    def take(self, item: ItemRecord, rater: ImportedRater) -> int | None:
        held = self.holds(item, rater)
        assignment = super().take(item, rater)
        # An assignment that the rater holds already needs no reservation.
        if assignment is not None and not held:
            self._claims.append((assignment, rater))
        return assignment

    def write(self, keep: Callable[[], object]) -> None:
        """Create the new raters, and reserve their assignments.

        Raises RefusedWhileWritingError if one is gone.

        keep: raises if the caller may no longer write. A reservation expires automatically after a crash.
        """

        def make(raters: Sequence[tuple[str, ImportedRater]]) -> None:
            keep()
            for label, rater in raters:
                rater.pk = add_member(project=self.project, role=Role.ANNOTATOR, label=label).pk

        write_in_steps(self._new, make, most=RATERS_AT_ONCE)

        def reserve(claims: Sequence[tuple[int, ImportedRater]]) -> None:
            keep()
            now, positions = timezone.now(), last_positions(self.project.pk)
            # Plain SQL needs times in the form of the database.
            time = connection.ops.adapt_datetimefield_value
            until, plan = time(now + RESERVED_FOR), Assignment.Plan.IMPORTED
            rows = []
            for assignment, rater in claims:
                assert rater.pk is not None
                positions[rater.pk] += 1
                rows.append((rater.pk, positions[rater.pk], plan, until, assignment, time(now)))
            with connection.cursor() as cursor:
                cursor.executemany(RESERVE, rows)
                # On SQLite annotators go on between two steps, and may have taken one.
                if cursor.rowcount < len(rows):
                    raise RefusedWhileWritingError

        write_in_steps(self._claims, reserve)

    def release(self) -> None:
        reserved = [assignment for assignment, _ in self._claims]
        own = Assignment.objects.filter(plan=Assignment.Plan.IMPORTED, started_at=None)
        write_in_steps(
            reserved,
            lambda assignments: own.filter(pk__in=assignments).update(
                annotator=None, position=None, plan=Assignment.Plan.N_OF_M, reserved_until=None
            ),
        )
        made = [rater.pk for _, rater in self._new if rater.pk]
        with step():
            # On SQLite others write between the steps, so a new member may have work or an account by now.
            Membership.objects.filter(pk__in=made, assignments=None, user=None).delete()


def mark_progress(assignments: Sequence[int], dimensions: int) -> None:
    now = timezone.now()
    whole = Assignment.objects.filter(pk__in=assignments, partial=False)
    whole.filter(started_at=None).update(started_at=now, reserved_until=None)
    answers = Count("ratings", filter=has_answer("ratings__"))
    complete = whole.filter(completed_at=None).annotate(answers=answers)
    pks = list(complete.filter(answers__gte=dimensions).values_list("pk", flat=True))
    Assignment.objects.filter(pk__in=pks).update(completed_at=now)
