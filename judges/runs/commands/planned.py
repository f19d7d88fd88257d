"""Bulk insert of a run's judgments: one statement for each judge, for any number of rows.

With a row per judgment, Django needed 9 s for 100,800 of them.
"""

from collections.abc import Sequence
from typing import Any

from django.db import connection

from annotate.core.guideline import FrozenDimension
from annotate.core.models import Document, Item
from judges.core.models import Judge, Judgment, Run
from judges.methods import METHODS
from judges.runs.queries.samples import ChosenItems
from judges.runs.queries.subjects import Offer, need_of, offer_in_sql, samples_about

EVERY_ITEM = ChosenItems()
ITEMS, DOCUMENTS = (connection.ops.quote_name(model._meta.db_table) for model in (Item, Document))
# The items to judge: individually, or both orders of each pair.
SINGLE = f"""
    SELECT item.id, CAST(NULL AS bigint), item.id, item.document_id, 0, {offer_in_sql("item")}
    FROM {ITEMS} item JOIN {DOCUMENTS} document ON document.id = item.document_id
    WHERE document.project_id = %s
"""
PAIRED = f"""
    SELECT item.id, other.id, pair.place, item.document_id, pair.turn, {Offer.OUTPUT:d}
    FROM pair
    JOIN {ITEMS} item ON item.system_id = pair.first
    JOIN {ITEMS} other ON other.system_id = pair.second AND other.document_id = item.document_id
    JOIN {DOCUMENTS} document ON document.id = item.document_id
    WHERE document.project_id = %s
"""
# With `WHERE`: without it SQLite takes ON CONFLICT for a condition of the join.
WRITE = """
    WITH {tables}, subject (item, other, place, document, turn, offers) AS ({subjects})
    INSERT INTO {judgments} ({columns})
    SELECT {values}
    FROM subject CROSS JOIN dimension CROSS JOIN sample
    WHERE (subject.offers & dimension.need) > 0 AND sample.number < dimension.samples{units}
    ORDER BY subject.document, {order}
    ON CONFLICT DO NOTHING
"""
VARYING = {
    "item_id": "subject.item",
    "other_id": "subject.other",
    "dimension_id": "dimension.id",
    "sample": "sample.number",
}


def write_judgments(
    run: Run,
    judge: Judge,
    dimensions: Sequence[FrozenDimension],
    pairs: Sequence[tuple[int, int]],
    chosen: ChosenItems = EVERY_ITEM,
) -> None:
    """Write a row for each judgment of this judge that the project does not have yet."""
    most = max(samples_about(judge, each) for each in dimensions)
    tables = [
        _values(
            "dimension (id, place, need, samples)",
            [
                (each.id, index, int(need_of(each)), samples_about(judge, each))
                for index, each in enumerate(dimensions)
            ],
        ),
        _values("sample (number)", [(number,) for number in range(most)]),
    ]
    if METHODS[judge.method].asks_pairs:
        both = [
            (*systems, index, turn)
            for index, (first, second) in enumerate(pairs)
            for turn, systems in enumerate([(first, second), (second, first)])
        ]
        tables.append(_values("pair (first, second, place, turn)", both))
        subjects = PAIRED + chosen.condition("item.id", "other.id")
    else:
        subjects = SINGLE + chosen.condition("item.id")
    # Prompts contain the dimension, then the document, then the output. This order makes calls with the same
    # prefix consecutive, for servers that cache prefixes. Judgments of one call are adjacent: a sample of all
    # dimensions, or a dimension's samples.
    order = "dimension.place, subject.place, subject.turn, sample.number"
    if judge.asks_several:
        order = "subject.place, subject.turn, sample.number, dimension.place"
    columns, values, constants = _columns(Judgment(run=run, judge=judge))
    statement = WRITE.format(
        tables=", ".join(tables),
        subjects=subjects,
        judgments=connection.ops.quote_name(Judgment._meta.db_table),
        columns=columns,
        values=values,
        order=order,
        units=chosen.condition_on_units("dimension.id", "subject.item"),
    )
    with connection.cursor() as cursor:
        cursor.execute(statement, [run.project_id, *constants])


def _values(named: str, rows: Sequence[Sequence[int]]) -> str:
    """Return a table of numbers for use within one statement; without parameters, which SQLite limits."""
    return f"{named} AS (VALUES {', '.join(_row(row) for row in rows)})"


def _row(numbers: Sequence[int]) -> str:
    return f"({', '.join(map(str, numbers))})"


def _columns(judgment: Judgment) -> tuple[str, str, list[Any]]:
    """Return the columns of a judgment, the expression for each, and the values common to all rows."""
    fields = [field for field in Judgment._meta.concrete_fields if not field.primary_key]
    filled = [VARYING.get(field.attname, "%s") for field in fields]
    constants = [
        field.get_db_prep_save(field.pre_save(judgment, add=True), connection)
        for field in fields
        if field.attname not in VARYING
    ]
    names = ", ".join(connection.ops.quote_name(str(field.column)) for field in fields)
    return names, ", ".join(filled), constants
