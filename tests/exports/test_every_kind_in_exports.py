"""Exports of a project with a question of every kind: each format, and back from an export."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotate.core.models import ComparisonSide, Dimension, Item, ItemPart, Project, Rating, System
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.files import write_folder
from annotate.exports.manifest import hash_of, sha256_of
from annotate.exports.registry import TABLES, Row
from annotate.exports.restoring.archive import ADDED_COLUMNS, ExportArchive
from annotate.rating.commands.rounds import close_round_one
from annotate.setup.commands import delete_project
from tests.factories import Cast
from tests.questions.asking import give, open_questions
from tests.questions.everything import answer_every_kind, discuss_every_kind, make_every_kind

pytestmark = pytest.mark.django_db


def discussed() -> Cast:
    """Answer every kind in Round I and discuss it in Round II."""
    cast = make_every_kind(documents=4)
    answer_every_kind(cast)
    discuss_every_kind(cast)
    return cast


def rows(project: Project, table: str, **wanted: Any) -> list[Row]:
    return [
        row
        for row in TABLES[table].rows(project)
        if all(row[name] == value for name, value in wanted.items())
    ]


def test_each_format_is_written(tmp_path: Path) -> None:
    cast = discussed()
    for format in Format:
        (tmp_path / format).mkdir()
        manifest = write_folder(cast.project, ExportChoice(format), tmp_path / format)
        assert manifest.files, format


def test_an_export_comes_back_byte_by_byte(tmp_path: Path) -> None:
    cast = discussed()
    call_command(
        "export", cast.project.slug, "--to", str(tmp_path / "all.zip"), verbosity=0, stdout=StringIO()
    )
    before = {
        model: model._default_manager.count()
        for model in (ComparisonSide, Dimension, Item, ItemPart, Rating, System)
    }
    filled = {
        table: {name for row in TABLES[table].rows(cast.project) for name, value in row.items() if value}
        for table in (
            "guidelines",
            "comparisons",
            "parts",
            "ratings",
            "history",
            "disputes",
            "dispute_events",
        )
    }
    assert {"kind", "options", "shown_if"} <= filled["guidelines"]
    assert all("data" in filled[table] for table in ("ratings", "history", "dispute_events"))
    assert "adjudicated_data" in filled["disputes"]
    assert all(set(TABLES[table].names) == filled[table] for table in ("comparisons", "parts"))
    digests = set(Item.objects.exclude(kind="output").values_list("digest", flat=True))
    delete_project(project=cast.project, name=cast.project.name, by=cast.admin)
    assert all(not model._default_manager.exists() for model in before)
    # Ends with another code than 0 if an export of the new project differs in a byte.
    call_command("import_export", str(tmp_path / "all.zip"), "--json", stdout=StringIO())
    assert {model: model._default_manager.count() for model in before} == before
    assert set(Item.objects.exclude(kind="output").values_list("digest", flat=True)) == digests
    assert System.objects.filter(compares=True).count() == 4


def test_an_export_of_a_version_without_kinds_is_read(tmp_path: Path) -> None:
    cast = open_questions("labels", documents=1)
    give(cast.annotators[0], cast.items[0].pk, "labels", data={"labels": []})
    write_folder(cast.project, ExportChoice(Format.JSONL), tmp_path)
    for table, columns in ADDED_COLUMNS.items():
        file = tmp_path / f"{table}.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []
        earlier = [{name: each[name] for name in each if name not in columns} for each in lines]
        file.write_text("".join(f"{json.dumps(each)}\n" for each in earlier))
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    manifest["files"] = {name: sha256_of(tmp_path / name) for name in manifest["files"]}
    manifest["content_hash"] = hash_of(manifest["files"])
    (tmp_path / "manifest.json").write_text(json.dumps(manifest))
    archive = ExportArchive(tmp_path)
    (rating,) = archive.rows("ratings")
    assert (rating["value"], rating["data"]) == (0, None)
    assert {row["kind"] for row in archive.rows("guidelines")} == {"scale"}
    assert {row["kind"] for row in archive.rows("items")} == {"output"}


def test_answers_are_written_in_words() -> None:
    cast = open_questions("labels", "preference", "ranking", "text", systems=3, documents=1)
    pair, triple = (
        Item.objects.get(system__name=name).pk
        for name in ("system-1 | system-2", "system-1 | system-2 | system-3")
    )
    for annotator in cast.annotators:
        give(annotator, pair, "preference", 1)
        give(annotator, triple, "ranking", data={"ranks": [2, 1, 2]})
        give(annotator, cast.items[0].pk, "labels", data={"labels": ["spelling", "grammar"]})
        give(annotator, cast.items[0].pk, "text", data={"text": f"Says {annotator.alias}."})
    found = {(row["system"], row["kind"]): row for row in rows(cast.project, "benchmark")}
    assert found["system-1", "output"]["labels_answer"] is None  # while the round is open
    assert found["system-1", "output"]["values"][0]["answer"] == "grammar|spelling"
    close_round_one(project=cast.project, by=cast.admin)
    found = {(row["system"], row["kind"]): row for row in rows(cast.project, "benchmark")}
    assert found["system-1", "output"]["labels_answer"] == "grammar|spelling"
    assert found["system-1", "output"]["text_answer"] is None
    texts = {each["answer"] for each in found["system-1", "output"]["values"] if each["dimension"] == "text"}
    assert texts == {"Says A.", "Says B."}
    assert found["system-1 | system-2", "pair"]["preference_answer"] == "system-2"
    whole = found["system-1 | system-2 | system-3", "comparison"]
    assert whole["ranking_answer"] == "system-2 > system-1 = system-3"
    assert whole["text"] == ""


def test_a_decision_is_final_with_all_its_pieces() -> None:
    cast = discussed()
    for kind in ("labels", "spans", "ranking", "parts"):
        (decided, *_) = rows(cast.project, "final_values", dimension=kind, status="adjudicated")
        assert decided["final_data"] == decided["adjudicated_data"]
        assert decided["final_value"] == decided["adjudicated_value"]
        assert json.dumps(decided["final_data"]) != "{}"
        (dispute, *_) = rows(cast.project, "disputes", dimension=kind, status="adjudicated")
        assert dispute["adjudicated_data"]


def test_hidden_questions_are_neither_missing_nor_answered() -> None:
    cast = discussed()
    answers = [row["answer"] for row in rows(cast.project, "assignments", dimension="harm")]
    assert set(answers) == {"hidden", "rated"}
    asked = {row["dimension"] for row in rows(cast.project, "assignments", system="system-1 | system-2")}
    assert asked == {"preference"}


def test_comparisons_and_parts_are_tables() -> None:
    cast = make_every_kind(documents=1)
    sides = rows(cast.project, "comparisons", system="system-1 | system-3")
    assert [(row["position"], row["output_system"]) for row in sides] == [(0, "system-1"), (1, "system-3")]
    parts = rows(cast.project, "parts", system="system-1")
    assert [row["position"] for row in parts] == list(range(len(parts)))
    assert parts[1]["text"] == "It is short."
