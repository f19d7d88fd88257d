"""Preference pairs as TRL reads them, and marked passages with their words."""

import json
from pathlib import Path
from typing import Any

import pytest

from annotate.core.models import Item
from annotate.exports.choice import ExportChoice, Format
from annotate.exports.files import write_folder
from annotate.exports.registry import TABLES, ExportPart
from annotate.rating.commands.ratings import Answer, save_rating
from annotate.rating.evidence import Passage
from tests.factories import Cast, make_project
from tests.questions.asking import give, open_questions
from tests.rating.rounds import assigned, frozen, opened, rate

pytestmark = pytest.mark.django_db

MEANS = {0: (1, 2), 1: (4, 4), 2: (2, 1), 3: (5, 3), 4: (3, 3)}


@pytest.fixture
def cast() -> Cast:
    """Two raters on three outputs of the first document and two of the second, whose last is not rated."""
    made = make_project(documents=2, systems=3, annotators=2, raters_per_item=2)
    round = opened(made)
    for number, values in MEANS.items():
        for annotator, value in zip(made.annotators, values, strict=True):
            rate(made, round, annotator, made.items[number], value)
    return made


def pairs_in(cast: Cast, folder: Path, *left_out: ExportPart) -> list[dict[str, Any]]:
    folder.mkdir()
    choice = ExportChoice(Format.PREFERENCES, frozenset(left_out))
    manifest = write_folder(cast.project, choice, folder)
    lines = (folder / "fluency.jsonl").read_text().splitlines()
    assert manifest.tables == {"fluency": len(lines)}
    assert {path.name for path in folder.iterdir()} == {"fluency.jsonl", "manifest.json"}
    return [json.loads(line) for line in lines]


def test_pairs_are_outputs_of_one_document_with_different_means(cast: Cast, tmp_path: Path) -> None:
    found = pairs_in(cast, tmp_path / "pairs")
    texts = [item.text for item in cast.items]
    # Items 0 and 2 have the same mean, and item 5 has none.
    assert [(row["chosen"], row["rejected"]) for row in found] == [
        (texts[1], texts[0]),
        (texts[1], texts[2]),
        (texts[3], texts[4]),
    ]
    assert [(row["score_chosen"], row["score_rejected"]) for row in found] == [(4, 1.5), (4, 1.5), (4, 3)]
    document = cast.items[0].document
    parts = [f"{part['label']}\n{part['text']}" for part in document.parts]
    alone = [part["text"] for part in document.parts]
    assert found[0]["prompt"] == (alone[0] if len(alone) == 1 else "\n\n".join(parts))
    assert found[0]["system_chosen"] == cast.items[1].system.name


def test_pairs_without_source_have_no_prompt(cast: Cast, tmp_path: Path) -> None:
    (first, *_) = pairs_in(cast, tmp_path / "pairs", ExportPart.SOURCES)
    assert list(first)[:2] == ["chosen", "rejected"]


def test_a_document_of_several_parts_is_one_prompt(cast: Cast, tmp_path: Path) -> None:
    document = cast.items[0].document
    document.parts = [{"label": "User", "text": "Hello."}, {"label": "", "text": "More."}]
    document.save()
    assert pairs_in(cast, tmp_path / "pairs")[0]["prompt"] == "User\nHello.\n\nMore."


def test_span_contains_the_marked_words(cast: Cast) -> None:
    item = cast.items[5]
    Item.objects.filter(pk=item.pk).update(text="Good boots.\r\nWarm.")
    item.document.parts = [{"label": "", "text": "They are warm."}]
    item.document.save()
    round = cast.project.rounds.get(number=1)
    save_rating(
        assignment=assigned(cast, round, cast.annotators[0], item),
        dimension=frozen(round),
        answer=Answer(value=3, evidence=(Passage(0, 12, 16), Passage(1, 9, 13))),
        by=cast.annotators[0].user,
    )
    found = list(TABLES["spans"].rows(cast.project))
    assert [(row["part"], row["start"], row["end"], row["text"]) for row in found] == [
        (0, 12, 16, "Warm"),
        (1, 9, 13, "warm"),
    ]
    assert {(row["rater"], row["label"], row["round"]) for row in found} == {
        (cast.annotators[0].pseudonym, "Fluency", 1)
    }


def test_preferences_are_pairs_where_most_raters_agree(tmp_path: Path) -> None:
    cast = open_questions("preference", "labels", annotators=3, systems=2, documents=3)
    pairs = Item.objects.exclude(kind="output").order_by("document")
    for pair, values in zip(pairs, ((1, 2, -1), (1, 0, -1), (-1, -2, 0)), strict=True):
        for annotator, value in zip(cast.annotators, values, strict=True):
            give(annotator, pair.pk, "preference", value)
    folder = tmp_path / "pairs"
    folder.mkdir()
    manifest = write_folder(cast.project, ExportChoice(Format.PREFERENCES), folder)
    # Labels have no better and no worse.
    assert manifest.tables == {"preference": 2}
    first, last = (json.loads(line) for line in (folder / "preference.jsonl").read_text().splitlines())
    assert (first["chosen"], first["rejected"]) == (cast.items[1].text, cast.items[0].text)
    assert (first["system_chosen"], first["system_rejected"]) == ("system-2", "system-1")
    assert (first["score_chosen"], first["score_rejected"]) == pytest.approx((2 / 3, 1 / 3))
    assert (last["system_chosen"], last["document"]) == ("system-1", "product-3")
    assert (last["score_chosen"], last["score_rejected"]) == pytest.approx((2 / 3, 0))


def test_marked_errors_are_spans_with_category_and_severity() -> None:
    cast = open_questions("spans", documents=1)
    marked = {"part": 0, "start": 0, "end": 4, "category": "fluency", "severity": "major"}
    give(cast.annotators[0], cast.items[0].pk, "spans", data={"spans": [marked]})
    give(cast.annotators[1], cast.items[0].pk, "spans", data={"spans": []})
    (row,) = TABLES["spans"].rows(cast.project)
    assert (row["label"], row["severity"], row["text"]) == ("Fluency", "major", cast.items[0].text[:4])
    assert (row["part"], row["start"], row["end"], row["dimension"]) == (0, 0, 4, "spans")
