"""Files of prompts and outputs are recognised by their contents."""

import csv
import json
from pathlib import Path
from typing import Any

import pytest

from annotate.core.models import Document, Item
from annotate.material.commands.imports import import_file
from annotate.material.reading.guessing import guess_mapping
from annotate.material.reading.mappings import misfit, rows_of
from annotate.material.reading.readers import RecordFile, first_records
from annotate.material.reading.rows import ImportedItem, RefusedLine
from tests.material.files import empty_project, jsonl, source

USER = {"role": "user", "content": "Name a river."}
RHINE = {"role": "assistant", "content": "The Rhine."}


def read(path: Path) -> tuple[str, list[Any]]:
    """Return the name of the guessed mapping, and the rows that it makes."""
    mapping = guess_mapping(first_records(path))
    with RecordFile(path) as file:
        return mapping.name, [
            row for record in file for row in rows_of(mapping, record, items=True, ratings=False)
        ]


def units(rows: list[Any]) -> list[tuple[tuple[tuple[str, str], ...], str, str]]:
    return [(row.parts, row.system, row.text) for row in rows]


def test_the_last_turn_of_a_conversation_is_the_output(tmp_path: Path) -> None:
    more = [{"role": "system", "content": "Be brief."}, USER, RHINE, {"role": "user", "content": "Another."}]
    record = {
        "messages": [*more, {"role": "assistant", "content": "The Elbe."}],
        "model": "A",
        "topic": "rivers",
    }
    name, rows = read(jsonl(tmp_path, record))
    parts = (
        ("System", "Be brief."),
        ("User", "Name a river."),
        ("Assistant", "The Rhine."),
        ("User", "Another."),
    )
    assert (name, units(rows)) == ("messages", [(parts, "A", "The Elbe.")])
    assert rows[0].metadata == {"topic": "rivers"}


def test_conversations_of_other_forms_give_the_same_item(tmp_path: Path) -> None:
    pieces = [{"type": "text", "text": "Name a river."}]
    forms: list[dict[str, Any]] = [
        {"messages": [USER, RHINE]},
        {"messages": [{"role": "user", "content": pieces}, RHINE]},
        {
            "conversations": [
                {"from": "human", "value": "Name a river."},
                {"from": "gpt", "value": "The Rhine."},
            ]
        },
        {"prompt": [USER], "completion": [RHINE]},
        {"messages": [USER], "response": "The Rhine."},
    ]
    for number, form in enumerate(forms):
        name, rows = read(jsonl(tmp_path, form, name=f"{number}.jsonl"))
        found = [((("User", "Name a river."),), "assistant", "The Rhine.")]
        assert (name, units(rows)) == ("messages", found), form


@pytest.mark.parametrize(
    ("system", "name"), [("GPT 4 mini", "GPT 4 mini"), ("You are very brief.", "assistant")]
)
def test_a_system_column_names_the_model_or_holds_a_prompt(tmp_path: Path, system: str, name: str) -> None:
    _, rows = read(jsonl(tmp_path, {"messages": [USER], "system": system, "summary": "The Rhine."}))
    assert [(row.system, row.text) for row in rows] == [(name, "The Rhine.")]


def test_a_conversation_in_a_cell_of_csv_is_read(tmp_path: Path) -> None:
    path = tmp_path / "chats.csv"
    with path.open("w", newline="") as file:
        csv.writer(file).writerows([["model", "messages"], ["A", json.dumps([USER, RHINE])]])
    name, rows = read(path)
    assert (name, units(rows)) == ("messages", [((("User", "Name a river."),), "A", "The Rhine.")])


def test_a_conversation_without_an_output_is_a_document(tmp_path: Path) -> None:
    _, rows = read(jsonl(tmp_path, {"id": "q1", "messages": [USER]}))
    assert [(row.document, row.parts) for row in rows] == [("q1", (("User", "Name a river."),))]
    assert not isinstance(rows[0], ImportedItem)


def test_one_prompt_with_two_outputs_of_unknown_models_is_two_documents(tmp_path: Path) -> None:
    elbe = {"role": "assistant", "content": "The Elbe."}
    _, rows = read(jsonl(tmp_path, {"messages": [USER, RHINE]}, {"messages": [USER, elbe]}))
    assert len({row.document for row in rows}) == 2


def test_unreadable_conversations_are_rejected_with_a_reason(tmp_path: Path) -> None:
    picture = {"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a.png"}}]}
    wrong: list[dict[str, Any]] = [
        {"messages": [RHINE]},
        {"messages": [picture, RHINE]},
        {"messages": "Hello."},
    ]
    _, rows = read(jsonl(tmp_path, {"messages": [USER, RHINE]}, *wrong))
    assert all(isinstance(row, RefusedLine) for row in rows[1:])
    assert [row.reason for row in rows[1:]] == [
        "The conversation in “messages” has no turn before its output.",
        "The message “messages[0]” holds more than texts.",
        "The line has no list of messages with a role and a content.",
    ]


@pytest.mark.parametrize(
    ("outputs", "systems"),
    [
        ({"outputs": ["One.", "Two."]}, ["output 1", "output 2"]),
        ({"responses": ["One.", "Two."], "models": ["A", "B"]}, ["A", "B"]),
        ({"completions": [{"model": "A", "text": "One."}, {"model": "A", "text": "Two."}]}, ["A", "A 2"]),
        ({"outputs": {"A": "One.", "B": "Two."}}, ["A", "B"]),
        ({"outputs": '["One.", "Two."]'}, ["output 1", "output 2"]),
    ],
)
def test_lists_of_outputs_give_an_item_each(
    tmp_path: Path, outputs: dict[str, Any], systems: list[str]
) -> None:
    name, rows = read(jsonl(tmp_path, {"prompt": "Count.", **outputs}))
    parts = (("Prompt", "Count."),)
    assert name == "outputs"
    assert units(rows) == [
        (parts, system, text) for system, text in zip(systems, ("One.", "Two."), strict=True)
    ]


@pytest.mark.django_db
def test_rated_completions_keep_their_annotations(tmp_path: Path) -> None:
    completions = [
        {
            "model": name,
            "response": f"{name} says so.",
            "overall_score": score,
            "annotations": {"honesty": score},
        }
        for name, score in (("A", 7.5), ("B", 3.0))
    ]
    records = [
        {"source": kind, "instruction": f"Explain {n}.", "models": ["A", "B"], "completions": completions}
        for n, kind in enumerate(("made", "found"))
    ]
    report = import_file(
        project=empty_project(), source=source(jsonl(tmp_path, *records), items=True), by=None
    )
    assert (report.made.documents, report.made.systems, report.made.items) == (2, 2, 4)
    assert [each.metadata for each in Document.objects.order_by("pk")] == [
        {"source": "made"},
        {"source": "found"},
    ]
    item = Item.objects.filter(system__name="A").first()
    assert item is not None
    assert item.document.parts == [{"label": "Instruction", "text": "Explain 0."}]
    assert item.metadata == {"annotations": {"honesty": 7.5}, "overall_score": 7.5}


def test_empty_output_is_rejected_alone(tmp_path: Path) -> None:
    _, rows = read(jsonl(tmp_path, {"prompt": "Count.", "outputs": ["One.", "", {"model": "A"}]}))
    assert [getattr(row, "field", row.line) for row in rows] == [1, "outputs[1]", "outputs[2].response"]


@pytest.mark.parametrize(
    ("record", "label"),
    [
        ({"prompt": "Name a river.", "chosen": "The Rhine.", "rejected": "Rome."}, "Prompt"),
        ({"chosen": [USER, RHINE], "rejected": [USER, {"role": "assistant", "content": "Rome."}]}, "User"),
        (
            {
                "prompt": [USER],
                "chosen": [RHINE],
                "rejected": [{"role": "assistant", "content": "Rome."}],
            },
            "User",
        ),
        (
            {
                "chosen": "\n\nHuman: Name a river.\n\nAssistant: The Rhine.",
                "rejected": "\n\nHuman: Name a river.\n\nAssistant: Rome.",
            },
            "User",
        ),
    ],
)
def test_a_pair_gives_the_items_chosen_and_rejected(
    tmp_path: Path, record: dict[str, Any], label: str
) -> None:
    name, rows = read(jsonl(tmp_path, {**record, "score_chosen": 9}))
    parts = ((label, "Name a river."),)
    assert name == "preferences"
    assert units(rows) == [(parts, "chosen", "The Rhine."), (parts, "rejected", "Rome.")]
    assert rows[0].metadata == {"score_chosen": 9}


def test_two_pairs_of_one_prompt_are_two_documents(tmp_path: Path) -> None:
    pairs = [{"prompt": "Count.", "chosen": text, "rejected": "No."} for text in ("One.", "Two.")]
    _, rows = read(jsonl(tmp_path, *pairs))
    assert [rows[0].document == rows[number].document for number in range(4)] == [True, True, False, False]


def test_error_names_the_missing_columns_of_a_file(tmp_path: Path) -> None:
    mapping = guess_mapping(first_records(jsonl(tmp_path, {"messages": [USER, RHINE]})))
    assert misfit(mapping, ["messages"]) == ""
    assert "This file has no messages or conversations" in misfit(mapping, ["text"])
