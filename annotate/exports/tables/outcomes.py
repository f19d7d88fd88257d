"""What each unit came to."""

from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from statistics import fmean

from annotate.core.models import Dispute, MeasurementLevelChoices, Project, Rating, Round
from annotate.core.models.rounds import without_checks
from annotate.exports.registry import COLUMNS, ExportTable, Row
from annotate.exports.tables.ratings import RATINGS
from annotate.exports.tables.rows import AT_ONCE, UNIT, ColumnRows


def _final_values(project: Project) -> Iterator[Row]:
    return (row for _, row in final_values_by_item(project))


def final_values_by_item(project: Project) -> Iterator[tuple[int, Row]]:
    """Yield what each unit came to, after the key of its item, in the order of these keys."""
    disputes, otherwise = _disputed_units(project), _status_without_dispute(project)
    ratings = Rating.objects.filter(
        without_checks("assignment__round__"), assignment__round__project=project
    ).order_by(
        "assignment__item",
        "dimension__position",
        "dimension",
        "assignment__round__number",
        "pk",
    )
    needed = {
        **{name: RATINGS.sources[name] for name in (*UNIT, "rater", "value", "counted")},
        "item_id": "assignment__item",
        "dimension_id": "dimension",
        "level": "dimension__measurement_level",
    }
    rows = ColumnRows(ratings, needed)
    for unit, group in groupby(rows, key=itemgetter("item_id", "dimension_id")):
        given = list(group)
        status, adjudicated = disputes.get(unit, (otherwise, None))
        counted = [row for row in given if row["counted"] and row["value"] is not None]
        last = dict(sorted({row["rater"]: row["value"] for row in counted}.items()))
        mean = fmean(last.values()) if last and given[0]["level"] != MeasurementLevelChoices.NOMINAL else None
        row = {
            **{name: given[0][name] for name in UNIT},
            "status": status,
            "values": last,
            "mean": mean,
            "adjudicated_value": adjudicated,
            "final_value": _final_value(status, adjudicated, mean, set(last.values())),
        }
        yield unit[0], row


def _disputed_units(project: Project) -> dict[tuple[int, int], tuple[str, float | None]]:
    disputes = Dispute.objects.filter(round__project=project)
    found = disputes.values_list("item", "dimension", "status", "adjudicated_value")
    return {(item, dimension): (status, value) for item, dimension, status, value in found.iterator(AT_ONCE)}


def _status_without_dispute(project: Project) -> str:
    # Which units are disputed is only known once Round I is closed.
    round_one = Round.objects.filter(project=project, number=1)
    return "round_one_open" if round_one.filter(status=Round.Status.OPEN).exists() else _UNDISPUTED


_UNDISPUTED = "undisputed"


def _final_value(
    status: str, adjudicated: float | None, mean: float | None, values: set[float]
) -> float | None:
    if status == Dispute.Status.ADJUDICATED:
        return adjudicated
    if status not in (_UNDISPUTED, Dispute.Status.SETTLED):
        return None  # the values have not met, or may yet change
    # Categories have no mean: a nominal unit comes to the one value that all hold.
    return mean if mean is not None or len(values) != 1 else values.pop()


OUTCOME_TABLE = ExportTable(
    "final_values",
    "what each unit came to: every rater's last value, their mean, the adjudicated value",
    COLUMNS["final_values"],
    _final_values,
    is_computed=True,
)
