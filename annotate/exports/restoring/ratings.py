"""Ratings of both rounds and values revised at the end of a document, each with every saved state."""

from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from django.db.models import Max, Min, OuterRef, Subquery
from django.utils import timezone

from annotate.core.models import (
    Assignment,
    LookBack,
    Rating,
    RatingChange,
    RevisedValue,
    RevisedValueChange,
)
from annotate.exports.restoring.archive import ExportArchive, MisfitError
from annotate.exports.restoring.people import actor
from annotate.exports.restoring.restored import Known, Restored
from annotate.exports.tables.ratings import ASSIGNMENTS, HISTORY, RATINGS, REVISED_VALUES

RATINGS_AT_ONCE = 1000

Row = dict[str, Any]
Place = tuple[int, int, str]  # round, item, rater
_unit = itemgetter("round", "document", "system", "dimension", "rater")
Unit = tuple[int, int, str]  # item, dimension, rater
_rated_unit = itemgetter("document", "system", "dimension", "rater")


def restore_ratings(restored: Restored, archive: ExportArchive) -> None:
    """Make the ratings; both tables name them in one order, so their history is read beside them."""
    places = _places(restored)
    _make_missing_places(restored, archive, places)
    history = groupby(archive.rows("history"), key=_unit)
    ahead = next(history, None)
    rows = archive.rows("ratings")
    while batch := list(islice(rows, RATINGS_AT_ONCE)):
        ratings = Rating.objects.bulk_create(_rating(restored, row, places) for row in batch)
        changes: list[RatingChange] = []
        for row, rating in zip(batch, ratings, strict=True):
            if ahead and ahead[0] == _unit(row):
                changes += [_change(restored, rating, each) for each in ahead[1]]
                ahead = next(history, None)
        RatingChange.objects.bulk_create(changes)
    if ahead:
        raise MisfitError("the history names a rating that there is not")
    _say_when_places_were_rated(restored)


def _places(restored: Restored) -> dict[Place, int]:
    taken = Assignment.objects.filter(round__project=restored.project, annotator__isnull=False)
    found = taken.values_list("round__number", "item", "annotator__pseudonym", "pk")
    return Known({(number, item, rater): pk for number, item, rater, pk in found.iterator()})


def _make_missing_places(restored: Restored, archive: ExportArchive, places: dict[Place, int]) -> None:
    """Make the places of Round II, and those of Round I that ask for nothing any more."""
    for row in archive.rows("ratings"):
        number, item, rater = place = (row["round"], restored.item(row), row["rater"])
        if place in places:
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
        places[place] = made.pk


def _rating(restored: Restored, row: Row, places: dict[Place, int]) -> Rating:
    return Rating(
        assignment_id=places[row["round"], restored.item(row), row["rater"]],
        dimension=restored.dimensions[row["dimension"]],
        **RATINGS.fields(row),
        guideline=restored.guideline(row),
        # None where it was recorded elsewhere, and so it is exported again.
        created_at=row["first_saved_at"] or timezone.now(),
        updated_at=row["last_saved_at"] or timezone.now(),
    )


def _change(restored: Restored, rating: Rating, row: Row) -> RatingChange:
    saved = HISTORY.fields(row) | {"actor": actor(restored, row["by"])}
    return RatingChange(rating=rating, guideline=restored.guideline(row), **saved)


def _say_when_places_were_rated(restored: Restored) -> None:
    own = Rating.objects.filter(assignment=OuterRef("pk")).order_by().values("assignment")
    Assignment.objects.filter(round__project=restored.project, annotator__isnull=False).update(
        started_at=Subquery(own.annotate(first=Min("created_at")).values("first"))
    )
    last = Subquery(own.annotate(last=Max("updated_at")).values("last"))
    answered = iter(restored.answered)
    while batch := list(islice(answered, RATINGS_AT_ONCE)):
        Assignment.objects.filter(pk__in=batch).update(completed_at=last)


def restore_revised_values(restored: Restored, archive: ExportArchive) -> None:
    """Make the revised values of the ratings of Round I."""
    units = (list(rows) for _, rows in groupby(archive.rows("revised_values"), key=_rated_unit))
    while batch := list(islice(units, RATINGS_AT_ONCE)):
        ratings = _revised_ratings(restored, batch)
        revised = RevisedValue.objects.bulk_create(
            RevisedValue(
                rating_id=ratings[_key(restored, rows[0])],
                value=rows[-1]["value_after"],
                comment=rows[-1]["comment"],
                revision=rows[-1]["revision"],
                updated_at=rows[-1]["at"],
            )
            for rows in batch
        )
        RevisedValueChange.objects.bulk_create(
            _revised_change(restored, each, row)
            for each, rows in zip(revised, batch, strict=True)
            for row in rows
        )


def restore_looks_back(restored: Restored, archive: ExportArchive) -> None:
    """Make the looks back in order."""
    looks = (
        LookBack(
            annotator=restored.raters[row["rater"]],
            document_id=restored.documents[row["document"]],
            dimension=restored.dimensions[row["dimension"]],
            at=row["at"],
        )
        for row in archive.rows("looks_back")
    )
    LookBack.objects.bulk_create(looks, RATINGS_AT_ONCE)


def _key(restored: Restored, row: Row) -> Unit:
    return restored.item(row), restored.dimensions[row["dimension"]].pk, row["rater"]


def _revised_ratings(restored: Restored, batch: list[list[Row]]) -> Known[Unit, int]:
    items = {restored.item(rows[0]) for rows in batch}
    found = Rating.objects.filter(assignment__round=restored.rounds[1], assignment__item__in=items)
    named = found.values_list("assignment__item", "dimension", "assignment__annotator__pseudonym", "pk")
    return Known({(item, dimension, rater): pk for item, dimension, rater, pk in named.iterator()})


def _revised_change(restored: Restored, revised: RevisedValue, row: Row) -> RevisedValueChange:
    saved = REVISED_VALUES.fields(row) | {"actor": actor(restored, row["by"])}
    return RevisedValueChange(revised=revised, **saved)
