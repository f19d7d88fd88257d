"""Words that docs/architecture.md replaces by the field's own occur in no sentence that anyone reads."""

import re
from pathlib import Path

import pytest

from tests.catalog import ROOT, german

MAP = ROOT / "docs" / "architecture.md"
TABLE = MAP.read_text().partition("\n## Words\n")[2].partition("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]] for line in TABLE.splitlines() if line.startswith("| ")
]
REPLACED = sorted({word for *_, words in ROWS[1:] for word in words.split(", ") if word})
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]


def has(text: str, word: str) -> bool:
    return re.search(rf"\b{word}\b".replace(" ", r"\s+"), text, re.IGNORECASE) is not None


def without_table(document: Path) -> str:
    return document.read_text().replace(TABLE, "")


def test_each_word_is_explained_once() -> None:
    words = [word for row in ROWS[1:] for word in row[0].split(", ")]
    assert len(words) > 30
    assert len(words) == len(set(words))
    assert REPLACED == ["in vain", "journey", "sign of quality", "taken away", "waking"]


@pytest.mark.parametrize("word", REPLACED)
def test_a_replaced_word_is_in_no_sentence_and_no_document(word: str) -> None:
    assert not [sentence for sentence in german() if has(sentence, word)]
    assert not [document.name for document in DOCUMENTS if has(without_table(document), word)]


def test_a_replaced_word_is_found_across_lines() -> None:
    assert has("It can be taken\n  away as CSV", "taken away")
    assert not has("journeyman", "journey")
