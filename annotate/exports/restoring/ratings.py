"""Ratings of both rounds, each with every saved state."""

from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from django.db.models import Max, Min, OuterRef, Subquery
from django.utils import timezone

from annotate.core.models import Assignment, Rating, RatingChange
from annotate.exports.restoring.archive import ExportArchive, MisfitError
from annotate.exports.restoring.people import actor
from annotate.exports.restoring.restored import Restored, RestoredRows
from annotate.exports.tables.ratings import ASSIGNMENTS, HISTORY, RATINGS

RATINGS_AT_ONCE = 1000

Row = dict[str, Any]
AssignmentKey = tuple[int, int, str]  # round, item, rater
_unit = itemgetter("round", "document", "system", "dimension", "rater")


def restore_ratings(restored: Restored, archive: ExportArchive) -> None:
    """Create the ratings. Both tables list them in one order, so their history is read in parallel."""
    taken = Assignment.objects.filter(round__project=restored.project, annotator__isnull=False)
    found = taken.values_list("round__number", "item", "annotator__pseudonym", "pk")
    assignments = RestoredRows({(number, item, rater): pk for number, item, rater, pk in found.iterator()})
    _make_missing_assignments(restored, archive, assignments)
    history = groupby(archive.rows("history"), key=_unit)
    ahead = next(history, None)
    rows = archive.rows("ratings")
    while batch := list(islice(rows, RATINGS_AT_ONCE)):
        ratings = Rating.objects.bulk_create(_rating(restored, row, assignments) for row in batch)
        changes: list[RatingChange] = []
        for row, rating in zip(batch, ratings, strict=True):
            if ahead and ahead[0] == _unit(row):
                changes += [_change(restored, rating, each) for each in ahead[1]]
                ahead = next(history, None)
        RatingChange.objects.bulk_create(changes)
    if ahead:
        raise MisfitError("the history names a rating that there is not")
    _say_when_assignments_were_rated(restored)


def _make_missing_assignments(
    restored: Restored, archive: ExportArchive, assignments: dict[AssignmentKey, int]
) -> None:
    """Create the assignments of Round II, and the assignments of Round I that require nothing any more."""
    for row in archive.rows("ratings"):
        number, item, rater = key = (row["round"], restored.item(row), row["rater"])
        if key in assignments:
            continue
        round, probability = restored.rounds[number], row["inclusion_probability"]
        made = Assignment.objects.create(
            round=round,
            item_id=item,
            slot=Assignment.objects.filter(round=round, item=item).count(),
            annotator=restored.raters[rater],
            **ASSIGNMENTS.fields(row),
            partial=probability is None,
            inclusion_probability=probability,
        )
        assignments[key] = made.pk


def _rating(restored: Restored, row: Row, assignments: dict[AssignmentKey, int]) -> Rating:
    return Rating(
        assignment_id=assignments[row["round"], restored.item(row), row["rater"]],
        dimension=restored.dimensions[row["dimension"]],
        **RATINGS.fields(row),
        guideline=restored.guideline(row),
        # None if it was recorded elsewhere, so a new export has no time either.
        created_at=row["first_saved_at"] or timezone.now(),
        updated_at=row["last_saved_at"] or timezone.now(),
    )


def _change(restored: Restored, rating: Rating, row: Row) -> RatingChange:
    saved = HISTORY.fields(row) | {"actor": actor(restored, row["by"])}
    return RatingChange(rating=rating, guideline=restored.guideline(row), **saved)


def _say_when_assignments_were_rated(restored: Restored) -> None:
    own = Rating.objects.filter(assignment=OuterRef("pk")).order_by().values("assignment")
    Assignment.objects.filter(round__project=restored.project, annotator__isnull=False).update(
        started_at=Subquery(own.annotate(first=Min("created_at")).values("first"))
    )
    last = Subquery(own.annotate(last=Max("updated_at")).values("last"))
    answered = iter(restored.answered)
    while batch := list(islice(answered, RATINGS_AT_ONCE)):
        Assignment.objects.filter(pk__in=batch).update(completed_at=last)
