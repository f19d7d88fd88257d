import json
from collections import Counter
from pathlib import Path
from statistics import mean
from typing import Any

import pytest

from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.mappings import SHIPPED, rows_of
from annotate.material.reading.readers import RecordFile, first_records
from annotate.material.reading.rows import ImportedDocument, ImportedItem, ImportedRating, Record, RefusedLine
from annotate.material.reading.shipped import SUMMEVAL_OP_SYSTEMS
from tests.reference import reference_data

FILES = {
    "summeval-op": "summeval_op/summeval-op.jsonl",
    "summeval-op-detailed": "summeval_op/summeval-op-detailed.jsonl",
    "summeval": "news_summeval/summaries.jsonl.gz",
    "summeval-documents": "news_summeval/documents.jsonl.gz",
}


def released(name: str) -> Path:
    return reference_data() / FILES[name]


def rows(name: str, *, items: bool = True, ratings: bool = False) -> list[Any]:
    with RecordFile(released(name)) as file:
        return [
            row for record in file for row in rows_of(SHIPPED[name], record, items=items, ratings=ratings)
        ]


@pytest.mark.parametrize("name", FILES)
def test_released_files_are_recognised(name: str) -> None:
    assert guess_mapping(first_records(released(name))) is SHIPPED[name]


def test_both_files_of_summeval_op_give_the_same_items() -> None:
    named, detailed = rows("summeval-op"), rows("summeval-op-detailed")
    assert named == detailed
    assert len({row.document for row in named}) == 32
    assert len({(row.document, row.system) for row in named}) == len(named) == 416
    assert all(len(row.parts) == 8 for row in named)


def test_ratings_of_summeval_op_average_to_its_published_means() -> None:
    ratings = rows("summeval-op-detailed", items=False, ratings=True)
    assert len(ratings) == 8736
    assert Counter(row.rater for row in ratings) == {"A1": 2912, "A2": 2912, "A3": 2912}
    values: dict[tuple[int, str, str], list[int]] = {}
    for row in ratings:
        values.setdefault((row.line, row.system, row.dimension), []).append(row.value)
    published = {
        (line, system, dimension.lower()): value
        for line, text in enumerate(released("summeval-op").read_text().splitlines(), start=1)
        for system, entry in json.loads(text)["summaries"].items()
        for dimension, value in entry["dimensions"].items()
    }
    assert {unit: round(mean(given), 2) for unit, given in values.items()} == published


def test_summeval_gives_items_and_the_ratings_of_three_experts() -> None:
    items, ratings = rows("summeval"), rows("summeval", items=False, ratings=True)
    assert len(items) == 1200
    assert all(isinstance(row, ImportedItem) and not row.parts for row in items)
    assert len(ratings) == 1200 * 3 * 4
    assert {row.rater for row in ratings} == {"E1", "E2", "E3"}
    assert {row.dimension for row in ratings} == {"coherence", "consistency", "fluency", "relevance"}


def test_articles_of_summeval_are_the_documents_of_its_summaries() -> None:
    documents = rows("summeval-documents")
    assert all(isinstance(row, ImportedDocument) and len(row.parts) == 1 for row in documents)
    assert {row.document for row in documents} == {row.document for row in rows("summeval")}


def test_summeval_lines_are_read_as_first_released() -> None:
    fields = {
        "id": "dm-1",
        "decoded": "A summary.",
        "expert_annotations": [{"coherence": 2}, {"coherence": 3}],
        "turker_annotations": [{"coherence": 5}],
        "references": ["r"],
        "model_id": "M11",
        "filepath": "x",
        "text": "An article.",
    }
    assert list(rows_of(SHIPPED["summeval"], Record(1, fields), items=True, ratings=True)) == [
        ImportedItem(1, "dm-1", "", (("Article", "An article."),), "M11", "A summary."),
        ImportedRating(1, "dm-1", "M11", "E1", "coherence", 2),
        ImportedRating(1, "dm-1", "M11", "E2", "coherence", 3),
    ]


def detailed_record(**changes: object) -> Record:
    fields: dict[str, object] = {"reviews": ["r"], "summaries": ["s"] * 13}
    fields |= {code: [[1, 2, 3]] * 13 for code in ("fl", "co", "re", "fa", "ac", "sc", "sp")}
    return Record(4, fields | changes)


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"summaries": ["s"] * 12}, "summaries"),
        ({"summaries": [*["s"] * 12, ""]}, f"summaries.{SUMMEVAL_OP_SYSTEMS[12]}"),
        ({"reviews": []}, "reviews"),
        ({"fl": [[1, 2, 3]] * 12}, "fl"),
        ({"co": [3] * 13}, f"co.{SUMMEVAL_OP_SYSTEMS[0]}"),
        ({"re": [["good", 1, 1], *[[1, 1, 1]] * 12]}, f"re.{SUMMEVAL_OP_SYSTEMS[0]}"),
    ],
)
def test_lines_unlike_the_release_are_rejected_by_field(changes: dict[str, object], field: str) -> None:
    given = rows_of(SHIPPED["summeval-op-detailed"], detailed_record(**changes), items=True, ratings=True)
    assert {row.field for row in given if isinstance(row, RefusedLine)} == {field}


def test_a_missing_value_of_one_annotator_is_a_gap_not_an_error() -> None:
    record = detailed_record(fl=[[1, None, 3]] + [[1, 2, 3]] * 12)
    given = list(rows_of(SHIPPED["summeval-op-detailed"], record, items=False, ratings=True))
    assert len(given) == 7 * 13 * 3 - 1
    assert all(isinstance(row, ImportedRating) for row in given)
