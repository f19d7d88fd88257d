"""Ratings of both rounds, with every state in which they were saved."""

from collections.abc import Iterator
from itertools import count, groupby, islice
from operator import itemgetter
from typing import Any

from django.db.models import Max, Min, OuterRef, Subquery
from django.utils import timezone

from annotate.core.models import Assignment, Rating, RatingChange
from annotate.exports.restoring.archive import ExportArchive
from annotate.exports.restoring.people import actor
from annotate.exports.restoring.restored import Known, Restored
from annotate.exports.restoring.tables import MisfitError

RATINGS_AT_ONCE = 1000
SAVED = ("unsure", "cannot_rate", "not_applicable", "comment", "evidence")

Row = dict[str, Any]
Place = tuple[int, int, str]  # round, item, rater
_unit = itemgetter("round", "document", "system", "dimension", "rater")


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
    positions: dict[tuple[int, str], Iterator[int]] = {}
    for row in archive.rows("ratings"):
        number, item, rater = place = (row["round"], restored.item(row), row["rater"])
        if place in places:
            continue
        round, probability = restored.rounds[number], row["inclusion_probability"]
        own = positions.setdefault((number, rater), count(1_000_000 if number == 1 else 1))
        made = Assignment.objects.create(
            round=round,
            item_id=item,
            slot=Assignment.objects.filter(round=round, item=item).count(),
            annotator=restored.raters[rater],
            position=row.get("position") or next(own),
            plan=row["plan"],
            origin=row["plan_origin"],
            seed=row["plan_seed"],
            partial=probability is None,
            inclusion_probability=probability,
        )
        places[place] = made.pk


def _rating(restored: Restored, row: Row, places: dict[Place, int]) -> Rating:
    return Rating(
        assignment_id=places[row["round"], restored.item(row), row["rater"]],
        dimension=restored.dimensions[row["dimension"]],
        value=row["value"],
        **{name: row[name] for name in SAVED},
        active_seconds=row["active_seconds"],
        revision=row["revision"],
        guideline=restored.guideline(row),
        # None where it was recorded elsewhere, and so it is exported again.
        created_at=row["first_saved_at"] or timezone.now(),
        updated_at=row["last_saved_at"] or timezone.now(),
    )


def _change(restored: Restored, rating: Rating, row: Row) -> RatingChange:
    return RatingChange(
        rating=rating,
        revision=row["revision"],
        at=row["at"],
        actor=actor(restored, row["by"]),
        cause=row["cause"],
        value_before=row["value_before"],
        value_after=row["value_after"],
        **{name: row[name] for name in SAVED},
        short_reason=row.get("short_reason") or "",  # exports of earlier versions have none
        guideline=restored.guideline(row),
    )


def _say_when_places_were_rated(restored: Restored) -> None:
    own = Rating.objects.filter(assignment=OuterRef("pk")).order_by().values("assignment")
    Assignment.objects.filter(round__project=restored.project, annotator__isnull=False).update(
        started_at=Subquery(own.annotate(first=Min("created_at")).values("first"))
    )
    last = Subquery(own.annotate(last=Max("updated_at")).values("last"))
    answered = iter(restored.answered)
    while batch := list(islice(answered, RATINGS_AT_ONCE)):
        Assignment.objects.filter(pk__in=batch).update(completed_at=last)
