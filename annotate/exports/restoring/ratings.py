"""Restores raters, assignments, and the ratings of both rounds with every saved state."""

from collections.abc import Iterator
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from django.db.models import Max, Min, OuterRef, Subquery
from django.utils import timezone

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import (
    AssignedUnit,
    Assignment,
    Item,
    Membership,
    OutsideRater,
    OutsideStudy,
    Rating,
    RatingChange,
    Role,
    Round,
    User,
)
from annotate.exports.restoring.archive import ExportArchive, MisfitError, Restored, RestoredRows
from annotate.exports.tables.ratings import ASSIGNMENTS, HISTORY, RATINGS
from annotate.people.commands import add_member
from annotate.people.outside import PERSON
from annotate.rating.commands.plans import next_slots
from annotate.rating.queries.assignments import dimensions_of_kind

AT_ONCE = 1000

Row = dict[str, Any]
AssignmentKey = tuple[int, int, str]  # round, item, rater
_unit = itemgetter("round", "document", "system", "dimension", "rater")


def restore_ratings(restored: Restored, archive: ExportArchive) -> None:
    """Create the ratings. Both tables list them in one order, so their history is read in parallel."""
    taken = Assignment.objects.filter(round__project=restored.project, annotator__isnull=False)
    found = taken.values_list("round__number", "item", "annotator__pseudonym", "pk")
    assignments = RestoredRows({(number, item, rater): pk for number, item, rater, pk in found.iterator()})
    _restore_missing_assignments(restored, archive, assignments)
    # `ahead` is the history of the next rating that has any.
    history = groupby(archive.rows("history"), key=_unit)
    ahead = next(history, None)
    rows = archive.rows("ratings")
    while batch := list(islice(rows, AT_ONCE)):
        ratings = Rating.objects.bulk_create(
            Rating(
                assignment_id=assignments[row["round"], restored.item(row), row["rater"]],
                dimension=restored.dimensions[row["dimension"]],
                **RATINGS.fields(row),
                guideline=restored.guideline(row),
                # None if it was recorded elsewhere, so a new export has no time either.
                created_at=row["first_saved_at"] or timezone.now(),
                updated_at=row["last_saved_at"] or timezone.now(),
            )
            for row in batch
        )
        changes: list[RatingChange] = []
        for row, rating in zip(batch, ratings, strict=True):
            if ahead and ahead[0] == _unit(row):
                for each in ahead[1]:
                    saved = HISTORY.fields(each) | {"actor": actor(restored, each["by"])}
                    changes.append(RatingChange(rating=rating, guideline=restored.guideline(each), **saved))
                ahead = next(history, None)
        RatingChange.objects.bulk_create(changes)
    if ahead:
        raise MisfitError("the history names a rating that there is not")
    own = Rating.objects.filter(assignment=OuterRef("pk")).order_by().values("assignment")
    Assignment.objects.filter(round__project=restored.project, annotator__isnull=False).update(
        started_at=Subquery(own.annotate(first=Min("created_at")).values("first"))
    )
    last = Subquery(own.annotate(last=Max("updated_at")).values("last"))
    answered = iter(restored.answered)
    while batch_of_keys := list(islice(answered, AT_ONCE)):
        Assignment.objects.filter(pk__in=batch_of_keys).update(completed_at=last)


def _restore_missing_assignments(
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
            slot=next_slots(round, [item])[item],
            annotator=restored.raters[rater],
            **ASSIGNMENTS.fields(row),
            partial=probability is None,
            inclusion_probability=probability,
        )
        assignments[key] = made.pk


ADMIN = "admin"


def restore_raters(restored: Restored, archive: ExportArchive) -> None:
    """Create a membership without an account for every pseudonym; excluded raters remain excluded."""
    counted: dict[str, bool] = {}
    for table in ("assignments", "acknowledgements", "raters"):
        for row in archive.rows(table):
            if row["rater"]:  # a free assignment has none
                counted.setdefault(row["rater"], True)
    for row in archive.rows("ratings"):
        counted[row["rater"]] = row["counted"]
    for pseudonym, counts in counted.items():
        membership = add_member(project=restored.project, role=Role.ANNOTATOR, label=pseudonym)
        membership.pseudonym, membership.counted = pseudonym, counts
        membership.save(update_fields=["pseudonym", "counted"])
        restored.raters[pseudonym] = membership


def restore_outside_raters(restored: Restored, archive: ExportArchive) -> None:
    """Create a closed study with its external raters."""
    study: OutsideStudy | None = None
    for row in archive.rows("raters"):
        if study is None:
            pay = {name: row[name] for name in ("pay_rule", "pay_rate", "currency")}
            study = OutsideStudy.objects.create(project=restored.project, **pay)
        OutsideRater.objects.create(
            study=study,
            membership=restored.raters[row["rater"]],
            platform_id=str((row["parameters"] or {}).get(PERSON, "")),
            parameters=row["parameters"] or {},
            answers=row["answers"] or [],
            consented_at=row["consented_at"],
            consent_digest=row["consent_digest"],
            outcome="" if row["outcome"] == "working" else row["outcome"],
            ended_at=row["ended_at"],
        )


def actor(restored: Restored, by: str | None) -> User | None:
    """Return an account that represents the actor. Sign-in with it is impossible.

    It holds a rater's membership until an admin hands the membership over to a person.
    """
    if not by:
        return None
    if by not in restored.actors:
        address = f"{by}@{restored.project.slug}.invalid".lower()
        user, _ = User.objects.get_or_create(
            email=address, defaults={"name": by, "is_active": False, "password": "!"}
        )
        restored.actors[by] = user
        if by != ADMIN:
            Membership.objects.filter(pk=restored.raters[by].pk).update(user=user)
    return restored.actors[by]


def restore_assignments(restored: Restored, archive: ExportArchive) -> None:
    round = restored.rounds.get(1)
    if round is None:
        return
    assignments = _assignments(restored, round, archive)
    every_item = False
    while batch := list(islice(assignments, AT_ONCE)):
        Assignment.objects.bulk_create(assignment for assignment, _ in batch)
        AssignedUnit.objects.bulk_create(
            AssignedUnit(
                assignment=assignment,
                dimension=restored.dimensions[row["dimension"]],
                inclusion_probability=row["inclusion_probability"],
            )
            for assignment, rows in batch
            if assignment.partial
            for row in rows
        )
        # Complete assignments get the time of their last rating once ratings are restored.
        restored.answered += [
            assignment.pk for assignment, rows in batch if all(row["answer"] != "missing" for row in rows)
        ]
        every_item = every_item or any(not assignment.partial for assignment, _ in batch)
    Round.objects.filter(pk=round.pk).update(every_item=every_item)


def _assignments(
    restored: Restored, round: Round, archive: ExportArchive
) -> Iterator[tuple[Assignment, list[Row]]]:
    guideline = FrozenGuideline.from_json(round.guideline.content)
    # The number of questions that a whole assignment asks about each kind of item.
    asked = {kind: len(dimensions_of_kind(guideline, kind)) for kind in Item.Kind.values}
    for _, found in groupby(archive.rows("assignments"), key=itemgetter("document", "system", "place")):
        rows = list(found)
        first = rows[0]
        rater = first["rater"]
        probabilities = {row["inclusion_probability"] for row in rows}
        every = asked[restored.comparisons.get(restored.item(first), Item.Kind.OUTPUT)]
        # No column says so: rows of only some dimensions, or several probabilities, show it.
        partial = first["plan"] == Assignment.Plan.ROUTED or len(rows) < every or len(probabilities) > 1
        assignment = Assignment(
            round=round,
            item_id=restored.item(first),
            slot=first["place"] - 1,
            annotator=restored.raters[rater] if rater else None,
            **ASSIGNMENTS.fields(first),
            partial=partial,
            inclusion_probability=None if partial else first["inclusion_probability"],
        )
        yield assignment, rows
