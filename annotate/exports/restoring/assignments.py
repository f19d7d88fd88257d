"""Restoring the assignments of Round I, free or taken, and the units of partial ones."""

from collections.abc import Iterator
from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from annotate.core.guideline import FrozenGuideline
from annotate.core.models import AssignedUnit, Assignment, Item, Round
from annotate.exports.restoring.archive import ExportArchive
from annotate.exports.restoring.restored import Restored
from annotate.exports.tables.ratings import ASSIGNMENTS
from annotate.rating.queries.assignments import dimensions_of_kind

ASSIGNMENTS_AT_ONCE = 1000
Rows = list[dict[str, Any]]


def restore_assignments(restored: Restored, archive: ExportArchive) -> None:
    round = restored.rounds.get(1)
    if round is None:
        return
    assignments = _assignments(restored, round, archive)
    every_item = False
    while batch := list(islice(assignments, ASSIGNMENTS_AT_ONCE)):
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
        restored.answered += [
            assignment.pk for assignment, rows in batch if all(row["answer"] != "missing" for row in rows)
        ]
        every_item = every_item or any(not assignment.partial for assignment, _ in batch)
    Round.objects.filter(pk=round.pk).update(every_item=every_item)


def _assignments(
    restored: Restored, round: Round, archive: ExportArchive
) -> Iterator[tuple[Assignment, Rows]]:
    guideline = FrozenGuideline.from_json(round.guideline.content)
    asked = {kind: len(dimensions_of_kind(guideline, kind)) for kind in Item.Kind.values}
    for _, found in groupby(archive.rows("assignments"), key=itemgetter("document", "system", "place")):
        rows = list(found)
        first = rows[0]
        rater = first["rater"]
        probabilities = {row["inclusion_probability"] for row in rows}
        every = asked[restored.comparisons.get(restored.item(first), Item.Kind.OUTPUT)]
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
