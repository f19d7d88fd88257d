from collections.abc import Iterator
from itertools import groupby
from operator import itemgetter
from statistics import fmean

from annotate.core.models import Dispute, Project, Rating, Round
from annotate.core.models.rounds import rounds_of_study
from annotate.exports.registry import COLUMNS, ExportTable, Row
from annotate.exports.tables.ratings import RATINGS
from annotate.exports.tables.rows import AT_ONCE, UNIT, ColumnRows
from annotate.questions import Given, kind_of


def _final_values(project: Project) -> Iterator[Row]:
    return (row for _, row in final_values_by_item(project))


def final_values_by_item(project: Project) -> Iterator[tuple[int, Row]]:
    """Yield the outcome of each unit, after the key of its item, in the order of these keys."""
    # Which units are disputed is only known once Round I is closed.
    round_one = Round.objects.filter(project=project, number=1)
    status_without_dispute = (
        "round_one_open" if round_one.filter(status=Round.Status.OPEN).exists() else _UNDISPUTED
    )
    disputes, otherwise = _disputed_units(project), status_without_dispute
    ratings = Rating.objects.filter(
        rounds_of_study("assignment__round__"), assignment__round__project=project
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
        "data": "data",
    }
    asked = project.dimensions.in_bulk()
    rows = ColumnRows(ratings, needed)
    for unit, group in groupby(rows, key=itemgetter("item_id", "dimension_id")):
        given = list(group)
        status, decided = disputes.get(unit, (otherwise, None))
        has_mean = kind_of(asked[unit[1]]).has_mean
        counted = [row for row in given if row["counted"] and row["value"] is not None]
        last = dict(sorted({row["rater"]: row["value"] for row in counted}.items()))
        data = dict(sorted({row["rater"]: row["data"] for row in counted if row["data"]}.items()))
        mean = fmean(last.values()) if last and has_mean else None
        shared = _shared_answer(last, data)
        row = {
            **{name: given[0][name] for name in UNIT},
            "status": status,
            "values": last,
            "answers": data or None,
            "mean": mean,
            "adjudicated_value": decided.value if decided else None,
            "adjudicated_data": decided.data if decided else None,
            "final_value": None,
            "final_data": None,
        }
        if status == Dispute.Status.ADJUDICATED and decided:
            row |= {"final_value": decided.value, "final_data": decided.data}
        elif status in (_UNDISPUTED, Dispute.Status.SETTLED):  # else they have not met, or may yet change
            # Without a mean, a unit comes to the one answer that all hold.
            row["final_value"] = mean if has_mean else shared and shared.value
            row["final_data"] = shared and shared.data
        yield unit[0], row


def _shared_answer(values: Row, data: Row) -> Given | None:
    """Return the answer shared by all raters, None if they differ. The order of sides does not count."""
    answers = [
        Given(
            value, {name: part for name, part in (data.get(rater) or {}).items() if name != "order"} or None
        )
        for rater, value in values.items()
    ]
    return answers[0] if len({each.canonical for each in answers}) == 1 else None


def _disputed_units(project: Project) -> dict[tuple[int, int], tuple[str, Given | None]]:
    disputes = Dispute.objects.filter(round__project=project)
    found = disputes.values_list(
        "item", "dimension", "status", "adjudicated_value", "adjudicated_data"
    ).iterator(AT_ONCE)
    return {
        (item, dimension): (status, None if value is None else Given(value, data))
        for item, dimension, status, value, data in found
    }


_UNDISPUTED = "undisputed"


OUTCOME_TABLE = ExportTable(
    "final_values",
    "what each unit came to: every rater's last answer, their mean, the adjudicated answer",
    COLUMNS["final_values"],
    _final_values,
    is_computed=True,
)
