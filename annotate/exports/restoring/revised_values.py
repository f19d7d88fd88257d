"""The end of a document: who looked back, and revised values with every state in which they were saved."""

from itertools import groupby, islice
from operator import itemgetter
from typing import Any

from annotate.core.models import LookBack, Rating, RevisedValue, RevisedValueChange
from annotate.exports.restoring.archive import ExportArchive
from annotate.exports.restoring.people import actor
from annotate.exports.restoring.restored import Known, Restored

UNITS_AT_ONCE = 500

Row = dict[str, Any]
Unit = tuple[int, int, str]  # item, dimension, rater
_unit = itemgetter("document", "system", "dimension", "rater")


def restore_revised_values(restored: Restored, archive: ExportArchive) -> None:
    """Make the revised values beside the ratings of Round I; exports of earlier versions have none."""
    units = (list(rows) for _, rows in groupby(archive.rows("revised_values"), key=_unit))
    while batch := list(islice(units, UNITS_AT_ONCE)):
        ratings = _ratings(restored, batch)
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
            _change(restored, each, row) for each, rows in zip(revised, batch, strict=True) for row in rows
        )


def restore_looks_back(restored: Restored, archive: ExportArchive) -> None:
    """Make the looks back in their order; exports of earlier versions have none."""
    looks = (
        LookBack(
            annotator=restored.raters[row["rater"]],
            document_id=restored.documents[row["document"]],
            dimension=restored.dimensions[row["dimension"]],
            at=row["at"],
        )
        for row in archive.rows("looks_back")
    )
    LookBack.objects.bulk_create(looks, UNITS_AT_ONCE)


def _key(restored: Restored, row: Row) -> Unit:
    return restored.item(row), restored.dimensions[row["dimension"]].pk, row["rater"]


def _ratings(restored: Restored, batch: list[list[Row]]) -> Known[Unit, int]:
    items = {restored.item(rows[0]) for rows in batch}
    found = Rating.objects.filter(assignment__round=restored.rounds[1], assignment__item__in=items)
    named = found.values_list("assignment__item", "dimension", "assignment__annotator__pseudonym", "pk")
    return Known({(item, dimension, rater): pk for item, dimension, rater, pk in named.iterator()})


def _change(restored: Restored, revised: RevisedValue, row: Row) -> RevisedValueChange:
    return RevisedValueChange(
        revised=revised,
        revision=row["revision"],
        at=row["at"],
        actor=actor(restored, row["by"]),
        value_before=row["value_before"],
        value_after=row["value_after"],
        comment=row["comment"],
    )
