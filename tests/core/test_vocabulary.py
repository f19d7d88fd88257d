"""Words that the glossary replaces occur in no sentence, and names in the code have one meaning.

The glossary is in docs/explanation/architecture.md.
"""

import re
from collections import Counter
from pathlib import Path

import pytest

from tests.catalog import ROOT, german

MAP = ROOT / "docs" / "explanation" / "architecture.md"
TABLE = MAP.read_text().partition("\n## Words\n")[2].partition("\n## ")[0]
ROWS = [
    [cell.strip() for cell in line.split("|")[1:-1]] for line in TABLE.splitlines() if line.startswith("| ")
]
REPLACED = sorted({word for *_, words in ROWS[1:] for word in words.split(", ") if word})
DOCUMENTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]

CODE = "\n".join(
    path.read_text() for app in ("agreement", "annotate", "judges") for path in (ROOT / app).rglob("*.py")
)
NAMED_BY_DJANGO = {"Command", "Migration"}
FUNCTIONS = re.findall(r"(?m)((?:^ *@.*\n)*)^ *(?:async )?def (\w+)\(", CODE)
PARTICIPLE = re.compile(
    r"_*([a-z]+ed|begun|chosen|done|drawn|found|given|held|kept|known|left|lost|made|meant|paid|said|seen|sent"
    r"|shown|spent|taken|told|written)"
)
VERBS_IN_ED = {"embed", "feed", "need", "seed"}


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
def test_replaced_word_is_in_no_message_and_no_document(word: str) -> None:
    assert not [sentence for sentence in german() if has(sentence, word)]
    assert not [document.name for document in DOCUMENTS if has(without_table(document), word)]


def test_replaced_word_is_detected_across_lines() -> None:
    assert has("It can be taken\n  away as CSV", "taken away")
    assert not has("journeyman", "journey")


def test_no_two_classes_share_a_name() -> None:
    names = Counter(re.findall(r"(?m)^class (\w+)", CODE))
    assert len(names) > 500
    assert {name for name, times in names.items() if times > 1} == NAMED_BY_DJANGO


def test_a_function_is_called_by_a_verb_or_a_noun_not_by_a_participle() -> None:
    """A property may be one: `plan.kept` reads as what it is."""
    functions = {name for decorators, name in FUNCTIONS if "property" not in decorators}
    assert len(functions) > 3_000
    assert not {name for name in functions - VERBS_IN_ED if PARTICIPLE.fullmatch(name)}
